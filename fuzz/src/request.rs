//! A whole request to a whole server: from the socket to the store and back.
//!
//! Input: `METHOD /target`, headers, a blank line and the body, with bare line feeds in the head. What carries no
//! credential of its own is signed with the account's key, so that it gets past the door, and `sig=ours` becomes the
//! signature of the SAS that it stands in.

mod message;
mod server;
mod state;

use std::cell::RefCell;
use std::thread_local;

use serde_json::Value as Json;
use tablerock_protocol::ErrorCode;

use message::{Incoming, Outgoing};
use server::FuzzedServer;

thread_local! {
    static SERVER: RefCell<FuzzedServer> = RefCell::new(FuzzedServer::start());
}

pub fn check(data: &[u8]) {
    let Some(request) = Outgoing::parse(data) else { return };
    SERVER.with_borrow_mut(|server| {
        let Some(response) = server.send(&request) else { return };
        check_response(&response, &request);
        let (before, after) = (server.beginning(), server.state());
        if !may_change(&request, &response) {
            assert_eq!(*before, after, "{} {} changed something", request.method, request.target);
        }
        if *before != after {
            server.reset();
        }
    });
}

/// Only a write that is not refused changes anything. A group is refused if one of its parts is, and so is every write
/// with a SAS that allows none.
fn may_change(request: &Outgoing, response: &Incoming) -> bool {
    let is_read = matches!(request.method.as_str(), "GET" | "HEAD" | "OPTIONS");
    let is_refused = response.status >= 400 || response.part_statuses().iter().any(|status| *status >= 400);
    !is_read && !is_refused && !request.is_bound_to_read()
}

/// No request is the server's fault, every error has a code of the service, and JSON is JSON.
fn check_response(response: &Incoming, request: &Outgoing) {
    let context = || format!("{} {} gives {}", request.method, request.target, response.status);
    let is_ours_to_say = |status: u16| matches!(status, 200..=299 | 304 | 400..=499 | 501);
    assert!(is_ours_to_say(response.status), "{}: {}", context(), response.text());
    for status in response.part_statuses() {
        assert!(is_ours_to_say(status), "{}: {}", context(), response.text());
    }
    assert!(response.header("x-ms-request-id").is_some() && response.header("x-ms-version").is_some(), "{}", context());
    let content_type = response.header("content-type").unwrap_or_default();
    let is_json = content_type.starts_with("application/json");
    if is_json && request.method != "HEAD" {
        let json: Result<Json, _> = serde_json::from_slice(&response.body);
        assert!(json.is_ok_and(|json| json.is_object()), "{}: {}", context(), response.text());
    }
    if response.status >= 400 && request.method != "HEAD" {
        let text = response.text();
        let is_coded = ErrorCode::ALL.iter().any(|code| text.contains(code.name()));
        assert!(is_coded, "{}: {text}", context());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A check that every request fails at the door would check nothing.
    #[test]
    fn signed_requests_get_past_the_door() {
        let sas = "sv=2019-02-02&tn=People&se=2030-01-01&sig=ours";
        let json = "Accept: application/json\nContent-Type: application/json\n";
        let cases = [
            (format!("GET /acct/Tables\n{json}\n"), 200),
            (format!("POST /acct/People\n{json}\n{{\"PartitionKey\":\"Sales\",\"RowKey\":\"3\"}}"), 201),
            (format!("GET /acct/People()?{sas}&sp=r\n{json}\n"), 200),
            (format!("DELETE /acct/People(PartitionKey='Sales',RowKey='1')?{sas}&sp=d\nIf-Match: *\n\n"), 204),
            (format!("DELETE /acct/People(PartitionKey='Sales',RowKey='1')?{sas}&sp=r\nIf-Match: *\n\n"), 403),
            (
                "GET /acct/Tables?sv=2019-02-02&ss=t&srt=c&sp=l&se=2030-01-01&sig=ours\nAccept: application/json\n"
                    .into(),
                200,
            ),
            (format!("GET /acct/Tables\nAuthorization: SharedKey acct:x\n{json}\n"), 403),
        ];
        for (input, status) in cases {
            let request = Outgoing::parse(input.as_bytes()).unwrap();
            let response = FuzzedServer::start().send(&request).unwrap();
            assert_eq!(response.status, status, "{input}: {}", response.text());
        }
    }

    #[test]
    fn the_parts_of_a_failed_group_are_seen() {
        let input = "POST /acct/$batch\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: multipart/mixed; \
            boundary=c\n\n--c\nContent-Type: application/http\n\nDELETE /acct/People(PartitionKey='Sales',RowKey='9') \
            HTTP/1.1\nIf-Match: *\n\n--c--\n--b--";
        let request = Outgoing::parse(input.as_bytes()).unwrap();
        let response = FuzzedServer::start().send(&request).unwrap();
        assert_eq!((response.status, response.part_statuses()), (202, vec![404]));
        assert!(!may_change(&request, &response));
    }
}
