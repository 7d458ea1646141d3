//! Query Entities: shapes, order, `$select`, and the options that do not exist.

use serde_json::json;

use crate::expect::equal;
use crate::request::{FULL, NONE};
use crate::{Outcome, Session, cases};

cases! {
    QueryEntities {
        a_collection_at_minimal_metadata_has_the_shape_of_the_service,
        a_collection_without_metadata_has_the_shape_of_the_service,
        a_collection_at_full_metadata_has_the_shape_of_the_service,
        an_empty_collection_has_the_shape_of_the_service,
        a_query_of_a_missing_table_is_not_found,
        a_filter_for_one_missing_entity_finds_an_empty_list,
        empty_parameters_mean_absent,
        entities_come_in_key_order,
        keys_above_the_basic_plane_sort_by_utf16,
        select_returns_exactly_what_is_named,
        select_of_a_missing_property_is_null,
        select_keeps_annotations,
        select_of_keys_and_timestamp_names_them,
        select_of_everything_returns_everything,
        select_tolerates_spaces_and_shows_them_in_the_metadata,
        select_is_case_sensitive,
        select_without_metadata_has_no_etag,
        unsupported_query_options_are_not_implemented,
        segments_after_a_collection_are_not_implemented,
    }
}

const ENTITY: &str = r#"{"PartitionKey":"p","RowKey":"r","A":"x"}"#;

async fn a_collection_at_minimal_metadata_has_the_shape_of_the_service(at: &Session) -> Outcome {
    let (base, table) = (at.base(), at.table().await?);
    table.seed(ENTITY).await?;
    let name = &table.name;
    table.query().send().await?.expect(200)?.expect_body(&format!(
        r#"{{"odata.metadata":"{base}/$metadata#{name}","value":[{{"odata.etag":"W/\"datetime'⟨etag⟩'\"","PartitionKey":"p","RowKey":"r","Timestamp":"⟨time⟩","A":"x"}}]}}"#
    ))?;
    Ok(())
}

async fn a_collection_without_metadata_has_the_shape_of_the_service(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed(ENTITY).await?;
    let response = table.query().accept(NONE).send().await?;
    response
        .expect(200)?
        .expect_body(r#"{"value":[{"PartitionKey":"p","RowKey":"r","Timestamp":"⟨time⟩","A":"x"}]}"#)?;
    Ok(())
}

async fn a_collection_at_full_metadata_has_the_shape_of_the_service(at: &Session) -> Outcome {
    let (base, account, table) = (at.base(), &at.target().account, at.table().await?);
    table.seed(ENTITY).await?;
    let name = &table.name;
    table.query().accept(FULL).send().await?.expect(200)?.expect_body(&format!(
        r#"{{"odata.metadata":"{base}/$metadata#{name}","value":[{{"odata.type":"{account}.{name}","odata.id":"{base}/{name}(PartitionKey='p',RowKey='r')","odata.etag":"W/\"datetime'⟨etag⟩'\"","odata.editLink":"{name}(PartitionKey='p',RowKey='r')","PartitionKey":"p","RowKey":"r","Timestamp@odata.type":"Edm.DateTime","Timestamp":"⟨time⟩","A":"x"}}]}}"#
    ))?;
    Ok(())
}

async fn an_empty_collection_has_the_shape_of_the_service(at: &Session) -> Outcome {
    let (base, table) = (at.base(), at.table().await?);
    let body = format!(r#"{{"odata.metadata":"{base}/$metadata#{}","value":[]}}"#, table.name);
    table.query().send().await?.expect(200)?.expect_body(&body)?;
    Ok(())
}

async fn a_query_of_a_missing_table_is_not_found(at: &Session) -> Outcome {
    let response = at.missing_table().query().send().await?;
    response.expect_error(404, "TableNotFound", "The table specified does not exist.")?;
    Ok(())
}

async fn a_filter_for_one_missing_entity_finds_an_empty_list(at: &Session) -> Outcome {
    at.table().await?.expect_matching("PartitionKey eq 'p' and RowKey eq 'r'", &[]).await
}

async fn empty_parameters_mean_absent(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed(ENTITY).await?;
    let response = table.query().raw_query("$filter=&$select=").send().await?;
    equal("rows", response.column("RowKey")?, ["r"])
}

async fn entities_come_in_key_order(at: &Session) -> Outcome {
    let table = at.table().await?;
    for partition in ["b", "a", "partition-2", "partition-10", "partition-1", "B"] {
        for row in ["z", "Z", "10", "2"] {
            table.seed(json!({ "PartitionKey": partition, "RowKey": row })).await?;
        }
    }
    let response = table.query().send().await?;
    let rows = ["10", "2", "Z", "z"].repeat(6);
    equal("rows", response.column("RowKey")?, rows)?;
    let mut partitions = response.column("PartitionKey")?;
    partitions.dedup();
    equal("partitions", partitions, ["B", "a", "b", "partition-1", "partition-10", "partition-2"])
}

/// U+1F600 is D83D DE00 in UTF-16, which sorts before U+FF5E although its code point is greater.
async fn keys_above_the_basic_plane_sort_by_utf16(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed_rows(&["\u{ff5e}", "\u{1f600}", "\u{e9}", "z"]).await?;
    table.expect_rows(&["z", "\u{e9}", "\u{1f600}", "\u{ff5e}"]).await
}

async fn select_returns_exactly_what_is_named(at: &Session) -> Outcome {
    let (base, table) = (at.base(), at.table().await?);
    table.seed(json!({ "PartitionKey": "p", "RowKey": "r", "A": "x", "B": "y" })).await?;
    let name = &table.name;
    table.query().query("$select", "A").send().await?.expect(200)?.expect_body(&format!(
        r#"{{"odata.metadata":"{base}/$metadata#{name}&$select=A","value":[{{"odata.etag":"W/\"datetime'⟨etag⟩'\"","A":"x"}}]}}"#
    ))?;
    Ok(())
}

async fn select_of_a_missing_property_is_null(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed(ENTITY).await?;
    let response = table.query().query("$select", "A,Missing").accept(NONE).send().await?;
    equal("items", response.items()?, [json!({ "A": "x", "Missing": null })])
}

async fn select_keeps_annotations(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed(r#"{"PartitionKey":"p","RowKey":"r","X":"1","X@odata.type":"Edm.Int64"}"#).await?;
    let response = table.query().query("$select", "X").send().await?;
    response.expect(200)?.expect_body_contains(r#""X@odata.type":"Edm.Int64","X":"1""#)?;
    Ok(())
}

async fn select_of_keys_and_timestamp_names_them(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed(ENTITY).await?;
    let items = table.query().query("$select", "PartitionKey,RowKey").accept(NONE).send().await?.items()?;
    equal("items", items, [json!({ "PartitionKey": "p", "RowKey": "r" })])?;
    let response = table.query().query("$select", "Timestamp").accept(NONE).send().await?;
    response.expect_body(r#"{"value":[{"Timestamp":"⟨time⟩"}]}"#)?;
    Ok(())
}

async fn select_of_everything_returns_everything(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed(ENTITY).await?;
    let response = table.query().query("$select", "*").accept(NONE).send().await?;
    response
        .expect(200)?
        .expect_body(r#"{"value":[{"PartitionKey":"p","RowKey":"r","Timestamp":"⟨time⟩","A":"x"}]}"#)?;
    Ok(())
}

async fn select_tolerates_spaces_and_shows_them_in_the_metadata(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed(json!({ "PartitionKey": "p", "RowKey": "r", "A": "x", "B": "y" })).await?;
    let response = table.query().query("$select", "A, B").send().await?;
    let document = response.expect(200)?.json()?;
    let metadata = format!("{}/$metadata#{}&$select=A,%20B", at.base(), table.name);
    equal("odata.metadata", document["odata.metadata"].as_str(), Some(metadata.as_str()))?;
    equal("B", document["value"][0]["B"].as_str(), Some("y"))
}

async fn select_is_case_sensitive(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed(ENTITY).await?;
    let items = table.query().query("$select", "a").accept(NONE).send().await?.items()?;
    equal("a", items[0].get("a").unwrap_or(&json!(null)), &json!(null))?;
    equal("A", items[0].get("A"), None)
}

async fn select_without_metadata_has_no_etag(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed(ENTITY).await?;
    let response = table.query().query("$select", "A").accept(NONE).send().await?;
    response.expect(200)?.expect_body(r#"{"value":[{"A":"x"}]}"#)?;
    Ok(())
}

async fn unsupported_query_options_are_not_implemented(at: &Session) -> Outcome {
    let table = at.table().await?;
    for (name, value) in [("$orderby", "A"), ("$skip", "1"), ("$expand", "A"), ("$inlinecount", "allpages")] {
        let response = table.query().query(name, value).send().await?;
        let message = "The requested operation is not implemented on the specified resource.";
        response.expect_error(501, "NotImplemented", message)?;
    }
    Ok(())
}

async fn segments_after_a_collection_are_not_implemented(at: &Session) -> Outcome {
    let table = at.table().await?;
    for segment in ["$count", "$value"] {
        at.get(format!("{}()/{segment}", table.path())).send().await?.expect_code(501, "NotImplemented")?;
    }
    Ok(())
}
