//! How resources are addressed: every form of path that clients send.

use serde_json::json;

use crate::expect::equal;
use crate::{Outcome, Session, cases};

cases! {
    QueryTables {
        tables_may_be_addressed_with_empty_parentheses,
        the_tables_segment_matches_in_any_case,
        a_double_slash_after_the_root_is_tolerated,
        parameter_names_may_be_percent_encoded,
        a_plus_in_the_query_is_a_space,
    }
    InsertEntity {
        insert_accepts_the_table_with_empty_parentheses,
        insert_under_a_tables_segment_after_a_table_needs_keys,
    }
    QueryEntities {
        query_accepts_the_table_without_parentheses,
        table_names_match_in_any_case,
        query_under_a_tables_segment_after_a_table_is_not_implemented,
    }
    DeleteEntity {
        delete_with_one_unnamed_key_after_a_table_counts_the_keys,
    }
    QueryEntity {
        keys_are_found_as_python_writes_them,
        keys_are_found_as_javascript_writes_them,
        keys_are_found_as_legacy_node_writes_them,
        keys_may_hold_commas_parentheses_and_equals_signs,
        a_plus_in_a_path_is_a_plus,
        an_ampersand_in_a_path_is_part_of_the_key,
        a_percent_sign_in_a_key_is_decoded_once,
        a_space_after_the_comma_of_the_keys_is_accepted,
        the_row_key_may_come_first,
        empty_keys_are_addressable,
    }
    GetTableServiceProperties {
        the_root_may_lack_its_trailing_slash,
    }
}

async fn tables_may_be_addressed_with_empty_parentheses(at: &Session) -> Outcome {
    at.get("/Tables()").query("$top", "1").send().await?.expect(200)?;
    Ok(())
}

async fn the_tables_segment_matches_in_any_case(at: &Session) -> Outcome {
    at.get("/tables").query("$top", "1").send().await?.expect(200)?;
    Ok(())
}

async fn a_double_slash_after_the_root_is_tolerated(at: &Session) -> Outcome {
    at.get("//Tables").query("$top", "1").send().await?.expect(200)?;
    Ok(())
}

async fn parameter_names_may_be_percent_encoded(at: &Session) -> Outcome {
    let table = at.table().await?;
    let response = at.get("/Tables").raw_query(&format!("%24filter=TableName%20eq%20%27{}%27", table.name));
    equal("tables found", response.send().await?.column("TableName")?, [table.name.as_str()])
}

async fn a_plus_in_the_query_is_a_space(at: &Session) -> Outcome {
    let table = at.table().await?;
    let response = at.get("/Tables").raw_query(&format!("$filter=TableName+eq+%27{}%27", table.name));
    equal("tables found", response.send().await?.column("TableName")?, [table.name.as_str()])
}

async fn insert_accepts_the_table_with_empty_parentheses(at: &Session) -> Outcome {
    let table = at.table().await?;
    let insert = at.post(format!("{}()", table.path())).json(json!({ "PartitionKey": "p", "RowKey": "r" }));
    insert.send().await?.expect(201)?;
    table.expect_rows(&["r"]).await
}

/// An endpoint that already ends in a table's name sends its Create Table here.
async fn insert_under_a_tables_segment_after_a_table_needs_keys(at: &Session) -> Outcome {
    let table = at.table().await?;
    let create = at.post(format!("{}/Tables", table.path())).json(json!({ "TableName": "another" }));
    create.send().await?.expect_code(400, "PropertiesNeedValue")?;
    Ok(())
}

async fn query_accepts_the_table_without_parentheses(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed_rows(&["r"]).await?;
    equal("rows", at.get(table.path()).send().await?.column("RowKey")?, ["r"])
}

async fn table_names_match_in_any_case(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed_rows(&["r"]).await?;
    let shouted = at.get(format!("/{}()", table.name.to_uppercase()));
    equal("rows", shouted.send().await?.column("RowKey")?, ["r"])
}

async fn query_under_a_tables_segment_after_a_table_is_not_implemented(at: &Session) -> Outcome {
    let table = at.table().await?;
    at.get(format!("{}/Tables", table.path())).send().await?.expect_code(501, "NotImplemented")?;
    Ok(())
}

async fn delete_with_one_unnamed_key_after_a_table_counts_the_keys(at: &Session) -> Outcome {
    let table = at.table().await?;
    let response = at.delete(format!("{}/Tables('{}')", table.path(), table.name)).if_match("*").send().await?;
    let message = format!(
        "The number of keys specified in the URI does not match number of key properties for the resource '{}.{}'.",
        at.target().account,
        table.name
    );
    response.expect_error(400, "InvalidInput", &message)?;
    Ok(())
}

const ODD_KEY: &str = "o'b r+(é)%";

async fn expect_odd_key_found(at: &Session, predicate: &str) -> Outcome {
    let table = at.table().await?;
    table.seed(json!({ "PartitionKey": ODD_KEY, "RowKey": ODD_KEY })).await?;
    let entity = at.get(format!("{}{predicate}", table.path())).send().await?.expect(200)?.json()?;
    equal("RowKey", entity["RowKey"].as_str(), Some(ODD_KEY))
}

async fn keys_are_found_as_python_writes_them(at: &Session) -> Outcome {
    let key = "'o%27%27b%20r%2B%28%C3%A9%29%25'";
    expect_odd_key_found(at, &format!("(PartitionKey={key},RowKey={key})")).await
}

async fn keys_are_found_as_javascript_writes_them(at: &Session) -> Outcome {
    let key = "'o''b%20r%2B(%C3%A9)%25'";
    expect_odd_key_found(at, &format!("(PartitionKey={key},RowKey={key})")).await
}

async fn keys_are_found_as_legacy_node_writes_them(at: &Session) -> Outcome {
    let key = "%27o%27%27b%20r%2B(%C3%A9)%25%27";
    expect_odd_key_found(at, &format!("(PartitionKey={key},RowKey={key})")).await
}

/// Inserts an entity with that key and reads it by a path written by hand.
async fn expect_found(at: &Session, partition: &str, row: &str, predicate: &str) -> Outcome {
    let table = at.table().await?;
    table.seed(json!({ "PartitionKey": partition, "RowKey": row })).await?;
    let entity = at.get(format!("{}{predicate}", table.path())).send().await?.expect(200)?.json()?;
    equal("PartitionKey", entity["PartitionKey"].as_str(), Some(partition))?;
    equal("RowKey", entity["RowKey"].as_str(), Some(row))
}

async fn keys_may_hold_commas_parentheses_and_equals_signs(at: &Session) -> Outcome {
    let key = "a),RowKey=(b,c=d";
    expect_found(at, key, key, &format!("(PartitionKey='{key}',RowKey='{key}')")).await
}

async fn a_plus_in_a_path_is_a_plus(at: &Session) -> Outcome {
    expect_found(at, "a+b", "c+d", "(PartitionKey='a+b',RowKey='c+d')").await
}

async fn an_ampersand_in_a_path_is_part_of_the_key(at: &Session) -> Outcome {
    expect_found(at, "a&b", "c", "(PartitionKey='a&b',RowKey='c')").await
}

async fn a_percent_sign_in_a_key_is_decoded_once(at: &Session) -> Outcome {
    expect_found(at, "a%20b", "c", "(PartitionKey='a%2520b',RowKey='c')").await
}

async fn a_space_after_the_comma_of_the_keys_is_accepted(at: &Session) -> Outcome {
    expect_found(at, "p", "r", "(PartitionKey='p',%20RowKey='r')").await
}

async fn the_row_key_may_come_first(at: &Session) -> Outcome {
    expect_found(at, "p", "r", "(RowKey='r',PartitionKey='p')").await
}

async fn empty_keys_are_addressable(at: &Session) -> Outcome {
    expect_found(at, "", "", "(PartitionKey='',RowKey='')").await
}

async fn the_root_may_lack_its_trailing_slash(at: &Session) -> Outcome {
    if !at.target().primary.is_path_style() {
        return Err(crate::Failure::skipped("only a path-style root can lack its slash"));
    }
    at.get("").raw_query("restype=service&comp=properties").accept("application/xml").send().await?.expect(200)?;
    Ok(())
}
