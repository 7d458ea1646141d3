//! A client for Azure Table Storage, and for the servers that speak like it: Tablerock and Azurite.

#![deny(missing_docs)]

mod connection_string;
mod credential;
mod endpoint;
pub mod entity;
mod error;
mod options;
mod pipeline;
pub mod sas;
mod surroundings;
pub mod table;
pub mod transport;

pub use connection_string::ConnectionString;
pub use credential::{AccessToken, Credential, Sas, SharedKey, TokenSource};
pub use endpoint::Endpoint;
pub use entity::{
    Column, Entity, EntityError, EntityKey, Etag, FromEntity, Keyed, PropertyValue, TableEntity, column, edm,
    partition_key, row_key, timestamp,
};
pub use error::{Error, Result, ServiceFailure, TransactionFailure};
pub use options::{ClientOptions, RetryPolicy};
pub use futures_util::{Stream, StreamExt, TryStreamExt};
pub use table::{Continuation, Page, TableClient, TableServiceClient, Write};
pub use tablerock_client_derive::TableEntity;
pub use tablerock_protocol::{DateTime, EdmType, ErrorCode, Filter, Property, Uuid, Value};

#[doc(hidden)]
pub use entity::derived;
