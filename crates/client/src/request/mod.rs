//! Requests: calls that are sent when they are awaited, with options of their own.
//!
//! ```
//! # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
//! # example::with_people(async |people| {
//! # use tablerock_client::Entity;
//! use std::time::Duration;
//!
//! let ann: Entity = people.get("Sales", "00001").timeout(Duration::from_secs(2)).await?;
//!
//! let ann = Entity::new("Sales", "00003").with("Name", "Ann");
//! let inserted = people.insert(&ann).request_id("import-17").with_response().await?;
//! println!("{:?} at {:?}, request {:?}", inserted.value, inserted.date(), inserted.request_id());
//! # assert_eq!(inserted.client_request_id(), Some("import-17"));
//! # Ok(()) });
//! ```

mod options;
mod response;
mod single;

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use crate::Result;
use crate::pipeline::{Call, Pipeline, ServiceResponse};
use crate::transport::BoxFuture;

pub use options::CallOptions;
pub use response::{Response, WithResponse};
pub use single::Single;

pub(crate) use options::is_own_header;
pub(crate) use response::ResponseHead;

/// A call that is sent when it is awaited, and returns a `T`. `K` is the kind of the call, with its own settings.
///
/// All requests have the options of this type. They hold for this call only; those of
/// [`ClientOptions`](crate::ClientOptions) hold for all calls of a client.
#[must_use = "nothing is sent before it is awaited"]
pub struct Request<T, K = Single<T>> {
    pub(crate) kind: K,
    pub(crate) options: CallOptions,
    output: PhantomData<fn() -> T>,
}

/// A kind of [`Request`]. The types of this crate implement it.
pub trait Operation<T>: Send {
    /// Performs the call.
    #[doc(hidden)]
    fn perform(self, exchange: &mut Exchange) -> impl Future<Output = Result<T>> + Send;
}

/// The exchange of one call with the service: its options, and the head of its response if the caller wants it.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct Exchange {
    pub(crate) options: CallOptions,
    pub(crate) keeps_head: bool,
    pub(crate) head: Option<ResponseHead>,
}

impl Exchange {
    pub(crate) fn new(options: CallOptions) -> Self {
        Self { options, keeps_head: false, head: None }
    }

    /// Returns the exchange of another request of the same call.
    pub(crate) fn another(&self) -> Self {
        Self { options: self.options.clone(), keeps_head: self.keeps_head, head: None }
    }

    pub(crate) async fn send(&mut self, pipeline: &Pipeline, call: &Call) -> Result<ServiceResponse> {
        pipeline.send_with(call, self).await
    }
}

impl<T, K> Request<T, K> {
    pub(crate) fn new(kind: K) -> Self {
        Self { kind, options: CallOptions::new(), output: PhantomData }
    }

    /// Changes the kind and keeps the options.
    pub(crate) fn map_kind<U, L>(self, map: impl FnOnce(K) -> L) -> Request<U, L> {
        Request { kind: map(self.kind), options: self.options, output: PhantomData }
    }

    /// Sets the timeout of this call with all its attempts and delays, instead of that of the client.
    #[doc(alias = "deadline")]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options = self.options.timeout(timeout);
        self
    }

    /// Sets the client's id of the request, which the service returns and logs. A random one by default.
    #[doc(alias = "client_request_id")]
    #[doc(alias = "correlation_id")]
    pub fn request_id(mut self, id: impl AsRef<str>) -> Self {
        self.options = self.options.request_id(id);
        self
    }

    /// Adds a header, which a signature covers. An invalid header fails the call before it is sent.
    pub fn header(mut self, name: impl AsRef<str>, value: impl AsRef<str>) -> Self {
        self.options = self.options.header(name, value);
        self
    }

    /// Sets all options of the call.
    pub fn options(mut self, options: CallOptions) -> Self {
        self.options = options;
        self
    }

    /// Returns the status and the headers of the response as well; those of the last response if the call needs several
    /// requests.
    #[doc(alias = "raw_response")]
    #[doc(alias = "GetRawResponse")]
    pub fn with_response(self) -> Request<Response<T>, WithResponse<K>> {
        self.map_kind(WithResponse)
    }
}

impl<T: 'static, K: Operation<T> + 'static> IntoFuture for Request<T, K> {
    type Output = Result<T>;
    type IntoFuture = BoxFuture<'static, Result<T>>;

    fn into_future(self) -> Self::IntoFuture {
        let Self { kind, options, .. } = self;
        Box::pin(async move {
            let mut exchange = Exchange::new(options);
            kind.perform(&mut exchange).await
        })
    }
}

impl<T, K: Clone> Clone for Request<T, K> {
    fn clone(&self) -> Self {
        Self { kind: self.kind.clone(), options: self.options.clone(), output: PhantomData }
    }
}

impl<T, K: fmt::Debug> fmt::Debug for Request<T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("kind", &self.kind).field("options", &self.options).finish()
    }
}
