//! Accounts between a folder and a database, with the binary: they arrive as they were, and are read meanwhile.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, ExitStatus, Output, Stdio};

use tablerock_protocol::DateTime;
use tablerock_protocol::signing::{
    AccountKey, AccountPermissions, AccountSasTerms, SignedResourceTypes, SignedServices,
};
use tablerock_testkit::postgres::DatabaseServer;
use tablerock_testkit::process::{ANY_PORTS, NO_ADMIN, ServerProcess, exchange};

const ACCOUNT: &str = "acct";
const KEY: &str = "a2V5";
const JSON: &str = "Content-Type: application/json\r\nAccept: application/json;odata=nometadata\r\n";

/// A process that serves until it is dropped.
struct Serving {
    process: ServerProcess,
}

impl Serving {
    fn start(arguments: &[&str]) -> Self {
        Self::start_with(tablerock(arguments))
    }

    fn start_with(mut command: Command) -> Self {
        command.args(["--accounts", &format!("{ACCOUNT}:{KEY}")]).args(ANY_PORTS).args(NO_ADMIN);
        Self { process: ServerProcess::start(&mut command) }
    }

    fn ask(&self, service: &str, method: &str, target: &str, headers: &str, body: &[u8]) -> (u16, Vec<u8>) {
        let separator = if target.contains('?') { '&' } else { '?' };
        let (token, length) = (token(), body.len());
        let head = format!(
            "{method} /{ACCOUNT}{target}{separator}{token} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\
             x-ms-version: 2021-12-02\r\nContent-Length: {length}\r\n{headers}\r\n"
        );
        let answer = exchange(self.process.address(service), &[head.as_bytes(), body].concat());
        let split = answer.windows(4).position(|window| window == b"\r\n\r\n").expect("a head and a body");
        let status = String::from_utf8_lossy(&answer[9..12]).parse().expect("a status");
        (status, answer[split + 4..].to_vec())
    }

    fn stop(self) {
        assert!(self.end().success());
    }

    fn end(mut self) -> ExitStatus {
        self.process.end("-TERM")
    }
}

fn token() -> String {
    let (services, types) = (SignedServices::parse("bqt").unwrap(), SignedResourceTypes::parse("sco").unwrap());
    let permissions = AccountPermissions::parse("rwdlacup").unwrap();
    let terms = AccountSasTerms::new(services, types, permissions, DateTime::MAX);
    terms.sign(ACCOUNT, &AccountKey::parse(KEY).unwrap()).unwrap().to_query()
}

fn tablerock(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tablerock"));
    command.env_clear().args(arguments);
    command
}

fn succeed(arguments: &[&str]) -> Output {
    let output = tablerock(arguments).output().expect("the binary runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

fn export(from: &str) -> Vec<u8> {
    succeed(&["export", "--from", from]).stdout
}

fn large() -> Vec<u8> {
    (0..3_000_000_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

/// Puts something of everything into a folder.
fn fill(location: &Path) {
    let server = Serving::start(&["--location", location.to_str().unwrap()]);
    let ask = |service, method, target: &str, headers: &str, body: &[u8]| {
        let (status, answer) = server.ask(service, method, target, headers, body);
        assert!((200..300).contains(&status), "{method} {target}: {status} {}", String::from_utf8_lossy(&answer));
    };
    ask("Table", "POST", "/Tables", JSON, br#"{"TableName":"People"}"#);
    for number in 0..300 {
        let entity = format!(
            r#"{{"PartitionKey":"p{}","RowKey":"{number:04}","Name":"ä€{number}","Big@odata.type":"Edm.Int64","Big":"{number}"}}"#,
            number % 7
        );
        ask("Table", "POST", "/People", JSON, entity.as_bytes());
    }
    ask("Queue", "PUT", "/jobs", "x-ms-meta-color: red\r\n", b"");
    for number in 0..20 {
        let message = format!("<QueueMessage><MessageText>job {number}</MessageText></QueueMessage>");
        ask("Queue", "POST", "/jobs/messages", "", message.as_bytes());
    }
    ask("Blob", "PUT", "/box?restype=container", "", b"");
    let block_blob = "x-ms-blob-type: BlockBlob\r\nx-ms-meta-a: b\r\n";
    ask("Blob", "PUT", "/box/small", block_blob, b"small");
    ask("Blob", "PUT", "/box/large", block_blob, &large());
    ask("Blob", "PUT", "/box/large?comp=snapshot", "", b"");
    ask("Blob", "PUT", "/box/new?comp=block&blockid=MDAx", "", &large()[..600_000]);
    server.stop();
}

#[test]
fn reads_are_served_while_writes_have_to_wait() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [old, new] = folders.each_ref().map(|folder| folder.path().to_str().unwrap());
    fill(folders[0].path());
    let copying = Serving::start(&["copy", "--from", old, "--to", new, "--serve-reads"]);
    let entity = "/People(PartitionKey='p0',RowKey='0000')";
    let (status, body) = copying.ask("Table", "GET", entity, JSON, b"");
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&body));
    assert_eq!(copying.ask("Blob", "GET", "/box/large", "", b"").1, large());
    let refused = copying.ask("Table", "POST", "/People", JSON, br#"{"PartitionKey":"new","RowKey":"1"}"#);
    assert_eq!(refused.0, 503, "{}", String::from_utf8_lossy(&refused.1));
    let message = b"<QueueMessage><MessageText>x</MessageText></QueueMessage>";
    assert_eq!(copying.ask("Queue", "POST", "/jobs/messages", "", message).0, 503);
    assert_eq!(copying.ask("Blob", "PUT", "/box/n", "x-ms-blob-type: BlockBlob\r\n", b"n").0, 503);
    // It may have been stopped before its end, and says so; the same command goes on.
    if !copying.end().success() {
        succeed(&["copy", "--from", old, "--to", new]);
    }
    assert!(export(new) == export(old), "what was copied differs");
}

#[test]
fn reads_are_served_after_a_copy_that_failed() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [old, new] = folders.each_ref().map(|folder| folder.path().to_str().unwrap());
    fill(folders[0].path());
    fill(folders[1].path());
    let mut command = tablerock(&["copy", "--from", old, "--to", new, "--serve-reads"]);
    command.stderr(Stdio::piped());
    let mut copying = Serving::start_with(command);
    let mut lines = BufReader::new(copying.process.stderr()).lines().map(Result::unwrap);
    let said: Vec<String> = lines.by_ref().take_while(|line| !line.contains("still serving reads")).collect();
    assert!(said.iter().any(|line| line.contains("already has tables, queues or containers")), "{said:?}");
    assert_eq!(copying.ask("Blob", "GET", "/box/large", "", b"").1, large());
    assert_eq!(copying.end().code(), Some(1));
    assert!(lines.any(|line| line.contains("already has")), "it is said again at the end");
}

#[test]
fn a_copy_can_begin_anew() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [old, new] = folders.each_ref().map(|folder| folder.path().to_str().unwrap());
    fill(folders[0].path());
    succeed(&["copy", "--from", old, "--to", new, "--start-over"]);
    assert!(export(new) == export(old), "what was copied differs");
}

/// Left out by `cargo xtask test` where there is no PostgreSQL.
mod on_postgres {
    use super::*;

    #[test]
    fn an_account_goes_to_a_database_and_back_and_is_the_same_byte_for_byte() {
        let database = DatabaseServer::start();
        let url = database.url("copied");
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [old, new] = folders.each_ref().map(|folder| folder.path().to_str().unwrap());
        fill(folders[0].path());
        let text = export(old);
        assert!(text.len() > 4_000_000, "contents are in it: {}", text.len());

        let copied = succeed(&["copy", "--from", old, "--to", &url]);
        assert!(String::from_utf8_lossy(&copied.stderr).contains("; done in"));
        assert!(export(&url) == text, "what the database has differs");

        // A server there goes on where the other one stopped.
        let server = Serving::start(&["--store", &url]);
        assert_eq!(server.ask("Blob", "GET", "/box/large", "", b""), (200, large()));
        let (status, _) = server.ask("Table", "POST", "/People", JSON, br#"{"PartitionKey":"new","RowKey":"1"}"#);
        assert_eq!(status, 201);
        server.stop();
        let text = export(&url);

        succeed(&["copy", "--from", &url, "--to", new]);
        assert!(export(new) == text, "what came back differs");
        let server = Serving::start(&["--location", new]);
        assert_eq!(server.ask("Blob", "GET", "/box/large", "", b""), (200, large()));
        server.stop();

        let again = tablerock(&["copy", "--from", old, "--to", &url]).output().unwrap();
        assert!(!again.status.success());
        assert!(String::from_utf8_lossy(&again.stderr).contains("already has tables, queues or containers"));
    }

    #[test]
    fn a_typo_makes_no_store_and_no_empty_export() {
        let database = DatabaseServer::start();
        let (url, folder) = (database.url("typo"), tempfile::tempdir().unwrap());
        let location = folder.path().to_str().unwrap();
        for arguments in [vec!["export", "--from", &url], vec!["copy", "--from", &url, "--to", location]] {
            let refused = tablerock(&arguments).output().unwrap();
            let said = String::from_utf8_lossy(&refused.stderr).into_owned();
            assert!(!refused.status.success() && said.contains("check the database's name"), "{said}");
        }
        assert_eq!(database.run("SELECT count(*) FROM pg_tables WHERE tablename LIKE 'tablerock%'").trim(), "0");

        fill(folder.path());
        let output = folder.path().join("text");
        let refused = tablerock(&["export", "--account", "tpyo", "--output", output.to_str().unwrap()])
            .env("TABLEROCK_EXPORT_FROM", location)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success() && said.contains(&format!("accounts present: {ACCOUNT}")), "{said}");
        assert!(!output.exists());
    }
}
