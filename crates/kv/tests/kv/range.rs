//! Positions and ranges: where things lie, without any engine.

use tablerock_kv::{Position, Range, prefix_end};

#[test]
fn the_end_of_a_prefix_is_the_first_string_behind_it() {
    for (prefix, end) in [(&b"a"[..], Some(&b"b"[..])), (b"a\xff", Some(b"b")), (b"a\x00", Some(b"a\x01"))] {
        assert_eq!(prefix_end(prefix).as_deref(), end);
    }
    assert_eq!(prefix_end(b""), None);
    assert_eq!(prefix_end(b"\xff\xff"), None);
}

#[test]
fn nothing_lies_between_a_position_and_its_successor() {
    let position = Position::new("p", "k");
    let next = position.successor();
    assert!(position < next);
    assert!(next <= Position::new("p", "k\0"));
    assert!(Range::between(position.clone(), next).contains(&position));
}

#[test]
fn a_partition_ends_before_every_later_one() {
    let range = Range::partition(b"p");
    assert!(range.contains(&Position::new("p", "")) && range.contains(&Position::new("p", "\u{10ffff}")));
    assert!(!range.contains(&Position::new("p\0", "")) && !range.contains(&Position::new("o", "k")));
    assert!(!range.is_empty() && Range::between(range.start.clone(), range.start).is_empty());
}
