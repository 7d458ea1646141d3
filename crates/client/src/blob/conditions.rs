//! Conditions of calls on blobs and containers.

use std::fmt;
use std::sync::Arc;

use http::HeaderName;
use http::header::{IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_UNMODIFIED_SINCE};
use tablerock_protocol::Uuid;

use crate::entity::IntoDateTime;
use crate::pipeline::{Call, Pipeline, ServiceResponse};
use crate::request::{Exchange, Operation};
use crate::{Error, Etag, Request, Result};

const LEASE_ID: HeaderName = HeaderName::from_static("x-ms-lease-id");
const IF_TAGS: HeaderName = HeaderName::from_static("x-ms-if-tags");

/// The conditions of a call. The service checks all of them.
#[derive(Debug, Clone, Default)]
pub struct Conditions {
    headers: Vec<(HeaderName, String)>,
}

impl Conditions {
    pub(super) fn set(&mut self, name: HeaderName, value: String) {
        self.headers.retain(|(known, _)| *known != name);
        self.headers.push((name, value));
    }

    pub(super) fn add_to(&self, call: Call) -> Result<Call> {
        self.headers.iter().try_fold(call, |call, (name, value)| call.header(name.clone(), value))
    }
}

/// A kind of request with conditions.
pub trait Conditional {
    /// Returns the conditions.
    #[doc(hidden)]
    fn conditions_mut(&mut self) -> &mut Conditions;
}

impl<T, K: Conditional> Request<T, K> {
    /// Requires this version. Fails with 412 if the blob has another one or does not exist.
    pub fn if_match(self, etag: impl Into<Etag>) -> Self {
        let etag = etag.into().to_string();
        self.condition(IF_MATCH, etag)
    }

    /// Requires another version. A read fails with 304 if the blob has this one, a write with 412.
    pub fn if_none_match(self, etag: impl Into<Etag>) -> Self {
        let etag = etag.into().to_string();
        self.condition(IF_NONE_MATCH, etag)
    }

    /// Requires that the blob does not exist. Fails with 409 otherwise.
    #[doc(alias = "overwrite")]
    pub fn if_not_exists(self) -> Self {
        self.condition(IF_NONE_MATCH, "*".to_owned())
    }

    /// Requires a change after a time. The service compares whole seconds.
    pub fn if_modified_since(self, time: impl IntoDateTime) -> Self {
        self.dated(IF_MODIFIED_SINCE, time)
    }

    /// Requires that there is no change after a time. The service compares whole seconds.
    pub fn if_unmodified_since(self, time: impl IntoDateTime) -> Self {
        self.dated(IF_UNMODIFIED_SINCE, time)
    }

    /// Requires index tags of the blob to match an expression, such as `"Status" = 'done'`.
    #[doc(alias = "tag_conditions")]
    pub fn if_tags(self, expression: impl Into<String>) -> Self {
        self.condition(IF_TAGS, expression.into())
    }

    /// Passes the id of the active lease, which a write to a leased blob or container needs.
    #[doc(alias = "lease")]
    pub fn lease_id(self, id: Uuid) -> Self {
        self.condition(LEASE_ID, id.to_string())
    }

    fn dated(self, name: HeaderName, time: impl IntoDateTime) -> Self {
        let time = time.into_date_time().to_http_date();
        self.condition(name, time)
    }

    fn condition(mut self, name: HeaderName, value: String) -> Self {
        self.kind.conditions_mut().set(name, value);
        self
    }
}

/// The kind of a request with conditions and without other settings.
pub struct ConditionalCall<T> {
    pipeline: Arc<Pipeline>,
    /// An invalid name or value is returned when the request is sent.
    call: Result<Call>,
    conditions: Conditions,
    read: Box<dyn FnOnce(Result<ServiceResponse>) -> Result<T> + Send>,
}

impl<T: 'static> Request<T, ConditionalCall<T>> {
    pub(super) fn conditional(
        pipeline: &Arc<Pipeline>,
        call: Result<Call>,
        read: impl FnOnce(ServiceResponse) -> Result<T> + Send + 'static,
    ) -> Self {
        let read = Box::new(|response: Result<ServiceResponse>| response.and_then(read));
        Self::new(ConditionalCall { pipeline: Arc::clone(pipeline), call, conditions: Conditions::default(), read })
    }

    /// Adds a header to the call.
    pub(super) fn with_header(mut self, name: HeaderName, value: &str) -> Self {
        self.kind.call = self.kind.call.and_then(|call| call.header(name, value));
        self
    }

    /// Converts the result, for calls that expect an error.
    pub(super) fn convert<U>(
        self,
        map: impl FnOnce(Result<T>) -> Result<U> + Send + 'static,
    ) -> Request<U, ConditionalCall<U>> {
        self.map_kind(|ConditionalCall { pipeline, call, conditions, read }| ConditionalCall {
            pipeline,
            call,
            conditions,
            read: Box::new(|response| map(read(response))),
        })
    }

    /// Returns `None` or `false` for an error that is expected.
    pub(super) fn found(self, is_expected: fn(&Error) -> bool) -> Request<Option<T>, ConditionalCall<Option<T>>> {
        self.convert(move |found| crate::error::none_if(found, is_expected))
    }
}

impl<T> Conditional for ConditionalCall<T> {
    fn conditions_mut(&mut self) -> &mut Conditions {
        &mut self.conditions
    }
}

impl<T> Operation<T> for ConditionalCall<T> {
    async fn perform(self, exchange: &mut Exchange) -> Result<T> {
        let Self { pipeline, call, conditions, read } = self;
        let response = exchange.send(&pipeline, &conditions.add_to(call?)?).await;
        read(response)
    }
}

impl<T> fmt::Debug for ConditionalCall<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operation = self.call.as_ref().map(|call| call.operation);
        f.debug_struct("ConditionalCall").field("operation", &operation).finish_non_exhaustive()
    }
}
