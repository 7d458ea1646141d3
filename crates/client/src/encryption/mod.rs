//! Client-side encryption of chosen text properties, in the format of Microsoft's libraries (protocol 1.0): what the
//! service stores, its backups and its operators see of them is cipher text.
//!
//! Each entity gets a random content key of its own, which encrypts the chosen properties and is stored beside them,
//! wrapped with a key that the application keeps. Which properties are encrypted is said by `#[entity(encrypt)]` on a
//! struct or by a resolver; reading needs to be told nothing.
//!
//! ```
//! # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
//! # example::run(async |connection| {
//! use tablerock_client::encryption::{AesKey, Encryption};
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
//! let people = service.table("People").with_encryption(Encryption::new(AesKey::new("local:2026", &key)?));
//! people.insert(&ann).await?;
//! let ann: Employee = people.get("Sales", "00001").await?;
//! # assert_eq!(ann.salary, "93,000");
//! # Ok(()) });
//! ```
//!
//! # What to know
//!
//! - Only text is encrypted. It is stored as binary, filters cannot see into it, and two reserved properties
//!   (`_ClientEncryptionMetadata1` and `2`) are added.
//! - Merges are refused: a merge would write a new content key beside values that only the old one opens. The one
//!   exception is [`rewrap_key`](crate::TableClient::rewrap_key), which changes the wrapping and nothing else.
//! - Values are bound to the entity's keys. Copied under other keys, they cannot be read any more.
//! - The format has no authentication: it hides values from whoever reads the storage, and does not show that somebody
//!   who can write there has changed them. There is no newer format for tables that other libraries could read.

mod aes_key;
mod cipher;
mod error;
mod key;
mod key_ring;
mod metadata;
mod names;
mod open;
mod policy;
mod rewrap;
#[cfg(feature = "encryption-rsa")]
mod rsa_key;
mod seal;
#[cfg(test)]
mod vector;

pub use aes_key::AesKey;
pub use error::{EncryptionError, KeyError};
pub use key::{ContentKey, KeyResolver, KeyWrapper};
pub use key_ring::KeyRing;
pub use policy::Encryption;
#[cfg(feature = "encryption-rsa")]
pub use rsa_key::RsaKey;

/// Where the wrapped content key stands, as JSON text.
pub(crate) const METADATA_1: &str = "_ClientEncryptionMetadata1";
/// Where the encrypted names of the encrypted properties stand.
pub(crate) const METADATA_2: &str = "_ClientEncryptionMetadata2";
