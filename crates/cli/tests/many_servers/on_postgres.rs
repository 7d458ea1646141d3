//! Several servers on one database are one service: whatever is asked of one, all others know it with the answer.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

#[path = "../../../kv-postgres/tests/database/mod.rs"]
mod database;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use database::DatabaseServer;
use tablerock_protocol::DateTime;
use tablerock_protocol::signing::{
    AccountKey, AccountPermissions, AccountSasTerms, SignedResourceTypes, SignedServices,
};

const ACCOUNT: &str = "acct";
const KEY: &str = "a2V5";
const TABLE: &str = "Table";
const QUEUE: &str = "Queue";
const BLOB: &str = "Blob";

static DATABASE: LazyLock<DatabaseServer> = LazyLock::new(DatabaseServer::start);

/// One of the servers.
struct Server {
    process: Child,
    banner: Vec<String>,
}

impl Server {
    fn start(schema: &str) -> Self {
        Self::start_on(&DATABASE, schema)
    }

    fn start_on(database: &DatabaseServer, schema: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tablerock"));
        command.env_clear().args(["--store", &database.url(schema), "--accounts", &format!("{ACCOUNT}:{KEY}")]);
        command.args(["blob", "queue", "table"].iter().flat_map(|port| [format!("--{port}-port"), "0".into()]));
        // For the admin address, 0 is none.
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        command.arg("--admin-port").arg(listener.local_addr().expect("it has an address").port().to_string());
        drop(listener);
        let mut process = command.stdout(Stdio::piped()).spawn().expect("the binary runs");
        let stdout = BufReader::new(process.stdout.take().expect("stdout is piped"));
        let lines = stdout.lines().map(|line| line.expect("the banner is text"));
        let banner = lines.take_while(|line| !line.starts_with("Stop with")).collect();
        Self { process, banner }
    }

    fn three(schema: &str) -> [Self; 3] {
        [0, 1, 2].map(|_| Self::start(schema))
    }

    /// Sends a request with an account's signature that allows everything.
    fn ask(&self, service: &str, method: &str, target: &str, headers: &str, body: &str) -> Answer {
        let line = self.banner.iter().find(|line| line.contains(&format!("{service} service"))).expect(service);
        let address = line.rsplit("//").next().expect("the line ends in an address");
        let mut stream = TcpStream::connect(address).expect("the server listens");
        let separator = if target.contains('?') { '&' } else { '?' };
        let (token, length) = (token(), body.len());
        let head = format!("{method} /{ACCOUNT}{target}{separator}{token} HTTP/1.1\r\nHost: x\r\nConnection: close");
        let text = format!("{head}\r\nx-ms-version: 2021-12-02\r\nContent-Length: {length}\r\n{headers}\r\n{body}");
        stream.write_all(text.as_bytes()).expect("the server reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("the server answers in text");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        Answer { head: head.to_owned(), body: body.to_owned() }
    }

    fn health(&self) -> String {
        self.admin("/health")
    }

    /// What the admin address says.
    fn admin(&self, path: &str) -> String {
        let line = self.banner.iter().find(|line| line.contains("/health")).expect("health");
        let address = line.split("//").nth(1).and_then(|rest| rest.split('/').next()).expect("an address");
        let mut stream = TcpStream::connect(address).expect("the server listens");
        let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("the server reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("the server answers in text");
        answer
    }

    fn insert(&self, table: &str, keys: [&str; 2]) -> Answer {
        let entity = format!(r#"{{"PartitionKey":"{}","RowKey":"{}"}}"#, keys[0], keys[1]);
        self.ask(TABLE, "POST", &format!("/{table}"), JSON, &entity)
    }

    fn create_table(&self, table: &str) -> Answer {
        self.ask(TABLE, "POST", "/Tables", JSON, &format!(r#"{{"TableName":"{table}"}}"#))
    }
}

const JSON: &str = "Content-Type: application/json\r\nAccept: application/json;odata=nometadata\r\n";
const PLAIN: &str = "Accept: application/json;odata=nometadata\r\n";

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

struct Answer {
    head: String,
    body: String,
}

impl Answer {
    fn status(&self) -> &str {
        self.head.split(' ').nth(1).expect("a status line")
    }

    fn header(&self, name: &str) -> String {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let found = lines.find(|(header, _)| header.eq_ignore_ascii_case(name));
        found.unwrap_or_else(|| panic!("no {name} in {}\n{}", self.head, self.body)).1.to_owned()
    }

    /// The text of an element.
    fn element(&self, name: &str) -> String {
        let start = self.body.split(&format!("<{name}>")).nth(1);
        let text = start.and_then(|rest| rest.split(&format!("</{name}>")).next());
        text.unwrap_or_else(|| panic!("no {name} in {}", self.body)).to_owned()
    }
}

fn token() -> String {
    let (services, types) = (SignedServices::parse("bqt").unwrap(), SignedResourceTypes::parse("sco").unwrap());
    let permissions = AccountPermissions::parse("rwdlacup").unwrap();
    let terms = AccountSasTerms::new(services, types, permissions, DateTime::MAX);
    terms.sign(ACCOUNT, &AccountKey::parse(KEY).unwrap()).unwrap().to_query()
}

#[test]
fn a_table_is_there_for_all_when_one_created_it_and_gone_for_all_when_one_dropped_it() {
    let servers = Server::three("tables");
    for round in 0..10 {
        let [one, other, third] = [0, 1, 2].map(|at| &servers[(round + at) % 3]);
        assert_eq!(one.create_table("People").status(), "201", "round {round}");
        assert_eq!(other.insert("People", ["p", "r"]).status(), "201");
        assert_eq!(third.insert("People", ["p", "r"]).status(), "409");
        assert_eq!(third.ask(TABLE, "GET", "/People(PartitionKey='p',RowKey='r')", PLAIN, "").status(), "200");
        assert_eq!(other.ask(TABLE, "DELETE", "/Tables('People')", PLAIN, "").status(), "204");
        for server in &servers {
            assert_eq!(server.insert("People", ["p", "r"]).status(), "404");
        }
    }
}

#[test]
fn a_condition_on_one_server_sees_what_was_written_through_another() {
    let servers = Server::three("conditions");
    assert_eq!(servers[0].create_table("People").status(), "201");
    let mut etags = vec![servers[0].insert("People", ["p", "r"]).header("etag")];
    let path = "/People(PartitionKey='p',RowKey='r')";
    for round in 0..30 {
        let newest = etags.last().unwrap().clone();
        let condition = format!("{JSON}If-Match: {newest}\r\n");
        let answer = servers[round % 3].ask(TABLE, "PUT", path, &condition, r#"{"Value":1}"#);
        assert_eq!(answer.status(), "204", "{}", answer.body);
        let refused = servers[(round + 1) % 3].ask(TABLE, "PUT", path, &condition, r#"{"Value":2}"#);
        assert_eq!(refused.status(), "412", "the version is not the newest any more");
        let etag = answer.header("etag");
        assert!(!etags.contains(&etag), "{etag} was there before");
        etags.push(etag);
    }
}

#[test]
fn each_server_shows_the_load_that_it_has() {
    let servers = Server::three("load");
    assert_eq!(servers[0].create_table("People").status(), "201");
    for row in 0..30 {
        assert_eq!(
            servers[1].insert("People", [if row % 3 == 0 { "cool" } else { "hot" }, &format!("{row}")]).status(),
            "201"
        );
    }
    let report = servers[1].admin("/load.json");
    let (hot, cool) = (report.find("\"partitionKey\":\"hot\""), report.find("\"partitionKey\":\"cool\""));
    assert!(hot.is_some() && hot < cool, "{report}");
    assert!(!servers[2].admin("/load.json").contains("People"), "nobody has asked this one");
    assert!(servers[1].admin("/load").contains("<td class=k>hot</td>"));
    let metrics = servers[1].admin("/metrics");
    let line = r#"tablerock_partition_load{account="acct",table="People",partition="hot",kind="write"}"#;
    assert!(metrics.contains(line), "{metrics}");
}

#[test]
fn a_page_goes_on_at_any_server() {
    let servers = Server::three("pages");
    assert_eq!(servers[0].create_table("People").status(), "201");
    for row in 0..9 {
        assert_eq!(servers[row % 3].insert("People", ["p", &format!("{row}")]).status(), "201");
    }
    let mut target = "/People()?$top=2".to_owned();
    let mut rows = 0;
    for page in 0..5 {
        let answer = servers[page % 3].ask(TABLE, "GET", &target, PLAIN, "");
        rows += answer.body.matches("\"RowKey\"").count();
        if page < 4 {
            let partition = answer.header("x-ms-continuation-NextPartitionKey");
            let row = answer.header("x-ms-continuation-NextRowKey");
            target = format!("/People()?$top=2&NextPartitionKey={partition}&NextRowKey={row}");
        }
    }
    assert_eq!(rows, 9);
}

#[test]
fn a_message_is_given_out_once_and_its_receipt_is_good_anywhere() {
    let servers = Server::three("queues");
    assert_eq!(servers[0].ask(QUEUE, "PUT", "/jobs", "", "").status(), "201");
    for round in 0..15 {
        let [one, other, third] = [0, 1, 2].map(|at| &servers[(round + at) % 3]);
        let message = format!("<QueueMessage><MessageText>{round}</MessageText></QueueMessage>");
        assert_eq!(one.ask(QUEUE, "POST", "/jobs/messages", "", &message).status(), "201");
        let given = other.ask(QUEUE, "GET", "/jobs/messages?visibilitytimeout=60", "", "");
        assert_eq!(given.element("MessageText"), format!("{round}"), "it is visible at once, for everyone");
        assert!(!third.ask(QUEUE, "GET", "/jobs/messages", "", "").body.contains("MessageText"));
        let receipt = given.element("PopReceipt").replace('+', "%2B").replace('/', "%2F").replace('=', "%3D");
        let path = format!("/jobs/messages/{}?popreceipt={receipt}", given.element("MessageId"));
        assert_eq!(third.ask(QUEUE, "DELETE", &path, "", "").status(), "204");
        assert_eq!(one.ask(QUEUE, "DELETE", &path, "", "").status(), "404");
    }
}

#[test]
fn a_lease_holds_against_all_servers() {
    let servers = Server::three("leases");
    assert_eq!(servers[0].ask(BLOB, "PUT", "/box?restype=container", "", "").status(), "201");
    let put = "x-ms-blob-type: BlockBlob\r\n";
    assert_eq!(servers[1].ask(BLOB, "PUT", "/box/blob", put, "content").status(), "201");
    let acquire = "x-ms-lease-action: acquire\r\nx-ms-lease-duration: 60\r\n";
    let leased = servers[2].ask(BLOB, "PUT", "/box/blob?comp=lease", acquire, "");
    assert_eq!(leased.status(), "201");
    let lease = leased.header("x-ms-lease-id");
    for server in &servers {
        assert_eq!(server.ask(BLOB, "PUT", "/box/blob", put, "other").status(), "412");
        assert_eq!(server.ask(BLOB, "GET", "/box/blob", "", "").body, "content");
    }
    let with_lease = format!("{put}x-ms-lease-id: {lease}\r\n");
    assert_eq!(servers[0].ask(BLOB, "PUT", "/box/blob", &with_lease, "other").status(), "201");
    assert_eq!(servers[1].ask(BLOB, "GET", "/box/blob", "", "").body, "other");
}

#[test]
fn what_one_server_was_writing_when_it_died_does_not_hinder_the_others() {
    let mut servers = Server::three("deaths").into_iter().collect::<Vec<_>>();
    assert_eq!(servers[0].create_table("People").status(), "201");
    let mut acknowledged = vec![];
    for round in 0..30 {
        let at = round % 3;
        let row = format!("{round:03}");
        if servers[at].insert("People", ["p", &row]).status() == "201" {
            acknowledged.push(row);
        }
        if round % 7 == 6 {
            // It is killed, not stopped.
            servers[at] = Server::start("deaths");
        }
    }
    let answer = servers[0].ask(TABLE, "GET", "/People()", PLAIN, "");
    for row in &acknowledged {
        assert!(answer.body.contains(&format!("\"RowKey\":\"{row}\"")), "{row} is lost");
    }
    assert_eq!(acknowledged.len(), 30);
}

#[test]
fn a_database_that_is_away_is_told_within_seconds_and_found_again() {
    let database = DatabaseServer::start();
    let server = Server::start_on(&database, "away");
    assert_eq!(server.create_table("People").status(), "201");
    assert_eq!(server.insert("People", ["p", "before"]).status(), "201");
    for round in 0..3 {
        database.kill();
        let started = Instant::now();
        for (method, path) in [("GET", "/People()"), ("DELETE", "/Tables('People')")] {
            let refused = server.ask(TABLE, method, path, PLAIN, "");
            assert_eq!(refused.status(), "503", "{}", refused.body);
            assert!(refused.body.contains("ServerBusy"), "{}", refused.body);
            assert_eq!(refused.header("retry-after"), "1");
        }
        assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
        assert!(server.health().starts_with("HTTP/1.1 503"), "{}", server.health());

        database.resume();
        let give_up = Instant::now() + Duration::from_secs(20);
        while !server.health().starts_with("HTTP/1.1 200") {
            assert!(Instant::now() < give_up, "{}", server.health());
            std::thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(server.insert("People", ["p", &format!("after {round}")]).status(), "201");
    }
    assert_eq!(server.ask(TABLE, "GET", "/People()", PLAIN, "").body.matches("RowKey").count(), 4);
}
