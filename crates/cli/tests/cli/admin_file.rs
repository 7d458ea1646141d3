//! The file of `--admin-file`, what its token permits, and `tablerock health`.

use std::path::Path;
use std::process::{Command, Output};

use tablerock_client::{Entity, TableServiceClient};
use tablerock_testkit::process::{ANY_PORTS, NO_ADMIN, ServerProcess, exchange_text};

const BINARY: &str = env!("CARGO_BIN_EXE_tablerock");

fn start(file: &Path) -> ServerProcess {
    let mut command = Command::new(BINARY);
    let command = command.env_clear().args(ANY_PORTS).args(["--in-memory", "--log", "error", "--admin-file"]);
    ServerProcess::start(command.arg(file))
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).expect("JSON")
}

fn post(address: &str, path: &str, headers: &str) -> (String, String) {
    let request = format!("POST {path} HTTP/1.1\r\nContent-Length: 0\r\nConnection: close\r\n{headers}\r\n");
    let response = exchange_text(address, &request);
    let (head, body) = response.split_once("\r\n\r\n").expect("a head");
    (head["HTTP/1.1 ".len()..][..3].to_owned(), body.to_owned())
}

fn health(arguments: &[&str]) -> Output {
    Command::new(BINARY).env_clear().arg("health").args(arguments).output().expect("the binary runs")
}

#[tokio::test]
async fn an_account_that_the_token_adds_is_served_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("admin.json");
    let server = start(&path);
    let file = json(&std::fs::read_to_string(&path).unwrap());
    let admin = file["admin"].as_str().unwrap();
    assert_eq!(admin, server.admin_address());
    let bearer = format!("Host: localhost\r\nAuthorization: Bearer {}\r\n", file["token"].as_str().unwrap());
    let (status, body) = post(admin, "/accounts", &bearer);
    assert_eq!(status, "201", "{body}");
    let added = json(&body);
    let (name, key) = (added["name"].as_str().unwrap(), added["key"].as_str().unwrap());
    let table = file["table"].as_str().unwrap();
    let connection = format!("AccountName={name};AccountKey={key};TableEndpoint={table}/{name}");
    let tables = TableServiceClient::from_connection_string(&connection).unwrap();
    tables.table("People").create().await.unwrap();

    assert_eq!(post(admin, "/accounts?name=mine", &bearer).0, "201");
    for (request, headers, expected) in [
        ("/accounts?name=mine", bearer.as_str(), "409"),
        ("/accounts?name=No", &bearer, "400"),
        ("/accounts?other=1", &bearer, "400"),
        ("/accounts", "Host: localhost\r\n", "401"),
        ("/accounts", "Host: localhost\r\nAuthorization: Bearer guess\r\n", "401"),
        ("/accounts", &bearer.replace("localhost", "evil.example.com"), "421"),
        ("/metrics", &bearer, "405"),
    ] {
        let (status, body) = post(admin, request, headers);
        assert_eq!(status, expected, "{request} {headers} {body}");
    }
    server.stop();
    assert!(!path.exists(), "a stop removes the file");
}

/// The account has what accounts of a start have: its interrupted deletions are finished, and its Storage Analytics is written.
#[tokio::test]
async fn an_added_account_is_treated_as_those_of_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("admin.json");
    let serve = || {
        let mut command = Command::new(BINARY);
        let command = command.env_clear().args(ANY_PORTS).args(["--log", "error", "--admin-file"]).arg(&path);
        let server = ServerProcess::start(command.arg("--location").arg(folder.path()));
        let file = json(&std::fs::read_to_string(&path).unwrap());
        let text = |name: &str| file[name].as_str().unwrap().to_owned();
        let bearer = format!("Host: localhost\r\nAuthorization: Bearer {}\r\n", text("token"));
        let (status, body) = post(&text("admin"), "/accounts?name=mine", &bearer);
        assert_eq!(status, "201", "{body}");
        let key = json(&body)["key"].as_str().unwrap().to_owned();
        let connection = format!("AccountName=mine;AccountKey={key};TableEndpoint={}/mine", text("table"));
        (server, TableServiceClient::from_connection_string(&connection).unwrap())
    };
    let (server, tables) = serve();
    tables.table("People").create().await.unwrap();
    server.stop();
    let (server, tables) = serve();
    let counted = tables.table("$MetricsHourPrimaryTransactionsTable").query::<Entity>().all().await.unwrap();
    assert!(counted.iter().any(|row| row.row_key == "user;CreateTable"), "{counted:?}");
    server.stop();
}

#[test]
fn without_the_file_nothing_can_be_changed() {
    let mut command = Command::new(BINARY);
    let server = ServerProcess::start(command.env_clear().args(ANY_PORTS).args(["--in-memory", "--log", "error"]));
    let (status, why) = post(server.admin_address(), "/accounts", "Host: localhost\r\n");
    assert!(status == "403" && why.contains("--admin-file"), "{status} {why}");
    let mut command = Command::new(BINARY);
    command.env_clear().args(ANY_PORTS).args(NO_ADMIN).args(["--in-memory", "--admin-file", "x"]);
    let Output { status, stderr, .. } = command.output().unwrap();
    assert!(!status.success() && String::from_utf8_lossy(&stderr).contains("--admin-port"));
}

#[test]
fn health_reports_a_server_by_its_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("admin.json");
    let by_file = ["--admin-file", path.to_str().unwrap()];
    let missing = health(&by_file);
    assert!(missing.status.code() == Some(1) && String::from_utf8_lossy(&missing.stderr).contains("--admin-file"));
    let server = start(&path);
    let port = server.admin_address().rsplit(':').next().unwrap().to_owned();
    for arguments in [&by_file[..], &["--admin-port", &port], &["--admin-host", "0.0.0.0", "--admin-port", &port]] {
        let Output { status, stdout, .. } = health(arguments);
        assert!(status.success() && stdout == b"ready\n", "{arguments:?}");
    }
    server.stop();
    let gone = health(&["--admin-port", &port]);
    assert!(gone.status.code() == Some(1) && String::from_utf8_lossy(&gone.stderr).contains(&port));
}

/// A supervisor learns when the server is ready and when it stops.
#[cfg(target_os = "linux")]
#[test]
fn the_supervisor_is_notified() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("notify");
    let supervisor = std::os::unix::net::UnixDatagram::bind(&socket).unwrap();
    supervisor.set_read_timeout(Some(std::time::Duration::from_secs(30))).unwrap();
    let receive = || {
        let mut message = [0; 64];
        let length = supervisor.recv(&mut message).unwrap();
        String::from_utf8_lossy(&message[..length]).into_owned()
    };
    let mut command = Command::new(BINARY);
    let command = command.env_clear().env("NOTIFY_SOCKET", &socket).args(ANY_PORTS).args(NO_ADMIN).arg("--in-memory");
    let server = ServerProcess::start(command);
    assert_eq!(receive(), "READY=1");
    server.stop();
    assert_eq!(receive(), "STOPPING=1");
}
