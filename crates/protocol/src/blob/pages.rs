//! Ranges, lengths and sequence numbers of page blobs.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::numbers::parse_decimal;
use super::{ByteRange, RangeAsked};
use crate::{ErrorCode, ServiceError};

/// The bytes of a page.
pub const PAGE_BYTES: u64 = 512;

/// The bytes of the largest page blob: 8 TiB.
pub const PAGE_BLOB_BYTES_MAX: u64 = 8 << 40;

/// The largest sequence number.
const SEQUENCE_NUMBER_MAX: u64 = i64::MAX as u64;

/// Parses the length of a page blob, which is a number of whole pages.
pub fn parse_page_length(header: &str) -> Result<u64, ServiceError> {
    let length = parse_decimal::<u64>(header.trim()).filter(|length| length % PAGE_BYTES == 0);
    match length {
        Some(length) if length <= PAGE_BLOB_BYTES_MAX => Ok(length),
        Some(_) => Err(ErrorCode::OutOfRangeInput.into()),
        None => Err(ErrorCode::InvalidHeaderValue.into()),
    }
}

/// Parses the range of a write, which is a number of whole pages.
pub fn parse_page_range(header: &str) -> Result<ByteRange, ServiceError> {
    let Some(RangeAsked { first, last: Some(last) }) = RangeAsked::parse(header) else {
        return Err(ErrorCode::InvalidHeaderValue.into());
    };
    match last.checked_add(1) {
        Some(end) if first % PAGE_BYTES == 0 && end % PAGE_BYTES == 0 && end <= PAGE_BLOB_BYTES_MAX => {
            Ok(ByteRange { offset: first, length: end - first })
        }
        _ => Err(ErrorCode::InvalidPageRange.into()),
    }
}

/// Parses a sequence number.
pub fn parse_sequence_number(header: &str) -> Result<u64, ServiceError> {
    let number = parse_decimal(header.trim()).filter(|number| *number <= SEQUENCE_NUMBER_MAX);
    number.ok_or_else(|| ErrorCode::InvalidHeaderValue.into())
}

/// `x-ms-if-sequence-number-le`, `-lt` and `-eq`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SequenceConditions {
    /// At most this.
    pub at_most: Option<u64>,
    /// Less than this.
    pub less: Option<u64>,
    /// Exactly this.
    pub equal: Option<u64>,
}

impl SequenceConditions {
    /// Judges a write to a blob with a sequence number.
    pub fn check(&self, number: u64) -> Result<(), ServiceError> {
        let holds = self.at_most.is_none_or(|max| number <= max)
            && self.less.is_none_or(|end| number < end)
            && self.equal.is_none_or(|equal| number == equal);
        if holds { Ok(()) } else { Err(ErrorCode::SequenceNumberConditionNotMet.into()) }
    }
}

/// `x-ms-sequence-number-action`, with the number that it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SequenceAction {
    /// The greater of both.
    Max(u64),
    /// This number.
    Update(u64),
    /// One more than before.
    Increment,
}

impl SequenceAction {
    /// The number after the action; `None` if there is none.
    pub fn apply(self, number: u64) -> Option<u64> {
        match self {
            Self::Max(given) => Some(number.max(given)),
            Self::Update(given) => Some(given),
            Self::Increment => (number < SEQUENCE_NUMBER_MAX).then(|| number + 1),
        }
    }
}

/// Where the next part of a list of page ranges begins, in the form that the service gives its markers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRangeMarker(pub u64);

impl PageRangeMarker {
    /// Parses a marker that [`encode`](Self::encode) has made.
    pub fn parse(marker: &str) -> Option<Self> {
        let (_, text) = marker.strip_prefix("2!")?.split_once('!')?;
        let bytes = STANDARD.decode(text).ok()?;
        let (_, offset) = std::str::from_utf8(&bytes).ok()?.strip_suffix('!')?.split_once('!')?;
        parse_decimal(offset).filter(|offset| offset % PAGE_BYTES == 0).map(Self)
    }

    /// Returns the marker as text.
    pub fn encode(self) -> String {
        let offset = self.0.to_string();
        let text = STANDARD.encode(format!("{:06}!{offset}!", offset.len()));
        format!("2!{}!{text}", text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_lengths_are_whole_pages() {
        assert_eq!(parse_page_range("bytes=512-1535"), Ok(ByteRange { offset: 512, length: 1024 }));
        for (header, code) in [
            ("bytes=0-510", ErrorCode::InvalidPageRange),
            ("bytes=1-512", ErrorCode::InvalidPageRange),
            ("bytes=0-18446744073709551615", ErrorCode::InvalidPageRange),
            ("bytes=0-", ErrorCode::InvalidHeaderValue),
            ("bytes=512-0", ErrorCode::InvalidHeaderValue),
            ("0-511", ErrorCode::InvalidHeaderValue),
        ] {
            assert_eq!(parse_page_range(header).unwrap_err().code, code, "{header}");
        }
        assert_eq!(parse_page_length("0"), Ok(0));
        assert_eq!(parse_page_length("8796093022208"), Ok(8 << 40));
        assert_eq!(parse_page_length("511").unwrap_err().code, ErrorCode::InvalidHeaderValue);
        assert_eq!(parse_page_length("8796093022720").unwrap_err().code, ErrorCode::OutOfRangeInput);
    }

    #[test]
    fn sequence_numbers_are_compared_and_changed() {
        let conditions = SequenceConditions { at_most: Some(5), less: Some(6), equal: Some(5) };
        assert!(conditions.check(5).is_ok());
        assert_eq!(conditions.check(4).unwrap_err().status, 412);
        assert!(SequenceConditions { less: Some(0), ..Default::default() }.check(0).is_err());
        assert_eq!(SequenceAction::Max(3).apply(5), Some(5));
        assert_eq!(SequenceAction::Update(3).apply(5), Some(3));
        assert_eq!(SequenceAction::Increment.apply(5), Some(6));
        assert_eq!(SequenceAction::Increment.apply(SEQUENCE_NUMBER_MAX), None);
        assert!(parse_sequence_number("-1").is_err());
        assert!(parse_sequence_number("9223372036854775808").is_err());
    }

    #[test]
    fn markers_look_like_those_of_the_service() {
        assert_eq!(PageRangeMarker(2048).encode(), "2!16!MDAwMDA0ITIwNDgh");
        assert_eq!(PageRangeMarker::parse("2!16!MDAwMDA0ITIwNDgh"), Some(PageRangeMarker(2048)));
        for marker in ["", "2!", "2!1!x", "2048", "2!12!MDAwMDAxITEh"] {
            assert_eq!(PageRangeMarker::parse(marker), None, "{marker}");
        }
    }
}
