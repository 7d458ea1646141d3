//! A client for Azure Table Storage and the compatible servers Tablerock and Azurite.
//!
//! Entities are structs, or an [`Entity`] with any properties. Queries consist of typed columns, which prevents type
//! errors and injection. Values round-trip exactly: 64-bit integers, ticks of 100 ns, bytes and doubles.
//!
//! ```
//! use tablerock_client::{Etag, TableEntity};
//!
//! #[derive(TableEntity, Debug, Clone)]
//! #[entity(rename_all = "PascalCase")]
//! struct Employee {
//!     #[entity(partition_key)]
//!     department: String,
//!     #[entity(row_key)]
//!     id: String,
//!     last_name: String,
//!     age: i32,
//!     email: Option<String>,
//!     #[entity(etag)]
//!     etag: Option<Etag>,
//! }
//! ```
//!
//! # Point reads
//!
//! A connection string has the endpoints and the credential. `UseDevelopmentStorage=true` is the development server on
//! this machine.
//!
//! ```
//! # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
//! # example::run(async |connection| {
//! # use tablerock_client::{Entity, TableEntity};
//! # #[derive(TableEntity)] struct Employee { #[entity(partition_key)] department: String, #[entity(row_key)] id: String }
//! use tablerock_client::TableServiceClient;
//!
//! let service = TableServiceClient::from_connection_string(connection)?;
//! let people = service.table("People");
//! # people.create().await?;
//! # people.insert(&Entity::new("Sales", "00001").with("LastName", "Ash")).await?;
//!
//! let ann: Employee = people.get("Sales", "00001").await?;
//! let maybe: Option<Employee> = people.get_if_exists("Sales", "00002").await?;
//! let entity: Entity = people.get("Sales", "00001").await?;
//! println!("{:?}, last written {:?}", entity.get("LastName"), entity.timestamp);
//! # assert!(maybe.is_none() && ann.id == entity.row_key && entity.timestamp.is_some());
//! # Ok(()) });
//! ```
//!
//! # Queries
//!
//! ```
//! # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
//! # example::with_people(async |people| {
//! # use tablerock_client::{ContinuationToken, TableEntity};
//! # #[derive(TableEntity)] #[entity(rename_all = "PascalCase")] struct Employee { age: i32, email: Option<String> }
//! # #[derive(TableEntity)] #[entity(rename_all = "PascalCase")] struct EmailOnly { email: Option<String> }
//! # let stored: Option<String> = None;
//! # let mut ages = Vec::new();
//! use tablerock_client::{Keyed, TryStreamExt};
//!
//! // A stream, which reads a page when it needs one.
//! let query = people.query::<Employee>().partition("Sales").filter(Employee::age().gt(30).or(Employee::email().eq("")));
//! let mut employees = query.clone().stream();
//! while let Some(employee) = employees.try_next().await? {
//!     println!("{}", employee.age);
//! #   ages.push(employee.age);
//! }
//! # assert_eq!(ages, [41]);
//!
//! // A projection with keys, one page at a time, with a continuation token that can be stored.
//! let token: Option<ContinuationToken> = stored.map(|text| text.parse()).transpose()?;
//! let page = query.select::<Keyed<EmailOnly>>().page_size(50).page(token.as_ref()).await?;
//! for Keyed { row_key, value, .. } in &page.items {
//!     println!("{row_key}: {:?}", value.email);
//! }
//! let to_be_stored: Option<String> = page.continuation_token.map(|token| token.to_string());
//! # assert_eq!(page.items[0].value.email.as_deref(), Some("ash@example.com"));
//! # Ok(()) });
//! ```
//!
//! # Writes
//!
//! Replace, merge and delete require the version that was read. `any_version` overwrites any version.
//!
//! ```
//! # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
//! # example::with_people(async |people| {
//! # use tablerock_client::{Entity, Etag, TableEntity};
//! # #[derive(TableEntity)] struct Employee { #[entity(partition_key)] department: String, #[entity(row_key)] id: String,
//! #     age: i32, #[entity(etag)] etag: Option<Etag> }
//! # let employee = |id: &str| Employee { department: "Sales".into(), id: id.into(), age: 41, etag: None };
//! # let (mut ann, new) = (employee("00003"), [employee("00004"), employee("00005")]);
//! use tablerock_client::TableOperation;
//!
//! ann.etag = Some(people.insert(&ann).await?);
//! ann.age += 1;
//! match people.replace(&ann).await {
//!     Ok(etag) => ann.etag = Some(etag),
//!     Err(error) if error.is_precondition_failed() => println!("changed by another writer: read again"),
//!     Err(error) => return Err(error),
//! }
//! people.merge(&Entity::new("Sales", "00001").with("Email", "ann@example.com")).any_version().await?;
//! let existed = people.delete(&ann).any_version().if_exists().await?;
//!
//! // Any number of entities in any partitions, each with its own result.
//! let report = people.bulk(new.iter().map(TableOperation::insert_or_replace)).await;
//! println!("{} failed", report.failures().count());
//! # assert!(existed && report.failures().count() == 0);
//! # Ok(()) });
//! ```
//!
//! # Transactions
//!
//! Up to a hundred operations in one partition, all or none.
//!
//! ```
//! # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
//! # example::with_people(async |people| {
//! # use tablerock_client::Entity;
//! # let ann: Entity = people.get("Sales", "00001").await?;
//! let by_email = Entity::new("Sales", "email_ann@example.com").with("LastName", "Ash");
//! let outcome = people.transaction().replace(&ann).insert(&by_email).commit().await;
//! # assert!(outcome.is_ok());
//! # let outcome = people.transaction().merge(&by_email).commit().await;
//! # assert!(outcome.is_err());
//! if let Err(error) = outcome {
//!     println!("nothing was written; operation {:?} failed: {error}", error.failed_index());
//! }
//! # Ok(()) });
//! ```
//!
//! # Shared access signatures
//!
//! Signatures for tables, queues, containers, blobs and accounts; see [`sas`].
//!
//! ```
//! use tablerock_client::TableServiceClient;
//! use tablerock_client::sas::TablePermissions;
//!
//! let service = TableServiceClient::from_connection_string("UseDevelopmentStorage=true")?;
//! let people = service.table("People");
//! let expiry = tablerock_client::DateTime::parse("2030-01-01").expect("it is a date");
//! let sas = people.sas(TablePermissions::READ, expiry).from_partition("Sales").to_partition("Sales").sign()?;
//! println!("{}/{}?{}", people.endpoint(), people.name(), sas.as_str());
//! let reader = people.with_credential(sas)?;
//! # Ok::<(), tablerock_client::Error>(())
//! ```
//!
//! # Encryption
//!
//! Properties that only the application can read, in the format of Microsoft's libraries; see [`encryption`].
//!
//! ```
//! # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
//! # #[cfg(feature = "encryption")]
//! # example::run(async |connection| {
//! # use tablerock_client::{TableEntity, TableServiceClient};
//! use tablerock_client::encryption::{AesKey, EncryptionPolicy};
//!
//! #[derive(TableEntity)]
//! struct Salary {
//!     #[entity(partition_key)]
//!     department: String,
//!     #[entity(row_key)]
//!     id: String,
//!     #[entity(encrypt)]
//!     amount: String,
//! }
//!
//! # let service = TableServiceClient::from_connection_string(connection)?;
//! # service.table("Salaries").create().await?;
//! # let secret = [7; 32];
//! # let ann = Salary { department: "Sales".into(), id: "00001".into(), amount: "93,000".into() };
//! let policy = EncryptionPolicy::new(AesKey::new("local:2026", &secret)?);
//! let salaries = service.table("Salaries").with_encryption(policy);
//! salaries.insert(&ann).await?;
//! let ann: Salary = salaries.get("Sales", "00001").await?; // decrypted
//! salaries.rewrap_key("Sales", "00001").await?; // after a change of the key
//! # assert_eq!(ann.amount, "93,000");
//! # Ok(()) });
//! ```
//!
//! # Errors and retries
//!
//! The client retries transient errors with exponential backoff within a timeout; see [`RetryPolicy`]. A write whose
//! response was lost may have been applied even if its retry fails; see [`Error::is_ambiguous`].
//!
//! Each call has a `tracing` span named `storage_call`, with the operation, the table, the number of attempts, the
//! status and the request ids, under the names of OpenTelemetry. It does not have keys or values.
//! [`ClientOptions::trace_propagation`] adds `traceparent` to requests.
//!
//! # Features
//!
//! - `encryption`, on by default: client-side encryption with AES key wrap.
//! - `encryption-rsa`: key wrap with RSA as well.
//! - `serde`: [`Entity`] as data, and types of serde as entities.
//! - `time` and `chrono`: dates of these crates as properties.
//! - `hyper`, on by default: the default transport. Without it, an application brings its own
//!   [`Transport`](transport::Transport).
//! - `tls-ring`, on by default, or `tls-aws-lc`: TLS of the default transport by rustls.
//! - `native-roots`, on by default: TLS trusts the certificates of the operating system.
//! - `azure-identity`: credentials of the crate `azure_identity` as a [`Credential`].

#![deny(missing_docs)]

mod access_policy;
pub mod blob;
mod connection_string;
mod credential;
#[cfg(feature = "encryption")]
pub mod encryption;
mod endpoint;
pub mod entity;
mod environment;
mod error;
pub mod identity;
mod listing;
mod options;
mod pipeline;
pub mod policy;
pub mod queue;
pub mod request;
pub mod sas;
pub mod table;
pub mod transport;

pub use ::{bytes, http};
#[cfg(any(feature = "tls-ring", feature = "tls-aws-lc"))]
pub use ::rustls;
pub use blob::{BlobClient, BlobServiceClient, ContainerClient};
pub use connection_string::ConnectionString;
pub use credential::{AccessToken, Credential, Sas, SharedKey, TokenCredential};
pub use endpoint::Endpoint;
pub use entity::{
    Column, Entity, EntityError, EntityKey, Etag, FromEntity, Keyed, PropertyValue, TableEntity, ToProperties, column,
    edm, partition_key, row_key, timestamp,
};
pub use error::{Error, Result, ServiceFailure, TimeoutLimit, TransactionFailure};
pub use futures_util::{Stream, StreamExt, TryStreamExt};
pub use options::{ClientOptions, RetryPolicy};
pub use queue::{QueueClient, QueueMessage, QueueServiceClient};
pub use request::{CallOptions, Request, Response};
pub use table::{ContinuationToken, Page, TableClient, TableOperation, TableServiceClient};
#[doc = include_str!("entity/docs/entity_key.md")]
pub use tablerock_client_derive::EntityKey;
#[doc = include_str!("entity/docs/property_value.md")]
pub use tablerock_client_derive::PropertyValue;
#[doc = include_str!("entity/docs/table_entity.md")]
pub use tablerock_client_derive::TableEntity;
pub use tablerock_protocol::{DateTime, EdmType, ErrorCode, Filter, Property, Uuid, Value};

#[doc(hidden)]
pub use entity::derived;

/// The examples of the README run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
