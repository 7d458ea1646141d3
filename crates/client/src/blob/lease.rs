//! Leases of blobs and containers: exclusive access for a time.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, Method};
use tablerock_protocol::Uuid;

use super::conditions::ConditionalCall;
use super::{BlobClient, ContainerClient};
use crate::pipeline::{Call, Pipeline, ServiceResponse};
use crate::{Error, Request, Result};

const ACTION: HeaderName = HeaderName::from_static("x-ms-lease-action");
const LEASE_ID: HeaderName = HeaderName::from_static("x-ms-lease-id");
const DURATION: HeaderName = HeaderName::from_static("x-ms-lease-duration");
const PROPOSED_ID: HeaderName = HeaderName::from_static("x-ms-proposed-lease-id");
const BREAK_PERIOD: HeaderName = HeaderName::from_static("x-ms-lease-break-period");

/// A request on a lease that returns the lease's id.
pub type LeaseRequest = Request<Uuid, ConditionalCall<Uuid>>;

/// Defines the lease calls of a client, whose method `lease_call` begins each of them.
macro_rules! lease_calls {
    ($client:ident, $what:literal) => {
        impl $client {
            #[doc = concat!("Acquires a lease of the ", $what, " for 15 to 60 seconds and returns its id.")]
            ///
            /// Until the lease ends, writes need its id; see [`lease_id`](Request::lease_id). After a lost response,
            /// a retry fails with 409, unless [`acquire_lease_as`](Self::acquire_lease_as) proposes the id.
            #[doc(alias = "BlobLeaseClient")]
            pub fn acquire_lease(&self, duration: Duration) -> LeaseRequest {
                self.acquire(&duration.as_secs().to_string(), None)
            }

            #[doc = concat!("Acquires a lease of the ", $what, " that holds until it is released or broken.")]
            pub fn acquire_infinite_lease(&self) -> LeaseRequest {
                self.acquire("-1", None)
            }

            /// Acquires a lease with an id of the caller's. It succeeds again while the lease with this id is active.
            pub fn acquire_lease_as(&self, id: Uuid, duration: Option<Duration>) -> LeaseRequest {
                let duration = duration.map_or_else(|| "-1".to_owned(), |duration| duration.as_secs().to_string());
                self.acquire(&duration, Some(id))
            }

            /// Renews a lease for its duration.
            pub fn renew_lease(&self, id: Uuid) -> LeaseRequest {
                lease(&self.pipeline, self.lease_call("renew").and_then(|call| with_id(call, id)), read_id)
            }

            /// Changes the id of an active lease and returns the new one.
            pub fn change_lease(&self, id: Uuid, new_id: Uuid) -> LeaseRequest {
                let call = self.lease_call("change").and_then(|call| with_id(call, id));
                let call = call.and_then(|call| call.header(PROPOSED_ID, &new_id.to_string()));
                lease(&self.pipeline, call, read_id)
            }

            /// Releases a lease, so that another can be acquired at once.
            pub fn release_lease(&self, id: Uuid) -> Request<(), ConditionalCall<()>> {
                lease(&self.pipeline, self.lease_call("release").and_then(|call| with_id(call, id)), |_| Ok(()))
            }

            /// Breaks the lease without its id, and returns the time until another can be acquired. Without a `period`
            /// that is the rest of the lease, or none if the lease is infinite.
            pub fn break_lease(&self, period: Option<Duration>) -> Request<Duration, ConditionalCall<Duration>> {
                let call = self.lease_call("break").and_then(|call| match period {
                    Some(period) => call.header(BREAK_PERIOD, &period.as_secs().to_string()),
                    None => Ok(call),
                });
                lease(&self.pipeline, call, read_time)
            }

            fn acquire(&self, duration: &str, id: Option<Uuid>) -> LeaseRequest {
                let call = self.lease_call("acquire").and_then(|call| call.header(DURATION, duration));
                let call = call.and_then(|call| match id {
                    Some(id) => call.header(PROPOSED_ID, &id.to_string()),
                    None => Ok(call),
                });
                lease(&self.pipeline, call, read_id)
            }
        }
    };
}

lease_calls!(BlobClient, "blob");
lease_calls!(ContainerClient, "container");

impl BlobClient {
    fn lease_call(&self, action: &'static str) -> Result<Call> {
        Ok(self.call("LeaseBlob", Method::PUT).query("comp", "lease").static_header(ACTION, action))
    }
}

impl ContainerClient {
    fn lease_call(&self, action: &'static str) -> Result<Call> {
        Ok(self.call("LeaseContainer", Method::PUT).query("comp", "lease").static_header(ACTION, action))
    }
}

fn lease<T: 'static>(
    pipeline: &Arc<Pipeline>,
    call: Result<Call>,
    read: fn(&ServiceResponse) -> Result<T>,
) -> Request<T, ConditionalCall<T>> {
    Request::conditional(pipeline, call, move |response| read(&response))
}

fn with_id(call: Call, id: Uuid) -> Result<Call> {
    call.header(LEASE_ID, &id.to_string())
}

fn read_id(response: &ServiceResponse) -> Result<Uuid> {
    let id = response.header(LEASE_ID.as_str()).and_then(|id| Uuid::try_parse(id).ok());
    response.confirm(id.ok_or_else(|| Error::InvalidResponse("it has no x-ms-lease-id".to_owned())))
}

fn read_time(response: &ServiceResponse) -> Result<Duration> {
    let seconds = response.header("x-ms-lease-time").and_then(|seconds| seconds.parse().ok());
    let seconds = seconds.ok_or_else(|| Error::InvalidResponse("it has no x-ms-lease-time".to_owned()));
    response.confirm(seconds).map(Duration::from_secs)
}
