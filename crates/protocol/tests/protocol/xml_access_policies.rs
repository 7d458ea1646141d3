//! Get and Set ACL: the documents, the liberties that clients take with them, and the limits.

use tablerock_protocol::signing::TablePermissions;
use tablerock_protocol::xml::{StoredAccessPolicies, StoredAccessPolicy};
use tablerock_protocol::{DateTime, ErrorCode};

const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?>";

fn parse(document: &str) -> Result<Vec<StoredAccessPolicy>, ErrorCode> {
    let parsed = StoredAccessPolicies::parse(document.as_bytes(), TablePermissions::LETTERS);
    parsed.map(|parsed| parsed.policies).map_err(|error| error.code)
}

fn parse_identifiers(identifiers: &str) -> Result<Vec<StoredAccessPolicy>, ErrorCode> {
    parse(&format!("<SignedIdentifiers>{identifiers}</SignedIdentifiers>"))
}

fn policy(id: &str, start: Option<&str>, expiry: Option<&str>, permissions: Option<&str>) -> StoredAccessPolicy {
    let time = |text| DateTime::parse(text).expect(text);
    StoredAccessPolicy {
        id: id.to_owned(),
        start: start.map(time),
        expiry: expiry.map(time),
        permissions: permissions.map(str::to_owned),
    }
}

#[test]
fn policies_are_rendered_with_seven_digits_and_without_what_is_not_set() {
    let policies = vec![
        policy("id1", Some("2020-01-01T01:01Z"), Some("2021-01-01T01:01:00.1234567Z"), Some("r")),
        policy("partial", None, None, Some("raud")),
        policy("empty", None, None, None),
    ];
    let expected = "<SignedIdentifiers><SignedIdentifier><Id>id1</Id><AccessPolicy>\
        <Start>2020-01-01T01:01:00.0000000Z</Start><Expiry>2021-01-01T01:01:00.1234567Z</Expiry>\
        <Permission>r</Permission></AccessPolicy></SignedIdentifier><SignedIdentifier><Id>partial</Id><AccessPolicy>\
        <Permission>raud</Permission></AccessPolicy></SignedIdentifier><SignedIdentifier><Id>empty</Id>\
        </SignedIdentifier></SignedIdentifiers>";
    let policies = StoredAccessPolicies { policies };
    assert_eq!(policies.render(), format!("{DECLARATION}{expected}"));
    assert_eq!(StoredAccessPolicies::default().render(), format!("{DECLARATION}<SignedIdentifiers />"));
}

#[test]
fn what_is_rendered_reads_back() {
    let policies = StoredAccessPolicies {
        policies: vec![
            policy("a<b>&\"'c \r\n", None, Some("9999-12-31T23:59:59.9999999Z"), None),
            policy("日本😀", Some("1601-01-01"), None, Some("dr")),
        ],
    };
    let document = policies.render();
    assert_eq!(StoredAccessPolicies::parse(document.as_bytes(), TablePermissions::LETTERS).unwrap(), policies);
    let found = policies.find("日本😀").unwrap();
    assert_eq!(found.permissions.as_deref(), Some("dr"));
    assert_eq!(policies.find("日本"), None);
}

#[test]
fn nothing_clears_the_list() {
    for document in ["", " \r\n", "<SignedIdentifiers/>", "<SignedIdentifiers>\n</SignedIdentifiers>"] {
        assert_eq!(parse(document), Ok(Vec::new()), "{document:?}");
    }
    assert_eq!(parse("\u{feff}"), Ok(Vec::new()));
}

#[test]
fn clients_liberties_are_accepted() {
    let full = policy("x", Some("2021-07-08T09:10:09Z"), Some("2021-07-09"), Some("r"));
    let fields = "<Start>2021-07-08T09:10:09Z</Start><Expiry>2021-07-09</Expiry><Permission>r</Permission>";
    let in_order = format!("<SignedIdentifier><Id>x</Id><AccessPolicy>{fields}</AccessPolicy></SignedIdentifier>");
    let policy_first = format!("<SignedIdentifier><AccessPolicy>{fields}</AccessPolicy><Id>x</Id></SignedIdentifier>");
    assert_eq!(parse_identifiers(&in_order), Ok(vec![full.clone()]));
    assert_eq!(parse_identifiers(&policy_first), Ok(vec![full.clone()]));
    let marked = format!("\u{feff}{DECLARATION}\r\n<SignedIdentifiers>\r\n  {in_order}\r\n</SignedIdentifiers>\r\n");
    assert_eq!(parse(&marked), Ok(vec![full]));
    for empty in [
        "",
        "<AccessPolicy/>",
        "<AccessPolicy><Start/><Expiry></Expiry><Permission /></AccessPolicy>",
        "<AccessPolicy><Start> </Start></AccessPolicy>",
    ] {
        let identifier = format!("<SignedIdentifier><Id>x</Id>{empty}</SignedIdentifier>");
        assert_eq!(parse_identifiers(&identifier), Ok(vec![policy("x", None, None, None)]), "{empty}");
    }
    for (text, meaning) in [
        ("2021-07-08T09:10Z", "2021-07-08T09:10:00Z"),
        ("2021-07-08T09:10:09.0000000Z", "2021-07-08T09:10:09Z"),
        ("2021-07-08T09:10:09.123Z", "2021-07-08T09:10:09.123Z"),
        (" 2021-07-08 ", "2021-07-08"),
    ] {
        let identifier = format!(
            "<SignedIdentifier><Id>x</Id><AccessPolicy><Expiry>{text}</Expiry></AccessPolicy></SignedIdentifier>"
        );
        assert_eq!(parse_identifiers(&identifier), Ok(vec![policy("x", None, Some(meaning), None)]), "{text}");
    }
}

#[test]
fn limits_are_kept() {
    let identifier = |id: &str| format!("<SignedIdentifier><Id>{id}</Id></SignedIdentifier>");
    let many = |count: usize| (0..count).map(|n| identifier(&n.to_string())).collect::<String>();
    assert_eq!(parse_identifiers(&many(5)).unwrap().len(), 5);
    assert_eq!(parse_identifiers(&many(6)), Err(ErrorCode::InvalidXmlDocument));
    assert!(parse_identifiers(&identifier(&"é".repeat(64))).is_ok());
    assert!(parse_identifiers(&identifier(&"😀".repeat(32))).is_ok());
    assert_eq!(parse_identifiers(&identifier(&"a".repeat(65))), Err(ErrorCode::InvalidXmlDocument));
    assert_eq!(parse_identifiers(&identifier(&"😀".repeat(33))), Err(ErrorCode::InvalidXmlDocument));
    assert_eq!(parse_identifiers(&identifier("a").repeat(2)), Err(ErrorCode::InvalidXmlDocument));
    assert!(parse_identifiers(&(identifier("a") + &identifier("A"))).is_ok());
}

#[test]
fn what_is_wrong_has_its_code() {
    for (document, code) in [
        ("<SignedIdentifiers>", ErrorCode::InvalidXmlDocument),
        ("<Other/>", ErrorCode::InvalidXmlDocument),
        ("not xml", ErrorCode::InvalidXmlDocument),
        ("<?xml version='1.0'?>", ErrorCode::InvalidXmlDocument),
        ("<SignedIdentifiers>text</SignedIdentifiers>", ErrorCode::InvalidXmlDocument),
        ("<SignedIdentifiers><Other/></SignedIdentifiers>", ErrorCode::UnsupportedXmlNode),
    ] {
        assert_eq!(parse(document), Err(code), "{document}");
    }
    for (content, code) in [
        ("", ErrorCode::MissingRequiredXmlNode),
        ("<AccessPolicy/>", ErrorCode::MissingRequiredXmlNode),
        ("<Id/>", ErrorCode::InvalidXmlNodeValue),
        ("<Id>a</Id><Id>b</Id>", ErrorCode::InvalidXmlDocument),
        ("<Id>a<b/></Id>", ErrorCode::InvalidXmlDocument),
        ("<Id>a</Id><Other/>", ErrorCode::UnsupportedXmlNode),
        ("<Id>a</Id><AccessPolicy><Other/></AccessPolicy>", ErrorCode::UnsupportedXmlNode),
        ("<Id>a</Id><AccessPolicy><Start>x</Start></AccessPolicy>", ErrorCode::InvalidXmlNodeValue),
        ("<Id>a</Id><AccessPolicy><Expiry>2021-02-30</Expiry></AccessPolicy>", ErrorCode::InvalidXmlNodeValue),
        ("<Id>a</Id><AccessPolicy><Permission>rw</Permission></AccessPolicy>", ErrorCode::InvalidXmlDocument),
    ] {
        let identifier = format!("<SignedIdentifier>{content}</SignedIdentifier>");
        assert_eq!(parse_identifiers(&identifier), Err(code), "{content}");
    }
}
