//! Policies: steps of the caller's in the pipeline of every call.
//!
//! A [`CallPolicy`] runs once for each call, before its attempts are signed, so it can add `x-ms-*` headers. An
//! [`AttemptPolicy`] runs around each attempt, after the signature.
//!
//! ```
//! # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
//! # example::run(async |connection| {
//! use bytes::Bytes;
//! use tablerock_client::policy::{AttemptPolicy, CallHead, CallPolicy, NextAttempt};
//! use tablerock_client::transport::{BoxFuture, TransportError};
//! use tablerock_client::{BlobServiceClient, ClientOptions, Result};
//!
//! /// Names the user in whose name a call is made.
//! #[derive(Debug)]
//! struct Tenant(&'static str);
//!
//! impl CallPolicy for Tenant {
//!     fn prepare(&self, call: &mut CallHead<'_>) -> Result<()> {
//!         call.insert_header("x-ms-tenant", self.0)
//!     }
//! }
//!
//! /// Prints the status of each attempt.
//! #[derive(Debug)]
//! struct Statuses;
//!
//! impl AttemptPolicy for Statuses {
//!     fn send<'a>(
//!         &'a self,
//!         request: http::Request<Bytes>,
//!         next: NextAttempt<'a>,
//!     ) -> BoxFuture<'a, Result<http::Response<Bytes>, TransportError>> {
//!         Box::pin(async move {
//!             let response = next.send(request).await?;
//!             println!("{}", response.status());
//!             Ok(response)
//!         })
//!     }
//! }
//!
//! let options = ClientOptions::new().call_policy(Tenant("contoso")).attempt_policy(Statuses);
//! let service = BlobServiceClient::from_connection_string_with(connection, options)?;
//! service.container("photos").create().await?; // signed with its x-ms-tenant
//! # Ok(()) });
//! ```

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, Method, Request, Response};

use crate::pipeline::header;
use crate::request::is_own_header;
use crate::transport::{BoxFuture, Transport, TransportError};
use crate::{Error, Result};

/// A step that runs once for each call, before its attempts are signed.
#[doc(alias = "per_call_policy")]
pub trait CallPolicy: fmt::Debug + Send + Sync {
    /// Adds headers to a call, or rejects it with [`Error::Invalid`].
    fn prepare(&self, call: &mut CallHead<'_>) -> Result<()>;
}

/// A step that runs around each attempt, after its signature. It may observe, delay or replace the response; a change of
/// a signed header invalidates the signature.
#[doc(alias = "per_try_policy")]
#[doc(alias = "per_retry_policy")]
pub trait AttemptPolicy: fmt::Debug + Send + Sync {
    /// Sends an attempt with `next`, or responds itself.
    fn send<'a>(
        &'a self,
        request: Request<Bytes>,
        next: NextAttempt<'a>,
    ) -> BoxFuture<'a, Result<Response<Bytes>, TransportError>>;
}

/// A call before it is signed.
#[derive(Debug)]
pub struct CallHead<'a> {
    pub(crate) operation: &'static str,
    pub(crate) resource: &'a str,
    pub(crate) method: &'a Method,
    pub(crate) headers: &'a mut HeaderMap,
}

impl CallHead<'_> {
    /// Returns the operation, such as `InsertEntity`.
    pub fn operation(&self) -> &'static str {
        self.operation
    }

    /// Returns the table, queue or container of the call; empty if it has none.
    pub fn resource(&self) -> &str {
        self.resource
    }

    /// Returns the HTTP method.
    pub fn method(&self) -> &Method {
        self.method
    }

    /// Adds a header, or replaces one of the same name. Fails for a header that the client sets itself.
    pub fn insert_header(&mut self, name: &str, value: &str) -> Result<()> {
        let invalid = || Error::invalid(format!("{name:?} is not the name of a header"));
        let name = HeaderName::try_from(name).map_err(|_| invalid())?;
        if is_own_header(&name) {
            return Err(Error::invalid(format!("the client sets the header {name} itself: remove it from the policy")));
        }
        self.headers.insert(name, header(value)?);
        Ok(())
    }
}

/// The rest of the pipeline of an attempt: further policies, then the transport.
#[derive(Debug)]
pub struct NextAttempt<'a> {
    policies: &'a [Arc<dyn AttemptPolicy>],
    transport: &'a dyn Transport,
}

impl<'a> NextAttempt<'a> {
    pub(crate) fn new(policies: &'a [Arc<dyn AttemptPolicy>], transport: &'a dyn Transport) -> Self {
        Self { policies, transport }
    }

    /// Sends the request through the rest of the pipeline.
    pub fn send(self, request: Request<Bytes>) -> BoxFuture<'a, Result<Response<Bytes>, TransportError>> {
        match self.policies.split_first() {
            Some((policy, rest)) => policy.send(request, Self { policies: rest, transport: self.transport }),
            None => self.transport.send(request),
        }
    }
}
