//! The `x-ms-meta-` headers of a request.

use http::HeaderMap;
use tablerock_protocol::{ErrorCode, METADATA_PREFIX, Metadata, ServiceError};

use crate::http::header_case::HeaderCase;

/// Reads the metadata of a request, with the original case of names where it is known.
pub(crate) fn read(headers: &HeaderMap, case: Option<&HeaderCase>) -> Result<Metadata, ServiceError> {
    let mut pairs = Vec::new();
    for (name, value) in headers {
        let Some(name) = name.as_str().strip_prefix(METADATA_PREFIX) else { continue };
        let value = std::str::from_utf8(value.as_bytes()).map_err(|_| ErrorCode::InvalidMetadata)?;
        let name = case.map_or(name, |case| case.restore(name));
        pairs.push((name.to_owned(), value.to_owned()));
    }
    Metadata::new(pairs)
}
