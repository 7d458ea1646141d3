//! The format of a response: `Accept`, `$format` and `Content-Type`.

use crate::{ErrorCode, ServiceVersion};

/// How much OData metadata surrounds the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetadataLevel {
    /// `nometadata`: keys and properties only.
    None,
    /// `minimalmetadata`: also types that JSON does not show.
    Minimal,
    /// `fullmetadata`: also links, ids and ETags.
    Full,
}

impl MetadataLevel {
    /// Returns the `Content-Type` of a JSON response at this level.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::None => "application/json;odata=nometadata;streaming=true;charset=utf-8",
            Self::Minimal => "application/json;odata=minimalmetadata;streaming=true;charset=utf-8",
            Self::Full => "application/json;odata=fullmetadata;streaming=true;charset=utf-8",
        }
    }
}

/// The formats that the client accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accepted {
    /// Returns the level for a body, or the error of an operation with a body.
    pub level: Result<MetadataLevel, ErrorCode>,
}

impl Accepted {
    /// Negotiates: `$format` wins over `Accept`; of a list, the first type that we have.
    pub fn negotiate(format: Option<&str>, accept: Option<&str>, version: ServiceVersion) -> Self {
        let wanted = format.or(accept).map(str::trim).filter(|text| !text.is_empty());
        let level = match wanted {
            None => Err(ErrorCode::AtomFormatNotSupported),
            // The values that SDKs send, before any parsing.
            Some("application/json;odata=minimalmetadata" | "application/json") => Ok(MetadataLevel::Minimal),
            Some("application/json;odata=nometadata") => Ok(MetadataLevel::None),
            Some("application/json;odata=fullmetadata") => Ok(MetadataLevel::Full),
            Some(list) => first_known(list),
        };
        match level {
            Ok(_) if version < ServiceVersion::JSON => Self { level: Err(ErrorCode::JsonFormatNotSupported) },
            level => Self { level },
        }
    }

    /// Whether errors go out as JSON.
    pub const fn wants_json(self) -> bool {
        self.level.is_ok()
    }

    /// The level of an error's body.
    pub fn error_level(self) -> MetadataLevel {
        self.level.unwrap_or(MetadataLevel::Minimal)
    }
}

/// Returns the first supported media range of the list, or else the error for its first one.
fn first_known(list: &str) -> Result<MetadataLevel, ErrorCode> {
    let mut refusal = None;
    for range in list.split(',') {
        match media_range(range) {
            Ok(level) => return Ok(level),
            Err(code) => refusal = refusal.or(Some(code)),
        }
    }
    Err(refusal.unwrap_or(ErrorCode::MediaTypeNotSupported))
}

fn media_range(range: &str) -> Result<MetadataLevel, ErrorCode> {
    let mut parts = range.split(';').map(str::trim);
    let media_type = parts.next().unwrap_or_default();
    if media_type.eq_ignore_ascii_case("application/atom+xml") || media_type == "*/*" {
        return Err(ErrorCode::AtomFormatNotSupported);
    }
    // Some clients write the short name of the query option instead of a media type.
    if !media_type.eq_ignore_ascii_case("application/json") && !media_type.eq_ignore_ascii_case("json") {
        return Err(ErrorCode::MediaTypeNotSupported);
    }
    let odata =
        parts.find_map(|part| part.split_once('=').filter(|(name, _)| name.trim().eq_ignore_ascii_case("odata")));
    match odata.map(|(_, value)| value.trim().to_ascii_lowercase()).as_deref() {
        None | Some("minimalmetadata") => Ok(MetadataLevel::Minimal),
        Some("nometadata") => Ok(MetadataLevel::None),
        Some("fullmetadata") => Ok(MetadataLevel::Full),
        Some("verbose") => Err(ErrorCode::JsonVerboseFormatNotSupported),
        Some(_) => Err(ErrorCode::MediaTypeNotSupported),
    }
}

/// Checks the type of a request's body on an operation that takes an entity or a table.
pub fn check_json_content_type(content_type: Option<&str>) -> Result<(), ErrorCode> {
    let media_type = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if media_type.eq_ignore_ascii_case("application/json") {
        Ok(())
    } else if media_type.eq_ignore_ascii_case("application/atom+xml") {
        Err(ErrorCode::AtomFormatNotSupported)
    } else {
        Err(ErrorCode::MediaTypeNotSupported)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(accept: &str) -> Result<MetadataLevel, ErrorCode> {
        Accepted::negotiate(None, Some(accept), ServiceVersion::LATEST).level
    }

    #[test]
    fn accept_is_read_as_clients_write_it() {
        assert_eq!(level("application/json"), Ok(MetadataLevel::Minimal));
        assert_eq!(level("application/json; odata=nometadata"), Ok(MetadataLevel::None));
        assert_eq!(level("application/json;odata=fullmetadata;q=0.9, */*"), Ok(MetadataLevel::Full));
        assert_eq!(level("text/html, application/json;odata=minimalmetadata;type=entry"), Ok(MetadataLevel::Minimal));
        assert_eq!(level("*/*"), Err(ErrorCode::AtomFormatNotSupported));
        assert_eq!(level("application/atom+xml,application/xml"), Err(ErrorCode::AtomFormatNotSupported));
        assert_eq!(level("application/json;odata=verbose"), Err(ErrorCode::JsonVerboseFormatNotSupported));
        assert_eq!(level("text/plain"), Err(ErrorCode::MediaTypeNotSupported));
    }

    #[test]
    fn format_wins_over_accept() {
        let format = Some("application/json;odata=fullmetadata");
        let accepted = Accepted::negotiate(format, Some("text/plain"), ServiceVersion::LATEST);
        assert_eq!(accepted.level, Ok(MetadataLevel::Full));
    }
}
