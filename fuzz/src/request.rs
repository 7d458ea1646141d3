//! A whole request to a whole server: from the socket to the store and back.
//!
//! Input: `METHOD /target`, headers, a blank line and the body, with bare line feeds in the head. What carries no
//! credential of its own is signed with the account's key, so that it gets past the door, and `sig=ours` becomes the
//! signature of the SAS that it stands in. `queue ` or `blob ` in front of all that sends it to another service than that
//! of tables. Receipts, snapshots and ETags, which only the server knows, have words that stand for them.

pub(crate) mod message;
mod server;
mod signing;
mod state;

use std::cell::RefCell;
use std::thread_local;

use serde_json::Value as Json;
use tablerock_protocol::signing::BlobPermissions;
use tablerock_protocol::xml::{
    ServicePropertiesUpdate, StoredAccessPolicies, parse_blobs, parse_containers, parse_messages, parse_queues,
    parse_tags,
};
use tablerock_protocol::{ErrorAnswer, ErrorCode, Service, ServiceVersion};

use message::{Incoming, Outgoing, service_of};
use server::FuzzedServer;

thread_local! {
    static SERVER: RefCell<FuzzedServer> = RefCell::new(FuzzedServer::start());
}

pub fn check(data: &[u8]) {
    SERVER.with_borrow_mut(|server| {
        let (service, _) = service_of(data);
        let Some(request) = Outgoing::parse(data, server.places(service)) else { return };
        let response = server.send(&request);
        if let Some(response) = &response {
            check_response(response, &request);
        }
        let (before, after) = (server.beginning(service), server.state(service));
        let may_change = response.is_some_and(|response| may_change(&request, &response));
        if !may_change {
            assert_eq!(*before, after, "{} {} changed something", request.method, request.target);
        }
        if *before != after {
            server.reset(service);
        }
        if server.is_disconnected(service) {
            check_alive(server, service);
        }
    });
}

/// After a request that ended its connection, a plain one finds the server as it was.
fn check_alive(server: &mut FuzzedServer, service: Service) {
    let plain: &[u8] = match service {
        Service::Table => b"GET /acct/Tables\nAccept: application/json\n\n",
        Service::Queue => b"queue GET /acct/?comp=list\n\n",
        Service::Blob => b"blob GET /acct/?comp=list\n\n",
    };
    let plain = Outgoing::parse(plain, server.places(service)).expect("a request of our own");
    let status = server.send(&plain).map(|response| response.status);
    assert_eq!(status, Some(200), "a plain request to {service:?}");
}

/// Only a write that is not refused changes anything. A group is refused if one of its parts is, the batch of blobs if all
/// of them are, and so is every write with a SAS that allows none.
fn may_change(request: &Outgoing, response: &Incoming) -> bool {
    let statuses = response.part_statuses();
    let is_failure = |status: &u16| *status >= 400;
    let has_failed = match request.service {
        Service::Blob => !statuses.is_empty() && statuses.iter().all(is_failure),
        Service::Table | Service::Queue => statuses.iter().any(is_failure),
    };
    !request.is_read() && response.status < 400 && !has_failed && !request.is_bound_to_read()
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
        let code = ErrorAnswer::parse(&response.body).map(|answer| answer.code);
        assert!(code.is_some_and(|code| ErrorCode::from_name(&code).is_some()), "{}: {text}", context());
    }
    // A blob may be of any type, and is read without a `comp`.
    let is_document = request.service != Service::Blob || request.has_part();
    if content_type.starts_with("application/xml") && response.status == 200 && request.method == "GET" && is_document {
        assert!(is_readable(&response.body, request.service), "{}: {}", context(), response.text());
    }
}

/// Whether a client can read a document, if it is one that has a reader.
fn is_readable(document: &[u8], service: Service) -> bool {
    let text = String::from_utf8_lossy(document);
    let has = |element: &str| text.contains(&format!("<{element}"));
    if has("EnumerationResults") {
        match service {
            Service::Queue => parse_queues(document).is_ok(),
            _ if has("Containers") => parse_containers(document).is_ok(),
            // Of a search by tags, which has no reader.
            _ if has("Where") => text.ends_with("</EnumerationResults>"),
            _ => parse_blobs(document).is_ok() || has("BlobPrefix"),
        }
    } else if has("QueueMessagesList") {
        parse_messages(document).is_ok()
    } else if has("SignedIdentifiers") {
        StoredAccessPolicies::parse(document, &(BlobPermissions::LETTERS.to_owned() + "u")).is_ok()
    } else if has("StorageServiceProperties") {
        let versions = [ServiceVersion::LATEST, ServiceVersion::TABLE_SAS];
        versions.iter().any(|version| ServicePropertiesUpdate::parse(document, service, *version).is_ok())
    } else {
        !has("Tags") || parse_tags(document).is_ok()
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
            let request = Outgoing::parse(input.as_bytes(), &Vec::new()).unwrap();
            let response = FuzzedServer::start().send(&request).unwrap();
            assert_eq!(response.status, status, "{input}: {}", response.text());
        }
    }

    #[test]
    fn the_parts_of_a_failed_group_are_seen() {
        let input = "POST /acct/$batch\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: multipart/mixed; \
            boundary=c\n\n--c\nContent-Type: application/http\n\nDELETE /acct/People(PartitionKey='Sales',RowKey='9') \
            HTTP/1.1\nIf-Match: *\n\n--c--\n--b--";
        let request = Outgoing::parse(input.as_bytes(), &Vec::new()).unwrap();
        let response = FuzzedServer::start().send(&request).unwrap();
        assert_eq!((response.status, response.part_statuses()), (202, vec![404]));
        assert!(!may_change(&request, &response));
    }

    /// Seeds that stand for an operation of queues or blobs reach it, and those that are refused do so by a rule.
    #[test]
    fn seeds_of_queues_and_blobs_reach_their_operations() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/request");
        let mut wrong = Vec::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let (is_good, is_refused) =
                (name.starts_with("queue-") || name.starts_with("blob-"), name.starts_with("refused-"));
            if !is_good && !is_refused {
                continue;
            }
            let data = std::fs::read(&path).unwrap();
            let mut server = FuzzedServer::start();
            let request = Outgoing::parse(&data, server.places(service_of(&data).0)).unwrap();
            let response = server.send(&request).unwrap();
            if (response.status < 400) != is_good {
                wrong.push(format!("{name}: {} {}", response.status, response.text()));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
