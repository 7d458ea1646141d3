//! Responses as a client reads them: from a server that may be any, so they are as untrusted as requests.

use tablerock_protocol::ErrorAnswer;
use tablerock_protocol::json::{parse_answered_entities, parse_answered_entity, parse_answered_tables};
use tablerock_protocol::xml::{
    AnsweredPage, ServiceStats, parse_blobs, parse_containers, parse_messages, parse_queues, render_message_text,
};

use super::documents::read_twice;

pub(super) fn check_stats(document: &[u8]) {
    let Some(stats) = read_twice(document, ServiceStats::parse) else { return };
    let rendered = stats.render();
    assert_eq!(ServiceStats::parse(rendered.as_bytes()), Ok(stats), "{rendered:?}");
}

pub(super) fn check_messages(document: &[u8]) {
    let Some(messages) = read_twice(document, parse_messages) else { return };
    for message in messages {
        // Text that came through XML can go through it again, unless it is longer than a message may be.
        assert!(render_message_text(&message.text).is_ok() || message.text.len() > 64 << 10);
    }
}

/// Queues and containers are listed alike, under different names.
pub(super) fn check_containers(document: &[u8]) {
    let containers = read_twice(document, parse_containers);
    let queues = read_twice(document, parse_queues);
    if let (Some(containers), Some(queues)) = (&containers, &queues) {
        assert!(containers.items.is_empty() || queues.items.is_empty() || has_both(document));
    }
    for marker in [containers.and_then(marker), queues.and_then(marker)].into_iter().flatten() {
        assert!(!marker.is_empty(), "an empty marker is none");
    }
}

fn marker<T>(page: AnsweredPage<T>) -> Option<String> {
    page.next_marker
}

fn has_both(document: &[u8]) -> bool {
    let text = String::from_utf8_lossy(document);
    text.contains("Containers") && text.contains("Queues")
}

pub(super) fn check_blobs(document: &[u8]) {
    let Some(page) = read_twice(document, parse_blobs) else { return };
    assert!(page.next_marker.is_none_or(|marker| !marker.is_empty()), "an empty marker is none");
}

/// An error that is read has a text without the lines that repeat the request's id.
pub(super) fn check_error(document: &[u8]) {
    let Some(answer) = ErrorAnswer::parse(document) else { return };
    assert!(!answer.message.contains("\nRequestId:"));
    assert_eq!(ErrorAnswer::parse(document).as_ref(), Some(&answer));
}

/// An entity that is read alone is also read as the only one of a page.
pub(super) fn check_json(document: &[u8]) {
    let page = [&br#"{"value":["#[..], document, b"]}"].concat();
    if let Ok(entity) = parse_answered_entity(document) {
        let entities = parse_answered_entities(&page).expect("an entity makes a page");
        assert_eq!(format!("{:?}", entities.first()), format!("{:?}", Some(&entity)));
    }
    for body in [document, &page] {
        let _ = parse_answered_entities(body).map(|entities| assert!(entities.len() <= body.len()));
        let _ = parse_answered_tables(body).map(|tables| assert!(tables.len() <= body.len()));
    }
}
