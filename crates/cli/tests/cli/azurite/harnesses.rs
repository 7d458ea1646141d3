//! Each test harness for Azurite, with the command line that it runs and what it then waits for. All of this is from the
//! sources of the harnesses. The ports are chosen by the system, through variables or instead of the numbers.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::net::TcpStream;
use std::process::Command;

use tablerock_testkit::process::exchange_text;

use super::{Line, Links, Running, pfx, write_certificate};

/// The command of Azurite's image.
const IMAGE: &str = "azurite -l /data --blobHost 0.0.0.0 --queueHost 0.0.0.0 --tableHost 0.0.0.0";

/// The regular expressions of the modules for .NET and Node, which have nothing around these words but `.*`.
const LISTENING: [&str; 3] = [
    "Blob service is successfully listening",
    "Queue service is successfully listening",
    "Table service is successfully listening",
];

const ALL: [&str; 3] = ["Blob", "Queue", "Table"];

/// A harness, and its use of a container.
struct Harness {
    name: &'static str,
    line: String,
    environment: &'static [(&'static str, &'static str)],
    ready: Vec<Ready>,
}

/// An event that a harness waits for.
enum Ready {
    /// A line that contains these words, on stdout or stderr.
    Words(&'static str),
    /// A line on stdout that contains this text, with the port as bound.
    ExactLine(&'static str, &'static str),
    /// A connection from outside.
    Connection(&'static str),
    /// A listening socket in the kernel's list, which a shell inside the container searches.
    ListedSocket(&'static str),
    /// `nc -z` inside the container.
    Netcat(&'static str),
}

fn harness(name: &'static str, line: impl Into<String>, ready: impl IntoIterator<Item = Ready>) -> Harness {
    Harness { name, line: line.into(), environment: &[], ready: ready.into_iter().collect() }
}

fn harnesses() -> Vec<Harness> {
    let hosts = "--blobHost 0.0.0.0 --queueHost 0.0.0.0 --tableHost 0.0.0.0";
    let ports = "--blobHost 0.0.0.0 --blobPort 10000 --queueHost 0.0.0.0 --queuePort 10001 --tableHost 0.0.0.0 --tablePort 10002";
    let words = || LISTENING.map(Ready::Words);
    let sockets = || ALL.into_iter().flat_map(|service| [Ready::Connection(service), Ready::ListedSocket(service)]);
    let exact = |scheme: &'static str| Ready::ExactLine("Table", scheme);
    vec![
        harness("Java", format!("azurite {hosts}"), sockets()),
        harness("Java with PEM", format!("azurite {hosts} --cert /cert.pem --key /key.pem"), sockets()),
        harness("Java with PFX", format!("azurite {hosts} --cert /cert.pfx --pwd geheim!"), sockets()),
        harness(".NET", format!("azurite {hosts}"), words()),
        harness(".NET, silent", format!("azurite {hosts} --silent"), words()),
        harness(".NET in memory", format!("azurite {hosts} --inMemoryPersistence --extentMemoryLimit 64"), words()),
        harness("Go", format!("azurite {ports}"), sockets()),
        harness(
            "Go, blobs only",
            "azurite-blob --blobHost 0.0.0.0 --blobPort 10000",
            [Ready::Connection("Blob"), Ready::ListedSocket("Blob")],
        ),
        harness("Go, queues only", "azurite-queue --queueHost 0.0.0.0 --queuePort 10001", [Ready::Connection("Queue")]),
        Harness {
            environment: &[("AZURITE_ACCOUNTS", "node:bm9kZSBrZXkgd2l0aCAzMiBieXRlcyBvciBtb3JlIQ==")],
            ..harness("Node", format!("azurite {ports} --inMemoryPersistence --skipApiVersionCheck"), words())
        },
        harness("Node with PEM", format!("azurite {ports} --cert /cert.pem --key /key.pem --oauth basic"), words()),
        harness("Node with PFX", format!("azurite {ports} --cert /cert.pfx --pwd geheim! --oauth basic"), words()),
        Harness {
            environment: &[(
                "AZURITE_ACCOUNTS",
                "devstoreaccount1:Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
            )],
            ..harness("Python", IMAGE, [Ready::Connection("Blob")])
        },
        harness("Rust", format!("azurite {hosts}"), [exact("http")]),
        harness(
            "Rust, all options",
            format!("azurite {hosts} --loose --skipApiVersionCheck --disableTelemetry"),
            [exact("http")],
        ),
        harness(
            "Aspire",
            format!("{IMAGE} --disableProductStyleUrl --skipApiVersionCheck"),
            ALL.map(Ready::Connection),
        ),
        harness("Spring", IMAGE, [Ready::Connection("Blob"), Ready::Connection("Queue")]),
        harness("compose, nc", IMAGE, [Ready::Netcat("Blob")]),
        harness("compose, nc and silent", format!("{IMAGE} -s"), [Ready::Netcat("Blob"), Ready::Words(LISTENING[0])]),
    ]
}

impl Ready {
    fn wait(&self, running: &mut Running) {
        match self {
            Self::Words(words) => drop(running.wait_for(|line| line.text().contains(words))),
            Self::ExactLine(service, scheme) => {
                let port = port(&running.address(service));
                let line = format!("Azurite {service} service is successfully listening at {scheme}://0.0.0.0:{port}");
                running.wait_for(|printed| *printed == Line::Stdout(line.clone()));
            }
            Self::Connection(service) => drop(TcpStream::connect(running.address(service)).expect("it listens")),
            Self::ListedSocket(service) => {
                let port = port(&running.address(service));
                let listed = ["tcp", "tcp6"].map(|list| std::fs::read_to_string(format!("/proc/net/{list}")));
                let listed = listed.into_iter().map(Result::unwrap_or_default).collect::<String>();
                let is_linux = cfg!(target_os = "linux");
                assert!(!is_linux || listed.contains(&format!(":{port:04X} ")), "{service} is not in /proc/net/tcp");
            }
            Self::Netcat(service) => {
                let address = running.address(service);
                match Command::new("nc").args(["127.0.0.1", &port(&address).to_string(), "-z"]).status() {
                    Ok(status) => assert!(status.success()),
                    // Without the program, the connection that it opens.
                    Err(_) => drop(TcpStream::connect(address).expect("it listens")),
                }
            }
        }
    }
}

fn port(address: &str) -> u16 {
    address.rsplit(':').next().unwrap().parse().unwrap()
}

#[test]
fn every_harness_finds_what_it_waits_for() {
    let pfx = pfx();
    for Harness { name, line, environment, ready } in harnesses() {
        let links = Links::new();
        write_certificate(links.path());
        let inside = |path: &str| links.path().join(path).to_str().unwrap().to_owned();
        let line = ["10000", "10001", "10002"].iter().fold(line, |line, port| line.replace(port, "0"));
        let line = line.replace("/data", &inside("data")).replace("/cert.pfx", &pfx);
        let line = line.replace("/cert.pem", &inside("cert.pem")).replace("/key.pem", &inside("key.pem"));
        let mut command = links.command(&line);
        command.envs(environment.iter().copied());
        println!("{name}: {line}");
        let mut running = Running::start(command);
        for ready in ready {
            ready.wait(&mut running);
        }
        let served: Vec<&str> = ALL.into_iter().filter(|service| serves(&line, service)).collect();
        for service in &served {
            // Under HTTPS a request in plain text is not answered, and the connection was enough.
            if !line.contains("--cert") {
                let request = "GET /devstoreaccount1?comp=list HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
                let response = exchange_text(&running.address(service), request);
                assert!(response.starts_with("HTTP/1.1 4"), "{name}, {service}: {response}");
            }
        }
        let (stdout, _) = running.stop();
        let closed = served.iter().map(|service| format!("Azurite {service} service successfully closed"));
        assert!(stdout.ends_with(&closed.collect::<Vec<_>>()), "{name}: {stdout:#?}");
    }
}

fn serves(line: &str, service: &str) -> bool {
    let program = line.split(' ').next().unwrap_or_default();
    program == "azurite" || program == format!("azurite-{}", service.to_lowercase())
}
