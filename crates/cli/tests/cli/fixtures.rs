//! Stores that earlier versions have written, opened with this one: everything in them is read as it was, and they can
//! be written to. `fixtures/README.md` says how they were made.
//!
//! What depends on the time is in the fixtures but not among what is compared: messages that expire or become visible
//! again, and leases of a limited duration. The export has the first as they are stored.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

mod later_kinds;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use tablerock_kv::{Clock, SystemClock};
use tablerock_protocol::signing::{AccountKey, HeaderRequestParts, SharedKeyScheme, TableRequestParts};
use tablerock_protocol::{DateTime, QueryString};
use tablerock_testkit::postgres::DatabaseServer;

const KEYS: [(&str, &str); 2] = [("one", "Zmlyc3Qga2V5"), ("two", "c2Vjb25kIGtleQ==")];
const VERSION: &str = "2021-12-02";
const LEASE: &str = "11111111-2222-3333-4444-555555555555";
const JSON: [(&str, &str); 2] = [("Content-Type", "application/json"), ("Accept", "application/json;odata=nometadata")];
const BLOCK_BLOB: [(&str, &str); 1] = [("x-ms-blob-type", "BlockBlob")];

/// A request and its response as the version of the fixture gave it.
#[derive(Debug, Deserialize)]
struct Recorded {
    account: String,
    service: String,
    method: String,
    target: String,
    send: BTreeMap<String, String>,
    status: u16,
    headers: BTreeMap<String, String>,
    /// Neither of an error, which has the time in it, nor if it is long.
    body: Option<String>,
    sha256: Option<String>,
}

#[derive(Debug)]
struct Response {
    status: u16,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

impl Response {
    fn parse(bytes: &[u8]) -> Self {
        let split = bytes.windows(4).position(|window| window == b"\r\n\r\n").expect("a head and a body");
        let head = String::from_utf8_lossy(&bytes[..split]);
        let headers = head.lines().skip(1).map(|line| line.split_once(": ").expect("a header"));
        let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
        Self { status: head[9..12].parse().expect("a status"), headers, body: bytes[split + 4..].to_vec() }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// A process that serves until it is dropped.
struct Serving {
    process: Child,
    banner: Vec<String>,
}

impl Serving {
    fn start(store: &[&str]) -> Self {
        let mut command = tablerock(store);
        command.args(["--accounts", &KEYS.map(|(account, key)| format!("{account}:{key}")).join(";")]);
        command
            .args(["admin", "blob", "queue", "table"].iter().flat_map(|port| [format!("--{port}-port"), "0".into()]));
        let mut process = command.stdout(Stdio::piped()).spawn().expect("the binary runs");
        let stdout = BufReader::new(process.stdout.take().expect("stdout is piped"));
        let lines = stdout.lines().map(|line| line.expect("the banner is text"));
        let banner = lines.take_while(|line| !line.starts_with("Stop with")).collect();
        Self { process, banner }
    }

    /// Sends a request that is signed with the account's key.
    fn send(
        &self,
        (account, service): (&str, &str),
        method: &str,
        target: &str,
        send: &[(&str, &str)],
        body: &[u8],
    ) -> Response {
        let line = self.banner.iter().find(|line| line.to_lowercase().contains(&format!("{service} service")));
        let mut stream = TcpStream::connect(line.unwrap().rsplit("//").next().unwrap()).expect("the server listens");
        let (date, length) = (DateTime::from_ticks(SystemClock.ticks()).to_http_date(), body.len().to_string());
        let lower: Vec<_> = send.iter().map(|(name, value)| (name.to_ascii_lowercase(), *value)).collect();
        let mut headers: Vec<(&str, &str)> = lower.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        headers.extend([("x-ms-version", VERSION), ("x-ms-date", &date), ("content-length", &length)]);
        let target = format!("/{account}{target}");
        let authorization = authorization(account, service, method, &target, &headers);
        headers.extend([("authorization", authorization.as_str()), ("host", "127.0.0.1"), ("connection", "close")]);
        let mut request = format!("{method} {target} HTTP/1.1\r\n");
        headers.iter().for_each(|(name, value)| request.push_str(&format!("{name}: {value}\r\n")));
        request.push_str("\r\n");
        stream.write_all(&[request.as_bytes(), body].concat()).expect("the server reads");
        let mut response = Vec::new();
        stream.read_to_end(&mut response).expect("the server responds");
        Response::parse(&response)
    }

    /// A request of the first account that has to have this status.
    fn ask(
        &self,
        status: u16,
        service: &str,
        method: &str,
        target: &str,
        send: &[(&str, &str)],
        body: &str,
    ) -> Response {
        let response = self.send(("one", service), method, target, send, body.as_bytes());
        assert_eq!(response.status, status, "{method} {target}: {}", response.text());
        response
    }

    fn stop(mut self) {
        let asked = Command::new("sh").args(["-c", &format!("kill -TERM {}", self.process.id())]).status();
        assert!(asked.is_ok_and(|status| status.success()));
        assert!(self.process.wait().expect("it ends").success());
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn authorization(account: &str, service: &str, method: &str, target: &str, headers: &[(&str, &str)]) -> String {
    let key = KEYS.iter().find(|(name, _)| *name == account).expect("the account of the fixture").1;
    let key = AccountKey::parse(key).unwrap();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let header = |wanted: &str| headers.iter().find(|(name, _)| *name == wanted).map_or("", |(_, value)| *value);
    if service != "table" {
        let (query, version) = (QueryString::parse(query).unwrap(), VERSION.parse().unwrap());
        let parts = HeaderRequestParts { method, account, path, query: &query, headers, version };
        return parts.authorization(SharedKeyScheme::SharedKey, &key);
    }
    let comp = query.split('&').find_map(|pair| pair.strip_prefix("comp="));
    let (content_type, date) = (header("content-type"), header("x-ms-date"));
    let mut signed = String::new();
    TableRequestParts { method, content_md5: "", content_type, date, account, path, comp }
        .append_string_to_sign(SharedKeyScheme::SharedKey, &mut signed);
    format!("SharedKey {account}:{}", key.sign(&signed))
}

fn tablerock(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tablerock"));
    command.env_clear().args(arguments);
    command
}

/// Every fixture there is.
fn fixtures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut fixtures: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    fixtures.sort();
    assert!(!fixtures.is_empty(), "the first fixture is for ever");
    fixtures
}

fn unpack(archive: &Path, folder: &Path) {
    let status = Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(folder).status();
    assert!(status.expect("tar is there").success(), "{}", archive.display());
}

/// Compares the text of the whole store with the one that the version of the fixture wrote.
fn check_export(store: &str, expected: &Path) {
    let output = tablerock(&["export", "--from", store]).output().expect("the binary runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (text, expected) = (String::from_utf8(output.stdout).unwrap(), std::fs::read_to_string(expected).unwrap());
    for (line, expected) in text.lines().zip(expected.lines()) {
        assert_eq!(line, expected);
    }
    assert_eq!(text.lines().count(), expected.lines().count());
}

/// Elements of lists that entries have gained since the first version was recorded.
const GAINED: [&str; 5] = [
    "DefaultEncryptionScope",
    "DenyEncryptionScopeOverride",
    "ImmutableStorageWithVersioningEnabled",
    "AccessTier",
    "AccessTierInferred",
];

/// The text of a response without elements that only some versions have.
fn without_gained(text: &str) -> String {
    let mut text = text.to_owned();
    for name in GAINED {
        let (start, end) = (format!("<{name}>"), format!("</{name}>"));
        while let Some((before, rest)) = text.split_once(&start) {
            let (_, after) = rest.split_once(&end).expect("elements end");
            text = [before, after].concat();
        }
    }
    text
}

/// Sends the recorded reads and compares all of the responses. Headers and elements may have been added since.
fn check_reads(server: &Serving, recorded: &Path) {
    let recorded: Vec<Recorded> = serde_json::from_slice(&std::fs::read(recorded).unwrap()).unwrap();
    assert!(recorded.len() > 50, "{}", recorded.len());
    for read in &recorded {
        let send: Vec<_> = read.send.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let response = server.send((&read.account, &read.service), &read.method, &read.target, &send, b"");
        let at = format!("{} {} of {}: {}", read.method, read.target, read.account, response.text());
        assert_eq!(response.status, read.status, "{at}");
        let has_gained = without_gained(&response.text()) != response.text();
        for (name, value) in &read.headers {
            if has_gained && name == "content-length" {
                continue;
            }
            assert_eq!(response.headers.get(name), Some(value), "{name} of {at}");
        }
        if let Some(body) = &read.body {
            assert_eq!(without_gained(&response.text()), without_gained(body), "{at}");
        }
        if let Some(expected) = &read.sha256 {
            let hash: String = Sha256::digest(&response.body).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(&hash, expected, "{} {}", read.method, read.target);
        }
    }
}

/// Writes to what was there, of each kind of record, and next to it.
fn write(server: &Serving) {
    let entity = r#"{"PartitionKey":"new","RowKey":"1","Number":1}"#;
    server.ask(201, "table", "POST", "/Many", &JSON, entity);
    let anything = [JSON[0], JSON[1], ("If-Match", "*")];
    let merged = "/Many(PartitionKey='p0',RowKey='0003')";
    server.ask(204, "table", "MERGE", merged, &anything, r#"{"Added":"later"}"#);
    // The name of a table that was dropped is free, and its entities are gone.
    server.ask(201, "table", "POST", "/Tables", &JSON, r#"{"TableName":"Dropped"}"#);
    assert_eq!(server.ask(200, "table", "GET", "/Dropped()", &JSON, "").text(), r#"{"value":[]}"#);

    let message = "<QueueMessage><MessageText>put later</MessageText></QueueMessage>";
    server.ask(201, "queue", "POST", "/jobs/messages?messagettl=-1", &[], message);
    let got = server.ask(200, "queue", "GET", "/jobs/messages?visibilitytimeout=600", &[], "").text();
    assert_eq!((element(&got, "DequeueCount"), element(&got, "MessageText")), ("4", "dequeued three times"));
    let receipt = element(&got, "PopReceipt").replace('+', "%2B").replace('/', "%2F").replace('=', "%3D");
    let target = format!("/jobs/messages/{}?popreceipt={receipt}", element(&got, "MessageId"));
    server.ask(204, "queue", "DELETE", &target, &[], "");

    let blocks = |ids: &[&str]| format!("<BlockList>{}</BlockList>", ids.concat());
    let staged = blocks(&["<Uncommitted>YmxvY2sgMDI=</Uncommitted>", "<Uncommitted>YmxvY2sgMDE=</Uncommitted>"]);
    server.ask(201, "blob", "PUT", "/box/staged?comp=blocklist", &[], &staged);
    let both = blocks(&["<Committed>YmxvY2sgMDE=</Committed>", "<Uncommitted>YmxvY2sgMDQ=</Uncommitted>"]);
    server.ask(201, "blob", "PUT", "/box/blocks?comp=blocklist", &[], &both);
    let [first, _] = snapshots(server).try_into().expect("two snapshots");
    server.ask(202, "blob", "DELETE", &format!("/box/small?snapshot={first}"), &[], "");
    server.ask(412, "blob", "PUT", "/box/leased", &BLOCK_BLOB, "without the lease");
    let with_lease = [BLOCK_BLOB[0], ("x-ms-lease-id", LEASE)];
    server.ask(201, "blob", "PUT", "/box/leased", &with_lease, "with the lease");
    server.ask(201, "blob", "PUT", "/box/append?comp=appendblock", &[], "appended later\n");
    server.ask(409, "blob", "PUT", "/box/sealed?comp=appendblock", &[], "too late");
    server.ask(202, "blob", "DELETE", "/box/file", &[], "");
    check_tags(server);
}

/// Tags of a version that had no index are found.
fn check_tags(server: &Serving) {
    for (expression, name) in [("color%3D'red'", "tags"), ("state%3D'new'%20AND%20owner%3D'one%20two'", "small")] {
        let found = server.ask(200, "blob", "GET", &format!("/?comp=blobs&where={expression}"), &[], "").text();
        let wanted = format!("<Blobs><Blob><Name>{name}</Name><ContainerName>box</ContainerName>");
        assert!(found.contains(&wanted), "{found}");
        assert_eq!(found.matches("<Blob>").count(), 1, "{found}");
    }
}

/// Reads what [`write`] has written, after a restart.
fn check_written(server: &Serving) {
    check_tags(server);
    let entity = |target| server.ask(200, "table", "GET", target, &JSON, "").text();
    assert!(entity("/Many(PartitionKey='new',RowKey='1')").contains(r#""Number":1"#));
    let merged = entity("/Many(PartitionKey='p0',RowKey='0003')");
    assert!(merged.contains(r#""Number":3"#) && merged.contains(r#""Added":"later""#), "{merged}");
    assert_eq!(entity("/Dropped()"), r#"{"value":[]}"#);

    let peeked = server.ask(200, "queue", "GET", "/jobs/messages?peekonly=true&numofmessages=32", &[], "").text();
    let texts: Vec<&str> = peeked.split("<QueueMessage>").skip(1).map(|rest| element(rest, "MessageText")).collect();
    let kept = (0..5).map(|number| format!("never expires &amp; has ä {number}"));
    assert_eq!(texts, kept.chain(["put later".to_owned()]).collect::<Vec<_>>());

    let blob = |name: &str| server.ask(200, "blob", "GET", &format!("/box/{name}"), &[], "").body;
    assert_eq!(blob("staged"), [content(32), content(31)].concat());
    assert_eq!(blob("blocks"), [content((20 << 10) + 1), content(104)].concat());
    let list = server.ask(200, "blob", "GET", "/box/blocks?comp=blocklist&blocklisttype=all", &[], "").text();
    assert!(list.contains("<UncommittedBlocks />") && list.matches("<Block>").count() == 2, "{list}");
    assert_eq!(snapshots(server).len(), 1);
    assert_eq!(blob("leased"), b"with the lease");
    assert_eq!(blob("append"), b"appended 0\nappended 1\nappended 2\nappended later\n");
    server.ask(404, "blob", "GET", "/box/file", &[], "");
    assert_eq!(blob("big-blocks"), content((520 << 10) + 1));
}

/// The snapshots of one blob, encoded for a query.
fn snapshots(server: &Serving) -> Vec<String> {
    let target = "/box?restype=container&comp=list&prefix=small&include=snapshots";
    let list = server.ask(200, "blob", "GET", target, &[], "").text();
    list.split("<Blob>")
        .filter(|blob| blob.contains("<Snapshot>"))
        .map(|blob| element(blob, "Snapshot").replace(':', "%3A"))
        .collect()
}

fn element<'a>(xml: &'a str, name: &str) -> &'a str {
    let rest = xml.split(&format!("<{name}>")).nth(1).unwrap_or_else(|| panic!("no {name} in {xml}"));
    rest.split('<').next().unwrap()
}

/// The content of blobs and blocks, as `fixtures/make.py` has it.
fn content(length: usize) -> Vec<u8> {
    let lines = (0..=length / 256).map(|number| format!("{number:08}{}\n", ".".repeat(247)));
    lines.collect::<String>().into_bytes()[..length].to_vec()
}

/// Opens a store, compares, writes, and opens it once more.
fn check_store(name: &str, store: &[&str; 2], export: &Path, recorded: &Path) {
    println!("{name}: {}", recorded.display());
    check_export(store[1], export);
    let server = Serving::start(store);
    check_reads(&server, recorded);
    write(&server);
    let has_later_kinds = later_kinds::are_there(&server);
    if has_later_kinds {
        later_kinds::write(&server);
    }
    server.stop();
    let server = Serving::start(store);
    check_written(&server);
    if has_later_kinds {
        later_kinds::check_written(&server);
    }
    server.stop();
}

#[test]
fn a_data_directory_of_every_version_is_read_and_written() {
    for fixture in fixtures() {
        let folder = tempfile::tempdir().unwrap();
        unpack(&fixture.join("local.tar.gz"), folder.path());
        let store = ["--location", folder.path().to_str().unwrap()];
        check_store("a folder", &store, &folder.path().join("export.jsonl"), &fixture.join("local.json"));
    }
}

/// Left out by `cargo xtask test` where there is no PostgreSQL.
mod on_postgres {
    use super::*;

    #[test]
    fn a_database_of_every_version_is_read_and_written() {
        for fixture in fixtures() {
            let (database, folder) = (DatabaseServer::start(), tempfile::tempdir().unwrap());
            unpack(&fixture.join("postgres.tar.gz"), folder.path());
            restore(&database, folder.path());
            let store = ["--store", &database.url_of("fixture")];
            check_store("a database", &store, &folder.path().join("export.jsonl"), &fixture.join("postgres.json"));
        }
    }

    /// Runs the dump. The database's tool may run as another user, which then has to be able to read it.
    fn restore(database: &DatabaseServer, folder: &Path) {
        #[cfg(unix)]
        {
            use std::fs::Permissions;
            use std::os::unix::fs::PermissionsExt as _;
            std::fs::set_permissions(folder, Permissions::from_mode(0o755)).unwrap();
        }
        database.run(&format!(r"\i {}", folder.join("dump.sql").display()));
    }
}
