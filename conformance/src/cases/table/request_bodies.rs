//! The service's reading of a request's JSON: annotations it tolerates, bodies it rejects.

use serde_json::json;

use crate::expect::equal;
use crate::table::Table;
use crate::{Outcome, Session, cases};

cases! {
    InsertEntity {
        an_annotation_may_follow_its_property,
        annotations_of_annotations_are_ignored,
        annotations_of_absent_properties_are_ignored,
        annotations_of_nulls_are_ignored,
        annotations_of_keys_and_timestamp_are_accepted,
        odata_members_are_ignored,
        an_entity_read_can_be_sent_back,
        objects_and_arrays_are_refused,
        an_unknown_type_name_is_refused,
        values_that_do_not_fit_their_annotation_are_refused,
        doubles_out_of_range_are_refused,
        a_duplicate_property_is_refused,
        a_duplicate_key_is_refused,
        malformed_json_is_refused,
        json_that_is_not_an_object_is_refused,
        an_empty_body_is_refused,
        a_body_that_is_not_utf8_is_refused,
        a_body_in_utf16_is_refused,
        deeply_nested_json_is_refused,
        escaped_text_is_read,
    }
    MergeEntity {
        a_malformed_merge_changes_nothing,
    }
}

const PROCESSING: &str = "An error occurred while processing this request.";

async fn an_annotation_may_follow_its_property(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed(r#"{"PartitionKey":"p","RowKey":"r","X":"39","X@odata.type":"Edm.Int64"}"#).await?;
    equal("type", table.stored("p", "r").await?["X@odata.type"].as_str(), Some("Edm.Int64"))
}

/// Sends members in addition to the keys and expects exactly these properties of the entity's own back.
async fn expect_kept(at: &Session, members: &str, kept: &[&str]) -> Outcome {
    let table = at.table().await?;
    table.seed(format!(r#"{{{members},"PartitionKey":"p","RowKey":"r"}}"#)).await?;
    let stored = table.stored("p", "r").await?;
    let system = ["PartitionKey", "RowKey", "Timestamp", "odata.metadata", "odata.etag"];
    let own: Vec<&str> = stored
        .as_object()
        .map(|object| object.keys().map(String::as_str).filter(|name| !system.contains(name)).collect())
        .unwrap_or_default();
    equal("properties", own, kept)
}

async fn annotations_of_annotations_are_ignored(at: &Session) -> Outcome {
    let members = r#""X":"1","X@odata.type":"Edm.Int64","X@odata.type@odata.type":"Edm.String""#;
    expect_kept(at, members, &["X", "X@odata.type"]).await
}

async fn annotations_of_absent_properties_are_ignored(at: &Session) -> Outcome {
    expect_kept(at, r#""Y@odata.type":"Edm.Int64","X":1"#, &["X"]).await
}

async fn annotations_of_nulls_are_ignored(at: &Session) -> Outcome {
    expect_kept(at, r#""Y@odata.type":"Edm.Int64","Y":null,"X":1"#, &["X"]).await
}

async fn annotations_of_keys_and_timestamp_are_accepted(at: &Session) -> Outcome {
    let members = r#""PartitionKey@odata.type":"Edm.String","RowKey@odata.type":"Edm.String","Timestamp":"2020-01-01T00:00:00Z","Timestamp@odata.type":"Edm.DateTime","X":1"#;
    expect_kept(at, members, &["X"]).await
}

async fn odata_members_are_ignored(at: &Session) -> Outcome {
    let members = r#""odata.metadata":"m","odata.etag":"e","odata.type":"t","odata.id":"i","odata.editLink":"l","odata.other":"o","X":1"#;
    expect_kept(at, members, &["X"]).await
}

async fn an_entity_read_can_be_sent_back(at: &Session) -> Outcome {
    let table = at.table().await?;
    table
        .seed(
            r#"{"PartitionKey":"p","RowKey":"r","X@odata.type":"Edm.Guid","X":"c9da6455-213d-42c9-9a79-3e9149a57833"}"#,
        )
        .await?;
    let text = table.read("p", "r").accept(crate::request::FULL).send().await?.text();
    table.put("p", "r", &text).if_match("*").send().await?.expect(204)?;
    equal("type", table.stored("p", "r").await?["X@odata.type"].as_str(), Some("Edm.Guid"))
}

async fn expect_member_refused(table: &Table<'_>, member: &str) -> Outcome {
    let response = table.insert(format!(r#"{{"PartitionKey":"p","RowKey":"r",{member}}}"#)).send().await?;
    response.expect_code(400, "InvalidInput")?;
    Ok(())
}

async fn objects_and_arrays_are_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    for member in [r#""X":{"a":1}"#, r#""X":[1]"#, r#""X":{}"#, r#""X":[]"#] {
        expect_member_refused(&table, member).await?;
    }
    table.expect_rows(&[]).await
}

async fn an_unknown_type_name_is_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    expect_member_refused(&table, r#""X@odata.type":"Edm.Frob","X":"1""#).await?;
    table.expect_rows(&[]).await
}

async fn values_that_do_not_fit_their_annotation_are_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    let values = [
        ("Edm.Int64", "\"many\""),
        ("Edm.Int64", "\"9223372036854775808\""),
        ("Edm.Int64", "\"1.5\""),
        ("Edm.Int32", "\"many\""),
        ("Edm.Int32", "2147483648"),
        ("Edm.Double", "\"many\""),
        ("Edm.Boolean", "\"maybe\""),
        ("Edm.DateTime", "\"yesterday\""),
        ("Edm.DateTime", "\"2020-02-30T00:00:00Z\""),
        ("Edm.Guid", "\"not-a-guid\""),
        ("Edm.Binary", "\"%%%\""),
    ];
    for (kind, value) in values {
        let entity = format!(r#"{{"PartitionKey":"p","RowKey":"r","X@odata.type":"{kind}","X":{value}}}"#);
        table.insert(entity).send().await?.expect_error(400, "InvalidInput", PROCESSING)?;
    }
    table.expect_rows(&[]).await
}

async fn doubles_out_of_range_are_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    for member in [r#""X":1.797693134862316e308"#, r#""X@odata.type":"Edm.Double","X":"13e7705""#] {
        let response = table.insert(format!(r#"{{"PartitionKey":"p","RowKey":"r",{member}}}"#)).send().await?;
        response.expect_error(400, "InvalidInput", PROCESSING)?;
    }
    table.expect_rows(&[]).await
}

async fn a_duplicate_property_is_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    let response = table.insert(r#"{"PartitionKey":"p","RowKey":"r","X":1,"X":2}"#).send().await?;
    let message = "A property is specified more than one time.";
    response.expect_error(400, "DuplicatePropertiesSpecified", message)?;
    table.expect_rows(&[]).await
}

async fn a_duplicate_key_is_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    let response = table.insert(r#"{"PartitionKey":"p","RowKey":"r","RowKey":"s"}"#).send().await?;
    response.expect_any_code(&[
        (400, "DuplicatePropertiesSpecified"),
        (400, "DuplicateKeyPropertySpecified"),
        (400, "InvalidInput"),
    ])?;
    table.expect_rows(&[]).await
}

async fn expect_body_refused(at: &Session, body: impl Into<Vec<u8>>) -> Outcome {
    let table = at.table().await?;
    let response = table.insert("").body(body).send().await?;
    response.expect_error(400, "InvalidInput", PROCESSING)?;
    table.expect_rows(&[]).await
}

async fn malformed_json_is_refused(at: &Session) -> Outcome {
    for body in [
        r#"{"PartitionKey":"p","RowKey":"r""#,
        r#"{"PartitionKey":"p","RowKey":"r"}}"#,
        r#"{"PartitionKey":"p","RowKey":"r","X":}"#,
        r#"{PartitionKey:"p",RowKey:"r"}"#,
        r#"{"PartitionKey":"p","RowKey":"r","X":"unterminated}"#,
    ] {
        expect_body_refused(at, body).await?;
    }
    Ok(())
}

async fn json_that_is_not_an_object_is_refused(at: &Session) -> Outcome {
    for body in [r#"[{"PartitionKey":"p","RowKey":"r"}]"#, "\"text\"", "17", "null", "true"] {
        let table = at.table().await?;
        table.insert(body).send().await?.expect_any_code(&[(400, "InvalidInput"), (400, "PropertiesNeedValue")])?;
    }
    Ok(())
}

async fn an_empty_body_is_refused(at: &Session) -> Outcome {
    let response = at.table().await?.insert("").send().await?;
    response.expect_any_code(&[(400, "InvalidInput"), (400, "PropertiesNeedValue")])?;
    Ok(())
}

async fn a_body_that_is_not_utf8_is_refused(at: &Session) -> Outcome {
    let mut body = br#"{"PartitionKey":"p","RowKey":"r","X":"?"}"#.to_vec();
    let at_text = body.iter().position(|byte| *byte == b'?').expect("the body has a question mark");
    body[at_text] = 0xff;
    expect_body_refused(at, body).await
}

async fn a_body_in_utf16_is_refused(at: &Session) -> Outcome {
    let text = r#"{"PartitionKey":"p","RowKey":"r"}"#;
    expect_body_refused(at, text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>()).await
}

async fn deeply_nested_json_is_refused(at: &Session) -> Outcome {
    let nested = format!(r#"{{"PartitionKey":"p","RowKey":"r","X":{}"#, "[".repeat(100_000));
    expect_body_refused(at, nested).await?;
    crate::socket::expect_still_serving(at).await
}

async fn escaped_text_is_read(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed(r#"{"PartitionKey":"\u0070","RowKey":"r","\u0058":"\u00e9\ud83d\ude00\/"}"#).await?;
    equal("X", table.stored("p", "r").await?["X"].as_str(), Some("é😀/"))
}

async fn a_malformed_merge_changes_nothing(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed(json!({ "PartitionKey": "p", "RowKey": "r", "A": 1 })).await?;
    table.merge("p", "r", r#"{"A":2"#).if_match("*").send().await?.expect_error(400, "InvalidInput", PROCESSING)?;
    equal("A", table.stored("p", "r").await?["A"].as_i64(), Some(1))
}
