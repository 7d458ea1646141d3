//! Index tags in a header, and conditions on them.

use tablerock_protocol::blob::{TagCondition, TagQuery, Tags};
use tablerock_protocol::xml::{parse_tags, render_tags};

use crate::refusal::check_refusal;

pub(super) fn check_header(text: &str) {
    match Tags::parse_header(text) {
        Err(error) => check_refusal(&error, text.len()),
        Ok(tags) => {
            assert!(tags.pairs().len() <= 10);
            for (place, (key, value)) in tags.pairs().iter().enumerate() {
                assert!((1..=128).contains(&key.len()) && value.len() <= 256 && key.is_ascii() && value.is_ascii());
                assert!(tags.pairs()[..place].iter().all(|(earlier, _)| earlier != key));
                assert_eq!(tags.value(key), Some(value.as_str()));
            }
            let spelled: Vec<String> =
                tags.pairs().iter().map(|(key, value)| format!("{}={}", escaped(key), escaped(value))).collect();
            assert_eq!(Tags::parse_header(&spelled.join("&")).as_ref(), Ok(&tags), "{text:?}");
            assert_eq!(parse_tags(render_tags(&tags).as_bytes()), Ok(tags), "{text:?}");
        }
    }
}

/// Every byte as an escape.
fn escaped(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// A condition that is read holds or does not; an alternative that never holds and a demand that always does, on a tag
/// that no blob here has, change nothing.
pub(super) fn check_condition(text: &str) {
    check_search(text);
    let condition = match TagCondition::parse(text) {
        Err(error) => return check_refusal(&error, text.len()),
        Ok(condition) => condition,
    };
    let sets = ["", "status=ready", "status=ready&size=5", "a=&b=x&size=10", "status=old&a=1&c=2"];
    for tags in sets.map(|header| Tags::parse_header(header).expect("tags of our own")) {
        let holds = condition.admits(&tags);
        for addition in ["OR \"nowhere\" = '1'", "and nowhere <> '1'"] {
            // At most ten comparisons are read, so one more may be one too many.
            let Ok(longer) = TagCondition::parse(&format!("{text} {addition}")) else { continue };
            assert_eq!(longer.admits(&tags), holds, "{text:?} {addition} for {tags:?}");
        }
    }
}

/// A search that is read admits only blobs with each of its tags, and none if it also asks for one that no blob here has.
fn check_search(text: &str) {
    let query = match TagQuery::parse(text) {
        Err(error) => return check_refusal(&error, text.len()),
        Ok(query) => query,
    };
    assert!(!query.ranges().is_empty(), "{text:?}");
    let longer = TagQuery::parse(&format!("{text} AND nowhere='1'"));
    for header in ["", "status=ready", "status=ready&size=5", "a=&b=x&size=10", "status=old&a=1&c=2"] {
        let tags = Tags::parse_header(header).expect("tags of our own");
        let is_complete = query.ranges().iter().all(|range| tags.value(range.key()).is_some());
        assert!(is_complete || !query.admits(&tags), "{text:?} for {tags:?}");
        assert!(longer.as_ref().is_ok_and(|longer| !longer.admits(&tags)) || longer.is_err(), "{text:?} for {tags:?}");
    }
}
