//! One version of a blob: its content, and what goes with it.

use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Block,
    Append,
}

impl Kind {
    /// As `x-ms-blob-type` has it.
    pub fn header(self) -> &'static str {
        match self {
            Kind::Block => "BlockBlob",
            Kind::Append => "AppendBlob",
        }
    }
}

#[derive(Clone, PartialEq, Eq)]
pub struct BlobVersion {
    pub kind: Kind,
    pub bytes: Arc<Vec<u8>>,
    /// The value of its one metadata item, which names the request that set it.
    pub mark: String,
    /// Unknown as long as no answer and no look has told it.
    pub etag: Option<String>,
    /// The blocks that it was committed from, with their lengths.
    pub blocks: Vec<(String, usize)>,
}

impl BlobVersion {
    /// The content of a committed block.
    pub fn block(&self, id: &str) -> Option<&[u8]> {
        let index = self.blocks.iter().position(|(known, _)| known == id)?;
        let start: usize = self.blocks[..index].iter().map(|(_, length)| length).sum();
        self.bytes.get(start..start + self.blocks[index].1)
    }

    /// What is different about a version that was read, if anything is. An ETag that is not known may be any.
    pub fn difference(&self, there: &Self) -> Option<String> {
        if let Some(offset) = self.content_difference(there) {
            let lengths = (self.bytes.len(), there.bytes.len());
            return Some(format!("{lengths:?} bytes were written and read, different from byte {offset} on"));
        }
        let facts = |version: &Self| format!("{:?} {} {:?}", version.kind, version.mark, version.blocks);
        if facts(self) != facts(there) {
            return Some(format!("expected {}, found {}", facts(self), facts(there)));
        }
        let is_other = self.etag.is_some() && self.etag != there.etag;
        is_other.then(|| format!("its ETag was {:?} and is now {:?}", self.etag, there.etag))
    }

    fn content_difference(&self, there: &Self) -> Option<usize> {
        if self.bytes == there.bytes {
            return None;
        }
        let same = self.bytes.iter().zip(there.bytes.iter()).take_while(|(one, other)| one == other).count();
        Some(same)
    }
}

impl std::fmt::Debug for BlobVersion {
    /// Without the content, which may be megabytes.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({:?}, {} bytes, ETag {:?})", self.mark, self.kind, self.bytes.len(), self.etag)
    }
}
