//! One version of a blob: its content, metadata, ETag and blocks.

use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlobKind {
    Block,
    Append,
    Page,
}

impl BlobKind {
    /// The kind that a response names.
    pub fn of_header(header: &str) -> Self {
        let kinds = [Self::Append, Self::Page];
        kinds.into_iter().find(|kind| kind.header() == header).unwrap_or(Self::Block)
    }

    /// The value of `x-ms-blob-type`.
    pub fn header(self) -> &'static str {
        match self {
            BlobKind::Block => "BlockBlob",
            BlobKind::Append => "AppendBlob",
            BlobKind::Page => "PageBlob",
        }
    }
}

#[derive(Clone, PartialEq, Eq)]
pub struct BlobVersion {
    pub kind: BlobKind,
    pub bytes: Arc<Vec<u8>>,
    /// The value of the one metadata item, which names the request that set it.
    pub mark: String,
    /// `None` while it is not known from a response or an observation.
    pub etag: Option<String>,
    /// The committed blocks with their lengths.
    pub blocks: Vec<(String, usize)>,
}

impl BlobVersion {
    /// The content of a committed block.
    pub fn block(&self, id: &str) -> Option<&[u8]> {
        let index = self.blocks.iter().position(|(known, _)| known == id)?;
        let start: usize = self.blocks[..index].iter().map(|(_, length)| length).sum();
        self.bytes.get(start..start + self.blocks[index].1)
    }

    /// The difference to an observed version, if there is one. An unknown ETag matches any.
    pub fn difference(&self, found: &Self) -> Option<String> {
        if let Some(offset) = self.content_difference(found) {
            let lengths = (self.bytes.len(), found.bytes.len());
            return Some(format!("{lengths:?} bytes were written and read, different from byte {offset} on"));
        }
        let facts = |version: &Self| format!("{:?} {} {:?}", version.kind, version.mark, version.blocks);
        if facts(self) != facts(found) {
            return Some(format!("expected {}, found {}", facts(self), facts(found)));
        }
        let is_other = self.etag.is_some() && self.etag != found.etag;
        is_other.then(|| format!("its ETag was {:?} and is now {:?}", self.etag, found.etag))
    }

    fn content_difference(&self, found: &Self) -> Option<usize> {
        if self.bytes == found.bytes {
            return None;
        }
        let same = self.bytes.iter().zip(found.bytes.iter()).take_while(|(one, other)| one == other).count();
        Some(same)
    }
}

impl std::fmt::Debug for BlobVersion {
    /// Without the content, which may be megabytes.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({:?}, {} bytes, ETag {:?})", self.mark, self.kind, self.bytes.len(), self.etag)
    }
}
