//! Insert Entity: responses at every preference and metadata level, and its errors.

use serde_json::json;

use crate::expect::{ensure, equal};
use crate::request::{FULL, NONE};
use crate::{Outcome, Session, cases};

cases! {
    InsertEntity {
        insert_answers_with_the_entity_at_minimal_metadata,
        insert_answers_with_the_entity_without_metadata,
        insert_answers_with_the_entity_at_full_metadata,
        insert_answers_with_the_location_of_the_entity,
        insert_has_the_etag_of_the_entity,
        insert_without_preference_applies_none,
        insert_with_return_content_says_so,
        insert_with_return_no_content_has_no_body,
        insert_format_parameter_goes_before_accept,
        a_refused_insert_still_names_the_preference,
        an_existing_entity_is_not_inserted_again,
        insert_into_a_missing_table_is_not_found,
        insert_without_partition_key_is_refused,
        insert_without_row_key_is_refused,
        insert_with_a_key_of_another_type_is_refused,
        a_client_timestamp_is_ignored,
        null_properties_are_not_stored,
        empty_strings_and_empty_binaries_are_stored,
        keys_differing_in_case_are_different_entities,
        location_encodes_keys_and_doubles_apostrophes,
        location_encodes_non_ascii_keys_as_utf8,
    }
}

const P_R_A: &str = r#"{"PartitionKey":"p","RowKey":"r","A":"x"}"#;

async fn insert_answers_with_the_entity_at_minimal_metadata(at: &Session) -> Outcome {
    let (base, table) = (at.base(), at.table().await?);
    let response = table.insert(P_R_A).send().await?;
    let name = &table.name;
    response.expect(201)?.expect_body(&format!(
        r#"{{"odata.metadata":"{base}/$metadata#{name}/@Element","odata.etag":"W/\"datetime'⟨etag⟩'\"","PartitionKey":"p","RowKey":"r","Timestamp":"⟨time⟩","A":"x"}}"#
    ))?;
    Ok(())
}

async fn insert_answers_with_the_entity_without_metadata(at: &Session) -> Outcome {
    let response = at.table().await?.insert(P_R_A).accept(NONE).send().await?;
    response.expect(201)?.expect_body(r#"{"PartitionKey":"p","RowKey":"r","Timestamp":"⟨time⟩","A":"x"}"#)?;
    Ok(())
}

async fn insert_answers_with_the_entity_at_full_metadata(at: &Session) -> Outcome {
    let (base, account, table) = (at.base(), &at.target().account, at.table().await?);
    let response = table.insert(P_R_A).accept(FULL).send().await?;
    let name = &table.name;
    response.expect(201)?.expect_body(&format!(
        r#"{{"odata.metadata":"{base}/$metadata#{name}/@Element","odata.type":"{account}.{name}","odata.id":"{base}/{name}(PartitionKey='p',RowKey='r')","odata.etag":"W/\"datetime'⟨etag⟩'\"","odata.editLink":"{name}(PartitionKey='p',RowKey='r')","PartitionKey":"p","RowKey":"r","Timestamp@odata.type":"Edm.DateTime","Timestamp":"⟨time⟩","A":"x"}}"#
    ))?;
    Ok(())
}

async fn insert_answers_with_the_location_of_the_entity(at: &Session) -> Outcome {
    let table = at.table().await?;
    let with_content = table.insert(P_R_A).send().await?;
    with_content.expect(201)?.expect_header("Location", &table.entity_url("p", "r"))?;
    let insert = table.insert(json!({ "PartitionKey": "p", "RowKey": "s" })).prefer("return-no-content");
    let url = table.entity_url("p", "s");
    insert.send().await?.expect(204)?.expect_header("Location", &url)?.expect_header("DataServiceId", &url)?;
    Ok(())
}

async fn insert_without_preference_applies_none(at: &Session) -> Outcome {
    at.table().await?.insert(P_R_A).send().await?.expect(201)?.expect_no_header("Preference-Applied")?;
    Ok(())
}

async fn insert_has_the_etag_of_the_entity(at: &Session) -> Outcome {
    let response = at.table().await?.insert(P_R_A).send().await?;
    response.expect(201)?;
    equal("ETag and odata.etag", response.json()?["odata.etag"].as_str(), Some(response.etag()?.as_str()))
}

async fn insert_with_return_content_says_so(at: &Session) -> Outcome {
    let table = at.table().await?;
    let response = table.insert(P_R_A).prefer("return-content").send().await?;
    response.expect(201)?.expect_header("Preference-Applied", "return-content")?;
    response.expect_body_contains("\"A\":\"x\"")?;
    Ok(())
}

async fn insert_with_return_no_content_has_no_body(at: &Session) -> Outcome {
    let table = at.table().await?;
    let response = table.insert(P_R_A).prefer("return-no-content").send().await?;
    response.expect(204)?.expect_no_body()?.expect_header("Preference-Applied", "return-no-content")?;
    let current = table.read("p", "r").send().await?.etag()?;
    equal("ETag", response.etag()?, current)
}

async fn insert_format_parameter_goes_before_accept(at: &Session) -> Outcome {
    let response = at.table().await?.insert(P_R_A).query("$format", NONE).accept(FULL).send().await?;
    response.expect(201)?.expect_body_lacks("odata.metadata")?;
    Ok(())
}

async fn a_refused_insert_still_names_the_preference(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed(P_R_A).await?;
    let response = table.insert(P_R_A).prefer("return-no-content").send().await?;
    response.expect(409)?.expect_header("Preference-Applied", "return-no-content")?;
    Ok(())
}

async fn an_existing_entity_is_not_inserted_again(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed(P_R_A).await?;
    let again = table.insert(json!({ "PartitionKey": "p", "RowKey": "r", "A": "changed" })).send().await?;
    again.expect_error(409, "EntityAlreadyExists", "The specified entity already exists.")?;
    equal("A", table.stored("p", "r").await?["A"].as_str(), Some("x"))
}

async fn insert_into_a_missing_table_is_not_found(at: &Session) -> Outcome {
    let response = at.missing_table().insert(P_R_A).send().await?;
    response.expect_error(404, "TableNotFound", "The table specified does not exist.")?;
    Ok(())
}

const NEED_VALUE: &str = "The values are not specified for all properties in the entity.";

async fn insert_without_partition_key_is_refused(at: &Session) -> Outcome {
    let response = at.table().await?.insert(json!({ "RowKey": "r", "A": 1 })).send().await?;
    response.expect_error(400, "PropertiesNeedValue", NEED_VALUE)?;
    Ok(())
}

async fn insert_without_row_key_is_refused(at: &Session) -> Outcome {
    let response = at.table().await?.insert(json!({ "PartitionKey": "p", "A": 1 })).send().await?;
    response.expect_error(400, "PropertiesNeedValue", NEED_VALUE)?;
    Ok(())
}

async fn insert_with_a_key_of_another_type_is_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    for entity in [json!({ "PartitionKey": 1, "RowKey": "r" }), json!({ "PartitionKey": "p", "RowKey": true })] {
        let response = table.insert(entity).send().await?;
        response.expect_any_code(&[(400, "InvalidInput"), (400, "PrimaryKeyPropertyIsInvalidType")])?;
    }
    table.expect_rows(&[]).await
}

async fn a_client_timestamp_is_ignored(at: &Session) -> Outcome {
    let table = at.table().await?;
    for (row, timestamp) in [("1", "\"2001-02-03T04:05:06Z\""), ("2", "\"0001-01-01T00:00:00Z\""), ("3", "null")] {
        let entity = format!(r#"{{"PartitionKey":"p","RowKey":"{row}","Timestamp":{timestamp}}}"#);
        let stored = table.seed(entity).await?.json()?;
        let stamp = stored["Timestamp"].as_str().unwrap_or_default();
        ensure(stamp > "2020", || format!("Timestamp {stamp:?} after sending {timestamp}"))?;
    }
    Ok(())
}

async fn null_properties_are_not_stored(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed(json!({ "PartitionKey": "p", "RowKey": "r", "A": null, "B": 1 })).await?;
    let stored = table.stored("p", "r").await?;
    equal("A", stored.get("A"), None)?;
    equal("B", &stored["B"], &json!(1))
}

async fn empty_strings_and_empty_binaries_are_stored(at: &Session) -> Outcome {
    let table = at.table().await?;
    let entity = json!({ "PartitionKey": "p", "RowKey": "r", "S": "", "B": "", "B@odata.type": "Edm.Binary" });
    table.seed(entity).await?;
    let stored = table.stored("p", "r").await?;
    equal("S", stored["S"].as_str(), Some(""))?;
    equal("B", stored["B"].as_str(), Some(""))?;
    equal("type of B", stored["B@odata.type"].as_str(), Some("Edm.Binary"))
}

async fn keys_differing_in_case_are_different_entities(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed_rows(&["R", "r"]).await?;
    table.expect_rows(&["R", "r"]).await
}

async fn location_encodes_keys_and_doubles_apostrophes(at: &Session) -> Outcome {
    let table = at.table().await?;
    let response = table.insert(json!({ "PartitionKey": "it's", "RowKey": "a b:\"c\"" })).send().await?;
    let expected = format!("{}/{}(PartitionKey='it''s',RowKey='a%20b%3A%22c%22')", at.base(), table.name);
    response.expect(201)?.expect_header("Location", &expected)?;
    Ok(())
}

async fn location_encodes_non_ascii_keys_as_utf8(at: &Session) -> Outcome {
    let table = at.table().await?;
    let response =
        table.insert(json!({ "PartitionKey": "é", "RowKey": "€" })).prefer("return-no-content").send().await?;
    let expected = format!("{}/{}(PartitionKey='%C3%A9',RowKey='%E2%82%AC')", at.base(), table.name);
    response.expect(204)?.expect_header("Location", &expected)?.expect_header("DataServiceId", &expected)?;
    Ok(())
}
