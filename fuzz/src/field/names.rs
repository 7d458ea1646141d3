//! Names, and the paths that they stand in.

use tablerock_protocol::{AccountName, BlobName, BlobResource, ContainerName, QueueName, QueueResource, TableName};

use crate::refusal::check_refusal;

pub(super) fn check(text: &str) {
    assert_eq!(QueueName::parse(text).is_ok(), is_host_name(text), "{text:?}");
    let is_system = ["$root", "$web", "$logs", "$blobchangefeed"].contains(&text);
    assert_eq!(ContainerName::parse(text).is_ok(), is_system || is_host_name(text), "{text:?}");
    let is_blob = (1..=1024).contains(&text.encode_utf16().count());
    if BlobName::parse(text).is_ok() {
        assert!(!text.is_empty() && text.chars().count() <= 1024);
    } else if is_blob && text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        panic!("{text:?} is a blob's name");
    }
    if let Some(account) = AccountName::parse(text) {
        assert!(account.as_str() == text && text.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    }
    if let Ok(table) = TableName::parse(text) {
        assert_eq!(TableName::fold(table.as_str()), TableName::fold(&text.to_ascii_uppercase()));
    }
}

/// Letters and digits in pieces that single hyphens join.
fn is_host_name(text: &str) -> bool {
    let is_piece =
        |piece: &str| !piece.is_empty() && piece.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    (3..=63).contains(&text.chars().count()) && text.split('-').all(is_piece)
}

pub(super) fn check_queue_path(path: &str) {
    let resource = QueueResource::parse(path);
    if let Err(error) = &resource {
        check_refusal(error, path.len());
    }
    assert_eq!(resource.ok(), second_queue(path), "{path:?}");
}

fn second_queue(path: &str) -> Option<QueueResource> {
    let pieces: Vec<&str> = path.split('/').filter(|piece| !piece.is_empty()).collect();
    let name = |raw: &str| unescaped(raw).filter(|name| is_host_name(name)).map(|name| QueueName::parse(&name));
    let is_messages = |raw: &str| unescaped(raw).is_some_and(|text| text.eq_ignore_ascii_case("messages"));
    match pieces.as_slice() {
        [] => Some(QueueResource::Service),
        [queue] => Some(QueueResource::Queue { queue: name(queue)?.ok()? }),
        [queue, messages] if is_messages(messages) => Some(QueueResource::Messages { queue: name(queue)?.ok()? }),
        [queue, messages, id] if is_messages(messages) => {
            Some(QueueResource::Message { queue: name(queue)?.ok()?, id: unescaped(id)? })
        }
        _ => None,
    }
}

/// A container's name has no slash, and a blob's begins behind the first one.
pub(super) fn check_blob_path(path: &str) {
    for has_restype in [true, false] {
        match BlobResource::parse(path, has_restype) {
            Err(error) => check_refusal(&error, path.len()),
            Ok(BlobResource::Service) => assert!(path.bytes().all(|byte| byte == b'/')),
            Ok(BlobResource::Container { container }) => {
                let raw = path.trim_start_matches('/').trim_end_matches('/');
                assert_eq!(unescaped(raw).as_deref(), Some(container.as_str()), "{path:?}");
            }
            Ok(BlobResource::Blob { container, blob }) => {
                let below = path.trim_start_matches('/');
                let (raw_container, raw_blob) = below.split_once('/').unwrap_or(("$root", below));
                assert_eq!(unescaped(raw_container).as_deref(), Some(container.as_str()), "{path:?}");
                assert_eq!(unescaped(raw_blob).as_deref(), Some(blob.as_str()), "{path:?}");
                assert!(!has_restype || below.contains('/'));
            }
        }
    }
}

/// Escapes read once; what is not one stays as it is.
fn unescaped(raw: &str) -> Option<String> {
    let (raw, mut out) = (raw.as_bytes(), Vec::with_capacity(raw.len()));
    let mut at = 0;
    while at < raw.len() {
        let digit = |place: usize| raw.get(place).and_then(|byte| char::from(*byte).to_digit(16));
        match (raw[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            (byte, ..) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(out).ok()
}
