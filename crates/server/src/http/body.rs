//! Reading bodies as a whole, within bounds of size, time and memory.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::Body;
use tablerock_protocol::{ErrorCode, ServiceError};

use crate::http::request_body::RequestBody;
use crate::memory_budget::{ClientBudget, MemoryPermit, SMALL_BYTES};

/// How much of a rejected body is read and thrown away. A client that is still sending when the connection closes may
/// never see the response, so a body that is only somewhat too large is read to its end.
const DISCARD_BYTES_MAX: usize = 32 * 1024 * 1024;

/// How long a client may take to send a body that is read as a whole.
const BODY_TIME: Duration = Duration::from_secs(20);

/// A body that is read whole, or not at all.
#[derive(Debug)]
pub(crate) struct WholeBody {
    body: RequestBody,
    /// The client took too long to send it.
    is_late: bool,
}

impl WholeBody {
    pub(crate) fn new(body: RequestBody) -> Self {
        Self { body, is_late: false }
    }

    pub(crate) fn incoming(&self) -> &RequestBody {
        &self.body
    }

    /// Reads a body of at most `bytes_max`, whose memory permit lives as long as anything of it is used.
    pub(crate) async fn read(&mut self, bytes_max: usize, memory: &ClientBudget<'_>) -> Result<Bytes, ServiceError> {
        let body = &mut self.body;
        if body.is_end_stream() {
            return Ok(Bytes::new());
        }
        let announced = body.size_hint().lower();
        if announced > bytes_max as u64 {
            return Err(ErrorCode::RequestBodyTooLarge.into());
        }
        let reading = async {
            let mut whole = GrowingBody::new(announced as usize, bytes_max, memory);
            while let Some(frame) = body.frame().await {
                let frame = frame.map_err(|_| ServiceError::unreadable_body())?;
                let Ok(data) = frame.into_data() else { continue };
                if whole.len() + data.len() > bytes_max {
                    return Err(ErrorCode::RequestBodyTooLarge.into());
                }
                whole.append(&data).await?;
            }
            Ok(whole.finish())
        };
        let read = tokio::time::timeout(BODY_TIME, reading).await;
        self.is_late = read.is_err();
        read.unwrap_or_else(|_| Err(ErrorCode::OperationTimedOut.into()))
    }

    /// Reads the rest of a rejected request, so that its sender gets to see the response.
    pub(crate) async fn discard(self) {
        if !self.is_late {
            self.body.discard(DISCARD_BYTES_MAX, BODY_TIME).await;
        }
    }
}

/// The part of a body that has arrived. Its memory grows with it: a client that announces much and sends little takes
/// little from the others.
pub(crate) struct GrowingBody<'a> {
    bytes: BytesMut,
    expected_bytes: usize,
    memory: &'a ClientBudget<'a>,
    permit: MemoryPermit,
}

/// By how much the memory of a body grows each time.
const GROWTH: usize = 4;

/// The memory of a body that is not small. It has most bodies whole, and is touched only as they arrive.
const FIRST_BYTES: usize = 128 << 10;

impl<'a> GrowingBody<'a> {
    /// A body with this announced length; 0 if it comes in chunks and may have up to `bytes_max`.
    pub(crate) fn new(announced: usize, bytes_max: usize, memory: &'a ClientBudget<'a>) -> Self {
        let expected_bytes = if announced == 0 { bytes_max } else { announced };
        let bytes = BytesMut::with_capacity(announced.min(SMALL_BYTES));
        Self { bytes, expected_bytes, memory, permit: MemoryPermit::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Appends bytes once there is memory for them. Nothing is read from the connection meanwhile, so the client waits.
    pub(crate) async fn append(&mut self, data: &[u8]) -> Result<(), ServiceError> {
        let needed = self.bytes.len() + data.len();
        if needed > self.permit.bytes().max(SMALL_BYTES) {
            let size = (needed * GROWTH).max(FIRST_BYTES).min(self.expected_bytes).max(needed);
            let more = self.memory.take(size - self.permit.bytes(), BODY_TIME).await?;
            self.permit.absorb(more);
            self.bytes.reserve(size - self.bytes.len());
        }
        self.bytes.extend_from_slice(data);
        Ok(())
    }

    pub(crate) fn finish(self) -> Bytes {
        self.permit.hold(self.bytes.freeze())
    }
}
