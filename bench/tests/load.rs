//! The load generator against a server of a few lines: what it counts, and what it takes for a failure.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process;
use std::thread;
use std::time::Duration;

use tablerock_bench::data::dataset::Dataset;
use tablerock_bench::http::caller::Credential;
use tablerock_bench::load::{At, Load, drive};
use tablerock_bench::workload::{Group, PointRead};

const DATASET: Dataset = Dataset { table: "People", entities: 1_000, partition_size: 100 };
const FOUND: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
const ACCEPTED: &[u8] = b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n";

/// A server that gives each connection this many responses of one kind and then goes away.
fn serve(answer: &'static [u8], answers_max: usize) -> At {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("some port is free");
    let port = listener.local_addr().expect("it is bound").port();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            thread::spawn(move || answer_requests(stream, answer, answers_max));
        }
    });
    At { port, pid: process::id() }
}

fn answer_requests(mut stream: TcpStream, answer: &[u8], answers_max: usize) {
    for _ in 0..answers_max {
        if !read_request(&mut stream) || stream.write_all(answer).is_err() {
            return;
        }
    }
}

/// Reads one request with its body; `false` if the client has gone.
fn read_request(stream: &mut TcpStream) -> bool {
    let (mut request, mut buffer) = (Vec::new(), [0; 64 * 1024]);
    loop {
        let text = String::from_utf8_lossy(&request);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
            if body.len() >= length.map_or(0, |length| length.parse().expect("a number")) {
                return true;
            }
        }
        match stream.read(&mut buffer) {
            Ok(read) if read > 0 => request.extend_from_slice(&buffer[..read]),
            _ => return false,
        }
    }
}

fn load(connections: usize, measured: Duration) -> Load {
    Load { connections, warm_up: Duration::ZERO, measured, rest: Duration::ZERO, losses_max: 0 }
}

fn point_read(server: At) -> PointRead {
    PointRead { port: server.port, dataset: DATASET, credential: Credential::SharedKey }
}

#[test]
fn answers_within_the_measured_time_are_counted() {
    let server = serve(FOUND, usize::MAX);
    let run = drive(server, &point_read(server), &load(3, Duration::from_millis(300))).unwrap();
    assert!(run.entities > 0);
    assert_eq!(run.entities, run.requests());
    assert_eq!(run.time, Duration::from_millis(300));
}

#[test]
fn work_that_ends_is_measured_to_its_end_and_groups_count_their_entities() {
    let server = serve(ACCEPTED, usize::MAX);
    let run = drive(server, &Group::filling(server.port, DATASET), &load(4, Duration::from_secs(60))).unwrap();
    assert_eq!((run.entities, run.requests()), (1_000, 10));
    assert!(run.time < Duration::from_secs(30), "{:?}", run.time);
}

#[test]
fn a_wrong_status_ends_the_run_and_shows_the_answer() {
    let server = serve(b"HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nwait", usize::MAX);
    let why = drive(server, &point_read(server), &load(2, Duration::from_secs(60))).unwrap_err();
    assert!(why.starts_with("200 expected, but came\nHTTP/1.1 503 Busy") && why.ends_with("wait"), "{why}");
}

#[test]
fn a_server_that_goes_away_ends_the_run() {
    let server = serve(FOUND, 5);
    let why = drive(server, &point_read(server), &load(1, Duration::from_secs(60))).unwrap_err();
    assert!(why.contains("closed the connection") || why.contains("reset"), "{why}");
}

#[test]
fn where_losses_are_allowed_a_lost_connection_is_replaced_and_counted() {
    let server = serve(FOUND, 5);
    let load = Load { losses_max: u64::MAX, ..load(1, Duration::from_millis(300)) };
    let run = drive(server, &point_read(server), &load).unwrap();
    assert!(run.lost > 0 && run.requests() > 5 * run.lost - 5, "{} lost, {} with a response", run.lost, run.requests());
}
