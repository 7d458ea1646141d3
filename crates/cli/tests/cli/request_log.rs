//! The log record of a request: it names what the client knows of its request, and neither keys nor signatures.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::io::Read as _;
use std::process::{Command, Stdio};

use serde_json::Value;
use tablerock_protocol::DateTime;
use tablerock_protocol::signing::{
    AccountKey, AccountPermissions, AccountSasTerms, SignedResourceTypes, SignedServices,
};
use tablerock_testkit::process::{ANY_PORTS, NO_ADMIN, ServerProcess, exchange_text};

/// A key that is long enough to start without a warning.
const KEY: &str = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

/// Sends requests to a server that logs at a level, and returns the records that it logged.
fn records(level: &str, requests: &[(&str, &str)]) -> Vec<Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tablerock"));
    command.env_clear().args(["--in-memory", "--log-format", "json", "--log", level]);
    command.args(["--accounts", &format!("acct:{KEY}")]);
    let mut server = ServerProcess::start(command.args(ANY_PORTS).args(NO_ADMIN).stderr(Stdio::piped()));
    for (head, status) in requests {
        let request = format!("{head}\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
        let response = exchange_text(server.address("Table"), &request);
        assert!(response.starts_with(&format!("HTTP/1.1 {status}")), "{response}");
    }
    let mut log = String::new();
    let mut stderr = server.stderr();
    assert_eq!(server.end("-TERM").code(), Some(0));
    stderr.read_to_string(&mut log).unwrap();
    assert!(!log.contains("c2VjcmV0") && !log.contains("row of a person"), "the log has a signature or a key: {log}");
    log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const FAILING: &str = "DELETE /acct/People(PartitionKey='a',RowKey='the%20row%20of%20a%20person')?sv=2020-12-06&ss=t&srt=o\
                       &sp=d&se=2099-01-01T00:00:00Z&sig=c2VjcmV0 HTTP/1.1\r\nx-ms-client-request-id: my-request";

#[test]
fn a_failed_request_is_found_by_what_the_client_knows() {
    let records = records("debug", &[(FAILING, "403")]);
    let record = records.iter().find(|record| record["fields"]["message"] == "request").expect("a record");
    let fields = &record["fields"];
    for (field, value) in [
        ("method", "DELETE"),
        ("operation", "DeleteEntity"),
        ("account", "acct"),
        ("resource", "People"),
        ("client_request_id", "my-request"),
        ("error", "AuthenticationFailed"),
    ] {
        assert_eq!(fields[field], value, "{record}");
    }
    assert_eq!((&fields["status"], &fields["path"]), (&403.into(), &"".into()), "{record}");
    assert!(fields["reason"].as_str().unwrap().to_lowercase().contains("signature"), "{record}");
    assert_eq!(record["span"]["request_id"].as_str().unwrap().len(), 36, "{record}");
}

#[test]
fn a_request_to_the_wrong_address_is_found_by_its_method_and_the_beginning_of_its_path() {
    let wrong = FAILING.replace("/acct/", "/other/");
    let records = records("debug", &[(&wrong, "404")]);
    let record = records.iter().find(|record| record["fields"]["message"] == "request").expect("a record");
    for (field, value) in [
        ("method", "DELETE"),
        ("path", "/other/People"),
        ("account", ""),
        ("error", "ResourceNotFound"),
        ("client_request_id", "my-request"),
    ] {
        assert_eq!(record["fields"][field], value, "{record}");
    }
}

#[test]
fn a_request_that_the_server_does_not_implement_is_no_error_of_the_server() {
    let expiry = DateTime::parse("2099-01-01T00:00:00Z").unwrap();
    let (services, types) = (SignedServices::TABLE, SignedResourceTypes::OBJECT);
    let terms = AccountSasTerms::new(services, types, AccountPermissions::READ, expiry);
    let sas = terms.sign("acct", &AccountKey::parse(KEY).unwrap()).unwrap().to_query();
    let unsupported = format!("GET /acct/People()?$orderby=Name&{sas} HTTP/1.1");
    assert_eq!(records("warn", &[(FAILING, "403"), (&unsupported, "501")]), Vec::<Value>::new());
}
