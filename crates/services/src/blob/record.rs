//! The row of a container in its directory.

use tablerock_kv::{Bytes, Result};
use tablerock_protocol::{DateTime, Keyword, Metadata};

use super::lease::{self, Lease};
use crate::fields::{FieldReader, FieldWriter};

const FORMAT: u8 = 1;

/// The access of requests without credentials.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PublicAccess {
    #[default]
    Private,
    /// They may read blobs by name.
    Blob,
    /// They may read blobs, list them, and read the container's properties.
    Container,
}

impl PublicAccess {
    /// As `x-ms-blob-public-access` has it; nothing for a private container.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Private => None,
            Self::Blob => Some("blob"),
            Self::Container => Some("container"),
        }
    }
}

impl Keyword for PublicAccess {
    const WORDS: &'static [(&'static str, Self)] = &[("blob", Self::Blob), ("container", Self::Container)];
}

/// A container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Container {
    pub(super) id: u64,
    /// When its properties, metadata or policies were last changed: its ETag and Last-Modified.
    pub changed: DateTime,
    pub public_access: PublicAccess,
    pub metadata: Metadata,
    pub lease: Option<Lease>,
    /// The stored access policies as XML; empty if there are none.
    pub(crate) policies: Bytes,
}

impl Container {
    pub(super) fn encode(&self) -> Bytes {
        let mut out = FieldWriter::new(FORMAT);
        out.ticks(self.id);
        out.ticks(self.changed.ticks());
        out.byte(match self.public_access {
            PublicAccess::Private => 0,
            PublicAccess::Blob => 1,
            PublicAccess::Container => 2,
        });
        out.pairs(self.metadata.pairs());
        lease::encode(self.lease.as_ref(), &mut out);
        out.bytes(&self.policies);
        out.finish()
    }

    pub(crate) fn decode(record: &Bytes) -> Result<Self> {
        let mut fields = FieldReader::new(record, FORMAT, "a record of the container directory")?;
        let id = fields.ticks()?;
        let changed = fields.time()?;
        let public_access = match fields.byte()? {
            0 => PublicAccess::Private,
            1 => PublicAccess::Blob,
            2 => PublicAccess::Container,
            _ => return Err(fields.corrupt()),
        };
        let metadata = Metadata::new(fields.pairs()?).map_err(|_| fields.corrupt())?;
        let lease = lease::decode(&mut fields)?;
        let policies = fields.bytes()?;
        fields.finish()?;
        Ok(Self { id, changed, public_access, metadata, lease, policies })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_comes_back_as_it_was() {
        let container = Container {
            id: 300,
            changed: DateTime::from_unix_seconds(7),
            public_access: PublicAccess::Blob,
            metadata: Metadata::new(vec![("k".to_owned(), "v".to_owned())]).unwrap(),
            lease: None,
            policies: Bytes::from_static(b"<x/>"),
        };
        let record = container.encode();
        assert_eq!(Container::decode(&record).unwrap(), container);
        assert_eq!(crate::namespace::id_of_row(&record).unwrap(), 300);
        for length in 0..record.len() {
            assert!(Container::decode(&record.slice(..length)).is_err(), "{length}");
        }
    }
}
