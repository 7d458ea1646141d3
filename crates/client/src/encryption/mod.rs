//! Client-side encryption of string properties, in the format of Microsoft's libraries (protocol 1.0). The service and
//! its backups hold only ciphertext.
//!
//! The client encrypts the properties of an entity with a random content key. It stores this key with the entity,
//! wrapped with a key of the application. `#[entity(encrypt)]` or an encryption resolver selects the properties to
//! encrypt. Reading decrypts all of them.
//!
//! ```
//! # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
//! # example::run(async |connection| {
//! use tablerock_client::encryption::{AesKey, EncryptionPolicy};
//! use tablerock_client::{TableEntity, TableServiceClient};
//!
//! #[derive(TableEntity)]
//! struct Employee {
//!     #[entity(partition_key)]
//!     department: String,
//!     #[entity(row_key)]
//!     id: String,
//!     #[entity(encrypt)]
//!     salary: String,
//! }
//!
//! # let service = TableServiceClient::from_connection_string(connection)?;
//! # service.table("People").create().await?;
//! # let key = [7; 32];
//! # let ann = Employee { department: "Sales".into(), id: "00001".into(), salary: "93,000".into() };
//! let people = service.table("People").with_encryption(EncryptionPolicy::new(AesKey::new("local:2026", &key)?));
//! people.insert(&ann).await?;
//! let ann: Employee = people.get("Sales", "00001").await?;
//! # assert_eq!(ann.salary, "93,000");
//! # Ok(()) });
//! ```
//!
//! # Limits
//!
//! - Only strings are encrypted. They are stored as binary, and filters cannot match them. Two reserved properties,
//!   `_ClientEncryptionMetadata1` and `2`, are added.
//! - Merges are rejected: a merge would replace the content key that decrypts the other properties. The exception is
//!   [`rewrap_key`](crate::TableClient::rewrap_key), which only changes the wrapping.
//! - Values are bound to the entity's keys. A copy of the stored bytes under other keys cannot be decrypted.
//! - The format has no authentication: it hides values, and does not detect changes to the stored bytes. Other
//!   libraries read no newer format for tables.

mod aes_key;
mod cipher;
mod decrypt;
mod encrypt;
mod error;
mod key;
mod key_ring;
mod metadata;
mod names;
mod policy;
mod rewrap;
#[cfg(feature = "encryption-rsa")]
mod rsa_key;
#[cfg(test)]
mod vector;

pub use aes_key::AesKey;
pub use error::{EncryptionError, KeyError};
pub use key::{ContentKey, KeyResolver, KeyWrapper};
pub use key_ring::KeyRing;
pub use policy::EncryptionPolicy;
pub use rewrap::RewrapKey;
#[cfg(feature = "encryption-rsa")]
pub use rsa_key::RsaKey;

/// The property with the wrapped content key, as JSON.
pub(crate) const METADATA_1: &str = "_ClientEncryptionMetadata1";
/// The property with the encrypted names of the encrypted properties.
pub(crate) const METADATA_2: &str = "_ClientEncryptionMetadata2";
