//! Entities as JSON: what requests may contain, and how responses look at each metadata level.

use tablerock_protocol::json::{EntityShape, Location, append_entity, parse_entity, parse_table_name};
use tablerock_protocol::{DateTime, EntityBody, ErrorCode, MetadataLevel, Select, Value, limits};

fn parse(body: &str) -> EntityBody<'_> {
    parse_entity(body.as_bytes()).unwrap_or_else(|error| panic!("{body}: {error}"))
}

fn code(body: &str) -> ErrorCode {
    parse_entity(body.as_bytes()).expect_err(body).code
}

fn only(body: &str) -> Value<'_> {
    let mut entity = parse(body);
    assert_eq!(entity.properties.len(), 1, "{body}");
    entity.properties.remove(0).value
}

#[test]
fn plain_json_has_the_types_it_shows() {
    assert_eq!(only(r#"{"a":"2020-01-01T00:00:00Z"}"#), Value::String("2020-01-01T00:00:00Z".into()));
    assert_eq!(only(r#"{"a":true}"#), Value::Boolean(true));
    assert_eq!(only(r#"{"a":2147483647}"#), Value::Int32(i32::MAX));
    assert_eq!(only(r#"{"a":2147483648}"#), Value::Double(2147483648.0));
    assert_eq!(only(r#"{"a":5454161346626}"#), Value::Double(5454161346626.0));
    assert_eq!(only(r#"{"a":3.0}"#), Value::Double(3.0));
    assert_eq!(only(r#"{"a":1e3}"#), Value::Double(1000.0));
    assert_eq!(only("{\"a\":\"\\u00e9\\ud83d\\ude00\"}"), Value::String("é😀".into()));
}

#[test]
fn annotations_decide_on_either_side_of_their_property() {
    let date = DateTime::parse("2020-01-01T00:00:00.1234567Z").unwrap();
    assert_eq!(only(r#"{"a@odata.type":"Edm.Int64","a":"9223372036854775807"}"#), Value::Int64(i64::MAX));
    assert_eq!(only(r#"{"a":"39","a@odata.type":"Edm.Int64"}"#), Value::Int64(39));
    assert_eq!(only(r#"{"a@odata.type":"Edm.Int64","a":39}"#), Value::Int64(39));
    assert_eq!(only(r#"{"a@odata.type":"Edm.Double","a":1}"#), Value::Double(1.0));
    assert_eq!(only(r#"{"a@odata.type":"Edm.Double","a":"1.5"}"#), Value::Double(1.5));
    assert_eq!(only(r#"{"a@odata.type":"Edm.Double","a":"-Infinity"}"#), Value::Double(f64::NEG_INFINITY));
    assert!(matches!(only(r#"{"a@odata.type":"Edm.Double","a":"NaN"}"#), Value::Double(number) if number.is_nan()));
    assert_eq!(only(r#"{"a@odata.type":"Edm.DateTime","a":"2020-01-01T00:00:00.1234567Z"}"#), Value::DateTime(date));
    assert_eq!(only(r#"{"a@odata.type":"Edm.Binary","a":"AP8="}"#), Value::Binary(vec![0, 255].into()));
    assert_eq!(only(r#"{"a@odata.type":"Edm.Binary","a":""}"#), Value::Binary(vec![].into()));
    assert_eq!(only(r#"{"a@odata.type":"Edm.String","a":"x"}"#), Value::String("x".into()));
    assert_eq!(only(r#"{"a@odata.type":"Edm.Int32","a":"7"}"#), Value::Int32(7));
}

#[test]
fn what_clients_send_back_is_ignored() {
    let entity = parse(
        r#"{"odata.metadata":"x","odata.etag":"y","PartitionKey@odata.type":"Edm.String","PartitionKey":"p","RowKey":"r",
            "Timestamp@odata.type":"Edm.DateTime","Timestamp":"0001-01-01T00:00:00Z","n":null,"n@odata.type":"Edm.Int64",
            "gone@odata.type":"Edm.Guid","a@odata.type@odata.type":"Edm.String","a":1}"#,
    );
    assert_eq!((entity.partition_key.as_deref(), entity.row_key.as_deref()), (Some("p"), Some("r")));
    assert_eq!(entity.properties.len(), 1);
}

#[test]
fn bodies_that_are_no_entity_are_refused() {
    for body in [
        "",
        "[]",
        "1",
        "{",
        r#"{"a":1"#,
        r#"{"a":1}x"#,
        r#"{"a":{}}"#,
        r#"{"a":[1]}"#,
        r#"{"a":1e999}"#,
        r#"{"a@odata.type":"Edm.Int64","a":"x"}"#,
        r#"{"a@odata.type":"Edm.Guid","a":"x"}"#,
        r#"{"a@odata.type":"Edm.Binary","a":"*"}"#,
        r#"{"a@odata.type":"Edm.Decimal","a":"1"}"#,
        r#"{"a@odata.type":"Edm.Double","a":"13e7705"}"#,
        r#"{"a@odata.type":"Edm.DateTime","a":"yesterday"}"#,
        r#"{"PartitionKey":5}"#,
        "{\"a\":\"\\ud800\"}",
    ] {
        assert_eq!(code(body), ErrorCode::InvalidInput, "{body}");
    }
    assert_eq!(parse_entity(b"{\"a\":\"\xff\"}").unwrap_err().code, ErrorCode::InvalidInput);
}

#[test]
fn each_rule_has_its_own_error() {
    assert_eq!(code(r#"{"a":1,"a":2}"#), ErrorCode::DuplicatePropertiesSpecified);
    assert_eq!(code(r#"{"PartitionKey":"a","PartitionKey":"b"}"#), ErrorCode::DuplicatePropertiesSpecified);
    assert_eq!(code(r#"{"a-b":1}"#), ErrorCode::PropertyNameInvalid);
    assert_eq!(code(&format!("{{\"{}\":1}}", "x".repeat(256))), ErrorCode::PropertyNameTooLong);
    let too_early = parse_entity(br#"{"D@odata.type":"Edm.DateTime","D":"0001-01-01T00:00:00Z"}"#).unwrap_err();
    assert_eq!(too_early.code, ErrorCode::OutOfRangeInput);
    assert_eq!(too_early.message, "The 'D' parameter of value '01/01/0001 00:00:00' is out of range.");
}

#[test]
fn as_many_properties_as_allowed_pass_and_one_more_fails() {
    let body = |count: usize| {
        let members: Vec<String> = (0..count).map(|n| format!("\"p{n}\":{n}")).collect();
        format!("{{{}}}", members.join(","))
    };
    assert!(parse_entity(body(limits::ENTITY_PROPERTIES_MAX).as_bytes()).is_ok());
    assert_eq!(code(&body(limits::ENTITY_PROPERTIES_MAX + 1)), ErrorCode::TooManyProperties);
    assert_eq!(code(&body(100_000)), ErrorCode::TooManyProperties);
}

#[test]
fn table_names_are_found_among_other_members() {
    assert_eq!(parse_table_name(br#"{"odata.type":"x","TableName":"People"}"#).unwrap(), "People");
    assert_eq!(parse_table_name(b"{}").unwrap_err().code, ErrorCode::PropertiesNeedValue);
    assert_eq!(parse_table_name(br#"{"TableName":5}"#).unwrap_err().code, ErrorCode::InvalidInput);
}

fn written(level: MetadataLevel, select: Option<&str>, standalone: bool) -> String {
    let select = Select::parse(select).expect("a projection");
    let location = Location { base: "http://h/acct", account: "acct", table: "T" };
    let shape = EntityShape { location, level, select: &select };
    let timestamp = DateTime::parse("2020-09-15T23:02:09.1767714Z").expect("a date");
    let properties = [
        ("age", Value::Int64(39)),
        ("name", Value::String("é\"".into())),
        ("whole", Value::Double(3.0)),
        ("inf", Value::Double(f64::INFINITY)),
        ("n", Value::Int32(-1)),
    ];
    let mut out = Vec::new();
    append_entity(&mut out, &shape, standalone, "p'1", "r", timestamp, properties.into_iter());
    String::from_utf8(out).expect("JSON is text")
}

#[test]
fn the_three_levels_are_written_as_the_service_does() {
    assert_eq!(
        written(MetadataLevel::None, None, true),
        r#"{"PartitionKey":"p'1","RowKey":"r","Timestamp":"2020-09-15T23:02:09.1767714Z","age":"39","name":"\u00e9\"","whole":3.0,"inf":"Infinity","n":-1}"#
    );
    assert_eq!(
        written(MetadataLevel::Minimal, None, true),
        r#"{"odata.metadata":"http://h/acct/$metadata#T/@Element","odata.etag":"W/\"datetime'2020-09-15T23%3A02%3A09.1767714Z'\"","PartitionKey":"p'1","RowKey":"r","Timestamp":"2020-09-15T23:02:09.1767714Z","age@odata.type":"Edm.Int64","age":"39","name":"\u00e9\"","whole":3.0,"inf@odata.type":"Edm.Double","inf":"Infinity","n":-1}"#
    );
    assert_eq!(
        written(MetadataLevel::Full, Some("PartitionKey,Timestamp,age"), false),
        r#"{"odata.type":"acct.T","odata.id":"http://h/acct/T(PartitionKey='p''1',RowKey='r')","odata.etag":"W/\"datetime'2020-09-15T23%3A02%3A09.1767714Z'\"","odata.editLink":"T(PartitionKey='p''1',RowKey='r')","PartitionKey":"p'1","Timestamp@odata.type":"Edm.DateTime","Timestamp":"2020-09-15T23:02:09.1767714Z","age@odata.type":"Edm.Int64","age":"39"}"#
    );
}

#[test]
fn a_selected_property_that_is_missing_is_null() {
    assert_eq!(written(MetadataLevel::None, Some("n, gone"), true), r#"{"n":-1,"gone":null}"#);
}
