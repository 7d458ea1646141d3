//! Several servers on one database are one service: once a server has responded to a write, all others see it.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::net::TcpListener;
use std::process::Command;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use tablerock_kv::{Clock as _, SystemClock};
use tablerock_protocol::signing::{
    AccountKey, AccountPermissions, AccountSasTerms, BlobSasTerms, HeaderRequestParts, QueueSasTerms, SharedKeyScheme,
    SignedResourceTypes, SignedServices, TableRequestParts, TableSasTerms,
};
use tablerock_protocol::{ContainerName, DateTime, QueryString, QueueName, ServiceVersion};
use tablerock_testkit::postgres::DatabaseServer;
use tablerock_testkit::process::{ANY_PORTS, ServerProcess, exchange_text};

const ACCOUNT: &str = "acct";
const KEY: &str = "a2V5";
const TABLE: &str = "Table";
const QUEUE: &str = "Queue";
const BLOB: &str = "Blob";

static DATABASE: LazyLock<DatabaseServer> = LazyLock::new(DatabaseServer::start);

/// One of the servers.
struct Server {
    process: ServerProcess,
}

impl Server {
    fn start(schema: &str) -> Self {
        Self::start_on(&DATABASE, schema)
    }

    fn start_on(database: &DatabaseServer, schema: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tablerock"));
        command.env_clear().args(["--store", &database.url(schema), "--accounts", &format!("{ACCOUNT}:{KEY}")]);
        command.args(ANY_PORTS);
        // For the admin address, 0 is none.
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        command.arg("--admin-port").arg(listener.local_addr().expect("it has an address").port().to_string());
        drop(listener);
        Self { process: ServerProcess::start(&mut command) }
    }

    fn three(schema: &str) -> [Self; 3] {
        [0, 1, 2].map(|_| Self::start(schema))
    }

    /// Sends a request with an account's signature that allows everything.
    fn ask(&self, service: &str, method: &str, target: &str, headers: &str, body: &str) -> Answer {
        self.ask_with(&token(), service, method, target, headers, body)
    }

    /// Sends a request with this signature.
    fn ask_with(&self, token: &str, service: &str, method: &str, target: &str, headers: &str, body: &str) -> Answer {
        let separator = if token.is_empty() {
            ""
        } else if target.contains('?') {
            "&"
        } else {
            "?"
        };
        let length = body.len();
        let head = format!("{method} /{ACCOUNT}{target}{separator}{token} HTTP/1.1\r\nHost: x\r\nConnection: close");
        let text = format!("{head}\r\nx-ms-version: 2021-12-02\r\nContent-Length: {length}\r\n{headers}\r\n{body}");
        let answer = exchange_text(self.process.address(service), &text);
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        Answer { head: head.to_owned(), body: body.to_owned() }
    }

    /// Sets stored access policies, which only the account's key may do.
    fn set_policies(&self, service: &str, target: &str, policies: &str) -> Answer {
        let date = DateTime::from_ticks(SystemClock.ticks()).to_http_date();
        let (path, query) = target.split_once('?').expect("a query");
        let (path, query) = (format!("/{ACCOUNT}{path}"), QueryString::parse(query).unwrap());
        let key = AccountKey::parse(KEY).unwrap();
        let authorization = if service == TABLE {
            let (content_md5, content_type, comp) = ("", "", query.value("comp"));
            let parts = TableRequestParts {
                method: "PUT",
                content_md5,
                content_type,
                date: &date,
                account: ACCOUNT,
                path: &path,
                comp,
            };
            parts.authorization(SharedKeyScheme::SharedKey, &key)
        } else {
            let length = policies.len().to_string();
            let headers = [("content-length", &length[..]), ("x-ms-date", &date[..]), ("x-ms-version", "2021-12-02")];
            let version: ServiceVersion = "2021-12-02".parse().unwrap();
            let parts = HeaderRequestParts {
                method: "PUT",
                account: ACCOUNT,
                path: &path,
                query: &query,
                headers: &headers,
                version,
            };
            parts.authorization(SharedKeyScheme::SharedKey, &key)
        };
        let headers = format!("x-ms-date: {date}\r\nAuthorization: {authorization}\r\n");
        self.ask_with("", service, "PUT", target, &headers, policies)
    }

    fn health(&self) -> String {
        self.admin("/health")
    }

    /// The response of the admin address.
    fn admin(&self, path: &str) -> String {
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        exchange_text(self.process.admin_address(), &request)
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
    assert!(!servers[2].admin("/load.json").contains("People"), "this one got no requests");
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

/// A policy revoked through one server is revoked on all.
#[test]
fn a_policy_that_one_server_takes_back_is_refused_by_all() {
    let servers = Server::three("policies");
    assert_eq!(servers[0].create_table("People").status(), "201");
    assert_eq!(servers[0].insert("People", ["p", "r"]).status(), "201");
    assert_eq!(servers[0].ask(QUEUE, "PUT", "/jobs", "", "").status(), "201");
    assert_eq!(servers[0].ask(BLOB, "PUT", "/box?restype=container", "", "").status(), "201");
    let put = "x-ms-blob-type: BlockBlob\r\n";
    assert_eq!(servers[0].ask(BLOB, "PUT", "/box/blob", put, "content").status(), "201");

    let key = AccountKey::parse(KEY).unwrap();
    let table = TableSasTerms::from_policy("People", "p").sign(ACCOUNT, &key).unwrap().to_query();
    let queue = QueueSasTerms::from_policy(QueueName::parse("jobs").unwrap(), "p").sign(ACCOUNT, &key).unwrap();
    let blob = BlobSasTerms::from_policy(ContainerName::parse("box").unwrap(), "p").sign(ACCOUNT, &key).unwrap();
    let (queue, blob) = (queue.to_query(), blob.to_query());
    let of_each = [
        (TABLE, "/People?comp=acl", "/People(PartitionKey='p',RowKey='r')", PLAIN, &table),
        (QUEUE, "/jobs?comp=acl", "/jobs/messages?peekonly=true", "", &queue),
        (BLOB, "/box?restype=container&comp=acl", "/box/blob", "", &blob),
    ];
    for round in 0..6 {
        let [one, other] = [0, 1].map(|at| &servers[(round + at) % 3]);
        for (service, acl, path, headers, token) in of_each {
            let policy = "<SignedIdentifiers><SignedIdentifier><Id>p</Id><AccessPolicy><Expiry>2999-01-01T00:00:00Z</Expiry>\
                          <Permission>r</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>";
            let given = one.set_policies(service, acl, policy);
            assert!(given.status().starts_with("20"), "{}{}", given.head, given.body);
            for server in &servers {
                let seen = server.ask_with(token, service, "GET", path, headers, "");
                assert_eq!(seen.status(), "200", "{service}: {}", seen.body);
            }
            let taken = other.set_policies(service, acl, "<SignedIdentifiers />");
            assert!(taken.status().starts_with("20"), "{}{}", taken.head, taken.body);
            for server in &servers {
                let refused = server.ask_with(token, service, "GET", path, headers, "");
                assert_eq!(refused.status(), "403", "{service}: {}", refused.body);
            }
        }
    }
}

/// PostgreSQL cannot index all keys that the service allows. SDKs retry after a 5xx.
#[test]
fn a_key_that_the_database_cannot_index_is_the_clients_fault() {
    let server = Server::start("long_keys");
    assert_eq!(server.create_table("People").status(), "201");
    // Characters of three bytes, in no order that could be compressed.
    let mut state = 7_u64;
    let mut text = |length: usize| -> String {
        let characters = (0..length).map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            char::from_u32(0x4e00 + (state >> 40) as u32 % 0x5000).unwrap()
        });
        characters.collect()
    };
    let (partition, row) = (text(500), text(500));
    let refused = server.insert("People", [&partition, &row]);
    assert_eq!(refused.status(), "400", "{}", refused.body);
    assert!(refused.body.contains("KeyValueTooLarge"), "{}", refused.body);
    assert_eq!(server.insert("People", [&text(200), &text(200)]).status(), "201");

    assert_eq!(server.ask(BLOB, "PUT", "/box?restype=container", "", "").status(), "201");
    let name: String = text(1_000).bytes().map(|byte| format!("%{byte:02X}")).collect();
    let refused = server.ask(BLOB, "PUT", &format!("/box/{name}"), "x-ms-blob-type: BlockBlob\r\n", "content");
    assert_eq!(refused.status(), "400", "{}", refused.body);
    assert!(refused.body.contains("OutOfRangeInput"), "{}", refused.body);
}

/// A transaction of another client locks rows, or the whole table, for longer than a request's timeout.
#[test]
fn a_slow_database_is_told_within_a_requests_time() {
    let database = DatabaseServer::start();
    let server = Server::start_on(&database, "slow");
    assert_eq!(server.create_table("People").status(), "201");
    assert_eq!(server.insert("People", ["p", "r"]).status(), "201");
    assert_eq!(server.ask(QUEUE, "PUT", "/jobs", "", "").status(), "201");
    let message = "<QueueMessage><MessageText>x</MessageText></QueueMessage>";
    assert_eq!(server.ask(QUEUE, "POST", "/jobs/messages", "", message).status(), "201");
    assert_eq!(server.ask(BLOB, "PUT", "/box?restype=container", "", "").status(), "201");
    let put = "x-ms-blob-type: BlockBlob\r\n";
    assert_eq!(server.ask(BLOB, "PUT", "/box/blob", put, "content").status(), "201");
    let requests = [
        (TABLE, "PUT", "/People(PartitionKey='p',RowKey='r')", JSON, r#"{"Value":1}"#),
        (QUEUE, "GET", "/jobs/messages", "", ""),
        (BLOB, "PUT", "/box/blob", put, "other"),
    ];
    let reads = [
        (TABLE, "GET", "/People()", PLAIN, ""),
        (QUEUE, "GET", "/jobs?comp=metadata", "", ""),
        (BLOB, "GET", "/box/blob", "", ""),
    ];
    let rows = ("SELECT 1 FROM slow.tablerock_records FOR UPDATE", requests.to_vec());
    let all = ("LOCK TABLE slow.tablerock_records", [requests, reads].concat());
    for (sql, requests) in [rows, all] {
        let held = database.hold(sql);
        std::thread::scope(|scope| {
            for (service, method, path, headers, body) in requests {
                let server = &server;
                scope.spawn(move || {
                    let started = Instant::now();
                    let refused = server.ask(service, method, path, headers, body);
                    let told = (refused.status(), refused.body.contains("ServerBusy"));
                    let is_timeout = refused.status() == "500" && refused.body.contains("OperationTimedOut");
                    assert!(
                        told == ("503", true) || is_timeout,
                        "{service} {method}: {}{}",
                        refused.head,
                        refused.body
                    );
                    assert_eq!(refused.header("retry-after"), "1");
                    assert!(started.elapsed() < Duration::from_secs(32), "{service} {method}: {:?}", started.elapsed());
                });
            }
        });
        drop(held);
        let found = server.ask(TABLE, "PUT", "/People(PartitionKey='p',RowKey='r')", JSON, "{}");
        assert_eq!(found.status(), "204", "{}", found.body);
    }
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
