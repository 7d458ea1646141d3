//! Requests without settings of their own: one call, whose response is read by a function.

use std::fmt;
use std::sync::Arc;

use super::{Exchange, Operation, Request};
use crate::Result;
use crate::pipeline::{Call, Pipeline, ServiceResponse};

/// The kind of a request without settings of its own.
pub struct Single<T> {
    pipeline: Arc<Pipeline>,
    /// An invalid name or value is returned when the request is sent.
    call: Result<Call>,
    /// A function that captures nothing needs no allocation.
    read: Box<dyn FnOnce(Result<ServiceResponse>) -> Result<T> + Send>,
}

impl<T: 'static> Request<T> {
    /// Returns a request whose response is read by a function.
    pub(crate) fn single(
        pipeline: &Arc<Pipeline>,
        call: Result<Call>,
        read: impl FnOnce(ServiceResponse) -> Result<T> + Send + 'static,
    ) -> Self {
        let read = Box::new(|response: Result<ServiceResponse>| response.and_then(read));
        Self::new(Single { pipeline: Arc::clone(pipeline), call, read })
    }

    /// Converts the result, for calls that expect an error.
    pub(crate) fn map_result<U>(self, map: impl FnOnce(Result<T>) -> Result<U> + Send + 'static) -> Request<U> {
        self.map_kind(|Single { pipeline, call, read }| Single {
            pipeline,
            call,
            read: Box::new(|response| map(read(response))),
        })
    }
}

impl<T> Operation<T> for Single<T> {
    async fn perform(self, exchange: &mut Exchange) -> Result<T> {
        let Self { pipeline, call, read } = self;
        let response = exchange.send(&pipeline, &call?).await;
        read(response)
    }
}

impl<T> fmt::Debug for Single<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operation = self.call.as_ref().map(|call| call.operation);
        f.debug_struct("Single").field("operation", &operation).finish_non_exhaustive()
    }
}
