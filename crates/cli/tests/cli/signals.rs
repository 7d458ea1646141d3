//! The signals of a supervisor, and the exit codes that it sees.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::io::Write as _;
use std::net::{TcpListener, TcpStream};

use crate::azurite::{Links, Running};

/// A request whose body does not arrive. A clean stop waits for it.
fn unfinished_request(address: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"POST /devstoreaccount1/Tables HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{").unwrap();
    stream
}

#[test]
fn each_signal_stops_cleanly() {
    for signal in ["-TERM", "-INT"] {
        for program in ["tablerock --in-memory", "azurite --inMemoryPersistence", "azurite-table --inMemoryPersistence"]
        {
            let links = Links::new();
            let mut running = Running::start(links.command(&format!("{program} --admin-port 0")));
            running.address("Table");
            running.signal(signal);
            assert_eq!(running.finish().0.code(), Some(0), "{program} {signal}");
        }
    }
}

#[test]
fn a_stop_during_a_long_start_is_heard() {
    // A database that accepts connections and never responds.
    let database = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = database.local_addr().unwrap().port();
    let links = Links::new();
    let line = format!("tablerock --admin-port 0 --store postgres://user@127.0.0.1:{port}/data?sslmode=disable");
    let running = Running::start(links.command(&line));
    let _connection = database.accept().unwrap();
    running.signal("-TERM");
    assert_eq!(running.finish().0.code(), Some(0));
}

#[test]
fn a_second_signal_ends_the_process_at_once() {
    for (signal, code) in [("-TERM", 143), ("-INT", 130)] {
        let links = Links::new();
        let mut running = Running::start(links.command("azurite --inMemoryPersistence --admin-port 0 --log debug"));
        let _request = unfinished_request(&running.address("Table"));
        running.signal("-TERM");
        running.wait_for_stdout("Azurite Table service is closing...");
        running.signal(signal);
        let (status, stdout, _) = running.finish();
        assert_eq!(status.code(), Some(code));
        assert!(!stdout.iter().any(|line| line.contains("successfully closed")), "{stdout:#?}");
    }
}

#[test]
fn a_taken_port_is_an_error_with_the_remedy() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    for (line, flag) in [("azurite --queuePort", "--queue-port"), ("azurite-blob --admin-port", "--admin-port")] {
        let links = Links::new();
        let running = Running::start(links.command(&format!("{line} {port} --inMemoryPersistence")));
        let (status, stdout, stderr) = running.finish();
        assert_eq!((status.code(), stdout), (Some(1), vec![]));
        let stderr = stderr.join("\n");
        let name = line.split(' ').next().unwrap();
        assert!(stderr.starts_with(&format!("{name}: port {port}")) && stderr.contains(flag), "{stderr}");
    }
}
