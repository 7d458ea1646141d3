//! Limits of entities and properties: the last value that passes and the first that does not.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value, json};

use crate::expect::{ensure, equal};
use crate::table::Table;
use crate::{Outcome, Session, cases};

cases! {
    InsertEntity {
        an_entity_of_252_properties_is_accepted,
        an_entity_of_253_properties_is_refused,
        a_property_name_of_255_characters_is_accepted,
        a_property_name_of_256_characters_is_refused,
        property_names_follow_the_rules_of_identifiers,
        property_names_of_another_form_are_refused,
        a_string_of_32768_characters_is_accepted,
        a_string_of_32769_characters_is_refused,
        string_length_counts_utf16_units,
        a_binary_of_65536_bytes_is_accepted,
        a_binary_of_65537_bytes_is_refused,
        an_entity_of_exactly_1_mib_is_accepted,
        an_entity_one_byte_over_1_mib_is_refused,
        dates_at_both_ends_of_the_range_are_accepted,
        dates_outside_the_range_are_refused,
        a_body_over_4_mib_is_too_large,
    }
    MergeEntity {
        a_merge_to_exactly_1_mib_is_accepted,
        a_merge_beyond_1_mib_is_refused,
        a_merge_beyond_252_properties_is_refused,
    }
    UpdateEntity {
        an_update_beyond_1_mib_is_refused,
    }
}

fn entity(properties: impl IntoIterator<Item = (String, Value)>) -> Value {
    let mut entity = Map::from_iter([("PartitionKey".to_owned(), json!("p")), ("RowKey".to_owned(), json!("r"))]);
    entity.extend(properties);
    Value::Object(entity)
}

fn numbered(count: usize) -> Value {
    entity((0..count).map(|number| (format!("P{number}"), json!(number))))
}

async fn expect_refused(at: &Session, entity: &Value, code: &str, message: &str) -> Outcome {
    let table = at.table().await?;
    table.insert(entity).send().await?.expect_error(400, code, message)?;
    table.expect_rows(&[]).await
}

async fn an_entity_of_252_properties_is_accepted(at: &Session) -> Outcome {
    at.table().await?.seed(numbered(252)).await?;
    Ok(())
}

const TOO_MANY: &str = "The entity contains more properties than allowed. Each entity can include up to 252 \
    properties to store data. Each entity also has 3 system properties.";

async fn an_entity_of_253_properties_is_refused(at: &Session) -> Outcome {
    expect_refused(at, &numbered(253), "TooManyProperties", TOO_MANY).await
}

async fn a_merge_beyond_252_properties_is_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed(numbered(252)).await?;
    let response = table.merge("p", "r", json!({ "OneMore": 1 })).if_match("*").send().await?;
    response.expect_error(400, "TooManyProperties", TOO_MANY)?;
    Ok(())
}

fn with_name(name: &str) -> Value {
    entity([(name.to_owned(), json!(1))])
}

async fn a_property_name_of_255_characters_is_accepted(at: &Session) -> Outcome {
    at.table().await?.seed(with_name(&"n".repeat(255))).await?;
    Ok(())
}

async fn a_property_name_of_256_characters_is_refused(at: &Session) -> Outcome {
    let message = "The property name exceeds the maximum allowed length (255).";
    expect_refused(at, &with_name(&"n".repeat(256)), "PropertyNameTooLong", message).await
}

async fn property_names_follow_the_rules_of_identifiers(at: &Session) -> Outcome {
    let table = at.table().await?;
    for name in ["_", "_x1", "a", "A_b", "größe", "日本"] {
        table.put("p", "r", with_name(name)).send().await?.expect(204)?;
        equal(name, table.stored("p", "r").await?[name].as_i64(), Some(1))?;
    }
    Ok(())
}

async fn property_names_of_another_form_are_refused(at: &Session) -> Outcome {
    for name in ["with-dash", "with space", "with.dot", "1digit", "a+b"] {
        expect_refused(at, &with_name(name), "PropertyNameInvalid", "The property name is invalid.").await?;
    }
    Ok(())
}

const TOO_LARGE: &str = "The property value exceeds the maximum allowed size (64KB). If the property value is a \
    string, it is UTF-16 encoded and the maximum number of characters should be 32K or less.";

fn with_text(text: &str) -> Value {
    entity([("X".to_owned(), json!(text))])
}

async fn a_string_of_32768_characters_is_accepted(at: &Session) -> Outcome {
    let table = at.table().await?;
    let text = "x".repeat(32_768);
    table.seed(with_text(&text)).await?;
    ensure(table.stored("p", "r").await?["X"] == json!(text), || "the text changed".to_owned())
}

async fn a_string_of_32769_characters_is_refused(at: &Session) -> Outcome {
    expect_refused(at, &with_text(&"x".repeat(32_769)), "PropertyValueTooLarge", TOO_LARGE).await
}

/// A character above U+FFFF is two units, one of three bytes in UTF-8 is one.
async fn string_length_counts_utf16_units(at: &Session) -> Outcome {
    at.table().await?.seed(with_text(&"€".repeat(32_768))).await?;
    at.table().await?.seed(with_text(&"😀".repeat(16_384))).await?;
    expect_refused(at, &with_text(&"😀".repeat(16_385)), "PropertyValueTooLarge", TOO_LARGE).await
}

fn binary(bytes: usize) -> Value {
    json!(BASE64.encode(vec![7; bytes]))
}

fn with_binary(bytes: usize) -> Value {
    entity([("X@odata.type".to_owned(), json!("Edm.Binary")), ("X".to_owned(), binary(bytes))])
}

async fn a_binary_of_65536_bytes_is_accepted(at: &Session) -> Outcome {
    at.table().await?.seed(with_binary(65_536)).await?;
    Ok(())
}

async fn a_binary_of_65537_bytes_is_refused(at: &Session) -> Outcome {
    expect_refused(at, &with_binary(65_537), "PropertyValueTooLarge", TOO_LARGE).await
}

const ENTITY_BYTES_MAX: usize = 1024 * 1024;
const BINARY_BYTES_MAX: usize = 65_536;

/// The size of a binary property: 8, its name in UTF-16, its value and 4.
fn binary_cost(name: &str, bytes: usize) -> usize {
    8 + 2 * name.len() + bytes + 4
}

/// Binary properties that make an entity with keys `p` and `r` exactly this large.
fn filled_to(size: usize) -> Vec<(String, usize)> {
    let mut left = size - (4 + 2 * ("p".len() + "r".len()));
    let mut properties = Vec::new();
    for number in 0.. {
        let name = format!("B{number:02}");
        let whole = binary_cost(&name, BINARY_BYTES_MAX);
        if left <= whole {
            properties.push((name.clone(), left - binary_cost(&name, 0)));
            break;
        }
        // What is left has to hold one more property, however small.
        let bytes = BINARY_BYTES_MAX.min(left - 2 * binary_cost(&name, 0));
        left -= binary_cost(&name, bytes);
        properties.push((name, bytes));
    }
    properties
}

fn sized(properties: &[(String, usize)]) -> Value {
    entity(properties.iter().flat_map(|(name, bytes)| {
        [(format!("{name}@odata.type"), json!("Edm.Binary")), (name.clone(), binary(*bytes))]
    }))
}

const ENTITY_TOO_LARGE: &str = "The entity is larger than the maximum allowed size (1MB).";

async fn an_entity_of_exactly_1_mib_is_accepted(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.insert(sized(&filled_to(ENTITY_BYTES_MAX))).prefer("return-no-content").send().await?.expect(204)?;
    Ok(())
}

async fn an_entity_one_byte_over_1_mib_is_refused(at: &Session) -> Outcome {
    expect_refused(at, &sized(&filled_to(ENTITY_BYTES_MAX + 1)), "EntityTooLarge", ENTITY_TOO_LARGE).await
}

/// Half of the properties first, the rest by a merge of what is given.
async fn merge_up_to(at: &Session, size: usize) -> Outcome<(Table<'_>, crate::response::Response)> {
    let table = at.table().await?;
    let properties = filled_to(size);
    let (first, second) = properties.split_at(properties.len() / 2);
    table.insert(sized(first)).prefer("return-no-content").send().await?.expect(204)?;
    let response = table.merge("p", "r", sized(second)).if_match("*").send().await?;
    Ok((table, response))
}

async fn a_merge_to_exactly_1_mib_is_accepted(at: &Session) -> Outcome {
    merge_up_to(at, ENTITY_BYTES_MAX).await?.1.expect(204)?;
    Ok(())
}

async fn a_merge_beyond_1_mib_is_refused(at: &Session) -> Outcome {
    let (table, response) = merge_up_to(at, ENTITY_BYTES_MAX + 1).await?;
    response.expect_error(400, "EntityTooLarge", ENTITY_TOO_LARGE)?;
    let last = filled_to(ENTITY_BYTES_MAX + 1).pop().map(|(name, _)| name).unwrap_or_default();
    equal("a property of the refused merge", table.stored("p", "r").await?.get(&last), None)
}

async fn an_update_beyond_1_mib_is_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    let large = sized(&filled_to(ENTITY_BYTES_MAX + 1));
    table.put("p", "r", large).send().await?.expect_error(400, "EntityTooLarge", ENTITY_TOO_LARGE)?;
    table.expect_rows(&[]).await
}

fn with_date(text: &str) -> Value {
    entity([("D@odata.type".to_owned(), json!("Edm.DateTime")), ("D".to_owned(), json!(text))])
}

async fn dates_at_both_ends_of_the_range_are_accepted(at: &Session) -> Outcome {
    let table = at.table().await?;
    for date in ["1601-01-01T00:00:00Z", "9999-12-31T23:59:59.9999999Z"] {
        table.put("p", "r", with_date(date)).send().await?.expect(204)?;
        equal("D", table.stored("p", "r").await?["D"].as_str(), Some(date))?;
    }
    Ok(())
}

async fn dates_outside_the_range_are_refused(at: &Session) -> Outcome {
    let out_of_range = |value: &str| format!("The 'D' parameter of value '{value}' is out of range.");
    let first = out_of_range("01/01/0001 00:00:00");
    expect_refused(at, &with_date("0001-01-01T00:00:00Z"), "OutOfRangeInput", &first).await?;
    let last = out_of_range("12/31/1600 23:59:59");
    expect_refused(at, &with_date("1600-12-31T23:59:59Z"), "OutOfRangeInput", &last).await
}

async fn a_body_over_4_mib_is_too_large(at: &Session) -> Outcome {
    let table = at.table().await?;
    let response = table.insert(with_text(&"x".repeat(5 * 1024 * 1024))).send().await?;
    let message = "The request body is too large and exceeds the maximum permissible limit.";
    response.expect_error(413, "RequestBodyTooLarge", message)?;
    table.expect_rows(&[]).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_are_filled_to_the_byte() {
        for size in [100, 70_000, 65_554 + 8 + 1, ENTITY_BYTES_MAX, ENTITY_BYTES_MAX + 1] {
            let properties = filled_to(size);
            let cost: usize = properties.iter().map(|(name, bytes)| binary_cost(name, *bytes)).sum();
            assert_eq!(8 + cost, size);
            assert!(properties.iter().all(|(_, bytes)| *bytes <= BINARY_BYTES_MAX));
        }
    }
}
