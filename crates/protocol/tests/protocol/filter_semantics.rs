//! What filters mean: precedence, sides, types, missing properties.

use std::borrow::Cow;

use tablerock_protocol::filter::Row;
use tablerock_protocol::{DateTime, Filter, Uuid, Value};

struct Sample;

impl Row for Sample {
    fn value(&self, property: &str) -> Option<Value<'_>> {
        let text = |text: &'static str| Some(Value::String(Cow::Borrowed(text)));
        match property {
            "PartitionKey" => text("p"),
            "Name" => text("Ann"),
            "Quoted" => text("it's"),
            "Int" => Some(Value::Int32(5)),
            "Long" => Some(Value::Int64(5_000_000_000)),
            "SmallLong" => Some(Value::Int64(5)),
            "Double" => Some(Value::Double(2.5)),
            "NotANumber" => Some(Value::Double(f64::NAN)),
            "Yes" => Some(Value::Boolean(true)),
            "No" => Some(Value::Boolean(false)),
            "Date" => Some(Value::DateTime(DateTime::parse("2020-01-01T00:00:00.0000001Z").expect("a date"))),
            "Guid" => Some(Value::Guid(Uuid::try_parse("a455c695-df98-5678-aaaa-81d3367e5a34").expect("a guid"))),
            "Binary" => Some(Value::Binary(Cow::Borrowed(&[0x0a, 0xff]))),
            _ => None,
        }
    }
}

fn holds(filter: &str) -> bool {
    Filter::parse(filter).unwrap_or_else(|error| panic!("{filter}: {error}")).expect("a filter").matches(&Sample)
}

fn check(expected: bool, filters: &[&str]) {
    for filter in filters {
        assert_eq!(holds(filter), expected, "{filter}");
    }
}

#[test]
fn and_binds_tighter_than_or_and_not_tighter_than_both() {
    check(
        true,
        &[
            "Int eq 5 or Int eq 6 and Int eq 7",
            "(Int eq 5 or Int eq 6) and Name eq 'Ann'",
            "not (Int eq 6) and Name eq 'Ann'",
            "not Int eq 6",
            "not(Int eq 6)",
            "not not (Int eq 5)",
            "((Int eq 5))",
            "(Int) eq (5)",
        ],
    );
    check(false, &["(Int eq 5 or Int eq 6) and Int eq 7", "not (Int eq 5) or Int eq 6", "not (Int eq 5 or Int eq 6)"]);
}

#[test]
fn a_constant_may_stand_on_either_side() {
    check(true, &["5 eq Int", "4 lt Int", "6 gt Int", "'Ann' eq Name", "5 le Int", "5 ge Int"]);
    check(false, &["5 lt Int", "5 ne Int", "6 lt Int"]);
}

#[test]
fn constants_are_filters_and_parts_of_filters() {
    check(
        true,
        &[
            "true",
            "not false",
            "1 eq 1",
            "1 eq 1L",
            "2L lt 2.5",
            "2.5 gt 2",
            "'a' lt 'b'",
            "NaN ne NaN",
            "Int eq 5 and true",
            "true or Missing",
            "(1 eq 1) eq true",
            "not (Int eq 5 and 1 eq 2)",
        ],
    );
    check(false, &["false", "not true", "1 eq 2", "1.5 eq 1", "Int eq 5 and false", "false or Missing", "true and No"]);
    assert_eq!(Filter::parse("Int eq 5 and true").unwrap(), Filter::parse("Int eq 5").unwrap());
}

#[test]
fn every_kind_of_literal_is_compared_by_its_type() {
    check(
        true,
        &[
            "Name gt 'Abe'",
            "Quoted eq 'it''s'",
            "Int ge -5",
            "Long eq 5000000000L",
            "Long eq 5000000000l",
            "Double eq 2.5",
            "Double eq 25e-1",
            "Double eq 2.5D",
            "Double lt 1E10",
            "Yes eq true",
            "Yes gt false",
            "Date gt datetime'2020-01-01T00:00:00Z'",
            "Date eq datetime'2020-01-01T01:00:00.0000001+01:00'",
            "Guid eq guid'A455C695-DF98-5678-AAAA-81D3367E5A34'",
            "Binary eq X'0aFF'",
            "Binary eq binary'0AFF'",
            "Binary lt X'0AFF00'",
            "Double lt INF",
            "Double gt -INF",
        ],
    );
}

#[test]
fn a_bare_property_holds_when_it_is_true() {
    check(true, &["Yes", "not No", "Yes and Int eq 5", "(Yes)"]);
    check(false, &["No", "Int", "Name", "Missing"]);
}

#[test]
fn integers_widen_one_way_only() {
    check(true, &["SmallLong eq 5", "Double gt 2", "Double gt 2L", "Int lt 5L", "Int ne 5.0"]);
    check(false, &["Int eq 5L", "Int eq 5.0", "SmallLong eq 5.0"]);
}

#[test]
fn a_property_of_another_type_sorts_before_every_literal() {
    check(true, &["Name lt 5", "Name le 5", "Name ne 5", "5 gt Name", "Int lt 'x'"]);
    check(false, &["Name eq 5", "Name gt 5", "Name ge 5", "5 lt Name"]);
}

#[test]
fn a_missing_property_matches_nothing_and_its_negation_everything() {
    check(false, &["Missing eq 1", "Missing ne 1", "Missing lt 1", "Missing gt 1"]);
    check(true, &["not (Missing eq 1)", "not (Missing ne 1)"]);
}

#[test]
fn not_a_number_equals_nothing() {
    check(true, &["NotANumber ne 1.0", "NotANumber ne NaN"]);
    check(false, &["NotANumber eq NaN", "NotANumber lt 1.0", "NotANumber ge 1.0", "Double lt NaN"]);
}

#[test]
fn names_and_operators_are_case_sensitive() {
    check(false, &["name eq 'Ann'"]);
    assert!(Filter::parse("Name EQ 'Ann'").is_err());
}

#[test]
fn an_empty_filter_is_none() {
    assert!(Filter::parse("").unwrap().is_none());
    assert!(Filter::parse("   ").unwrap().is_none());
}
