//! Storage Analytics on the running binary: switched on over HTTP, found again as blobs and rows by prefix and by name.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use tablerock_kv::{Clock, SystemClock};
use tablerock_protocol::DateTime;
use tablerock_protocol::signing::AccountKey;
use tablerock_testkit::process::{ANY_PORTS, NO_ADMIN, ServerProcess, exchange_text};

const ACCOUNT: &str = "devstoreaccount1";
const KEY: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const VERSION: &str = "2019-02-02";

const SETTINGS: &str = "<StorageServiceProperties><Logging><Version>1.0</Version><Read>true</Read><Write>true</Write>\
    <Delete>true</Delete><RetentionPolicy><Enabled>true</Enabled><Days>1</Days></RetentionPolicy></Logging>\
    </StorageServiceProperties>";

/// A server that is killed at the latest when the test ends.
struct Server {
    process: ServerProcess,
    table: String,
    queue: String,
    blob: String,
}

struct Answer {
    status: u16,
    body: String,
}

impl Server {
    fn start(location: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tablerock"));
        let process =
            ServerProcess::start(command.env_clear().args(ANY_PORTS).args(NO_ADMIN).arg("--location").arg(location));
        let [table, queue, blob] = ["Table", "Queue", "Blob"].map(|service| process.address(service).to_owned());
        Self { process, table, queue, blob }
    }

    /// Asks for an orderly stop, and waits for it.
    fn stop(self) {
        self.process.stop();
    }

    fn blob(&self, method: &str, target: &str) -> Answer {
        request(&self.blob, method, &signed(target), "", "")
    }

    /// The names of the logs with a prefix.
    fn logs(&self, prefix: &str) -> Vec<String> {
        let answer = self.blob("GET", &format!("$logs?restype=container&comp=list&prefix={prefix}"));
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer
            .body
            .split("<Name>")
            .skip(1)
            .map(|rest| rest.split("</Name>").next().expect("a piece").to_owned())
            .collect()
    }

    /// All entries of a service, once there are as many as expected.
    fn entries(&self, service: &str, expected: usize) -> Vec<String> {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            let logs = self.logs(&format!("{service}/"));
            let contents = logs.iter().map(|name| self.blob("GET", &format!("$logs/{name}")).body);
            let entries: Vec<String> =
                contents.flat_map(|log| log.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
            if entries.len() >= expected {
                return entries;
            }
            assert!(Instant::now() < end, "{service}: {entries:?}");
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

/// A target with an account SAS for everything.
fn signed(target: &str) -> String {
    let expiry = "2099-01-01T00:00:00Z";
    let text = format!("{ACCOUNT}\nrwdlacup\nbqt\nsco\n\n{expiry}\n\n\n{VERSION}\n");
    let signature = AccountKey::parse(KEY).expect("a key").sign(&text);
    let signature = signature.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D");
    let join = if target.contains('?') { '&' } else { '?' };
    format!("{target}{join}sv={VERSION}&ss=bqt&srt=sco&sp=rwdlacup&se={expiry}&sig={signature}")
}

fn request(address: &str, method: &str, target: &str, headers: &str, body: &str) -> Answer {
    let text = format!(
        "{method} /{ACCOUNT}/{target} HTTP/1.1\r\nHost: {address}\r\nUser-Agent: test/1.0\r\nConnection: close\r\n\
         Accept: application/json;odata=nometadata\r\nx-ms-version: {VERSION}\r\nContent-Length: {}\r\n{headers}\r\n{body}",
        body.len()
    );
    let answer = exchange_text(address, &text);
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    Answer { status, body: body.to_owned() }
}

fn switch_on(address: &str) {
    let target = signed("?restype=service&comp=properties");
    assert_eq!(request(address, "PUT", &target, "", SETTINGS).status, 202);
}

/// A request with the account's key, whose entries look different.
fn list_tables_with_key(address: &str) {
    let date = DateTime::from_ticks(SystemClock.ticks()).to_http_date();
    let signature = AccountKey::parse(KEY).expect("a key").sign(&format!("{date}\n/{ACCOUNT}/{ACCOUNT}/Tables"));
    let headers = format!("x-ms-date: {date}\r\nAuthorization: SharedKeyLite {ACCOUNT}:{signature}\r\n");
    assert_eq!(request(address, "GET", "Tables", &headers, "").status, 200);
}

/// The fields of an entry, split as a reader does: at semicolons outside quotes.
fn fields(entry: &str) -> Vec<&str> {
    let mut is_quoted = false;
    let split = |letter: char| {
        is_quoted ^= letter == '"';
        letter == ';' && !is_quoted
    };
    entry.split(split).collect()
}

#[test]
fn requests_of_all_services_are_found_in_logs() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let Server { table, queue, blob, .. } = &server;
    [table, queue, blob].into_iter().for_each(|address| switch_on(address));
    let json = "Content-Type: application/json\r\n";
    assert_eq!(request(table, "POST", &signed("Tables"), json, "{\"TableName\":\"People\"}").status, 201);
    assert_eq!(request(table, "GET", &signed("Nobody()"), "", "").status, 404);
    assert_eq!(request(table, "GET", "Tables", "", "").status, 404, "a stranger, who is not logged");
    list_tables_with_key(table);
    assert_eq!(request(queue, "PUT", &signed("work"), "x-ms-client-request-id: mine\r\n", "").status, 201);
    assert_eq!(request(queue, "DELETE", &signed("work"), "", "").status, 204);
    assert_eq!(request(blob, "PUT", &signed("photos?restype=container"), "", "").status, 201);
    assert_eq!(request(blob, "PUT", &signed("photos/b"), "x-ms-blob-type: BlockBlob\r\n", "content").status, 201);

    let entries = server.entries("table", 4);
    let seen: Vec<_> = entries.iter().map(|entry| fields(entry)[2..5].join(" ")).collect();
    let expected = [
        "SetTableServiceProperties SASSuccess 202",
        "CreateTable SASSuccess 201",
        "QueryEntities SASClientOtherError 404",
        "QueryTables Success 200",
    ];
    assert_eq!(seen, expected);
    assert!(entries.iter().all(|entry| fields(entry).len() == 30 && entry.starts_with("1.0;")), "{entries:?}");
    assert!(entries[1].contains(&format!(";\"/{ACCOUNT}/People\";")), "{}", entries[1]);
    assert!(entries[1].contains("&amp;sig=XXXXX\""), "{}", entries[1]);
    assert_eq!(fields(&entries[3])[7..11], ["authenticated", ACCOUNT, ACCOUNT, "table"]);

    let entries = server.entries("queue", 3);
    let seen: Vec<_> = entries.iter().map(|entry| fields(entry)[2]).collect();
    assert_eq!(seen, ["SetQueueServiceProperties", "CreateQueue", "DeleteQueue"]);
    assert!(entries[1].ends_with(";\"test/1.0\";;\"mine\""), "{}", entries[1]);

    // Reading logs is logged too, so there are more by now.
    let entries = server.entries("blob", 3);
    let put = entries.iter().find(|entry| fields(entry)[2] == "PutBlob").expect("the blob was put");
    assert_eq!(fields(put)[18], "7");
    assert!(put.contains(";\"&quot;0x"), "an ETag: {put}");

    assert!(!server.blob("GET", "?comp=list").body.contains("$logs"));
    assert!(server.blob("GET", "?comp=list&include=system").body.contains("<Name>$logs</Name>"));
    let put = request(blob, "PUT", &signed("$logs/mine"), "x-ms-blob-type: BlockBlob\r\n", "x");
    assert_eq!(put.status, 403, "{}", put.body);
    assert_eq!(server.blob("DELETE", "$logs?restype=container").status, 403);
    let log = server.logs("queue/").remove(0);
    let head = request(blob, "GET", &signed(&format!("$logs/{log}?comp=metadata")), "", "");
    assert_eq!(head.status, 200, "{}", head.body);
    assert_eq!(server.blob("DELETE", &format!("$logs/{log}")).status, 202);
    assert_eq!(server.logs("queue/"), [""; 0]);
}

#[test]
fn an_orderly_stop_writes_what_waits_and_settings_outlive_it() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    switch_on(&server.queue);
    for _ in 0..2 {
        assert_eq!(request(&server.queue, "GET", &signed("?comp=list"), "", "").status, 200);
    }
    server.stop();
    let server = Server::start(folder.path());
    assert_eq!(server.entries("queue", 3).len(), 3);
    assert_eq!(request(&server.queue, "GET", &signed("?comp=list"), "", "").status, 200);
    assert_eq!(server.entries("queue", 4).len(), 4);

    let metrics = |service: &str| {
        let target = format!("$MetricsHourPrimaryTransactions{service}()?$filter=RowKey%20eq%20'user;All'");
        request(&server.table, "GET", &signed(&target), "", "")
    };
    let rows = metrics("Queue");
    assert_eq!(rows.status, 200, "{}", rows.body);
    // The hour may have ended meanwhile, and then there are two rows.
    for column in ["TotalRequests", "SASSuccess"] {
        let column = format!("\"{column}\":");
        let values = rows.body.split(&column).skip(1);
        let numbers = values.map(|rest| rest.trim_start_matches('"').split(['"', ',']).next().unwrap().parse::<u64>());
        assert_eq!(numbers.map(Result::unwrap).sum::<u64>(), 3, "{column}: {}", rows.body);
    }
    let tables = request(&server.table, "GET", &signed("Tables"), "", "");
    assert!(!tables.body.contains("$Metrics"), "{}", tables.body);
    let row = "{\"PartitionKey\":\"p\",\"RowKey\":\"r\"}";
    let target = signed("$MetricsHourPrimaryTransactionsQueue");
    let insert = request(&server.table, "POST", &target, "Content-Type: application/json\r\n", row);
    assert_eq!(insert.status, 403, "{}", insert.body);
}
