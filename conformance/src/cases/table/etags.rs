//! Timestamps and etags: their form, their order, and the forms of `If-Match`.

use serde_json::json;

use crate::expect::{ensure, equal};
use crate::pattern::is_timestamp;
use crate::table::Table;
use crate::{Outcome, Session, cases, clock};

cases! {
    InsertEntity {
        the_etag_is_the_timestamp_with_encoded_colons,
        timestamps_end_in_no_zero,
        timestamps_are_the_time_of_the_write,
    }
    UpdateEntity {
        every_write_has_a_later_etag,
        an_unknown_weak_etag_is_stale,
        an_etag_that_is_not_weak_is_refused,
        an_etag_with_plain_colons_is_the_same,
        two_if_match_headers_are_refused,
        if_none_match_on_an_update_is_refused,
    }
    DeleteEntity {
        if_none_match_on_a_delete_is_refused,
        a_malformed_etag_on_a_delete_is_refused,
    }
    QueryEntity {
        if_none_match_with_the_current_etag_is_not_modified,
    }
}

async fn seeded(at: &Session) -> Outcome<(Table<'_>, String)> {
    let table = at.table().await?;
    let etag = table.seed(json!({ "PartitionKey": "p", "RowKey": "r", "A": 1 })).await?.etag()?;
    Ok((table, etag))
}

async fn the_etag_is_the_timestamp_with_encoded_colons(at: &Session) -> Outcome {
    let (table, etag) = seeded(at).await?;
    let response = table.read("p", "r").send().await?;
    let entity = response.expect(200)?.json()?;
    let timestamp = entity["Timestamp"].as_str().unwrap_or_default();
    let expected = format!("W/\"datetime'{}'\"", timestamp.replace(':', "%3A"));
    equal("ETag of the insert", &etag, &expected)?;
    equal("ETag of the read", &response.etag()?, &expected)?;
    equal("odata.etag", entity["odata.etag"].as_str(), Some(expected.as_str()))
}

/// One write in ten has a time whose last digit is zero, so a hundred writes show whether it is dropped.
async fn timestamps_end_in_no_zero(at: &Session) -> Outcome {
    let table = at.table().await?;
    for _ in 0..100 {
        let etag = table.put("p", "r", "{}").send().await?.expect(204)?.etag()?;
        let text = etag.replace("%3A", ":");
        let timestamp = text.strip_prefix("W/\"datetime'").and_then(|rest| rest.strip_suffix("'\""));
        ensure(timestamp.is_some_and(is_timestamp), || format!("not a trimmed timestamp: {etag}"))?;
    }
    Ok(())
}

async fn timestamps_are_the_time_of_the_write(at: &Session) -> Outcome {
    let (table, _) = seeded(at).await?;
    let stored = table.stored("p", "r").await?;
    let timestamp = stored["Timestamp"].as_str().unwrap_or_default();
    let (now, margin) = (clock::now(), clock::minutes(15));
    let (earliest, latest) = (clock::iso8601(now - margin), clock::iso8601(now + margin));
    ensure(earliest.as_str() < timestamp && timestamp < latest.as_str(), || format!("Timestamp {timestamp:?}"))
}

/// The instant in an etag, padded so that instants of different precision compare as text.
pub(super) fn instant(etag: &str) -> String {
    let text: String = etag.replace("%3A", ":").chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
    let (seconds, fraction) = text.split_once('.').unwrap_or((&text, ""));
    format!("{seconds}.{fraction:0<7}")
}

async fn every_write_has_a_later_etag(at: &Session) -> Outcome {
    let (table, mut previous) = seeded(at).await?;
    for number in 0..50 {
        let verb = if number % 2 == 0 { "PUT" } else { "MERGE" };
        let etag = table.write(verb, "p", "r", json!({ "A": number })).send().await?.expect(204)?.etag()?;
        ensure(instant(&etag) > instant(&previous), || format!("{etag} does not follow {previous}"))?;
        previous = etag;
    }
    Ok(())
}

async fn an_unknown_weak_etag_is_stale(at: &Session) -> Outcome {
    let (table, _) = seeded(at).await?;
    for etag in ["W/\"wrong\"", "W/\"datetime'2001-01-01T00%3A00%3A00Z'\""] {
        let response = table.put("p", "r", json!({ "A": 2 })).if_match(etag).send().await?;
        response.expect_code(412, "UpdateConditionNotSatisfied")?;
    }
    equal("A", &table.stored("p", "r").await?["A"], &json!(1))
}

async fn an_etag_that_is_not_weak_is_refused(at: &Session) -> Outcome {
    let (table, _) = seeded(at).await?;
    for etag in ["wrong", "\"strong\"", "W/unquoted"] {
        let response = table.put("p", "r", json!({ "A": 2 })).if_match(etag).send().await?;
        response.expect_code(400, "InvalidInput")?;
    }
    equal("A", &table.stored("p", "r").await?["A"], &json!(1))
}

/// Some clients rebuild the etag from the Timestamp and leave its colons as they are.
async fn an_etag_with_plain_colons_is_the_same(at: &Session) -> Outcome {
    let (table, etag) = seeded(at).await?;
    let plain = etag.replace("%3A", ":");
    let etag = table.put("p", "r", json!({ "A": 2 })).if_match(&plain).send().await?.expect(204)?.etag()?;
    let lower = etag.replace("%3A", "%3a");
    table.put("p", "r", json!({ "A": 3 })).if_match(&lower).send().await?.expect(204)?;
    Ok(())
}

async fn two_if_match_headers_are_refused(at: &Session) -> Outcome {
    let (table, etag) = seeded(at).await?;
    let request = table.put("p", "r", json!({ "A": 2 })).if_match(&etag).another_header("If-Match", "W/\"other\"");
    request.send().await?.expect_code(400, "InvalidInput")?;
    equal("A", &table.stored("p", "r").await?["A"], &json!(1))
}

async fn if_none_match_on_an_update_is_refused(at: &Session) -> Outcome {
    let (table, _) = seeded(at).await?;
    let request = table.put("p", "r", json!({ "A": 2 })).header("If-None-Match", "*");
    request.send().await?.expect_code(400, "InvalidInput")?;
    equal("A", &table.stored("p", "r").await?["A"], &json!(1))
}

async fn if_none_match_on_a_delete_is_refused(at: &Session) -> Outcome {
    let (table, _) = seeded(at).await?;
    let request = table.delete("p", "r").header("If-None-Match", "*");
    request.send().await?.expect_code(400, "InvalidInput")?;
    table.expect_rows(&["r"]).await
}

async fn a_malformed_etag_on_a_delete_is_refused(at: &Session) -> Outcome {
    let (table, _) = seeded(at).await?;
    table.delete("p", "r").if_match("wrong").send().await?.expect_code(400, "InvalidInput")?;
    table.expect_rows(&["r"]).await
}

async fn if_none_match_with_the_current_etag_is_not_modified(at: &Session) -> Outcome {
    let (table, etag) = seeded(at).await?;
    table.read("p", "r").header("If-None-Match", &etag).send().await?.expect(304)?;
    table.read("p", "r").header("If-None-Match", "W/\"other\"").send().await?.expect(200)?;
    Ok(())
}
