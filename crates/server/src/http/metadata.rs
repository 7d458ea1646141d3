//! The `x-ms-meta-` headers of a request.

use http::HeaderMap;
use tablerock_protocol::{ErrorCode, METADATA_PREFIX, Metadata, ServiceError};

use crate::http::header_case::HeaderCase;

/// The metadata that a request carries, its names as they were spelled if that is known.
pub(crate) fn read(headers: &HeaderMap, spelled: Option<&HeaderCase>) -> Result<Metadata, ServiceError> {
    let mut pairs = Vec::new();
    for (name, value) in headers {
        let Some(name) = name.as_str().strip_prefix(METADATA_PREFIX) else { continue };
        let value = std::str::from_utf8(value.as_bytes()).map_err(|_| ErrorCode::InvalidMetadata)?;
        let name = spelled.map_or(name, |spelled| spelled.spell(name));
        pairs.push((name.to_owned(), value.to_owned()));
    }
    Metadata::new(pairs)
}
