//! XML that a client sends. What is read and written down again reads the same, and so does the same document with
//! what XML says does not matter: a byte order mark, and a comment behind the root.

use tablerock_protocol::blob::{BLOCK_ID_BYTES_MAX, BlockId};
use tablerock_protocol::xml::{
    ACCESS_POLICIES_MAX, ACCESS_POLICY_ID_UNITS_MAX, BLOCKS_MAX, BlockListRequest, CORS_RULES_MAX, RETENTION_DAYS_MAX,
    ServiceProperties, ServicePropertiesUpdate, StoredAccessPolicies, parse_message_text, parse_tags,
    render_message_text, render_tags,
};
use tablerock_protocol::{Service, ServiceError, ServiceVersion, limits, utf16_len};

use crate::refusal::check_refusal;

pub(super) fn check_message_text(document: &[u8]) {
    let read = read_twice(document, parse_message_text);
    if let Some(plain) = plain_message(document) {
        assert_eq!(read.as_deref(), Some(plain));
    }
    let Some(text) = read else { return };
    assert!(text.len() <= limits::MESSAGE_BYTES_MAX);
    let rendered = render_message_text(&text).expect("text that was read can be written");
    assert_eq!(parse_message_text(rendered.as_bytes()).as_deref(), Ok(text.as_str()), "{rendered:?}");
}

/// The text of a body that needs no reader: nothing but the two elements, and nothing to be resolved between them.
fn plain_message(document: &[u8]) -> Option<&str> {
    let document = std::str::from_utf8(document).ok()?;
    let text = document.strip_prefix("<QueueMessage><MessageText>")?.strip_suffix("</MessageText></QueueMessage>")?;
    let is_plain = |c: char| !matches!(c, '<' | '>' | '&' | '\r' | '\u{fffe}' | '\u{ffff}') && (c >= ' ' || c == '\t');
    text.chars().all(is_plain).then_some(text)
}

pub(super) fn check_policies(document: &[u8], letters: &str) {
    // An empty body is no document, so nothing can stand behind it.
    let parse = |document: &[u8]| StoredAccessPolicies::parse(document, letters);
    let is_empty = document.strip_prefix(b"\xef\xbb\xbf").unwrap_or(document).trim_ascii().is_empty();
    let read = if is_empty { parse(document).ok() } else { read_twice(document, parse) };
    let Some(read) = read else { return };
    assert!(read.policies.len() <= ACCESS_POLICIES_MAX);
    for policy in &read.policies {
        assert!(!policy.id.is_empty() && utf16_len(&policy.id) <= ACCESS_POLICY_ID_UNITS_MAX);
        assert_eq!(read.find(&policy.id), Some(policy), "an id stands for one policy");
        assert!(policy.permissions.iter().all(|given| given.chars().all(|letter| letters.contains(letter))));
    }
    let rendered = read.render();
    assert_eq!(parse(rendered.as_bytes()), Ok(read), "{rendered:?}");
}

pub(super) fn check_block_list(document: &[u8]) {
    let Some(list) = read_twice(document, BlockListRequest::parse) else { return };
    assert!(list.blocks.len() <= BLOCKS_MAX);
    for (_, id) in &list.blocks {
        assert!((1..=BLOCK_ID_BYTES_MAX).contains(&id.as_bytes().len()));
        assert_eq!(BlockId::parse(&id.to_base64()).as_ref(), Ok(id));
    }
    let rendered = list.render();
    assert_eq!(BlockListRequest::parse(rendered.as_bytes()), Ok(list), "{rendered:?}");
}

pub(super) fn check_tags(document: &[u8]) {
    let Some(tags) = read_twice(document, parse_tags) else { return };
    let rendered = render_tags(&tags);
    assert_eq!(parse_tags(rendered.as_bytes()), Ok(tags), "{rendered:?}");
}

/// The properties that an update leads to are written and read again in both forms of the document; the early one has
/// fewer sections.
pub(super) fn check_properties(document: &[u8], service: Service) {
    for version in [ServiceVersion::LATEST, ServiceVersion::TABLE_SAS] {
        let parse = |document: &[u8]| ServicePropertiesUpdate::parse(document, service, version);
        let Some(update) = read_twice(document, parse) else { continue };
        let mut properties = ServiceProperties::default();
        update.apply(&mut properties);
        check_bounds(&properties);
        let rendered = properties.render(service, ServiceVersion::LATEST);
        let again = ServiceProperties::parse(rendered.as_bytes(), service);
        assert_eq!(again, Ok(properties.clone()), "{rendered:?}");
        let early = properties.render(service, ServiceVersion::TABLE_SAS);
        let early = ServicePropertiesUpdate::parse(early.as_bytes(), service, ServiceVersion::TABLE_SAS);
        let early = early.expect("our own document");
        assert_eq!((early.logging, early.hour_metrics), (Some(properties.logging), Some(properties.hour_metrics)));
    }
}

fn check_bounds(properties: &ServiceProperties) {
    assert!(properties.cors.len() <= CORS_RULES_MAX);
    let days = [properties.logging.retention_days, properties.hour_metrics.retention_days];
    assert!(days.into_iter().flatten().all(|days| (1..=RETENTION_DAYS_MAX).contains(&days)));
}

/// The content of a document, if it says anything; with a mark in front and a comment behind it says the same.
pub(super) fn read_twice<T: PartialEq + std::fmt::Debug>(
    document: &[u8],
    parse: impl Fn(&[u8]) -> Result<T, ServiceError>,
) -> Option<T> {
    let read = parse(document);
    if let Err(error) = &read {
        check_refusal(error, document.len());
    }
    let marked = if document.starts_with(b"\xef\xbb\xbf") { vec![] } else { b"\xef\xbb\xbf".to_vec() };
    let dressed = [&marked, document, b"<!-- c -->\n"].concat();
    // A comment makes no document of what is none, unless it completes a piece of markup that was left open.
    if read.is_ok() {
        assert_eq!(parse(&dressed).as_ref(), read.as_ref(), "{:?}", String::from_utf8_lossy(document));
    }
    read.ok()
}
