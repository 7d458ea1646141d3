//! Requests no client means to send: an error each, nothing written, and the server goes on.

use serde_json::json;

use crate::expect::{ensure, equal};
use crate::http::Connection;
use crate::socket::{self, expect_refused_or_closed, expect_still_serving};
use crate::{Outcome, Session, cases};

cases! {
    InsertEntity {
        a_truncated_body_writes_nothing,
        a_body_sent_slowly_is_accepted,
        a_chunked_body_is_accepted,
        a_broken_chunked_body_writes_nothing,
        a_body_without_a_length_is_refused,
        a_length_that_is_no_number_is_refused,
        two_different_lengths_are_refused,
        expect_100_continue_is_answered,
    }
    QueryTables {
        random_bytes_are_survived,
        a_request_line_of_nonsense_is_survived,
        an_unknown_verb_is_refused,
        oversized_headers_are_survived,
        an_oversized_request_line_is_survived,
        bare_line_feeds_are_survived,
        a_missing_host_is_refused,
        http_1_0_is_survived,
        pipelined_requests_are_answered_in_order,
        a_connection_survives_an_error,
        a_header_without_a_colon_is_survived,
    }
    QueryEntity {
        a_path_that_is_not_utf8_is_refused,
        a_path_with_broken_escapes_is_survived,
        a_malformed_key_predicate_is_refused,
        a_null_character_in_a_path_is_refused,
    }
    CreateTable {
        a_verb_the_resource_does_not_know_is_refused,
    }
}

fn insert_request<'s>(table: &crate::table::Table<'s>) -> crate::request::Request<'s> {
    table.insert(json!({ "PartitionKey": "p", "RowKey": "r" }))
}

async fn a_truncated_body_writes_nothing(at: &Session) -> Outcome {
    let table = at.table().await?;
    let bytes = insert_request(&table).bytes();
    let answer = socket::send_and_close(at, &bytes[..bytes.len() - 5]).await?;
    expect_refused_or_closed(answer.as_ref())?;
    table.expect_rows(&[]).await
}

async fn a_body_sent_slowly_is_accepted(at: &Session) -> Outcome {
    let table = at.table().await?;
    let bytes = insert_request(&table).bytes();
    let mut connection = Connection::open(&at.target().primary).await?;
    let (head, body) = bytes.split_at(bytes.len() - 20);
    connection.write(head).await?;
    for piece in body.chunks(4) {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        connection.write(piece).await?;
    }
    equal("status", connection.read().await?.status, 201)?;
    table.expect_rows(&["r"]).await
}

fn chunked(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for piece in body.chunks(7) {
        out.extend(format!("{:x}\r\n", piece.len()).into_bytes());
        out.extend(piece);
        out.extend(b"\r\n");
    }
    out
}

async fn a_chunked_body_is_accepted(at: &Session) -> Outcome {
    let table = at.table().await?;
    let request = insert_request(&table);
    let head = request.head_with("Transfer-Encoding: chunked\r\n");
    let bytes = [head, chunked(request.body_bytes()), b"0\r\n\r\n".to_vec()].concat();
    let answer = socket::send(at, &bytes).await?;
    equal("status", answer.map(|answer| answer.status), Some(201))?;
    table.expect_rows(&["r"]).await
}

async fn a_broken_chunked_body_writes_nothing(at: &Session) -> Outcome {
    let table = at.table().await?;
    let request = insert_request(&table);
    let head = request.head_with("Transfer-Encoding: chunked\r\n");
    let unfinished = [head.clone(), chunked(request.body_bytes())].concat();
    expect_refused_or_closed(socket::send_and_close(at, &unfinished).await?.as_ref())?;
    let malformed = [head, b"zz\r\nnot a chunk\r\n0\r\n\r\n".to_vec()].concat();
    expect_refused_or_closed(socket::send_and_close(at, &malformed).await?.as_ref())?;
    expect_still_serving(at).await?;
    table.expect_rows(&[]).await
}

async fn a_body_without_a_length_is_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    let request = insert_request(&table);
    let mut connection = Connection::open(&at.target().primary).await?;
    let answer = connection.exchange(&request.head_with("")).await?;
    let response = crate::response::Response::new(request.summary(), answer);
    response.expect_error(411, "MissingContentLengthHeader", "The Content-Length header was not specified.")?;
    table.expect_rows(&[]).await
}

async fn expect_framing_refused(at: &Session, framing: &str) -> Outcome {
    let table = at.table().await?;
    let request = insert_request(&table);
    let bytes = [request.head_with(framing).as_slice(), request.body_bytes()].concat();
    expect_refused_or_closed(socket::send_and_close(at, &bytes).await?.as_ref())?;
    expect_still_serving(at).await?;
    table.expect_rows(&[]).await
}

async fn a_length_that_is_no_number_is_refused(at: &Session) -> Outcome {
    for length in ["abc", "-1", "1e3", "99999999999999999999999"] {
        expect_framing_refused(at, &format!("Content-Length: {length}\r\n")).await?;
    }
    Ok(())
}

/// Two readings of one body are how requests are smuggled past a proxy.
async fn two_different_lengths_are_refused(at: &Session) -> Outcome {
    expect_framing_refused(at, "Content-Length: 33\r\nContent-Length: 5\r\n").await
}

async fn expect_100_continue_is_answered(at: &Session) -> Outcome {
    let table = at.table().await?;
    let request = insert_request(&table);
    let framing = format!("Content-Length: {}\r\nExpect: 100-continue\r\n", request.body_bytes().len());
    let mut connection = Connection::open(&at.target().primary).await?;
    connection.write(&request.head_with(&framing)).await?;
    equal("interim status", connection.read_interim().await?.status, 100)?;
    connection.write(request.body_bytes()).await?;
    equal("status", connection.read().await?.status, 201)?;
    table.expect_rows(&["r"]).await
}

async fn random_bytes_are_survived(at: &Session) -> Outcome {
    for length in [1, 16, 300, 5000] {
        let answer = socket::send_and_close(at, &at.random_bytes(length)).await?;
        expect_refused_or_closed(answer.as_ref())?;
    }
    expect_still_serving(at).await
}

async fn a_request_line_of_nonsense_is_survived(at: &Session) -> Outcome {
    for line in ["GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\r\n\r\n\r\n\r\n", "GET  HTTP/1.1\r\n\r\n", ": :\r\n\r\n"] {
        expect_refused_or_closed(socket::send_and_close(at, line.as_bytes()).await?.as_ref())?;
    }
    expect_still_serving(at).await
}

async fn an_unknown_verb_is_refused(at: &Session) -> Outcome {
    let bytes = at.request("FROB", "/Tables").bytes();
    // An HTTP stack may refuse to speak to such a client at all.
    if let Some(answer) = socket::send(at, &bytes).await? {
        let refused = [400, 405, 501].contains(&answer.status);
        ensure(refused, || format!("expected 400, 405 or 501, got {}", answer.status))?;
    }
    expect_still_serving(at).await
}

async fn oversized_headers_are_survived(at: &Session) -> Outcome {
    let one = at.get("/Tables").header("x-filler", &"f".repeat(200_000)).bytes();
    expect_refused_or_closed(socket::send(at, &one).await?.as_ref())?;
    // Nothing says how many are too many, so any response will do here.
    let mut many = at.get("/Tables");
    for number in 0..2000 {
        many = many.another_header(&format!("x-filler-{number}"), "f");
    }
    socket::send(at, &many.bytes()).await?;
    expect_still_serving(at).await
}

async fn an_oversized_request_line_is_survived(at: &Session) -> Outcome {
    let bytes = at.get("/Tables").query("$filter", &"f".repeat(200_000)).bytes();
    expect_refused_or_closed(socket::send(at, &bytes).await?.as_ref())?;
    expect_still_serving(at).await
}

/// Whether they are tolerated is left to the HTTP stack.
async fn bare_line_feeds_are_survived(at: &Session) -> Outcome {
    let bytes = at.get("/Tables").query("$top", "1").bytes();
    let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
    if let Some(answer) = socket::send_and_close(at, text.as_bytes()).await? {
        let expected = answer.status == 200 || (400..500).contains(&answer.status);
        ensure(expected, || format!("expected 200 or an error, got {}", answer.status))?;
    }
    expect_still_serving(at).await
}

async fn a_missing_host_is_refused(at: &Session) -> Outcome {
    let bytes = at.get("/Tables").query("$top", "1").bytes();
    let host = format!("Host: {}\r\n", at.target().primary.authority());
    let text = String::from_utf8_lossy(&bytes).replace(&host, "");
    if let Some(answer) = socket::send_and_close(at, text.as_bytes()).await? {
        equal("status", answer.status, 400)?;
    }
    expect_still_serving(at).await
}

async fn http_1_0_is_survived(at: &Session) -> Outcome {
    let bytes = at.get("/Tables").query("$top", "1").bytes();
    let text = String::from_utf8_lossy(&bytes).replace(" HTTP/1.1\r\n", " HTTP/1.0\r\n");
    if let Some(answer) = socket::send(at, text.as_bytes()).await? {
        let expected = answer.status == 200 || answer.status >= 400;
        ensure(expected, || format!("expected 200 or an error, got {}", answer.status))?;
    }
    expect_still_serving(at).await
}

async fn pipelined_requests_are_answered_in_order(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed_rows(&["r"]).await?;
    let (found, missing) = (table.read("p", "r").bytes(), table.read("p", "none").bytes());
    let mut connection = Connection::open(&at.target().primary).await?;
    connection.write(&[found, missing].concat()).await?;
    let statuses = [connection.read().await?.status, connection.read().await?.status];
    equal("statuses", statuses, [200, 404])
}

async fn a_connection_survives_an_error(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed_rows(&["r"]).await?;
    let mut connection = Connection::open(&at.target().primary).await?;
    for (request, status) in [
        (table.read("p", "none"), 404),
        (table.read("p", "r"), 200),
        (table.insert("{"), 400),
        (table.read("p", "r").key(b"wrong"), 403),
        (table.read("p", "r"), 200),
    ] {
        let summary = request.summary();
        equal(summary, connection.exchange(&request.bytes()).await?.status, status)?;
    }
    Ok(())
}

async fn a_header_without_a_colon_is_survived(at: &Session) -> Outcome {
    let bytes = at.get("/Tables").bytes();
    let text = String::from_utf8_lossy(&bytes).replacen("\r\n", "\r\nno colon here\r\n", 1);
    expect_refused_or_closed(socket::send_and_close(at, text.as_bytes()).await?.as_ref())?;
    expect_still_serving(at).await
}

async fn expect_path_refused(at: &Session, predicate: &str) -> Outcome {
    let table = at.table().await?;
    at.get(format!("{}{predicate}", table.path())).send().await?.expect_refusal()?;
    at.put(format!("{}{predicate}", table.path())).json("{}").send().await?.expect_refusal()?;
    expect_still_serving(at).await?;
    table.expect_rows(&[]).await
}

async fn a_path_that_is_not_utf8_is_refused(at: &Session) -> Outcome {
    expect_path_refused(at, "(PartitionKey='%FF%FE',RowKey='r')").await?;
    expect_path_refused(at, "(PartitionKey='%C3',RowKey='r')").await
}

/// Decoders differ in whether they take `%zz` for itself.
async fn a_path_with_broken_escapes_is_survived(at: &Session) -> Outcome {
    let table = at.table().await?;
    at.get(format!("{}(PartitionKey='%zz',RowKey='%')", table.path())).send().await?.expect_refusal()?;
    expect_still_serving(at).await
}

async fn a_malformed_key_predicate_is_refused(at: &Session) -> Outcome {
    for predicate in [
        "(PartitionKey='p')",
        "(PartitionKey='p',RowKey='r'",
        "(PartitionKey='p',RowKey=r)",
        "(PartitionKey='p',RowKey='r',Other='o')",
        "(PartitionKey='p',PartitionKey='p')",
        "('p','r')",
        "(PartitionKey='p' RowKey='r')",
    ] {
        expect_path_refused(at, predicate).await?;
    }
    Ok(())
}

async fn a_null_character_in_a_path_is_refused(at: &Session) -> Outcome {
    expect_path_refused(at, "(PartitionKey='a%00b',RowKey='r')").await
}

async fn a_verb_the_resource_does_not_know_is_refused(at: &Session) -> Outcome {
    for (verb, path) in [("PUT", "/Tables"), ("DELETE", "/Tables"), ("GET", "/$batch"), ("POST", "/Tables('x')")] {
        at.request(verb, path).json("{}").send().await?.expect_refusal()?;
    }
    expect_still_serving(at).await
}
