//! The record of a blob or of a snapshot.

use tablerock_kv::{Bytes, Result};
use tablerock_protocol::blob::{ContentHeaders, CopySourceUrl, Md5, Tags};
use tablerock_protocol::{DateTime, ErrorCode, Metadata};

use super::lease::{self, Lease};
use super::page::PageBody;
use crate::fields::{FieldReader, FieldWriter};

const FORMAT: u8 = 1;

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

/// The tier that a client set. All content is stored in the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tier {
    pub name: String,
    pub changed: DateTime,
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
    pub lease: Option<Lease>,
    pub tier: Option<Tier>,
    pub copy: Option<CopyState>,
    pub(super) body: Body,
}

impl Blob {
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

    pub(super) fn encode(&self) -> Bytes {
        let mut out = FieldWriter::new(FORMAT);
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
        out.text(self.tier.as_ref().map_or("", |tier| &tier.name));
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
        out.finish()
    }

    pub(crate) fn decode(record: &Bytes) -> Result<Self> {
        let mut fields = FieldReader::new(record, FORMAT, "the record of a blob")?;
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
        let tier = Tier { name: fields.text()?, changed: fields.time()? };
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
        fields.finish()?;
        let tier = Some(tier).filter(|tier| !tier.name.is_empty());
        #[rustfmt::skip]
        let blob = Self {
            kind, changed, created, length, blocks, is_sealed, snapshots, headers, metadata, tags, lease, tier, copy, body,
        };
        Ok(blob)
    }
}

fn encode_headers(headers: &ContentHeaders, out: &mut FieldWriter) {
    let ContentHeaders { content_type, encoding, language, disposition, cache_control, md5 } = headers;
    for text in [content_type, encoding, language, disposition, cache_control] {
        out.text(text);
    }
    out.bytes(md5.as_ref().map_or(&[], |md5| &md5.0[..]));
}

fn decode_headers(fields: &mut FieldReader<'_>) -> Result<ContentHeaders> {
    let content_type = fields.text()?;
    let encoding = fields.text()?;
    let language = fields.text()?;
    let disposition = fields.text()?;
    let cache_control = fields.text()?;
    let md5 = match &fields.bytes()?[..] {
        [] => None,
        bytes => Some(Md5(bytes.try_into().map_err(|_| fields.corrupt())?)),
    };
    Ok(ContentHeaders { content_type, encoding, language, disposition, cache_control, md5 })
}

#[cfg(test)]
mod tests {
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
                content_type: "text/plain".into(),
                md5: Some(Md5::of(b"abc")),
                ..Default::default()
            },
            metadata: Metadata::new(vec![("k".to_owned(), "v".to_owned())]).unwrap(),
            tags: Tags::parse_header("a=1").unwrap(),
            lease: None,
            tier: None,
            copy: None,
            body: Body::Inline(Bytes::from_static(b"abc")),
        };
        let copied = Blob {
            kind: BlobKind::Append,
            tier: Some(Tier { name: "Cool".into(), changed: noon }),
            copy: Some(CopyState {
                id: "c".into(),
                source: CopySourceUrl::without_credentials("http://x/"),
                completed: noon,
            }),
            body: Body::Pieces { layout: 300, records: 2 },
            is_sealed: true,
            ..plain.clone()
        };
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
