//! Which of several errors a request gets.

use serde_json::json;

use crate::batch::{self, Part};
use crate::{Outcome, Session, cases};

cases! {
    InsertEntity {
        a_missing_table_is_found_missing_before_the_body_is_judged,
        a_tables_segment_after_a_missing_table_is_table_not_found,
        a_malformed_body_for_a_missing_table_is_table_not_found,
        a_key_in_the_body_of_a_change_may_have_any_type,
        a_key_with_another_type_is_refused,
        a_key_that_is_no_string_is_an_invalid_input,
        a_property_as_large_as_an_entity_makes_the_entity_too_large,
    }
    InsertOrReplaceEntity {
        an_upsert_with_a_bad_body_into_a_missing_table_is_table_not_found,
    }
    DeleteTable {
        a_key_after_a_missing_table_is_table_not_found,
    }
    EntityGroupTransaction {
        a_batch_to_a_table_is_an_unsupported_media_type,
        a_group_finds_its_table_missing_before_its_bodies_are_judged,
        a_group_judges_an_entity_before_its_properties,
    }
    GetTableAcl {
        an_acl_of_a_bad_name_is_refused_for_the_name,
    }
    SetTableAcl {
        setting_an_acl_of_a_bad_name_is_refused_for_the_name,
    }
}

const MISSING: &str = "The table specified does not exist.";

async fn a_missing_table_is_found_missing_before_the_body_is_judged(at: &Session) -> Outcome {
    let table = at.missing_table();
    for body in [json!({ "a": 1 }), json!({ "PartitionKey": "a/b", "RowKey": "r" }), json!({ "a b": 1 })] {
        table.insert(body).send().await?.expect_error(404, "TableNotFound", MISSING)?;
    }
    Ok(())
}

async fn a_tables_segment_after_a_missing_table_is_table_not_found(at: &Session) -> Outcome {
    let table = at.missing_table();
    let create = at.post(format!("{}/Tables", table.path())).json(json!({ "TableName": "another" }));
    create.send().await?.expect_error(404, "TableNotFound", MISSING)?;
    Ok(())
}

async fn a_malformed_body_for_a_missing_table_is_table_not_found(at: &Session) -> Outcome {
    at.missing_table().insert("{").send().await?.expect_error(404, "TableNotFound", MISSING)?;
    Ok(())
}

async fn an_upsert_with_a_bad_body_into_a_missing_table_is_table_not_found(at: &Session) -> Outcome {
    let table = at.missing_table();
    table.put("p", "r", json!({ "a b": 1 })).send().await?.expect_error(404, "TableNotFound", MISSING)?;
    Ok(())
}

async fn a_key_after_a_missing_table_is_table_not_found(at: &Session) -> Outcome {
    let table = at.missing_table();
    let response = at.delete(format!("{}/Tables('X')", table.path())).if_match("*").send().await?;
    response.expect_error(404, "TableNotFound", MISSING)?;
    Ok(())
}

async fn a_batch_to_a_table_is_an_unsupported_media_type(at: &Session) -> Outcome {
    let table = at.table().await?;
    let part = Part::insert(&table, &at.base(), json!({ "PartitionKey": "p", "RowKey": "r" }));
    let content_type = format!("multipart/mixed; boundary={}", batch::BATCH_BOUNDARY);
    let request = at.post(format!("{}/$batch", table.path())).header("Content-Type", &content_type);
    let response = request.body(batch::changeset_body(&[part])).send().await?;
    response.expect_code(415, "MediaTypeNotSupported")?;
    table.expect_rows(&[]).await
}

async fn a_group_finds_its_table_missing_before_its_bodies_are_judged(at: &Session) -> Outcome {
    let table = at.missing_table();
    let response = batch::send(at, &[Part::insert(&table, &at.base(), json!({ "a b": 1 }))]).await?;
    batch::expect_failed(&response, 404, "TableNotFound", &format!("0:{MISSING}"))
}

const KEYS: [&str; 2] = ["PartitionKey", "RowKey"];
const NOT_VALID: &str = "One of the request inputs is not valid.";

async fn a_key_with_another_type_is_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    let values = [
        ("Edm.DateTime", "2020-01-02T03:04:05Z"),
        ("Edm.Guid", "c9da6455-213d-42c9-9a79-3e9149a57833"),
        ("Edm.Binary", "AQID"),
        ("Edm.Int64", "123"),
    ];
    for key in KEYS {
        for (edm, value) in values {
            let mut entity = json!({ "PartitionKey": "p", "RowKey": "r" });
            entity[key] = json!(value);
            entity[format!("{key}@odata.type")] = json!(edm);
            table.insert(entity).send().await?.expect_error(400, "InvalidInput", NOT_VALID)?;
        }
        let entity = json!({ "PartitionKey": "p", "RowKey": key, format!("{key}@odata.type"): "Edm.String" });
        table.insert(entity).send().await?.expect(201)?;
    }
    table.expect_rows(&KEYS).await
}

async fn a_key_in_the_body_of_a_change_may_have_any_type(at: &Session) -> Outcome {
    let table = at.table().await?;
    let (date, guid) = ("2020-01-02T03:04:05Z", "c9da6455-213d-42c9-9a79-3e9149a57833");
    let body = json!({
        "PartitionKey": date, "PartitionKey@odata.type": "Edm.DateTime",
        "RowKey": guid, "RowKey@odata.type": "Edm.Guid", "Data": true,
    });
    for verb in ["PUT", "MERGE", "PATCH"] {
        table.write(verb, date, guid, &body).send().await?.expect(204)?;
    }
    table.expect_rows(&[guid]).await
}

async fn a_key_that_is_no_string_is_an_invalid_input(at: &Session) -> Outcome {
    let table = at.table().await?;
    for key in KEYS {
        for value in [json!(1), json!(true), json!(1.5)] {
            let mut entity = json!({ "PartitionKey": "p", "RowKey": "r" });
            entity[key] = value;
            table.insert(entity).send().await?.expect_error(400, "InvalidInput", NOT_VALID)?;
        }
    }
    Ok(())
}

const TOO_LARGE: &str = "The entity is larger than the maximum allowed size (1MB).";

/// The Base64 of a mebibyte of zeros.
fn mebibyte() -> serde_json::Value {
    json!({ "PartitionKey": "p", "RowKey": "r", "B": "AAAA".repeat(349_526), "B@odata.type": "Edm.Binary" })
}

async fn a_property_as_large_as_an_entity_makes_the_entity_too_large(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.insert(mebibyte()).send().await?.expect_error(400, "EntityTooLarge", TOO_LARGE)?;
    table.put("p", "r", mebibyte()).send().await?.expect_error(400, "EntityTooLarge", TOO_LARGE)?;
    table.expect_rows(&[]).await
}

async fn a_group_judges_an_entity_before_its_properties(at: &Session) -> Outcome {
    let table = at.table().await?;
    let response = batch::send(at, &[Part::insert(&table, &at.base(), mebibyte())]).await?;
    batch::expect_failed(&response, 400, "EntityTooLarge", &format!("0:{TOO_LARGE}"))
}

/// Names that no table can have, with the errors of Create Table.
const BAD_NAMES: [(&str, &str); 3] =
    [("bad-name", "InvalidResourceName"), ("1abc", "InvalidResourceName"), ("ab", "OutOfRangeInput")];

async fn an_acl_of_a_bad_name_is_refused_for_the_name(at: &Session) -> Outcome {
    for (name, code) in BAD_NAMES {
        let request = at.get(format!("/{name}")).raw_query("comp=acl").accept("application/xml");
        request.send().await?.expect_code(400, code)?;
    }
    Ok(())
}

async fn setting_an_acl_of_a_bad_name_is_refused_for_the_name(at: &Session) -> Outcome {
    for (name, code) in BAD_NAMES {
        let request = at.put(format!("/{name}")).raw_query("comp=acl").xml("<SignedIdentifiers/>");
        request.send().await?.expect_code(400, code)?;
    }
    Ok(())
}
