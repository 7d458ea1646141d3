//! A transport that follows a script, one step for each request.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Request, Response};
use tablerock_client::transport::{BoxFuture, HyperTransport, Transport, TransportError};

/// The fate of a request.
#[derive(Debug, Clone)]
pub enum Step {
    /// It gets this response, and is not sent.
    Answer { status: u16, headers: Vec<(&'static str, String)>, body: String },
    /// It goes to the server, and its response comes back.
    Deliver,
    /// It goes to the server, and its response is lost.
    LoseAnswer,
    /// There is no connection.
    Refuse,
    /// Nothing ever comes back.
    Hang,
}

impl Step {
    pub fn status(status: u16) -> Self {
        Self::Answer { status, headers: Vec::new(), body: String::new() }
    }

    pub fn retry_after(status: u16, seconds: u64) -> Self {
        Self::Answer { status, headers: vec![("retry-after", seconds.to_string())], body: String::new() }
    }
}

/// Steps to come, and requests that came. After the last step, requests are delivered.
#[derive(Debug, Clone)]
pub struct Script {
    steps: Arc<Mutex<VecDeque<Step>>>,
    requests: Arc<Mutex<Vec<Request<Bytes>>>>,
    server: HyperTransport,
}

impl Script {
    pub fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        Self {
            steps: Arc::new(Mutex::new(steps.into_iter().collect())),
            requests: Arc::default(),
            server: HyperTransport::without_tls(),
        }
    }

    pub fn requests(&self) -> Vec<Request<Bytes>> {
        self.requests.lock().unwrap().clone()
    }
}

impl Transport for Script {
    fn send(&self, request: Request<Bytes>) -> BoxFuture<'_, Result<Response<Bytes>, TransportError>> {
        self.requests.lock().unwrap().push(request.clone());
        let step = self.steps.lock().unwrap().pop_front().unwrap_or(Step::Deliver);
        Box::pin(async move {
            match step {
                Step::Answer { status, headers, body } => {
                    let answer = headers
                        .into_iter()
                        .fold(Response::builder().status(status), |answer, (name, value)| answer.header(name, value));
                    Ok(answer.body(Bytes::from(body)).unwrap())
                }
                Step::Deliver => self.server.send(request).await,
                Step::LoseAnswer => {
                    self.server.send(request).await?;
                    Err(TransportError::lost("lost by the test"))
                }
                Step::Refuse => Err(TransportError::not_sent("refused by the test")),
                Step::Hang => std::future::pending().await,
            }
        })
    }
}
