//! Reading bodies, within bounds of size and time.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use tablerock_protocol::{ErrorCode, ServiceError};

use crate::memory_budget::{MemoryBudget, SMALL_BYTES};

/// How much of a rejected body is read and thrown away. A client that is still sending when the connection closes may
/// never see the response, so a body that is only somewhat too large is read to its end.
const DISCARD_BYTES_MAX: usize = 32 * 1024 * 1024;

/// How long a client may take to send a body that is read as a whole.
const BODY_TIME: Duration = Duration::from_secs(20);

/// A body that is read whole, or not at all.
#[derive(Debug)]
pub(crate) struct WholeBody {
    body: Incoming,
    /// The client took too long to send it.
    is_late: bool,
}

impl WholeBody {
    pub(crate) fn new(body: Incoming) -> Self {
        Self { body, is_late: false }
    }

    pub(crate) fn incoming(&self) -> &Incoming {
        &self.body
    }

    /// Reads a body of at most `bytes_max`, whose memory permit lives as long as anything of it is used.
    pub(crate) async fn read(&mut self, bytes_max: usize, memory: &MemoryBudget) -> Result<Bytes, ServiceError> {
        let body = &mut self.body;
        if body.is_end_stream() {
            return Ok(Bytes::new());
        }
        let announced = body.size_hint().lower();
        if announced > bytes_max as u64 {
            return Err(ErrorCode::RequestBodyTooLarge.into());
        }
        let mut permit = memory.for_body(announced as usize, BODY_TIME).await?;
        let reading = async {
            let mut whole = BytesMut::with_capacity(announced as usize);
            while let Some(frame) = body.frame().await {
                let frame = frame.map_err(|_| ServiceError::unreadable_body())?;
                let Ok(data) = frame.into_data() else { continue };
                if whole.len() + data.len() > bytes_max {
                    return Err(ErrorCode::RequestBodyTooLarge.into());
                }
                // A body in chunks may become as long as it is allowed to.
                if announced == 0 && whole.len() <= SMALL_BYTES && whole.len() + data.len() > SMALL_BYTES {
                    permit = memory.for_body(bytes_max, BODY_TIME).await?;
                }
                whole.extend_from_slice(&data);
            }
            Ok(permit.hold(whole.freeze()))
        };
        let read = tokio::time::timeout(BODY_TIME, reading).await;
        self.is_late = read.is_err();
        read.unwrap_or_else(|_| Err(ErrorCode::OperationTimedOut.into()))
    }

    /// Reads the rest of a rejected request, so that its sender gets to see the response.
    pub(crate) async fn discard(self) {
        if !self.is_late {
            discard(self.body, DISCARD_BYTES_MAX, BODY_TIME).await;
        }
    }
}

/// Reads the rest of a body, up to a bound.
pub(crate) async fn discard(mut body: Incoming, bytes_max: usize, time: Duration) {
    let discarding = async {
        let mut discarded = 0;
        while let Some(Ok(frame)) = body.frame().await {
            discarded += frame.data_ref().map_or(0, Bytes::len);
            if discarded > bytes_max {
                break;
            }
        }
    };
    // Whether it ended or ran out of time makes no difference: the connection is closed if bytes are left.
    let _ = tokio::time::timeout(time, discarding).await;
}
