//! What the binary says and does around a start: good news on stdout, one sentence with the remedy on stderr.

use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tablerock_testkit::process::{ANY_PORTS, NO_ADMIN, ServerProcess, exchange_text};

const BINARY: &str = env!("CARGO_BIN_EXE_tablerock");

const REQUEST: &str = "GET /devstoreaccount1/Tables HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

fn command(location: &Path) -> Command {
    let mut command = Command::new(BINARY);
    command.env_clear().args(ANY_PORTS).args(NO_ADMIN).arg("--location").arg(location);
    command
}

/// Runs to the end, which a command that cannot start reaches at once.
fn failure(mut command: Command) -> String {
    let Output { status, stderr, .. } = command.output().expect("the binary runs");
    assert_eq!(status.code(), Some(1));
    String::from_utf8(stderr).expect("messages are text")
}

#[test]
fn a_server_whose_output_nobody_reads_serves_on() {
    let folder = tempfile::tempdir().unwrap();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let mut command = Command::new(BINARY);
    command.env_clear().args(["--blob-port", "0", "--queue-port", "0", "--admin-port", "0", "--table-port", &port]);
    let mut server = ServerProcess::start_unread(command.arg("--location").arg(folder.path()));
    let address = format!("127.0.0.1:{port}");
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while TcpStream::connect(&address).is_err() {
        assert!(std::time::Instant::now() < end, "it listens");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let answer = exchange_text(&address, REQUEST);
    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
    assert_eq!(server.end("-TERM").code(), Some(0));
}

#[test]
fn a_start_tells_where_to_connect_and_a_signal_ends_it_cleanly() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = ServerProcess::start(&mut command(folder.path()));
    let banner = server.banner().join("\n");
    assert!(banner.contains("AccountName=devstoreaccount1;AccountKey=Eby8"), "{banner}");
    assert!(
        banner.contains(&format!("TableEndpoint=http://{}/devstoreaccount1;", server.address("Table"))),
        "{banner}"
    );
    let answer = exchange_text(server.address("Table"), REQUEST);
    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
    for (service, line) in [("Queue", 1), ("Blob", 2)] {
        let root = server.banner()[line].rsplit(' ').next().unwrap();
        assert!(server.banner()[line].contains(&format!("{service} service")), "{banner}");
        assert!(banner.contains(&format!("{service}Endpoint={root}/devstoreaccount1;")), "{banner}");
    }
    assert_eq!(server.end("-TERM").code(), Some(0));
}

#[test]
fn an_admin_port_that_nobody_asked_for_gives_way() {
    // The first server, or another program, has the default port; the second one finds another.
    let start = || {
        let mut command = Command::new(BINARY);
        command.env_clear().args(ANY_PORTS).args(["--in-memory", "--log", "error"]);
        ServerProcess::start(&mut command)
    };
    let (first, second) = (start(), start());
    assert_ne!(first.admin_address(), second.admin_address());
    let live =
        exchange_text(second.admin_address(), "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assert!(live.starts_with("HTTP/1.1 200"), "{live}");
    let taken = second.admin_address().rsplit(':').next().unwrap();
    let mut command = Command::new(BINARY);
    command.env_clear().args(ANY_PORTS).args(["--in-memory", "--admin-port", taken]);
    let message = failure(command);
    assert!(message.contains(&format!("port {taken}")) && message.contains("--admin-port"), "{message}");
}

#[test]
fn a_taken_port_is_named_with_the_flag_that_helps() {
    let folder = tempfile::tempdir().unwrap();
    let holder = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = holder.local_addr().unwrap().port().to_string();
    let flags = ["--blob-port", "--queue-port", "--table-port"];
    for taken in flags {
        let mut command = Command::new(BINARY);
        command.env_clear().args(["--admin-port", "0", "-l"]).arg(folder.path());
        command.args(flags.into_iter().flat_map(|flag| [flag, if flag == taken { port.as_str() } else { "0" }]));
        let message = failure(command);
        assert!(message.contains(&format!("port {port}")) && message.contains(taken), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
}

#[test]
fn a_location_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a-file");
    std::fs::write(&file, "").unwrap();
    let message = failure(command(&file));
    assert!(message.contains("a-file") && message.contains("--location"), "{message}");
}

#[test]
fn new_data_is_announced_once_and_never_created_with_existing() {
    let folder = tempfile::tempdir().unwrap();
    let existing = || {
        let mut command = command(folder.path());
        command.env("TABLEROCK_EXISTING", "true");
        command
    };
    let message = failure(existing());
    assert!(message.contains("has no data; mount or restore the folder"), "{message}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is created");

    let data = format!("Data: {}", folder.path().join("tablerock-data").display());
    for (mut command, expected) in
        [(command(folder.path()), format!("{data} (new)")), (command(folder.path()), data.clone()), (existing(), data)]
    {
        let mut server = ServerProcess::start(&mut command);
        assert!(server.banner().contains(&expected), "{:?}", server.banner());
        assert_eq!(server.end("-TERM").code(), Some(0));
    }
}

#[test]
fn half_of_a_data_directory_is_refused_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = ServerProcess::start(&mut command(folder.path()));
    assert_eq!(server.end("-TERM").code(), Some(0));
    let data = folder.path().join("tablerock-data");
    std::fs::rename(data.join("store"), folder.path().join("elsewhere")).unwrap();
    let message = failure(command(folder.path()));
    assert!(message.contains("store is missing, but there is tablerock-format; mount or restore store"), "{message}");
    std::fs::rename(folder.path().join("elsewhere"), data.join("store")).unwrap();

    std::fs::write(data.join("store/0.jnl"), "").unwrap();
    let message = failure(command(folder.path()));
    assert!(message.contains("remove its file tablerock-clean-stop"), "{message}");
}

#[test]
fn a_second_server_on_the_same_data_is_told_so() {
    let folder = tempfile::tempdir().unwrap();
    let server = ServerProcess::start(&mut command(folder.path()));
    let message = failure(command(folder.path()));
    assert!(message.contains("in use") && message.contains(&server.id().to_string()), "{message}");
}

#[test]
fn a_bad_key_a_bad_file_and_a_missing_certificate_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let with = |arguments: &[&str]| {
        let mut command = command(folder.path());
        command.args(arguments);
        failure(command)
    };
    let message = with(&["--accounts", "mine:not-base64!"]);
    assert!(message.contains("mine") && message.contains("openssl rand"), "{message}");
    assert!(!message.contains("not-base64"), "keys stay out of messages: {message}");
    let settings = folder.path().join("settings.toml");
    std::fs::write(&settings, "tabel-port = 1").unwrap();
    let message = with(&["--config", settings.to_str().unwrap()]);
    assert!(message.contains("tabel-port"), "{message}");
    let message = with(&["--cert", "nowhere.pem", "--key", "nowhere.key"]);
    assert!(message.contains("nowhere.pem"), "{message}");
    let message = with(&["--log", "this=is=not"]);
    assert!(message.contains("--log"), "{message}");
}

#[test]
fn settings_come_from_the_environment_and_the_file_too() {
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("settings.toml");
    std::fs::write(&settings, "accounts = \"fromfile:a2V5\"\nin-memory = true\n").unwrap();
    let mut from_file = Command::new(BINARY);
    from_file.env_clear().args(ANY_PORTS).args(NO_ADMIN).arg("--config").arg(&settings);
    let banner = ServerProcess::start(&mut from_file).banner().join("\n");
    assert!(banner.contains("AccountName=fromfile") && banner.contains("in memory"), "{banner}");
    assert!(!banner.contains("a2V5"), "a key of one's own is not shown: {banner}");

    let mut from_variable = command(folder.path());
    from_variable.env("AZURITE_ACCOUNTS", "fromazurite:a2V5;second:a2V5:a2V5");
    let banner = ServerProcess::start(&mut from_variable).banner().join("\n");
    assert!(banner.contains("AccountName=fromazurite") && banner.contains("AccountName=second"), "{banner}");

    let mut both = command(folder.path());
    both.env("AZURITE_ACCOUNTS", "fromazurite:a2V5").env("TABLEROCK_ACCOUNTS", "ours:a2V5");
    assert!(ServerProcess::start(&mut both).banner().join("\n").contains("AccountName=ours"));
}

#[test]
fn a_location_and_memory_contradict_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = command(folder.path());
    command.arg("--in-memory");
    let message = failure(command);
    assert!(message.contains("--in-memory") && message.contains("--location"), "{message}");
    assert!(!folder.path().join("tablerock-data").exists());
}

/// Starts a server on all addresses, ends it, and returns its banner and stderr.
fn run_on_all_addresses(mut command: Command) -> (String, String) {
    command.args(["--table-host", "0.0.0.0"]);
    let mut server = ServerProcess::start(command.stderr(Stdio::piped()));
    assert_eq!(server.end("-TERM").code(), Some(0));
    let mut stderr = String::new();
    server.stderr().read_to_string(&mut stderr).expect("the log is text");
    (server.banner().join("\n"), stderr)
}

#[test]
fn the_development_account_is_served_to_other_machines_only_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let mut refused = command(folder.path());
    refused.args(["--table-host", "0.0.0.0"]);
    let message = failure(refused);
    for part in ["0.0.0.0", "TABLEROCK_ACCOUNTS", "--allow-dev-account", "TABLEROCK_ALLOW_DEV_ACCOUNT=true"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert_eq!(message.lines().count(), 1, "{message}");
    assert!(!folder.path().join("tablerock-data").exists());

    let mut by_flag = command(folder.path());
    by_flag.args(["--allow-dev-account", "--log", "error"]);
    let mut by_variable = command(folder.path());
    by_variable.env("TABLEROCK_ALLOW_DEV_ACCOUNT", "true").args(["--log-format", "json"]);
    for allowed in [by_flag, by_variable] {
        let (banner, stderr) = run_on_all_addresses(allowed);
        assert!(banner.contains("listening at http://0.0.0.0:"), "{banner}");
        assert!(stderr.contains("CAN READ AND CHANGE ALL DATA") && stderr.contains("plain HTTP"), "{stderr}");
    }
}

#[test]
fn flags_of_azurite_without_a_meaning_are_explained_on_stderr() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = command(folder.path());
    command.args(["--disableTelemetry", "--skipApiVersionCheck"]);
    let mut server = ServerProcess::start(command.stderr(Stdio::piped()));
    assert_eq!(server.end("-INT").code(), Some(0));
    let mut stderr = String::new();
    server.stderr().read_to_string(&mut stderr).unwrap();
    for flag in ["--disableTelemetry", "--skipApiVersionCheck"] {
        assert_eq!(stderr.lines().filter(|line| line.contains(flag)).count(), 1, "{flag}: {stderr}");
    }
}
