//! The `Prefer` header: whether a write returns what it wrote.

use http::HeaderMap;

use super::headers::{Given, PREFER};

pub(crate) const RETURN_NO_CONTENT: &str = "return-no-content";

/// The preference that a request asks for, as `Preference-Applied` names it.
pub(crate) fn prefer(headers: &HeaderMap) -> Option<&'static str> {
    headers.given_text(&PREFER).and_then(preference)
}

pub(crate) fn preference(text: &str) -> Option<&'static str> {
    ["return-content", RETURN_NO_CONTENT].into_iter().find(|known| text.trim().eq_ignore_ascii_case(known))
}
