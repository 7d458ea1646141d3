//! Byte ranges. `x-ms-range` and `Range` have the same forms; which of the two counts is the caller's business.

use super::numbers::parse_decimal;
use crate::{ErrorCode, ServiceError};

/// A range as it was asked for: from a byte to another, both included, or to the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RangeAsked {
    /// The first byte.
    pub first: u64,
    /// The last byte, included; `None` for the end of the blob.
    pub last: Option<u64>,
}

/// A part of a blob that is there: `offset` and `length` lie within it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteRange {
    /// The first byte.
    pub offset: u64,
    /// The number of bytes.
    pub length: u64,
}

impl RangeAsked {
    /// Reads a header. Suffixes (`bytes=-5`) and several ranges are not supported by the service and mean the whole blob,
    /// as HTTP has it for ranges that a server does not understand.
    pub fn parse(header: &str) -> Option<Self> {
        let (first, last) = header.trim().strip_prefix("bytes=")?.split_once('-')?;
        let first = parse_decimal(first.trim())?;
        let last = match last.trim() {
            "" => None,
            digits => Some(parse_decimal(digits)?),
        };
        (last.is_none_or(|last| last >= first)).then_some(Self { first, last })
    }

    /// Returns the addressed part of a blob of some length. It is cut at the end of the blob; a range that begins there is
    /// an error.
    pub fn within(self, blob_length: u64) -> Result<ByteRange, ServiceError> {
        if self.first >= blob_length {
            return Err(ErrorCode::InvalidRange.into());
        }
        let end = self.last.map_or(blob_length, |last| last.saturating_add(1).min(blob_length));
        Ok(ByteRange { offset: self.first, length: end - self.first })
    }
}

impl ByteRange {
    /// Returns the range of the whole blob.
    pub fn whole(blob_length: u64) -> Self {
        Self { offset: 0, length: blob_length }
    }

    /// `bytes 0-25/26`.
    pub fn content_range(self, blob_length: u64) -> String {
        format!("bytes {}-{}/{blob_length}", self.offset, (self.offset + self.length).saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn within(header: &str, length: u64) -> Option<(u64, u64)> {
        RangeAsked::parse(header)?.within(length).ok().map(|range| (range.offset, range.length))
    }

    #[test]
    fn ranges_are_cut_at_the_end_of_the_blob() {
        assert_eq!(within("bytes=0-99", 1000), Some((0, 100)));
        assert_eq!(within("bytes=900-2000", 1000), Some((900, 100)));
        assert_eq!(within("bytes=999-", 1000), Some((999, 1)));
        assert_eq!(within("bytes=0-18446744073709551615", 3), Some((0, 3)));
        let refused = RangeAsked::parse("bytes=1000-").unwrap().within(1000).unwrap_err();
        assert_eq!((refused.code, refused.status), (ErrorCode::InvalidRange, 416));
        assert!(RangeAsked::parse("bytes=0-").unwrap().within(0).is_err());
        assert_eq!(ByteRange { offset: 0, length: 26 }.content_range(26), "bytes 0-25/26");
    }

    #[test]
    fn other_forms_mean_the_whole_blob() {
        for header in ["bytes=-5", "bytes=0-1,3-4", "bytes=5-4", "items=0-1", "bytes=a-b", "", "bytes=1", "bytes=+1-+2"]
        {
            assert_eq!(RangeAsked::parse(header), None, "{header}");
        }
    }
}
