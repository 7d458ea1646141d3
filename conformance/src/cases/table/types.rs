//! The eight types: how each is written, how it comes back at each metadata level.

use serde_json::json;

use crate::expect::{ensure, equal};
use crate::request::{FULL, MINIMAL, NONE};
use crate::table::Table;
use crate::{Outcome, Session, cases};

cases! {
    InsertEntity {
        strings_come_back_as_they_were,
        booleans_come_back_as_they_were,
        int32_comes_back_as_a_plain_number,
        int64_comes_back_as_an_annotated_string,
        doubles_come_back_with_a_point_or_exponent,
        doubles_keep_their_last_digit,
        doubles_that_are_no_numbers_come_back_as_annotated_strings,
        dates_come_back_annotated_and_trimmed,
        guids_come_back_annotated_in_lower_case,
        binaries_come_back_annotated_in_base64,
        an_unannotated_string_stays_a_string_whatever_it_looks_like,
        an_unannotated_integer_beyond_int32_is_a_double,
        int64_may_be_sent_as_a_number,
        annotations_of_plain_types_are_accepted,
        doubles_may_be_sent_as_strings_or_whole_numbers,
        dates_with_an_offset_become_utc,
        dates_without_a_zone_are_utc,
        digits_beyond_the_seventh_are_dropped,
    }
    QueryEntity {
        no_type_is_annotated_without_metadata,
        full_metadata_annotates_as_minimal_and_the_timestamp_too,
        keys_are_never_annotated,
    }
}

async fn stored_text(table: &Table<'_>, members: &str, level: &str) -> Outcome<String> {
    let row = format!("r{}", table.query().send().await?.items()?.len());
    table.seed(format!(r#"{{"PartitionKey":"p","RowKey":"{row}",{members}}}"#)).await?;
    Ok(table.read("p", &row).accept(level).send().await?.expect(200)?.text())
}

/// Inserts `sent` and expects `returned` as the members of the entity at minimal metadata, byte for byte.
async fn expect_members(table: &Table<'_>, sent: &str, returned: &str) -> Outcome {
    let text = stored_text(table, sent, MINIMAL).await?;
    expect_in(&text, returned)
}

/// The text has these members in a row, and annotates `X` only if they do.
fn expect_in(text: &str, members: &str) -> Outcome {
    let whole = text.match_indices(members).any(|(at, _)| text[at + members.len()..].starts_with([',', '}']));
    let annotated = text.contains("\"X@odata.type\"") == members.contains("\"X@odata.type\"");
    ensure(whole && annotated, || format!("expected {members}, got {text}"))
}

async fn expect_unchanged(at: &Session, members: &[&str]) -> Outcome {
    let table = at.table().await?;
    for member in members {
        expect_members(&table, member, member).await?;
    }
    Ok(())
}

async fn strings_come_back_as_they_were(at: &Session) -> Outcome {
    expect_unchanged(at, &[r#""X":"plain""#, r#""X":"""#, r#""X":"a \"quoted\" \\ word""#]).await?;
    let table = at.table().await?;
    let text = "line\nbreak\ttab é € 😀 \u{1} '";
    table.seed(json!({ "PartitionKey": "p", "RowKey": "s", "X": text })).await?;
    equal("X", table.stored("p", "s").await?["X"].as_str(), Some(text))
}

async fn booleans_come_back_as_they_were(at: &Session) -> Outcome {
    expect_unchanged(at, &[r#""X":true"#, r#""X":false"#]).await
}

async fn int32_comes_back_as_a_plain_number(at: &Session) -> Outcome {
    expect_unchanged(at, &[r#""X":0"#, r#""X":-1"#, r#""X":2147483647"#, r#""X":-2147483648"#]).await
}

async fn int64_comes_back_as_an_annotated_string(at: &Session) -> Outcome {
    expect_unchanged(
        at,
        &[
            r#""X@odata.type":"Edm.Int64","X":"39""#,
            r#""X@odata.type":"Edm.Int64","X":"9223372036854775807""#,
            r#""X@odata.type":"Edm.Int64","X":"-9223372036854775808""#,
        ],
    )
    .await
}

async fn doubles_come_back_with_a_point_or_exponent(at: &Session) -> Outcome {
    expect_unchanged(at, &[r#""X":1.5"#, r#""X":3.0"#, r#""X":-0.25"#, r#""X":0.0"#]).await
}

/// How an exponent is written is left open; the number it stands for is not.
async fn doubles_keep_their_last_digit(at: &Session) -> Outcome {
    let table = at.table().await?;
    for value in [0.1 + 0.2, 1e20, 1.5e-7, f64::MAX, f64::MIN_POSITIVE, -123_456_789.123_456_78] {
        let text = stored_text(&table, &format!("\"X\":{value:e}"), MINIMAL).await?;
        let entity: serde_json::Value =
            serde_json::from_str(&text).map_err(|error| crate::Failure::new(error.to_string()))?;
        ensure(entity["X"].is_f64(), || format!("{value:e} came back as {}", entity["X"]))?;
        equal("X", entity["X"].as_f64(), Some(value))?;
    }
    Ok(())
}

async fn doubles_that_are_no_numbers_come_back_as_annotated_strings(at: &Session) -> Outcome {
    expect_unchanged(
        at,
        &[
            r#""X@odata.type":"Edm.Double","X":"NaN""#,
            r#""X@odata.type":"Edm.Double","X":"Infinity""#,
            r#""X@odata.type":"Edm.Double","X":"-Infinity""#,
        ],
    )
    .await
}

fn date(text: &str) -> String {
    format!(r#""X@odata.type":"Edm.DateTime","X":"{text}""#)
}

async fn expect_dates(at: &Session, dates: &[(&str, &str)]) -> Outcome {
    let table = at.table().await?;
    for (sent, returned) in dates {
        expect_members(&table, &date(sent), &date(returned)).await?;
    }
    Ok(())
}

async fn dates_come_back_annotated_and_trimmed(at: &Session) -> Outcome {
    let dates = [
        ("2012-01-01T01:02:00.0000000Z", "2012-01-01T01:02:00Z"),
        ("2012-01-01T01:02:03Z", "2012-01-01T01:02:03Z"),
        ("2012-01-01T01:02:03.1234567Z", "2012-01-01T01:02:03.1234567Z"),
        ("2012-01-01T01:02:03.120Z", "2012-01-01T01:02:03.12Z"),
    ];
    expect_dates(at, &dates).await
}

async fn dates_with_an_offset_become_utc(at: &Session) -> Outcome {
    let dates = [
        ("2012-01-01T01:02:03+02:00", "2011-12-31T23:02:03Z"),
        ("2012-01-01T01:02:03.5-05:30", "2012-01-01T06:32:03.5Z"),
    ];
    expect_dates(at, &dates).await
}

async fn dates_without_a_zone_are_utc(at: &Session) -> Outcome {
    expect_dates(at, &[("2012-01-01T01:02:03", "2012-01-01T01:02:03Z")]).await
}

async fn digits_beyond_the_seventh_are_dropped(at: &Session) -> Outcome {
    expect_dates(at, &[("2012-01-01T01:02:03.123456789Z", "2012-01-01T01:02:03.1234567Z")]).await
}

async fn guids_come_back_annotated_in_lower_case(at: &Session) -> Outcome {
    let table = at.table().await?;
    let guid = |text: &str| format!(r#""X@odata.type":"Edm.Guid","X":"{text}""#);
    let lower = "c9da6455-213d-42c9-9a79-3e9149a57833";
    expect_members(&table, &guid(lower), &guid(lower)).await?;
    expect_members(&table, &guid(&lower.to_uppercase()), &guid(lower)).await
}

async fn binaries_come_back_annotated_in_base64(at: &Session) -> Outcome {
    expect_unchanged(
        at,
        &[r#""X@odata.type":"Edm.Binary","X":"AQIDBA==""#, r#""X@odata.type":"Edm.Binary","X":"+/8=""#],
    )
    .await
}

async fn an_unannotated_string_stays_a_string_whatever_it_looks_like(at: &Session) -> Outcome {
    expect_unchanged(
        at,
        &[
            r#""X":"2012-01-01T01:02:03Z""#,
            r#""X":"c9da6455-213d-42c9-9a79-3e9149a57833""#,
            r#""X":"12""#,
            r#""X":"NaN""#,
            r#""X":"true""#,
        ],
    )
    .await
}

async fn an_unannotated_integer_beyond_int32_is_a_double(at: &Session) -> Outcome {
    let table = at.table().await?;
    for value in ["5454161346626", "2147483648", "-2147483649"] {
        table.put("p", "r", format!("{{\"X\":{value}}}")).send().await?.expect(204)?;
        let stored = table.stored("p", "r").await?;
        equal("annotation", stored.get("X@odata.type"), None)?;
        ensure(stored["X"].is_f64(), || format!("{value} came back as {}", stored["X"]))?;
        equal("X", stored["X"].as_f64(), value.parse().ok())?;
    }
    Ok(())
}

async fn int64_may_be_sent_as_a_number(at: &Session) -> Outcome {
    let table = at.table().await?;
    expect_members(&table, r#""X@odata.type":"Edm.Int64","X":39"#, r#""X@odata.type":"Edm.Int64","X":"39""#).await
}

async fn annotations_of_plain_types_are_accepted(at: &Session) -> Outcome {
    let table = at.table().await?;
    expect_members(&table, r#""X@odata.type":"Edm.String","X":"s""#, r#""X":"s""#).await?;
    expect_members(&table, r#""X@odata.type":"Edm.Int32","X":7"#, r#""X":7"#).await?;
    expect_members(&table, r#""X@odata.type":"Edm.Int32","X":"7""#, r#""X":7"#).await?;
    expect_members(&table, r#""X@odata.type":"Edm.Boolean","X":true"#, r#""X":true"#).await
}

async fn doubles_may_be_sent_as_strings_or_whole_numbers(at: &Session) -> Outcome {
    let table = at.table().await?;
    expect_members(&table, r#""X@odata.type":"Edm.Double","X":"1.5""#, r#""X":1.5"#).await?;
    expect_members(&table, r#""X@odata.type":"Edm.Double","X":1"#, r#""X":1.0"#).await?;
    expect_members(&table, r#""X@odata.type":"Edm.Double","X":2.5"#, r#""X":2.5"#).await
}

const EVERY_TYPE: &[&str] = &[
    r#""B@odata.type":"Edm.Binary","B":"AQ==""#,
    r#""D@odata.type":"Edm.DateTime","D":"2012-01-01T00:00:00Z""#,
    r#""F@odata.type":"Edm.Double","F":"NaN""#,
    r#""G@odata.type":"Edm.Guid","G":"c9da6455-213d-42c9-9a79-3e9149a57833""#,
    r#""I":1"#,
    r#""L@odata.type":"Edm.Int64","L":"2""#,
    r#""S":"s""#,
    r#""T":true"#,
];

async fn no_type_is_annotated_without_metadata(at: &Session) -> Outcome {
    let text = stored_text(&at.table().await?, &EVERY_TYPE.join(","), NONE).await?;
    ensure(!text.contains("odata"), || format!("metadata in {text}"))?;
    for member in EVERY_TYPE {
        let bare = member.split_once(",\"").map_or((*member).to_owned(), |(_, value)| format!("\"{value}"));
        expect_in(&text, &bare)?;
    }
    Ok(())
}

async fn full_metadata_annotates_as_minimal_and_the_timestamp_too(at: &Session) -> Outcome {
    let text = stored_text(&at.table().await?, &EVERY_TYPE.join(","), FULL).await?;
    for member in EVERY_TYPE {
        expect_in(&text, member)?;
    }
    let annotated = text.contains(r#""Timestamp@odata.type":"Edm.DateTime","Timestamp":""#);
    ensure(annotated, || format!("the Timestamp is not annotated: {text}"))?;
    ensure(text.matches("@odata.type").count() == 6, || format!("expected six annotations: {text}"))
}

async fn keys_are_never_annotated(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed_rows(&["r"]).await?;
    for level in [NONE, MINIMAL, FULL] {
        let response = table.read("p", "r").accept(level).send().await?;
        response.expect(200)?.expect_body_lacks("PartitionKey@")?.expect_body_lacks("RowKey@")?;
    }
    Ok(())
}
