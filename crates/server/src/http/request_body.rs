//! The body of a request, over either version of HTTP.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use h2::RecvStream;
use http::{HeaderMap, header};
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming, SizeHint};

/// A body that is not read yet, or only in part.
#[derive(Debug)]
pub(crate) enum RequestBody {
    Http1 {
        body: Incoming,
        /// The client sends the body only when it is asked to, which the first read does.
        is_awaited: bool,
    },
    Http2 {
        stream: RecvStream,
        /// The bytes that are still to arrive, if the client announced a length.
        announced: Option<u64>,
    },
}

/// The connection broke off, or the body is not what its head announced.
#[derive(Debug)]
pub(crate) struct BrokenBody;

impl RequestBody {
    pub(crate) fn http1(body: Incoming, headers: &HeaderMap) -> Self {
        let expects = headers.get(header::EXPECT);
        let is_awaited = expects.is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"));
        Self::Http1 { body, is_awaited }
    }

    pub(crate) fn http2(stream: RecvStream, headers: &HeaderMap) -> Self {
        let length = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
        Self::Http2 { stream, announced: length.and_then(|text| text.parse().ok()) }
    }

    /// Reads the rest of the body of a rejected request, up to a bound. A client that is still sending when its connection
    /// closes may never see the response.
    ///
    /// Some bodies need not be read. An HTTP/2 stream ends without its connection. A client that waits to be asked for the
    /// body does not send it.
    pub(crate) async fn discard(mut self, bytes_max: usize, time: Duration) {
        if matches!(self, Self::Http2 { .. } | Self::Http1 { is_awaited: true, .. }) {
            return;
        }
        let discarding = async {
            let mut discarded = 0;
            while let Some(Ok(frame)) = self.frame().await {
                discarded += frame.data_ref().map_or(0, Bytes::len);
                if discarded > bytes_max {
                    break;
                }
            }
        };
        // Whether it ended or ran out of time makes no difference: the connection is closed if bytes are left.
        let _ = tokio::time::timeout(time, discarding).await;
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = BrokenBody;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        match self.get_mut() {
            Self::Http1 { body, is_awaited } => {
                *is_awaited = false;
                Pin::new(body).poll_frame(context).map_err(|_| BrokenBody)
            }
            Self::Http2 { stream, announced } => {
                let Some(data) = ready!(stream.poll_data(context)) else { return Poll::Ready(None) };
                let data = data.map_err(|_| BrokenBody)?;
                // The client may send as much again. Bytes in use are bounded by the memory budget.
                stream.flow_control().release_capacity(data.len()).map_err(|_| BrokenBody)?;
                *announced = announced.map(|bytes| bytes.saturating_sub(data.len() as u64));
                Poll::Ready(Some(Ok(Frame::data(data))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Http1 { body, .. } => body.is_end_stream(),
            Self::Http2 { stream, .. } => stream.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Http1 { body, .. } => body.size_hint(),
            Self::Http2 { announced: Some(bytes), .. } => SizeHint::with_exact(*bytes),
            Self::Http2 { .. } => SizeHint::default(),
        }
    }
}
