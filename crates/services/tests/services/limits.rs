//! Limits that depend on what is stored already.

use std::sync::Arc;

use crate::support::*;
use tablerock_kv::fault::{Call, Fault};
use tablerock_kv::{Error, ErrorKind, FaultEngine, MemoryEngine, Store};
use tablerock_protocol::entity::{keys_size, property_size};
use tablerock_protocol::{ErrorCode, Value, limits};
use tablerock_services::table::{Change, Properties};

fn many(range: std::ops::Range<usize>) -> Properties {
    let names: Vec<String> = range.map(|n| format!("p{n}")).collect();
    properties(&names.iter().map(|name| (name.as_str(), Value::Int32(1))).collect::<Vec<_>>())
}

fn merge(properties: Properties) -> Change {
    Change::Merge { properties, condition: None }
}

#[tokio::test]
async fn a_merge_counts_the_properties_that_are_there() {
    let service = service().await;
    apply_one(&service, operation("p", "r", Change::Insert(many(0..200)))).await.unwrap();
    let refused = apply_one(&service, operation("p", "r", merge(many(199..253)))).await;
    assert_eq!(code(refused), ErrorCode::TooManyProperties);
    apply_one(&service, operation("p", "r", merge(many(199..252)))).await.unwrap();
}

/// Properties that bring an entity with one-letter keys to exactly this size.
fn sized(bytes: usize) -> Properties {
    let names: Vec<String> = (0..20).map(|n| format!("x{n:02}")).collect();
    let mut left = bytes - keys_size("p", "r");
    let mut values = Vec::new();
    for name in &names {
        let empty = property_size(name, &Value::Binary(vec![].into()));
        let length = left.saturating_sub(empty).min(limits::BINARY_BYTES_MAX);
        // Leave room for the head of a next property, if one is needed.
        let length = if left - empty - length > 0 && left - empty - length < 30 { length - 30 } else { length };
        left -= empty + length;
        values.push((name.as_str(), Value::Binary(vec![0; length].into())));
        if left == 0 {
            return properties(&values);
        }
    }
    panic!("{left} bytes are left");
}

#[tokio::test]
async fn an_entity_passes_at_one_mebibyte_and_fails_one_byte_above() {
    let service = service().await;
    apply_one(&service, operation("p", "r", Change::Insert(sized(limits::ENTITY_BYTES_MAX)))).await.unwrap();
    let above = operation("p", "s", Change::Insert(sized(limits::ENTITY_BYTES_MAX + 1)));
    assert_eq!(code(apply_one(&service, above).await), ErrorCode::EntityTooLarge);
    let grown = apply_one(&service, operation("p", "r", merge(properties(&[("b", Value::Boolean(true))])))).await;
    assert_eq!(code(grown), ErrorCode::EntityTooLarge);
}

/// Not every engine can index all that the service allows. A client that gets a retryable error would retry for ever.
#[tokio::test]
async fn a_key_that_the_store_cannot_hold_is_refused_as_too_large() {
    let engine = Arc::new(FaultEngine::new(Arc::new(MemoryEngine::new())));
    let service = service_on(&Store::new(engine.clone()), manual_clock()).await;
    let too_long = Error::new(ErrorKind::TooLong, "longer than the database can index");
    engine.script(Call::Commit, [Fault::Fail(too_long)]);
    let refused = apply_one(&service, insert("p", "r", 0)).await.unwrap_err().into_service_error();
    assert_eq!((refused.code, refused.status), (ErrorCode::KeyValueTooLarge, 400));
}
