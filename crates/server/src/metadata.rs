//! The `x-ms-meta-` headers of a request.

use http::HeaderMap;
use tablerock_protocol::{ErrorCode, METADATA_PREFIX, Metadata, ServiceError};

/// The metadata that a request carries. HTTP compares names of headers without their case, and so they arrive in
/// lower case.
pub(crate) fn read(headers: &HeaderMap) -> Result<Metadata, ServiceError> {
    let mut pairs = Vec::new();
    for (name, value) in headers {
        let Some(name) = name.as_str().strip_prefix(METADATA_PREFIX) else { continue };
        let value = std::str::from_utf8(value.as_bytes()).map_err(|_| ErrorCode::InvalidMetadata)?;
        pairs.push((name.to_owned(), value.to_owned()));
    }
    Metadata::new(pairs)
}
