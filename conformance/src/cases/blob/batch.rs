//! Batches as the libraries write them: their addresses, and the targets of their parts.

use crate::expect::{Failure, equal};
use crate::request::Request;
use crate::{Outcome, Session, cases};

cases! {
    BlobBatch {
        a_part_may_leave_the_first_slash_of_its_target_out,
        a_batch_of_the_service_may_be_addressed_like_a_container,
        a_failed_part_states_the_length_of_its_body,
    }
}

/// A batch with one part, whose request line begins as the text says.
fn one_part(part: &Request<'_>, request_line: Option<&str>) -> String {
    let head = String::from_utf8_lossy(&part.head_with("")).into_owned();
    let head = match (request_line, head.split_once("\r\n")) {
        (Some(line), Some((_, rest))) => format!("{line}\r\n{rest}"),
        _ => head,
    };
    format!(
        "--batch_b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\nContent-ID: 0\r\n\r\n\
         {head}\r\n--batch_b--\r\n"
    )
}

/// A deletion as the SDKs write it into a batch.
fn deletion<'s>(container: &crate::container::Container<'s>) -> Outcome<Request<'s>> {
    Ok(container.blob("DELETE", "a")?.without("x-ms-version").header("Content-Length", "0"))
}

/// The library for .NET writes the path of a path-style address without its slash, and signs it with one.
async fn a_part_may_leave_the_first_slash_of_its_target_out(at: &Session) -> Outcome {
    let container = at.container().await?;
    for path in ["/".to_owned(), format!("/{}", container.name)] {
        container.seed("a", "x").await?;
        let part = deletion(&container)?;
        let line = format!("DELETE {} HTTP/1.1", part.raw_path().trim_start_matches('/'));
        let query = if path == "/" { "comp=batch" } else { "restype=container&comp=batch" };
        let batch = at.to_blobs("POST", path)?.raw_query(query);
        let batch =
            batch.header("Content-Type", "multipart/mixed; boundary=batch_b").body(one_part(&part, Some(&line)));
        batch.send().await?.expect(202)?.expect_body_contains("HTTP/1.1 202 Accepted")?;
        container.blob("GET", "a")?.send().await?.expect_code(404, "BlobNotFound")?;
    }
    Ok(())
}

/// The library for JavaScript takes the account in a path-style address for a container.
async fn a_batch_of_the_service_may_be_addressed_like_a_container(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("a", "x").await?;
    let batch = at.to_blobs("POST", "")?;
    if batch.raw_path().is_empty() {
        return Err(Failure::skipped("the account is part of the host name"));
    }
    let batch = batch.raw_query("restype=container&comp=batch");
    let batch = batch.header("Content-Type", "multipart/mixed; boundary=batch_b");
    let answer = batch.body(one_part(&deletion(&container)?, None)).send().await?;
    answer.expect(202)?.expect_body_contains("HTTP/1.1 202 Accepted")?;
    Ok(())
}

async fn a_failed_part_states_the_length_of_its_body(at: &Session) -> Outcome {
    let container = at.container().await?;
    let batch = at.to_blobs("POST", "/")?.raw_query("comp=batch");
    let batch = batch.header("Content-Type", "multipart/mixed; boundary=batch_b");
    let answer = batch.body(one_part(&deletion(&container)?, None)).send().await?;
    let text = answer.expect(202)?.expect_body_contains("HTTP/1.1 404 ")?.text();
    let part = text.split_once("HTTP/1.1 404 ").map_or("", |(_, part)| part);
    let (head, rest) = part.split_once("\r\n\r\n").unwrap_or_default();
    let body = rest.split_once("\r\n--batchresponse_").map_or(rest, |(body, _)| body);
    let stated = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).unwrap_or_default();
    equal("the length of the part", stated, body.len().to_string().as_str())
}
