//! How filters fail: the service's codes and texts, and never a panic.

use tablerock_protocol::{ErrorCode, Filter, limits};

fn refusal(filter: &str) -> (ErrorCode, String) {
    let error = Filter::parse(filter).expect_err(filter);
    (error.code, error.message.into_owned())
}

#[test]
fn syntax_errors_name_the_position() {
    let (code, message) = refusal("property1 eq 1'invalid'");
    assert_eq!(code, ErrorCode::InvalidInput);
    assert_eq!(message, "Syntax error at position 23 in 'property1 eq 1'invalid''.");
    let broken =
        ["Name eq", "eq 1", "(Name eq 'a'", "Name eq 'a')", "Name eq 'a' and", "Name 'a'", "a b c", "\u{1}", "a EQ 1"];
    for filter in broken {
        let (code, message) = refusal(filter);
        assert_eq!(code, ErrorCode::InvalidInput, "{filter}");
        assert!(message.starts_with("Syntax error at position"), "{filter}: {message}");
    }
}

#[test]
fn unterminated_strings_say_so() {
    let (code, message) = refusal("Name eq 'Ann");
    assert_eq!(code, ErrorCode::InvalidInput);
    assert_eq!(message, "There is an unterminated literal at position 8 in 'Name eq 'Ann'.");
}

#[test]
fn literals_that_their_type_cannot_hold_are_named() {
    let cases = [
        ("Prop1 gt 1498179600055", "Unrecognized 'Edm.Int32' literal '1498179600055' at '9' in"),
        ("P eq datetime'x'", "Unrecognized 'Edm.DateTime' literal 'datetime'x'' at '5' in"),
        ("P eq guid'x'", "Unrecognized 'Edm.Guid' literal 'guid'x'' at '5' in"),
        ("P eq X'0'", "Unrecognized 'Edm.Binary' literal 'X'0'' at '5' in"),
        ("P eq 99999999999999999999L", "Unrecognized 'Edm.Int64' literal"),
        ("P eq 1e999", "Unrecognized 'Edm.Double' literal"),
    ];
    for (filter, beginning) in cases {
        let (code, message) = refusal(filter);
        assert_eq!(code, ErrorCode::InvalidInput, "{filter}");
        assert!(message.starts_with(beginning), "{filter}: {message}");
    }
}

#[test]
fn what_odata_has_and_the_service_has_not_is_not_implemented() {
    for filter in [
        "startswith(Name,'A')",
        "tolower(Name) eq 'ann'",
        "substringof('n',Name) eq true",
        "Age add 1 eq 2",
        "Name eq Other",
        "Address/City eq 'x'",
    ] {
        assert_eq!(refusal(filter).0, ErrorCode::NotImplemented, "{filter}");
    }
}

#[test]
fn operands_of_types_that_do_not_fit_are_named() {
    let binary = |left: &str, right: &str, kind: &str| {
        format!(
            "A binary operator with incompatible types was detected. Found operand types '{left}' and '{right}' for \
             operator kind '{kind}'."
        )
    };
    let not_a_truth = "The $filter expression must evaluate to a single boolean value.".to_owned();
    let not = "A unary operator with an incompatible type was detected. Found operand type 'Edm.String' for operator kind \
               'Not'.";
    for (filter, expected) in [
        ("(PartitionKey ) and (RowKey ge '000050')", binary("Edm.String", "Edm.Boolean", "And")),
        ("Flag or Timestamp", binary("<null>", "Edm.DateTime", "Or")),
        ("1 and Flag", binary("Edm.Int32", "<null>", "And")),
        ("PartitionKey eq 5", binary("Edm.String", "Edm.Int32", "Equal")),
        ("'now' lt Timestamp", binary("Edm.String", "Edm.DateTime", "LessThan")),
        ("1 eq 'a'", binary("Edm.Int32", "Edm.String", "Equal")),
        ("X'00' ge X'00'", binary("Edm.Binary", "Edm.Binary", "GreaterThanOrEqual")),
        ("not PartitionKey", not.to_owned()),
        ("RowKey", not_a_truth.clone()),
        ("1", not_a_truth.clone()),
        ("'a'", not_a_truth),
        ("Name eq null", ErrorCode::InvalidInput.message().to_owned()),
    ] {
        assert_eq!(refusal(filter), (ErrorCode::InvalidInput, expected), "{filter}");
    }
}

#[test]
fn nesting_has_a_bound() {
    let nested = |depth: usize| format!("{}A eq 1{}", "(".repeat(depth), ")".repeat(depth));
    assert!(Filter::parse(&nested(limits::FILTER_DEPTH_MAX)).is_ok());
    let too_deep = (ErrorCode::InvalidInput, "Recursion depth exceeded allowed limit.".to_owned());
    assert_eq!(refusal(&nested(100_000)), too_deep);
    assert_eq!(refusal(&"not ".repeat(100_000)), too_deep);
}

#[test]
fn long_chains_do_not_nest() {
    let chain = vec!["A eq 1"; 50_000].join(" or ");
    assert!(Filter::parse(&chain).is_ok());
}

#[test]
fn any_soup_of_tokens_is_parsed_or_refused() {
    let pieces = [
        "A",
        " eq ",
        "1",
        "'",
        "''",
        "(",
        ")",
        " and ",
        " or ",
        "not ",
        "datetime'",
        "X'0",
        "é",
        "😀",
        "-",
        "1e",
        ".",
        "L",
        " ",
    ];
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    for _ in 0..20_000 {
        let mut filter = String::new();
        for _ in 0..12 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            filter.push_str(pieces[state as usize % pieces.len()]);
        }
        let _ = Filter::parse(&filter);
    }
}
