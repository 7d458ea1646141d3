//! `$filter`: the text, the tree, and what a query with it finds.
//!
//! Input: the filter, decoded.

mod judgement;
mod spelling;

use std::thread_local;

use tablerock_protocol::{ErrorCode, Filter};
use tablerock_services::table::EntityQuery;

use crate::known_table::KnownTable;
use crate::refusal::check_refusal;

thread_local! {
    static TABLE: KnownTable = KnownTable::new();
}

pub fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Filter::parse(text) {
        Err(error) => {
            check_refusal(&error, text.len());
            assert!(matches!(error.code, ErrorCode::InvalidInput | ErrorCode::NotImplemented), "{error:?}");
        }
        Ok(None) => assert!(text.trim().is_empty(), "{text:?}"),
        Ok(Some(filter)) => {
            check_spelling(&filter);
            TABLE.with(|table| check_query(table, &filter));
        }
    }
}

/// A tree that is written down, with no more nesting than it needs, reads as the same tree. They are compared as they print, because no number equals NaN.
fn check_spelling(filter: &Filter) {
    let spelled = spelling::spell(filter);
    let again = Filter::parse(&spelled).expect("our own spelling is a filter").expect("and not an empty one");
    assert_eq!(format!("{filter:?}"), format!("{again:?}"), "{spelled:?}");
}

/// The plan's ranges, with the filter over what they hold, find exactly what looking at every entity finds: at once,
/// page by page, and again with whatever the first reading has left behind.
fn check_query(table: &KnownTable, filter: &Filter) {
    let expected = table.keys_of(|entity| judgement::holds(filter, entity));
    for top in [None, Some(40)] {
        let query = EntityQuery { filter: Some(filter.clone()), top, ..EntityQuery::default() };
        assert_eq!(table.query(query), expected, "{filter:?} with {top:?}");
    }
}
