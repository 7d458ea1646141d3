//! The record of a blob or of a snapshot.

use tablerock_kv::{Bytes, Result};
use tablerock_protocol::blob::{ContentHeaders, ContentMd5, ContentType, CopySourceUrl, KeyDigest, Tags};
use tablerock_protocol::{DateTime, ErrorCode, Keyword, Metadata, ServiceError};

use super::encryption::stored_length;
use super::lease::{self, Lease};
use super::page::PageBody;
use super::tier::Tier;
use crate::fields::{FieldReader, FieldWriter};

const FORMAT: u8 = 1;

/// The same with fields behind the body that most blobs do not have: their number, and each behind its tag.
const FORMAT_WITH_EXTRAS: u8 = 2;

/// The tags of these fields.
const TAG_NUMBER: u8 = 1;
const KEY_DIGEST: u8 = 2;

/// How a blob is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlobKind {
    Block,
    Append,
    Page,
}

impl BlobKind {
    /// As `x-ms-blob-type` has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Block => "BlockBlob",
            Self::Append => "AppendBlob",
            Self::Page => "PageBlob",
        }
    }
}

impl Keyword for BlobKind {
    const WORDS: &'static [(&'static str, Self)] =
        &[("BlockBlob", Self::Block), ("AppendBlob", Self::Append), ("PageBlob", Self::Page)];
}

/// Where the bytes of a blob are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Body {
    /// Here.
    Inline(Bytes),
    /// In one content.
    Whole { content: u64 },
    /// In pieces, which are listed in so many records of this layout.
    Pieces { layout: u64, records: u64 },
    /// In layers of pages.
    Pages(PageBody),
}

/// Where a copy came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyState {
    pub id: String,
    pub source: CopySourceUrl,
    pub completed: DateTime,
}

/// A blob, or a snapshot of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob {
    pub kind: BlobKind,
    /// When it was last changed: its ETag and Last-Modified.
    pub changed: DateTime,
    pub created: DateTime,
    pub length: u64,
    /// Committed blocks, as far as it is made of them.
    pub blocks: u64,
    pub is_sealed: bool,
    /// How many snapshots there are of it.
    pub(super) snapshots: u64,
    pub headers: ContentHeaders,
    pub metadata: Metadata,
    pub tags: Tags,
    /// The number of the tags' entries in the index; 0 if they have none.
    pub(super) tag_number: u64,
    pub lease: Option<Lease>,
    pub tier: Option<Tier>,
    pub copy: Option<CopyState>,
    /// The digest of the customer's key that its content is encrypted with.
    pub key_digest: Option<KeyDigest>,
    pub(super) body: Body,
}

impl Blob {
    /// When it got its tier. The default tier is as old as the blob.
    pub(super) fn tier_changed(&self, now: u64) -> DateTime {
        self.tier.as_ref().map_or(self.created, |tier| tier.at(now).changed)
    }

    /// Fails if the blob is archived: then its content cannot be read, and nothing but its tier and tags changes.
    pub(super) fn check_online(&self, now: u64) -> Result<(), ServiceError> {
        match &self.tier {
            Some(tier) if tier.at(now).is_archive() => Err(ErrorCode::BlobArchived.into()),
            _ => Ok(()),
        }
    }

    /// The pages of a page blob, and the properties that only page blobs have. Other blobs are of the wrong type.
    pub fn pages(&self) -> Result<&PageBody, ErrorCode> {
        match &self.body {
            Body::Pages(body) => Ok(body),
            _ => Err(ErrorCode::InvalidBlobType),
        }
    }

    pub(super) fn pages_mut(&mut self) -> Result<&mut PageBody, ErrorCode> {
        match &mut self.body {
            Body::Pages(body) => Ok(body),
            _ => Err(ErrorCode::InvalidBlobType),
        }
    }

    /// Rejects what the target of an incremental copy does not allow.
    pub(super) fn check_not_incremental(&self) -> Result<(), ErrorCode> {
        match &self.body {
            Body::Pages(body) if body.is_incremental_copy() => Err(ErrorCode::OperationNotAllowedOnIncrementalCopyBlob),
            _ => Ok(()),
        }
    }

    /// Whether its content is encrypted with a customer's key.
    pub(super) fn is_key_needed(&self) -> bool {
        self.key_digest.is_some()
    }

    /// The length of its content as it is stored.
    pub(super) fn stored_length(&self) -> u64 {
        stored_length(self.length, self.is_key_needed())
    }

    pub(super) fn encode(&self) -> Bytes {
        let extras = u64::from(self.tag_number != 0) + u64::from(self.key_digest.is_some());
        let mut out = FieldWriter::new(if extras == 0 { FORMAT } else { FORMAT_WITH_EXTRAS });
        out.byte(match self.kind {
            BlobKind::Block => 1,
            BlobKind::Append => 2,
            BlobKind::Page => 3,
        });
        out.ticks(self.changed.ticks());
        out.ticks(self.created.ticks());
        out.number(self.length);
        out.number(self.blocks);
        out.byte(u8::from(self.is_sealed));
        out.number(self.snapshots);
        encode_headers(&self.headers, &mut out);
        out.pairs(self.metadata.pairs());
        out.pairs(self.tags.pairs());
        lease::encode(self.lease.as_ref(), &mut out);
        out.text(&self.tier.as_ref().map_or_else(String::new, Tier::stored));
        out.ticks(self.tier.as_ref().map_or(0, |tier| tier.changed.ticks()));
        out.text(self.copy.as_ref().map_or("", |copy| &copy.id));
        if let Some(copy) = &self.copy {
            out.text(copy.source.as_str());
            out.ticks(copy.completed.ticks());
        }
        match &self.body {
            Body::Inline(bytes) => {
                out.byte(1);
                out.bytes(bytes);
            }
            Body::Whole { content } => {
                out.byte(2);
                out.number(*content);
            }
            Body::Pieces { layout, records } => {
                out.byte(3);
                out.number(*layout);
                out.number(*records);
            }
            Body::Pages(body) => {
                out.byte(4);
                body.encode(&mut out);
            }
        }
        if extras > 0 {
            out.number(extras);
        }
        if self.tag_number != 0 {
            out.byte(TAG_NUMBER);
            out.number(self.tag_number);
        }
        if let Some(digest) = &self.key_digest {
            out.byte(KEY_DIGEST);
            out.raw(&digest.0);
        }
        out.finish()
    }

    pub(crate) fn decode(record: &Bytes) -> Result<Self> {
        let format = if record.first() == Some(&FORMAT_WITH_EXTRAS) { FORMAT_WITH_EXTRAS } else { FORMAT };
        let mut fields = FieldReader::new(record, format, "the record of a blob")?;
        let kind = match fields.byte()? {
            1 => BlobKind::Block,
            2 => BlobKind::Append,
            3 => BlobKind::Page,
            _ => return Err(fields.corrupt()),
        };
        let changed = fields.time()?;
        let created = fields.time()?;
        let (length, blocks) = (fields.number()?, fields.number()?);
        let is_sealed = fields.byte()? == 1;
        let snapshots = fields.number()?;
        let headers = decode_headers(&mut fields)?;
        let metadata = Metadata::new(fields.pairs()?).map_err(|_| fields.corrupt())?;
        let tags = Tags::new(fields.pairs()?).map_err(|_| fields.corrupt())?;
        let lease = lease::decode(&mut fields)?;
        let (tier, tier_changed) = (fields.text()?, fields.time()?);
        let tier = Tier::from_stored(tier, tier_changed).ok_or_else(|| fields.corrupt())?;
        let copy_id = fields.text()?;
        let copy = if copy_id.is_empty() {
            None
        } else {
            // Records of earlier versions have the URL with its credentials. The next change of the blob stores it without.
            let source = CopySourceUrl::without_credentials(&fields.text()?);
            Some(CopyState { id: copy_id, source, completed: fields.time()? })
        };
        let body = match fields.byte()? {
            1 => Body::Inline(fields.bytes()?),
            2 => Body::Whole { content: fields.number()? },
            3 => Body::Pieces { layout: fields.number()?, records: fields.number()? },
            4 => Body::Pages(PageBody::decode(&mut fields)?),
            _ => return Err(fields.corrupt()),
        };
        let (mut tag_number, mut key_digest) = (0, None);
        let extras = if format == FORMAT_WITH_EXTRAS { fields.count()? } else { 0 };
        for _ in 0..extras {
            match fields.byte()? {
                TAG_NUMBER => tag_number = fields.number()?,
                KEY_DIGEST => key_digest = Some(KeyDigest(fields.array()?)),
                _ => return Err(fields.corrupt()),
            }
        }
        fields.finish()?;
        let tier = Some(tier).filter(|tier| !tier.name.is_empty());
        #[rustfmt::skip]
        let blob = Self {
            kind, changed, created, length, blocks, is_sealed, snapshots, headers, metadata, tags, tag_number, lease, tier,
            copy, key_digest, body,
        };
        Ok(blob)
    }
}

fn encode_headers(headers: &ContentHeaders, out: &mut FieldWriter) {
    let ContentHeaders { content_type, encoding, language, disposition, cache_control, md5 } = headers;
    out.text(content_type.stored());
    for text in [encoding, language, disposition, cache_control] {
        out.text(text);
    }
    out.bytes(md5.as_ref().map_or(&[], ContentMd5::as_bytes));
}

fn decode_headers(fields: &mut FieldReader<'_>) -> Result<ContentHeaders> {
    let content_type = ContentType::from_stored(fields.text()?);
    let encoding = fields.text()?;
    let language = fields.text()?;
    let disposition = fields.text()?;
    let cache_control = fields.text()?;
    let md5 = match &fields.bytes()?[..] {
        [] => None,
        bytes => Some(ContentMd5::from_bytes(bytes)),
    };
    Ok(ContentHeaders { content_type, encoding, language, disposition, cache_control, md5 })
}

#[cfg(test)]
mod tests {
    use tablerock_protocol::blob::Md5;

    use super::*;
    use crate::blob::page::Incremental;

    #[test]
    fn a_record_comes_back_as_it_was() {
        let noon = DateTime::from_unix_seconds(1_000_000_000);
        let plain = Blob {
            kind: BlobKind::Block,
            changed: noon,
            created: noon,
            length: 3,
            blocks: 0,
            is_sealed: false,
            snapshots: 2,
            headers: ContentHeaders {
                content_type: ContentType::Cleared,
                md5: Some(Md5::of(b"abc").into()),
                ..Default::default()
            },
            metadata: Metadata::new(vec![("k".to_owned(), "v".to_owned())]).unwrap(),
            tags: Tags::parse_header("a=1").unwrap(),
            tag_number: 0,
            lease: None,
            tier: None,
            copy: None,
            key_digest: None,
            body: Body::Inline(Bytes::from_static(b"abc")),
        };
        let copied = Blob {
            kind: BlobKind::Append,
            tier: Some(Tier::new("Cool".into(), noon)),
            copy: Some(CopyState {
                id: "c".into(),
                source: CopySourceUrl::without_credentials("http://x/"),
                completed: noon,
            }),
            body: Body::Pieces { layout: 300, records: 2 },
            is_sealed: true,
            tag_number: 300,
            key_digest: Some(KeyDigest([5; 32])),
            ..plain.clone()
        };
        assert_eq!((plain.encode()[0], copied.encode()[0]), (1, 2), "what 0.1 has keeps its form");
        let mut body = PageBody { top: 300, is_frozen: true, ..PageBody::new(9, noon, 1 << 62) };
        let pages = Blob { kind: BlobKind::Page, body: Body::Pages(body.clone()), ..plain.clone() };
        body.incremental = Some(Incremental { source: "a/c/b".into(), copied: noon, taken: noon });
        let incremental = Blob { body: Body::Pages(body), ..pages.clone() };
        let whole = Blob { body: Body::Whole { content: 9 }, ..plain.clone() };
        for blob in [plain, whole, copied, pages, incremental] {
            let record = blob.encode();
            assert_eq!(Blob::decode(&record).unwrap(), blob);
            for length in 0..record.len() {
                assert!(Blob::decode(&record.slice(..length)).is_err(), "{length}");
            }
        }
    }

    #[test]
    fn a_record_with_the_credentials_of_a_copy_source_is_read_without_them() {
        let source = "http://127.0.0.1:10000/acct/c/b?snapshot=2019-05-09T00:48:31.3653282Z";
        let with_credentials = format!("{source}&sv=2019-02-02&sp=rwdl&sig=secret");
        let noon = DateTime::from_unix_seconds(1_000_000_000);
        let mut out = FieldWriter::new(FORMAT);
        out.byte(1);
        out.ticks(noon.ticks());
        out.ticks(noon.ticks());
        out.number(0);
        out.number(0);
        out.byte(0);
        out.number(0);
        encode_headers(&ContentHeaders::default(), &mut out);
        out.pairs(&[]);
        out.pairs(&[]);
        lease::encode(None, &mut out);
        out.text("");
        out.ticks(0);
        out.text("id");
        out.text(&with_credentials);
        out.ticks(noon.ticks());
        out.byte(1);
        out.bytes(b"");
        let blob = Blob::decode(&out.finish()).unwrap();
        assert_eq!(blob.copy.as_ref().unwrap().source.as_str(), source);
        assert!(!blob.encode().windows(6).any(|window| window == b"secret"));
    }
}
