//! Keys at the edge: forbidden characters, lengths, and text that must survive the trip.

use serde_json::json;

use crate::expect::equal;
use crate::{Outcome, Session, cases};

cases! {
    InsertEntity {
        forbidden_characters_in_a_partition_key_are_refused,
        forbidden_characters_in_a_row_key_are_refused,
        a_forbidden_control_character_is_refused,
        keys_of_512_characters_are_accepted,
        keys_of_2048_characters_are_refused,
        odd_keys_survive_insert_read_query_and_delete,
    }
    QueryEntity {
        a_slash_in_the_url_of_a_point_read_is_refused,
        a_hash_or_question_mark_in_the_url_of_a_point_read_finds_nothing,
    }
    DeleteEntity {
        a_slash_in_the_url_of_a_delete_is_refused,
        a_hash_or_question_mark_in_the_url_of_a_delete_is_refused,
    }
    InsertOrReplaceEntity {
        a_slash_in_the_url_of_an_upsert_is_refused,
        a_hash_or_question_mark_in_the_url_of_an_upsert_is_refused,
    }
}

async fn expect_out_of_range(at: &Session, key: &str, value: &str) -> Outcome {
    let table = at.table().await?;
    let mut entity = json!({ "PartitionKey": "p", "RowKey": "r" });
    entity[key] = json!(value);
    let message = format!("The '{key}' parameter of value '{value}' is out of range.");
    table.insert(entity).send().await?.expect_error(400, "OutOfRangeInput", &message)?;
    table.expect_rows(&[]).await
}

async fn forbidden_characters_in_a_partition_key_are_refused(at: &Session) -> Outcome {
    for value in ["a/b", "a\\b", "a#b", "a?b"] {
        expect_out_of_range(at, "PartitionKey", value).await?;
    }
    Ok(())
}

async fn forbidden_characters_in_a_row_key_are_refused(at: &Session) -> Outcome {
    for value in ["a/b", "a\\b", "a#b", "a?b"] {
        expect_out_of_range(at, "RowKey", value).await?;
    }
    Ok(())
}

/// The message repeats the character, and how it does so is left open.
async fn a_forbidden_control_character_is_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    for character in ['\u{0}', '\t', '\r', '\n', '\u{1f}', '\u{7f}', '\u{80}', '\u{9f}'] {
        let entity = json!({ "PartitionKey": "p", "RowKey": format!("a{character}b") });
        table.insert(entity).send().await?.expect_code(400, "OutOfRangeInput")?;
    }
    table.expect_rows(&[]).await
}

async fn keys_of_512_characters_are_accepted(at: &Session) -> Outcome {
    let table = at.table().await?;
    let long = "k".repeat(512);
    table.seed(json!({ "PartitionKey": long, "RowKey": long })).await?;
    table.read(&long, &long).send().await?.expect(200)?;
    Ok(())
}

async fn keys_of_2048_characters_are_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    let long = "k".repeat(2048);
    for (partition_key, row_key) in [(long.as_str(), "r"), ("p", long.as_str())] {
        let insert = table.insert(json!({ "PartitionKey": partition_key, "RowKey": row_key }));
        insert.send().await?.expect_code(400, "PropertyValueTooLarge")?;
        let upsert = table.put(partition_key, row_key, json!({}));
        upsert.send().await?.expect_code(400, "PropertyValueTooLarge")?;
        table.read(partition_key, row_key).send().await?.expect_code(404, "ResourceNotFound")?;
    }
    table.expect_rows(&[]).await
}

async fn odd_keys_survive_insert_read_query_and_delete(at: &Session) -> Outcome {
    let table = at.table().await?;
    let keys = [
        "",
        " ",
        "'",
        "''",
        "a'b",
        "%",
        "%41",
        "+",
        "a b",
        "a,b",
        "a)b",
        "a=b",
        "&",
        "\"",
        ":",
        "é",
        "日本",
        "😀",
        "~!@$^*()[]{}|;<>.",
    ];
    for key in keys {
        table.seed(json!({ "PartitionKey": key, "RowKey": key })).await?;
        equal("RowKey", table.stored(key, key).await?["RowKey"].as_str(), Some(key))?;
        let quoted = key.replace('\'', "''");
        let found = table.matching(&format!("PartitionKey eq '{quoted}' and RowKey eq '{quoted}'")).await?;
        equal("rows of the filter", found, [key])?;
        table.delete(key, key).send().await?.expect(204)?;
    }
    table.expect_rows(&[]).await
}

const SYNTAX: &str = "Bad Request - Error in query syntax.";

/// The URL is parsed alike for every method.
async fn a_slash_in_the_url_of_a_point_read_is_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    for key in ["a/b", "a\\b"] {
        for (partition_key, row_key) in [(key, "r"), ("p", key)] {
            let response = table.read(partition_key, row_key).send().await?;
            response.expect_error(400, "InvalidInput", SYNTAX)?;
        }
    }
    Ok(())
}

async fn a_hash_or_question_mark_in_the_url_of_a_point_read_finds_nothing(at: &Session) -> Outcome {
    let table = at.table().await?;
    for key in ["a#b", "a?b"] {
        table.read("p", key).send().await?.expect_code(404, "ResourceNotFound")?;
    }
    Ok(())
}

async fn a_slash_in_the_url_of_a_delete_is_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    for key in ["a/b", "a\\b"] {
        table.delete("p", key).send().await?.expect_error(400, "InvalidInput", SYNTAX)?;
    }
    Ok(())
}

async fn a_hash_or_question_mark_in_the_url_of_a_delete_is_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    for key in ["a#b", "a?b"] {
        let response = table.delete("p", key).send().await?;
        response.expect_error(400, "OutOfRangeInput", "One of the request inputs is out of range.")?;
    }
    Ok(())
}

async fn a_slash_in_the_url_of_an_upsert_is_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    for key in ["a/b", "a\\b"] {
        let response = table.put("p", key, json!({ "A": 1 })).send().await?;
        response.expect_error(400, "InvalidInput", "Bad Request - Error in query syntax.")?;
    }
    table.expect_rows(&[]).await
}

async fn a_hash_or_question_mark_in_the_url_of_an_upsert_is_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    for key in ["a#b", "a?b"] {
        let response = table.put("p", key, json!({ "A": 1 })).send().await?;
        response.expect_error(400, "OutOfRangeInput", "One of the request inputs is out of range.")?;
    }
    table.expect_rows(&[]).await
}
