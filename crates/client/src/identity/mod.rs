//! Access tokens of Microsoft Entra ID without other crates: a client secret, a workload identity or a managed identity.
//!
//! ```no_run
//! use tablerock_client::identity::{ManagedIdentityCredential, WorkloadIdentityCredential};
//! use tablerock_client::{Credential, Endpoint, TableServiceClient};
//!
//! // A pod of Kubernetes with a federated service account.
//! let endpoint = Endpoint::parse("https://acct.table.core.windows.net")?;
//! let credential = Credential::token(WorkloadIdentityCredential::from_env()?);
//! let service = TableServiceClient::new(endpoint.clone(), credential)?;
//!
//! // A virtual machine or an app service with an identity of its own.
//! let credential = Credential::token(ManagedIdentityCredential::from_env()?);
//! let service = TableServiceClient::new(endpoint, credential)?;
//! # Ok::<(), tablerock_client::Error>(())
//! ```
//!
//! A client keeps a token until shortly before it expires, and concurrent calls share one request for it. The feature
//! `azure-identity` accepts the credentials of the crate `azure_identity` as well.

mod application;
#[cfg(feature = "azure-identity")]
mod azure;
mod client_secret;
mod managed;
mod token_endpoint;
mod workload;

pub use client_secret::ClientSecretCredential;
pub use managed::ManagedIdentityCredential;
pub use workload::WorkloadIdentityCredential;

use crate::{Error, Result};

/// Reads a variable of the environment, unless it is empty.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Reads a variable of the environment that has to be set.
fn required(name: &str) -> Result<String> {
    variable(name).ok_or_else(|| Error::invalid(format!("the environment variable {name} is not set")))
}
