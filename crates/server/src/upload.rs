//! A body that is taken in piece by piece, within bounds of time and memory, because it may be larger than memory.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use tablerock_protocol::{ErrorCode, ServiceError};
use tokio::time::Instant;

use crate::body;
use crate::progress::Progress;
use crate::room::{BodyRoom, Room};

/// How long a client may send nothing.
const IDLE_TIME: Duration = Duration::from_secs(20);
/// How long a client may take in all, beside what its bytes account for.
const GRACE_TIME: Duration = Duration::from_secs(120);
/// The least that a client has to send in a second when that is over.
const RATE_BYTES: u64 = 32 << 10;
/// How much is taken in of a body that has been refused, for a client that reads its answer only after it has sent all.
const REFUSED_BYTES_MAX: usize = 256 << 20;

/// The body of a request that comes in as fast as it is asked for.
#[derive(Debug)]
pub(crate) struct Upload {
    body: Incoming,
    room: BodyRoom,
    progress: Arc<Progress>,
    received: u64,
    /// Time spent waiting for the client. What the store takes is not the client's.
    waited: Duration,
    /// What came in and was not asked for yet.
    rest: Bytes,
}

impl Upload {
    pub(crate) fn new(body: Incoming, room: &Room, progress: Arc<Progress>) -> Self {
        Self { body, room: room.bodies(), progress, received: 0, waited: Duration::ZERO, rest: Bytes::new() }
    }

    /// The length that the client announced, if it did.
    pub(crate) fn announced_bytes(&self) -> Option<u64> {
        self.body.size_hint().exact()
    }

    /// What has come in next, however much it is; `None` at the end.
    pub(crate) async fn piece(&mut self) -> Result<Option<Bytes>, ServiceError> {
        if !self.rest.is_empty() {
            return Ok(Some(std::mem::take(&mut self.rest)));
        }
        loop {
            let asked = Instant::now();
            let frame = tokio::time::timeout(IDLE_TIME, self.body.frame()).await;
            self.waited += asked.elapsed();
            let Some(frame) = frame.map_err(|_| ErrorCode::OperationTimedOut)? else { return Ok(None) };
            let frame = frame.map_err(|_| ServiceError::unreadable_body())?;
            // Trailers are not looked at.
            let Ok(data) = frame.into_data() else { continue };
            self.received += data.len() as u64;
            if self.waited > GRACE_TIME + Duration::from_secs(self.received / RATE_BYTES) {
                return Err(ErrorCode::OperationTimedOut.into());
            }
            self.progress.note();
            if !data.is_empty() {
                return Ok(Some(data));
            }
        }
    }

    /// The next `bytes`, fewer only at the end of the body; `None` behind it. Large ones have room for as long as
    /// anything of them is used.
    pub(crate) async fn chunk(&mut self, bytes: usize) -> Result<Option<Bytes>, ServiceError> {
        let Some(first) = self.piece().await? else { return Ok(None) };
        if first.len() >= bytes || self.body.is_end_stream() {
            return Ok(Some(self.take(first, bytes)));
        }
        let announced = self.announced_bytes().and_then(|left| usize::try_from(left).ok());
        let expected = announced.map_or(bytes, |left| bytes.min(first.len().saturating_add(left)));
        let place = self.room.take(expected, IDLE_TIME).await?;
        let mut chunk = BytesMut::with_capacity(expected);
        chunk.extend_from_slice(&first);
        while chunk.len() < bytes
            && let Some(piece) = self.piece().await?
        {
            let piece = self.take(piece, bytes - chunk.len());
            chunk.extend_from_slice(&piece);
        }
        Ok(Some(place.hold(chunk.freeze())))
    }

    /// The whole body, if it has no more than `bytes_max`.
    pub(crate) async fn whole(&mut self, bytes_max: usize) -> Result<Bytes, ServiceError> {
        let too_large = || ServiceError::body_too_large(bytes_max as u64);
        if self.announced_bytes().is_some_and(|announced| announced > bytes_max as u64) {
            return Err(too_large());
        }
        let whole = self.chunk(bytes_max).await?.unwrap_or_default();
        if self.piece().await?.is_some() { Err(too_large()) } else { Ok(whole) }
    }

    /// At most `bytes` of a piece; what is over is kept for the next time.
    fn take(&mut self, mut piece: Bytes, bytes: usize) -> Bytes {
        if piece.len() > bytes {
            self.rest = piece.split_off(bytes);
        }
        piece
    }

    /// Takes in what nobody asked for, so that the sender gets to see the answer.
    pub(crate) async fn finish(self) {
        if !self.body.is_end_stream() {
            body::discard(self.body, REFUSED_BYTES_MAX, IDLE_TIME).await;
        }
    }
}
