//! Receiving content, and Put Blob.

use bytes::BytesMut;
use tablerock_kv::Bytes;
use tablerock_protocol::blob::{Checksums, ContentHeaders, CustomerKey, Digests, Tags};
use tablerock_protocol::{DateTime, ErrorCode, Metadata};

use super::address::{BlobAddress, BlobLocation, ContentAddress, WriteTerms};
use super::change::{BlobChange, Seen};
use super::content::{ContentSource, ContentUpload, INLINE_BYTES_MAX, Received, ReceivedBody};
use super::encryption::Encryptor;
use super::reclaim::ReclaimIntent;
use super::stored_blob::{Blob, BlobKind, Body};
use super::tier::Tier;
use super::{BlobService, lease};
use crate::{Error, Result};

/// The properties of a new blob.
#[derive(Debug, Clone)]
pub struct NewBlob {
    pub kind: BlobKind,
    pub headers: ContentHeaders,
    pub metadata: Metadata,
    pub tags: Tags,
    pub tier: Option<String>,
}

impl BlobService {
    /// Receives the content of a blob. Its container must be there.
    pub async fn receive_blob(
        &self,
        at: BlobAddress<'_>,
        source: &mut impl ContentSource,
        with_md5: bool,
    ) -> Result<Received> {
        self.receive_blob_with(at, source, with_md5, None).await
    }

    /// The same for content that is to be encrypted with a customer's key.
    pub async fn receive_blob_with(
        &self,
        at: BlobAddress<'_>,
        source: &mut impl ContentSource,
        with_md5: bool,
        key: Option<&CustomerKey>,
    ) -> Result<Received> {
        let place = self.place(at).await?;
        let received = self.receive_with(&place, source, with_md5, INLINE_BYTES_MAX, key).await;
        self.check_upload(at, &place, received).await
    }

    /// Receives the content of a block, which is never part of a record: a list of blocks has to stay small.
    pub async fn receive_block(
        &self,
        at: BlobAddress<'_>,
        source: &mut impl ContentSource,
        with_md5: bool,
    ) -> Result<Received> {
        self.receive_block_with(at, source, with_md5, None).await
    }

    /// The same for content that is to be encrypted with a customer's key.
    pub async fn receive_block_with(
        &self,
        at: BlobAddress<'_>,
        source: &mut impl ContentSource,
        with_md5: bool,
        key: Option<&CustomerKey>,
    ) -> Result<Received> {
        let place = self.place(at).await?;
        let received = self.receive_with(&place, source, with_md5, 0, key).await;
        self.check_upload(at, &place, received).await
    }

    /// A container that is deleted takes its content along, also content that is being received. Then that is the reason.
    async fn check_upload(
        &self,
        at: BlobAddress<'_>,
        place: &BlobLocation,
        received: Result<Received>,
    ) -> Result<Received> {
        match received {
            Err(Error::Store(error)) => match self.directory.id(at.account, at.container).await {
                Ok(id) if id != Some(place.container_id) => Err(ErrorCode::ContainerNotFound.into()),
                _ => Err(Error::Store(error)),
            },
            received => received,
        }
    }

    /// Receives content, which becomes a part of a record up to `inline_bytes_max`. With a key it is encrypted.
    pub(super) async fn receive_with(
        &self,
        place: &BlobLocation,
        source: &mut impl ContentSource,
        with_md5: bool,
        inline_bytes_max: usize,
        key: Option<&CustomerKey>,
    ) -> Result<Received> {
        let Some(key) = key else { return self.receive(place, source, with_md5, inline_bytes_max).await };
        let mut encryptor = Encryptor::new(source, key, with_md5)?;
        let received = self.receive(place, &mut encryptor, false, inline_bytes_max).await?;
        let (length, digests) = encryptor.finish();
        Ok(Received { length, digests, key_digest: Some(key.digest()), ..received })
    }

    pub(super) async fn receive(
        &self,
        place: &BlobLocation,
        source: &mut impl ContentSource,
        with_md5: bool,
        inline_bytes_max: usize,
    ) -> Result<Received> {
        // Small content needs no storage of its own, and often no declared length reveals it: collect until it is either
        // complete or too large for a record.
        let mut begun = BytesMut::new();
        while begun.len() <= inline_bytes_max {
            match source.next().await? {
                Some(piece) => begun.extend_from_slice(&piece),
                None if begun.len() > inline_bytes_max => break,
                None if inline_bytes_max == 0 => return Err(ErrorCode::InvalidHeaderValue.into()),
                None => return Ok(received_inline(place, begun.freeze(), with_md5)),
            }
        }
        // The intent is durable before the first chunk, so that an interrupted upload leaves no chunk behind.
        let content = self.content_ids.next().await?;
        let intent = self.intend_content(place, content).await?;
        // A declared length decides between records and a file.
        let expected_bytes = source.bytes_left().map(|left| left + begun.len() as u64);
        let at = ContentAddress { container_id: place.container_id, content };
        let mut upload = self.upload(at, expected_bytes, Checksums::new(with_md5));
        upload.write(begun.freeze()).await?;
        while let Some(piece) = source.next().await? {
            upload.write(piece).await?;
        }
        let (length, digests) = upload.finish().await?;
        let body = ReceivedBody::Stored { content, intent };
        Ok(Received { container_id: place.container_id, length, digests, key_digest: None, body })
    }

    pub(super) fn upload(
        &self,
        at: ContentAddress,
        expected_bytes: Option<u64>,
        checksums: Checksums,
    ) -> ContentUpload {
        ContentUpload::new(&self.store, self.inflow.clone(), at, expected_bytes, checksums)
    }

    /// Creates or replaces a blob; returns the time of the change.
    pub async fn put_blob(
        &self,
        at: BlobAddress<'_>,
        terms: &WriteTerms,
        new: &NewBlob,
        received: Received,
    ) -> Result<DateTime> {
        // Looked up again: the container may have been deleted while the content arrived.
        let place = self.place_to_write(at).await?;
        received.check_place(&place)?;
        let (length, key_digest) = (received.length, received.key_digest);
        let (body, intent) = match received.body {
            // An append blob starts empty and grows by records of its layout.
            ReceivedBody::Inline(_) if new.kind == BlobKind::Append => {
                (Body::Pieces { layout: self.content_ids.next().await?, records: 0 }, None)
            }
            ReceivedBody::Inline(bytes) => (Body::Inline(bytes), None),
            ReceivedBody::Stored { content, intent } => (Body::Whole { content }, Some(intent)),
        };
        let change = self.change(&place, |seen| {
            let blob = Blob { key_digest, ..self.blob_replacing(seen, terms, new, length, body.clone())? };
            let changed = blob.changed;
            Ok((BlobChange::replacing(seen, Some(blob)), changed))
        });
        // If this future is dropped before the change returns, the intent finds out whether the blob refers to the content.
        ReclaimIntent::protect(intent, change).await
    }

    /// Returns the record of a new blob, if it may replace the current one.
    pub(super) fn blob_replacing(
        &self,
        seen: &Seen,
        terms: &WriteTerms,
        new: &NewBlob,
        length: u64,
        body: Body,
    ) -> Result<Blob> {
        let now = self.clock.ticks();
        let current = seen.blob.as_ref();
        terms.check_replace(current, seen.lease.as_ref(), now)?;
        let changed = self.next_change(current.map(|blob| blob.changed))?;
        let tier = new.tier.clone().map(|name| Tier::new(name, changed));
        Ok(Blob {
            kind: new.kind,
            changed,
            created: current.map_or(changed, |blob| blob.created),
            length,
            blocks: 0,
            is_sealed: false,
            snapshots: current.map_or(0, |blob| blob.snapshots),
            headers: new.headers.clone(),
            metadata: new.metadata.clone(),
            tags: new.tags.clone(),
            tag_number: 0,
            lease: lease::after_write(seen.lease, now),
            tier,
            copy: None,
            key_digest: None,
            body,
        })
    }
}

fn received_inline(place: &BlobLocation, bytes: Bytes, with_md5: bool) -> Received {
    let digests = Digests::of(&bytes, with_md5);
    let (container_id, length) = (place.container_id, bytes.len() as u64);
    Received { container_id, length, digests, key_digest: None, body: ReceivedBody::Inline(bytes) }
}
