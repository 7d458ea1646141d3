//! Reading bodies, within bounds of size and time.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use tablerock_protocol::{ErrorCode, ServiceError};

use crate::memory_budget::{MemoryBudget, SMALL_BYTES};

/// How much of a refused body is read and thrown away. A client that is still sending when the connection
/// closes may never see the answer, so a body that is only somewhat too large is taken in to its end.
pub(crate) const DISCARD_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Reads a whole body of at most `bytes_max`, which keeps its room as long as anything of it is used.
pub(crate) async fn read(
    mut body: Incoming,
    bytes_max: usize,
    time: Duration,
    memory: &MemoryBudget,
) -> Result<Bytes, ServiceError> {
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    let announced = body.size_hint().lower();
    if announced > bytes_max as u64 {
        discard(body, DISCARD_BYTES_MAX, time).await;
        return Err(ErrorCode::RequestBodyTooLarge.into());
    }
    let mut place = memory.for_body(announced as usize, time).await?;
    let reading = async {
        let mut whole = BytesMut::with_capacity(announced as usize);
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| ServiceError::unreadable_body())?;
            let Ok(data) = frame.into_data() else { continue };
            if whole.len() + data.len() > bytes_max {
                return Ok(None);
            }
            // One that comes in chunks may become as long as it is allowed to.
            if announced == 0 && whole.len() <= SMALL_BYTES && whole.len() + data.len() > SMALL_BYTES {
                place = memory.for_body(bytes_max, time).await?;
            }
            whole.extend_from_slice(&data);
        }
        Ok(Some(place.hold(whole.freeze())))
    };
    match tokio::time::timeout(time, reading).await {
        Ok(Ok(Some(whole))) => Ok(whole),
        Ok(Ok(None)) => {
            discard(body, DISCARD_BYTES_MAX, time).await;
            Err(ErrorCode::RequestBodyTooLarge.into())
        }
        Ok(Err(error)) => Err(error),
        Err(_) => Err(ErrorCode::OperationTimedOut.into()),
    }
}

/// Reads a body that nobody wants, so that its sender gets to see the answer.
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
