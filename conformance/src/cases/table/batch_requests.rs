//! Entity group transactions: every form of request that clients send.

use serde_json::json;

use crate::batch::{self, BATCH_BOUNDARY, CHANGESET_BOUNDARY, Part};
use crate::expect::equal;
use crate::table::Table;
use crate::{Outcome, Session, cases, encode};

cases! {
    EntityGroupTransaction {
        a_batch_holds_every_kind_of_write,
        a_batch_may_use_bare_line_feeds,
        a_batch_may_be_addressed_with_an_encoded_dollar,
        a_batch_may_quote_its_boundary,
        a_batch_may_name_a_charset_before_its_boundary,
        a_batch_may_use_relative_urls,
        a_batch_may_name_another_host,
        a_batch_may_lower_its_header_names,
        a_batch_may_reorder_its_part_headers,
        a_batch_may_have_blank_lines_before_boundaries_and_bodies,
        a_batch_may_have_content_lengths,
        a_batch_may_lack_its_closing_dashes,
        a_batch_may_end_without_a_line_break,
        a_batch_may_have_a_preamble_and_an_epilogue,
        a_batch_may_have_spaces_after_its_boundaries,
        a_batch_takes_any_accept,
        a_batch_as_legacy_node_writes_it_is_served,
        a_batch_may_have_query_parameters_in_its_urls,
        a_batch_of_100_is_accepted,
        a_batch_may_rest_on_an_etag_read_before_it,
        a_batch_with_a_single_query_answers_it,
        a_batch_query_of_a_missing_entity_answers_404,
        a_batch_may_use_empty_parentheses,
    }
}

fn insert(at: &Session, table: &Table, row: &str) -> Part {
    Part::insert(table, &at.base(), json!({ "PartitionKey": "p", "RowKey": row }))
}

/// A body of two inserts, changed by the case, must be served.
async fn expect_served_after(at: &Session, change: impl Fn(String) -> String) -> Outcome {
    let table = at.table().await?;
    let body = change(batch::changeset_body(&[insert(at, &table, "1"), insert(at, &table, "2")]));
    let answers = batch::changeset_answers(&batch::request(at, body).send().await?)?;
    equal("statuses", answers.iter().map(|answer| answer.status()).collect::<Vec<_>>(), [204, 204])?;
    table.expect_rows(&["1", "2"]).await
}

async fn a_batch_holds_every_kind_of_write(at: &Session) -> Outcome {
    let table = at.table().await?;
    for row in ["delete", "merge", "patch", "update"] {
        table.seed(json!({ "PartitionKey": "p", "RowKey": row, "A": 1, "B": 2 })).await?;
    }
    let url = |row: &str| table.entity_url("p", row);
    let parts = [
        insert(at, &table, "insert"),
        Part::new("PUT", url("update"), json!({ "A": 3 })).header("If-Match", "*"),
        Part::new("MERGE", url("merge"), json!({ "A": 4 })).header("If-Match", "*"),
        Part::new("PATCH", url("patch"), json!({ "A": 5 })).header("If-Match", "*"),
        Part::new("PUT", url("put-new"), json!({ "A": 6 })),
        Part::new("MERGE", url("merge-new"), json!({ "A": 7 })),
        Part::new("DELETE", url("delete"), "").header("If-Match", "*"),
    ];
    batch::commit(at, &parts).await?;
    table.expect_rows(&["insert", "merge", "merge-new", "patch", "put-new", "update"]).await?;
    for (row, a, b) in [("update", 3, None), ("merge", 4, Some(2)), ("patch", 5, Some(2)), ("put-new", 6, None)] {
        let stored = table.stored("p", row).await?;
        equal(format_args!("A of {row}"), stored["A"].as_i64(), Some(a))?;
        equal(format_args!("B of {row}"), stored.get("B").and_then(|value| value.as_i64()), b)?;
    }
    Ok(())
}

async fn a_batch_may_use_bare_line_feeds(at: &Session) -> Outcome {
    expect_served_after(at, |body| body.replace("\r\n", "\n")).await
}

async fn a_batch_may_be_addressed_with_an_encoded_dollar(at: &Session) -> Outcome {
    let table = at.table().await?;
    let content_type = format!("multipart/mixed; boundary={BATCH_BOUNDARY}");
    let body = batch::changeset_body(&[insert(at, &table, "1")]);
    let response = at.post("/%24batch").header("Content-Type", &content_type).body(body).send().await?;
    batch::changeset_answers(&response)?[0].expect(204)?;
    Ok(())
}

async fn expect_served_with_type(at: &Session, content_type: &str) -> Outcome {
    let table = at.table().await?;
    let body = batch::changeset_body(&[insert(at, &table, "1")]);
    let response = batch::request(at, body).header("Content-Type", content_type).send().await?;
    batch::changeset_answers(&response)?[0].expect(204)?;
    Ok(())
}

async fn a_batch_may_quote_its_boundary(at: &Session) -> Outcome {
    expect_served_with_type(at, &format!("multipart/mixed; boundary=\"{BATCH_BOUNDARY}\"")).await
}

async fn a_batch_may_name_a_charset_before_its_boundary(at: &Session) -> Outcome {
    expect_served_with_type(at, &format!("multipart/mixed; charset=\"utf-8\"; boundary={BATCH_BOUNDARY}")).await?;
    expect_served_with_type(at, &format!("multipart/mixed;charset=\"utf-8\";boundary={BATCH_BOUNDARY}")).await
}

async fn a_batch_may_use_relative_urls(at: &Session) -> Outcome {
    let table = at.table().await?;
    let prefix = &at.target().primary.prefix;
    let entity = |row: &str| json!({ "PartitionKey": "p", "RowKey": row });
    let rooted = Part::new("POST", format!("{prefix}{}", table.path()), entity("1"));
    let host = at.target().primary.authority();
    batch::commit(at, &[rooted.header("Host", &host)]).await?;
    let bare = Part::new("POST", &table.name, entity("2"));
    batch::commit(at, &[bare.header("Host", &host)]).await?;
    table.expect_rows(&["1", "2"]).await
}

async fn a_batch_may_name_another_host(at: &Session) -> Outcome {
    let table = at.table().await?;
    let elsewhere = format!("http://proxy.example:8080{}", at.target().primary.prefix);
    batch::commit(at, &[Part::insert(&table, &elsewhere, json!({ "PartitionKey": "p", "RowKey": "1" }))]).await?;
    table.expect_rows(&["1"]).await
}

async fn a_batch_may_lower_its_header_names(at: &Session) -> Outcome {
    expect_served_after(at, |body| {
        let names = ["Content-Type", "Content-Transfer-Encoding", "Accept", "Prefer", "DataServiceVersion"];
        names.iter().fold(body, |body, name| body.replace(&format!("{name}:"), &format!("{}:", name.to_lowercase())))
    })
    .await
}

async fn a_batch_may_reorder_its_part_headers(at: &Session) -> Outcome {
    expect_served_after(at, |body| {
        body.replace(
            "Content-Type: application/http\r\nContent-Transfer-Encoding: binary",
            "Content-Transfer-Encoding: binary\r\nContent-Type: application/http",
        )
    })
    .await
}

async fn a_batch_may_have_blank_lines_before_boundaries_and_bodies(at: &Session) -> Outcome {
    expect_served_after(at, |body| {
        let body = body.replacen(&format!("--{CHANGESET_BOUNDARY}\r\n"), &format!("\r\n--{CHANGESET_BOUNDARY}\r\n"), 1);
        let body = body.replace("\r\n\r\n{", "\r\n\r\n\r\n{");
        body.replace(&format!("--{BATCH_BOUNDARY}--"), &format!("\r\n--{BATCH_BOUNDARY}--"))
    })
    .await
}

async fn a_batch_may_have_content_lengths(at: &Session) -> Outcome {
    let table = at.table().await?;
    let parts = ["1", "2"].map(|row| {
        let part = insert(at, &table, row);
        let length = part.body.len().to_string();
        part.header("Content-Length", &length).header("x-ms-version", "2019-02-02").mime_header("Content-ID", row)
    });
    batch::commit(at, &parts).await?;
    table.expect_rows(&["1", "2"]).await
}

async fn a_batch_may_lack_its_closing_dashes(at: &Session) -> Outcome {
    expect_served_after(at, |body| {
        body.replace(&format!("--{BATCH_BOUNDARY}--\r\n"), &format!("--{BATCH_BOUNDARY}\r\n"))
    })
    .await
}

async fn a_batch_may_end_without_a_line_break(at: &Session) -> Outcome {
    expect_served_after(at, |body| body.trim_end().to_owned()).await
}

async fn a_batch_may_have_a_preamble_and_an_epilogue(at: &Session) -> Outcome {
    expect_served_after(at, |body| format!("This is a multipart message.\r\n{body}The end.\r\n")).await
}

async fn a_batch_may_have_spaces_after_its_boundaries(at: &Session) -> Outcome {
    expect_served_after(at, |body| {
        body.replace(&format!("--{CHANGESET_BOUNDARY}\r\n"), &format!("--{CHANGESET_BOUNDARY}  \r\n"))
    })
    .await
}

async fn a_batch_takes_any_accept(at: &Session) -> Outcome {
    let table = at.table().await?;
    for (row, accept) in ["application/json", "*/*", "application/atom+xml,application/xml"].iter().enumerate() {
        let body = batch::changeset_body(&[insert(at, &table, &row.to_string())]);
        let response = batch::request(at, body).accept(accept).send().await?;
        batch::changeset_answers(&response)?[0].expect(204)?;
    }
    let body = batch::changeset_body(&[insert(at, &table, "none")]);
    let response = batch::request(at, body).without("Accept").send().await?;
    batch::changeset_answers(&response)?[0].expect(204)?;
    Ok(())
}

/// Line feeds, header names in lower case, no spaces in the inner type, no line break at the end.
async fn a_batch_as_legacy_node_writes_it_is_served(at: &Session) -> Outcome {
    let table = at.table().await?;
    let (outer, inner) = ("batch_0123456789abcdef0123456789abcdef", "changeset_fedcba9876543210fedcba9876543210");
    let mut body = format!("--{outer}\ncontent-type: multipart/mixed;charset=\"utf-8\";boundary={inner}\n\n");
    for (id, row) in ["1", "2"].iter().enumerate() {
        body.push_str(&format!(
            "--{inner}\ncontent-type: application/http\ncontent-transfer-encoding: binary\n\n\
             MERGE {} HTTP/1.1\ncontent-id: {}\naccept: application/json;odata=minimalmetadata\n\
             content-type: application/json;odata=minimalmetadata;type=entry\n\n\
             {{\"PartitionKey\":\"p\",\"RowKey\":\"{row}\"}}\n",
            table.entity_url("p", row),
            id + 1,
        ));
    }
    body.push_str(&format!("--{inner}--\n--{outer}--"));
    let content_type = format!("multipart/mixed; charset=\"utf-8\"; boundary={outer}");
    let request =
        at.post("/$batch").header("Content-Type", &content_type).accept("application/atom+xml,application/xml");
    let answers = batch::changeset_answers(&request.body(body).send().await?)?;
    equal("statuses", answers.iter().map(|answer| answer.status()).collect::<Vec<_>>(), [204, 204])?;
    table.expect_rows(&["1", "2"]).await
}

async fn a_batch_may_have_query_parameters_in_its_urls(at: &Session) -> Outcome {
    let table = at.table().await?;
    let format = encode::percent("application/json;odata=minimalmetadata");
    let url = format!("{}{}?$format={format}&timeout=10", at.base(), table.path());
    let encoded = format!("{}{}?%24format={format}", at.base(), table.path());
    let entity = |row: &str| json!({ "PartitionKey": "p", "RowKey": row });
    batch::commit(at, &[Part::new("POST", url, entity("1")), Part::new("POST", encoded, entity("2"))]).await?;
    table.expect_rows(&["1", "2"]).await
}

async fn a_batch_of_100_is_accepted(at: &Session) -> Outcome {
    let table = at.table().await?;
    let parts: Vec<Part> = (0..100).map(|row| insert(at, &table, &format!("{row:03}"))).collect();
    batch::commit(at, &parts).await?;
    equal("rows", table.query().send().await?.items()?.len(), 100)
}

async fn a_batch_may_rest_on_an_etag_read_before_it(at: &Session) -> Outcome {
    let table = at.table().await?;
    let etag = table.seed(json!({ "PartitionKey": "p", "RowKey": "1", "A": 1 })).await?.etag()?;
    let update = Part::new("PUT", table.entity_url("p", "1"), json!({ "A": 2 })).header("If-Match", &etag);
    batch::commit(at, &[update, insert(at, &table, "2")]).await?;
    equal("A", table.stored("p", "1").await?["A"].as_i64(), Some(2))?;
    table.expect_rows(&["1", "2"]).await
}

async fn a_batch_with_a_single_query_answers_it(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed(json!({ "PartitionKey": "p", "RowKey": "r", "A": "x" })).await?;
    let query = Part::new("GET", table.entity_url("p", "r"), "");
    let response = batch::request(at, batch::query_body(&query)).send().await?;
    let answer = batch::query_answer(&response)?;
    equal("A", answer.expect(200)?.json()?["A"].as_str(), Some("x"))
}

async fn a_batch_query_of_a_missing_entity_answers_404(at: &Session) -> Outcome {
    let table = at.table().await?;
    let query = Part::new("GET", table.entity_url("p", "r"), "");
    let response = batch::request(at, batch::query_body(&query)).send().await?;
    batch::query_answer(&response)?.expect_code(404, "ResourceNotFound")?;
    Ok(())
}

async fn a_batch_may_use_empty_parentheses(at: &Session) -> Outcome {
    let table = at.table().await?;
    let url = format!("{}{}()", at.base(), table.path());
    batch::commit(at, &[Part::new("POST", url, json!({ "PartitionKey": "p", "RowKey": "1" }))]).await?;
    table.expect_rows(&["1"]).await
}
