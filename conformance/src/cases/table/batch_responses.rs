//! Entity group transactions: the bytes of the response.

use serde_json::json;

use crate::batch::{self, Part};
use crate::expect::{ensure, equal};
use crate::{Outcome, Session, cases};

cases! {
    EntityGroupTransaction {
        a_batch_answer_has_the_headers_of_the_service,
        an_insert_part_without_content_has_the_shape_of_the_service,
        an_insert_part_with_content_carries_the_entity,
        an_insert_part_with_return_content_says_so,
        an_update_part_has_an_etag_and_no_location,
        a_delete_part_has_no_etag,
        a_failed_batch_has_the_shape_of_the_service,
        a_query_batch_answers_without_a_changeset,
        boundaries_of_answers_are_fresh,
        a_content_id_among_the_operation_headers_is_echoed_first,
        a_content_id_among_the_part_headers_is_not_echoed,
        all_entities_of_a_batch_have_one_timestamp,
        parts_of_an_answer_come_in_request_order,
    }
}

const OPEN: &str = "--batchresponse_⟨guid⟩\r\nContent-Type: multipart/mixed; boundary=changesetresponse_⟨guid⟩\r\n\r\n";
const PART: &str =
    "--changesetresponse_⟨guid⟩\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n";
const CLOSE: &str = "--changesetresponse_⟨guid⟩--\r\n--batchresponse_⟨guid⟩--\r\n";

async fn a_batch_answer_has_the_headers_of_the_service(at: &Session) -> Outcome {
    let table = at.table().await?;
    let insert = Part::insert(&table, &at.base(), json!({ "PartitionKey": "p", "RowKey": "1" }));
    let response = batch::send(at, &[insert]).await?;
    response.expect(202)?.expect_header("Cache-Control", "no-cache")?;
    response.expect_header("X-Content-Type-Options", "nosniff")?;
    let content_type = response.header("Content-Type").unwrap_or_default();
    crate::pattern::expect_matches("Content-Type", content_type, "multipart/mixed; boundary=batchresponse_⟨guid⟩")
}

async fn an_insert_part_without_content_has_the_shape_of_the_service(at: &Session) -> Outcome {
    let table = at.table().await?;
    let insert = |row: &str| Part::insert(&table, &at.base(), json!({ "PartitionKey": "p", "RowKey": row }));
    let response = batch::send(at, &[insert("1"), insert("2")]).await?;
    let part = |row: &str| {
        let url = table.entity_url("p", row);
        format!(
            "{PART}HTTP/1.1 204 No Content\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-cache\r\n\
             Preference-Applied: return-no-content\r\nDataServiceVersion: 3.0;\r\nLocation: {url}\r\n\
             DataServiceId: {url}\r\nETag: W/\"datetime'⟨etag⟩'\"\r\n\r\n\r\n"
        )
    };
    response.expect(202)?.expect_body(&format!("{OPEN}{}{}{CLOSE}", part("1"), part("2")))?;
    Ok(())
}

async fn an_insert_part_with_content_carries_the_entity(at: &Session) -> Outcome {
    let (base, table) = (at.base(), at.table().await?);
    let insert = Part::insert(&table, &base, json!({ "PartitionKey": "p", "RowKey": "1" })).without("Prefer");
    let answers = batch::commit(at, &[insert]).await?;
    let answer = answers[0].expect(201)?;
    let content_type = "application/json;odata=minimalmetadata;streaming=true;charset=utf-8";
    answer.expect_header("Content-Type", content_type)?.expect_header("DataServiceVersion", "3.0;")?;
    answer.expect_header("Location", &table.entity_url("p", "1"))?.expect_no_header("Preference-Applied")?;
    let name = &table.name;
    answer.expect_body(&format!(
        r#"{{"odata.metadata":"{base}/$metadata#{name}/@Element","odata.etag":"W/\"datetime'⟨etag⟩'\"","PartitionKey":"p","RowKey":"1","Timestamp":"⟨time⟩"}}"#
    ))?;
    equal("ETag", answer.json()?["odata.etag"].as_str(), Some(answer.etag()?.as_str()))
}

async fn an_insert_part_with_return_content_says_so(at: &Session) -> Outcome {
    let table = at.table().await?;
    let entity = json!({ "PartitionKey": "p", "RowKey": "1" });
    let insert = Part::insert(&table, &at.base(), entity).without("Prefer").header("Prefer", "return-content");
    let answers = batch::commit(at, &[insert]).await?;
    answers[0].expect(201)?.expect_header("Preference-Applied", "return-content")?;
    Ok(())
}

async fn an_update_part_has_an_etag_and_no_location(at: &Session) -> Outcome {
    let table = at.table().await?;
    let response = batch::send(at, &[Part::new("PUT", table.entity_url("p", "1"), json!({ "A": 1 }))]).await?;
    response.expect(202)?.expect_body(&format!(
        "{OPEN}{PART}HTTP/1.1 204 No Content\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-cache\r\n\
         DataServiceVersion: 1.0;\r\nETag: W/\"datetime'⟨etag⟩'\"\r\n\r\n\r\n{CLOSE}"
    ))?;
    Ok(())
}

async fn a_delete_part_has_no_etag(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed_rows(&["1"]).await?;
    let delete = Part::new("DELETE", table.entity_url("p", "1"), "").header("If-Match", "*");
    batch::send(at, &[delete]).await?.expect(202)?.expect_body(&format!(
        "{OPEN}{PART}HTTP/1.1 204 No Content\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-cache\r\n\
         DataServiceVersion: 1.0;\r\n\r\n\r\n{CLOSE}"
    ))?;
    Ok(())
}

async fn a_failed_batch_has_the_shape_of_the_service(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed_rows(&["2"]).await?;
    let insert = |row: &str| Part::insert(&table, &at.base(), json!({ "PartitionKey": "p", "RowKey": row }));
    let response = batch::send(at, &[insert("0"), insert("1"), insert("2")]).await?;
    response.expect(202)?.expect_body(&format!(
        "{OPEN}{PART}HTTP/1.1 409 Conflict\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-cache\r\n\
         Preference-Applied: return-no-content\r\nDataServiceVersion: 3.0;\r\n\
         Content-Type: application/json;odata=minimalmetadata;streaming=true;charset=utf-8\r\n\r\n{}\r\n{CLOSE}",
        r#"{"odata.error":{"code":"EntityAlreadyExists","message":{"lang":"en-US","value":"2:The specified entity already exists.\nRequestId:⟨guid⟩\nTime:⟨time7⟩"}}}"#
    ))?;
    Ok(())
}

async fn a_query_batch_answers_without_a_changeset(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed_rows(&["1"]).await?;
    let query = Part::new("GET", table.entity_url("p", "1"), "");
    let response = batch::request(at, batch::query_body(&query)).send().await?;
    response.expect(202)?.expect_body(
        "--batchresponse_⟨guid⟩\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n\
         HTTP/1.1 200 OK\r\n⟨…⟩\r\n\r\n{⟨…⟩}\r\n--batchresponse_⟨guid⟩--\r\n",
    )?;
    Ok(())
}

async fn boundaries_of_answers_are_fresh(at: &Session) -> Outcome {
    let table = at.table().await?;
    let part = Part::new("PUT", table.entity_url("p", "1"), json!({ "A": 1 }));
    let boundary = |text: String| text.lines().next().unwrap_or_default().to_owned();
    let first = boundary(batch::send(at, std::slice::from_ref(&part)).await?.text());
    let second = boundary(batch::send(at, &[part]).await?.text());
    ensure(first != second, || format!("two responses share the boundary {first}"))
}

async fn a_content_id_among_the_operation_headers_is_echoed_first(at: &Session) -> Outcome {
    let table = at.table().await?;
    let part = Part::new("PUT", table.entity_url("p", "1"), json!({ "A": 1 })).header("Content-ID", "7");
    let response = batch::send(at, &[part]).await?;
    response.expect_body_contains("HTTP/1.1 204 No Content\r\nContent-ID: 7\r\n")?;
    Ok(())
}

async fn a_content_id_among_the_part_headers_is_not_echoed(at: &Session) -> Outcome {
    let table = at.table().await?;
    let part = Part::new("PUT", table.entity_url("p", "1"), json!({ "A": 1 })).mime_header("Content-ID", "7");
    batch::send(at, &[part]).await?.expect(202)?.expect_body_lacks("Content-ID")?;
    Ok(())
}

async fn all_entities_of_a_batch_have_one_timestamp(at: &Session) -> Outcome {
    let table = at.table().await?;
    let entity = |row: usize| json!({ "PartitionKey": "p", "RowKey": format!("{row:02}") });
    let parts: Vec<Part> = (0..20).map(|row| Part::insert(&table, &at.base(), entity(row))).collect();
    let answers = batch::commit(at, &parts).await?;
    let mut stamps = table.query().send().await?.column("Timestamp")?;
    equal("rows", stamps.len(), 20)?;
    stamps.dedup();
    equal("different timestamps", stamps.len(), 1)?;
    let etag = answers[0].etag()?;
    for answer in &answers {
        answer.expect_header("ETag", &etag)?;
    }
    Ok(())
}

async fn parts_of_an_answer_come_in_request_order(at: &Session) -> Outcome {
    let table = at.table().await?;
    let rows = ["c", "a", "d", "b"];
    let parts = rows.map(|row| Part::insert(&table, &at.base(), json!({ "PartitionKey": "p", "RowKey": row })));
    for (answer, row) in batch::commit(at, &parts).await?.iter().zip(rows) {
        answer.expect_header("Location", &table.entity_url("p", row))?;
    }
    Ok(())
}
