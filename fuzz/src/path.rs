//! A request's target: the path to a resource, and the query string.
//!
//! Input: the target as on the wire, `/path?query`.

mod second_reading;

use tablerock_protocol::json::append_address;
use tablerock_protocol::{QueryString, Select, TableResource, continuation, limits};

use crate::refusal::check_refusal;

pub fn check(data: &[u8]) {
    let Ok(target) = std::str::from_utf8(data) else { return };
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    check_path(path);
    check_query(query);
}

/// Two readers that share no code agree, and an entity's keys survive the address that a response gives it.
fn check_path(path: &str) {
    let resource = TableResource::parse(path);
    assert_eq!(resource.as_ref().ok(), second_reading::resource(path).as_ref(), "{path:?}");
    match resource {
        Err(error) => check_refusal(&error, path.len()),
        Ok(TableResource::Entity { partition_key, row_key, .. }) => check_address(&partition_key, &row_key),
        Ok(_) => {}
    }
}

fn check_address(partition_key: &str, row_key: &str) {
    let mut address = b"/".to_vec();
    append_address(&mut address, "People", partition_key, row_key);
    let address = String::from_utf8(address).expect("an address is ASCII");
    assert!(address.is_ascii() && !address.contains([' ', '"', '#', '?']), "{address:?}");
    let expected =
        TableResource::Entity { table: "People".into(), partition_key: partition_key.into(), row_key: row_key.into() };
    assert_eq!(TableResource::parse(&address), Ok(expected), "{address:?}");
}

fn check_query(raw: &str) {
    let query = QueryString::parse(raw);
    let pairs = second_reading::query(raw);
    match &query {
        Err(error) => {
            check_refusal(error, raw.len());
            assert_eq!(pairs, None, "{raw:?}");
        }
        Ok(query) => {
            let read = query.pairs().iter().map(|(name, value)| (name.to_string(), value.to_string()));
            assert_eq!(Some(read.collect()), pairs, "{raw:?}");
            check_select(query.value("$select"), raw.len());
            for name in ["NextPartitionKey", "NextRowKey", "NextTableName"] {
                check_continuation(query.value(name).unwrap_or_default(), raw.len());
            }
        }
    }
}

fn check_select(text: Option<&str>, input_bytes: usize) {
    match Select::parse(text) {
        Err(error) => check_refusal(&error, input_bytes),
        Ok(select) => {
            let names = select.names().unwrap_or_default();
            assert!(names.len() <= limits::SELECT_NAMES_MAX);
            assert!(names.iter().all(|name| select.includes(name) && !name.is_empty()));
            assert_eq!(names.is_empty(), select.names().is_none_or(<[String]>::is_empty));
        }
    }
}

/// A token that is read names a key, and the token of that key names it again.
fn check_continuation(token: &str, input_bytes: usize) {
    match continuation::decode_key(token) {
        Err(error) => check_refusal(&error, input_bytes),
        Ok(key) => assert_eq!(continuation::decode_key(&continuation::encode_key(&key)), Ok(key)),
    }
    if let Ok(table) = continuation::decode_table(token) {
        assert_eq!(continuation::decode_table(&continuation::encode_table(&table)), Ok(table));
    }
}
