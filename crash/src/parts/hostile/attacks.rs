//! The attacks: each opens a number of connections that all behave the same way.

use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use tablerock_conformance::request::Request;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

use super::probe::{PARTITION, ROW, TABLE};
use crate::run::Run;
use crate::server::Program;

/// The attacker's receive buffer: the smallest that the system allows.
const RECEIVE_BYTES: u32 = 4096;
const OPEN_TIME_MAX: Duration = Duration::from_secs(60);

/// The time per byte of a slow connection.
const SLOW: Duration = Duration::from_millis(100);
const HUGE_HEADER_BYTES: usize = 1 << 20;
/// Just below the largest body.
const LONG_BODY_BYTES: usize = 4_000_000;
const CHUNK_BYTES: usize = 64 << 10;
/// Most of a head or of a short body.
const HALF_BYTES: usize = 60_000;

/// Connections in all: as many as the server accepts by default.
const ALL_CONNECTIONS: usize = 20_000;
/// Connections of the short form, which shows the same per connection in less time.
const FEW_CONNECTIONS: usize = 4_000;
/// Descriptors that the harness needs for itself, and a server for its store.
const OTHER_DESCRIPTORS: usize = 1_200;
/// Addresses of the attackers: one alone does not get all connections.
const ADDRESSES: usize = 8;

pub(super) struct Attack {
    pub(super) name: &'static str,
    connections: Connections,
    behaviour: Behaviour,
}

/// The connections of an attack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Connections {
    /// This many, to the Table service.
    Tables(usize),
    /// As many as the server accepts, to all services in turn.
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Behaviour {
    /// Sends nothing.
    Idle,
    /// Sends 60 KB of a head, and then nothing.
    HalfHead,
    /// Sends the head of a request without credentials and 60 KB of its body, and then nothing.
    RejectedBody,
    /// Sends the head of a request and 60 KB of its body, and then nothing.
    HalfBody,
    /// Sends the head of a request, one byte at a time.
    SlowHead,
    /// Announces a large body and sends it one byte at a time.
    SlowBody,
    /// Requests a page of 4 MiB and reads it one byte at a time.
    SlowReader,
    /// Sends almost all of a 4 MB body, and then nothing.
    StuckBody,
    /// Sends a header of a MiB.
    HugeHead,
    /// Sends an endless body as fast as possible.
    EndlessBody,
    /// Sends requests as fast as possible.
    Flood,
}

pub(super) const ATTACKS: &[Attack] = &[
    Attack { name: "idle connections", connections: Connections::All, behaviour: Behaviour::Idle },
    Attack { name: "half heads", connections: Connections::All, behaviour: Behaviour::HalfHead },
    Attack { name: "rejected bodies", connections: Connections::All, behaviour: Behaviour::RejectedBody },
    Attack { name: "half bodies", connections: Connections::All, behaviour: Behaviour::HalfBody },
    Attack { name: "slow heads", connections: Connections::Tables(1_000), behaviour: Behaviour::SlowHead },
    Attack { name: "slow bodies", connections: Connections::Tables(1_000), behaviour: Behaviour::SlowBody },
    Attack { name: "stuck bodies", connections: Connections::Tables(500), behaviour: Behaviour::StuckBody },
    Attack { name: "slow readers", connections: Connections::Tables(500), behaviour: Behaviour::SlowReader },
    Attack { name: "huge heads", connections: Connections::Tables(200), behaviour: Behaviour::HugeHead },
    Attack { name: "endless bodies", connections: Connections::Tables(50), behaviour: Behaviour::EndlessBody },
    Attack { name: "a flood", connections: Connections::Tables(256), behaviour: Behaviour::Flood },
];

/// The running attackers, until this is dropped.
pub(super) struct Attackers {
    tasks: JoinSet<()>,
}

impl Attack {
    /// Opens all connections and starts the attack.
    pub(super) async fn start(&self, run: &Run) -> Result<Attackers, String> {
        let program = &run.program;
        let requests = Requests::sign(program);
        let ports = match self.connections {
            Connections::Tables(_) => vec![program.table_port],
            Connections::All => vec![program.table_port, program.queue_port, program.blob_port],
        };
        let mut tasks = JoinSet::new();
        let opening = async {
            for number in 0..self.count(run) {
                let stream = connect(ports[number % ports.len()], number % ADDRESSES).await?;
                let (behaviour, requests) = (self.behaviour, requests.clone());
                tasks.spawn(async move {
                    // The server may close the connection.
                    let _ = behave(behaviour, stream, &requests).await;
                });
            }
            Ok::<_, io::Error>(())
        };
        match tokio::time::timeout(OPEN_TIME_MAX, opening).await {
            Ok(Ok(())) => Ok(Attackers { tasks }),
            Ok(Err(error)) => Err(format!("after {} connections: {error}", tasks.len())),
            Err(_) => Err(format!("only {} connections were accepted in time", tasks.len())),
        }
    }

    fn count(&self, run: &Run) -> usize {
        match self.connections {
            Connections::Tables(count) => count,
            Connections::All if run.is_long => ALL_CONNECTIONS.min(descriptors().saturating_sub(OTHER_DESCRIPTORS)),
            Connections::All => FEW_CONNECTIONS.min(descriptors().saturating_sub(OTHER_DESCRIPTORS)),
        }
    }
}

impl Attackers {
    /// The number of connections that were opened.
    pub(super) fn count(&self) -> usize {
        self.tasks.len()
    }
}

/// The descriptors that this process, and a server that it starts, may have.
fn descriptors() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(1024)
}

pub(super) async fn connect(port: u16, address: usize) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.set_recv_buffer_size(RECEIVE_BYTES)?;
    if cfg!(target_os = "linux") {
        // Elsewhere only 127.0.0.1 is an address of this machine.
        socket.bind((Ipv4Addr::new(127, 0, 0, 2 + address as u8), 0).into())?;
    }
    socket.connect((Ipv4Addr::LOCALHOST, port).into()).await
}

/// The requests of the attackers, signed with the account's key.
#[derive(Clone)]
struct Requests {
    /// A query of the whole table.
    list: Vec<u8>,
    /// A read of one small entity.
    point: Vec<u8>,
    /// The head of an insert with a body of 64 KB.
    short_insert: Vec<u8>,
    /// The head of an insert with a body of 4 MB.
    long_insert: Vec<u8>,
    /// The head of an insert with a chunked body.
    endless_insert: Vec<u8>,
}

impl Requests {
    fn sign(program: &Program) -> Self {
        let target = program.target();
        let insert = Request::new(&target, "POST", format!("/{TABLE}")).header("Content-Type", "application/json");
        let point = format!("/{TABLE}(PartitionKey='{PARTITION}',RowKey='{ROW}')");
        Self {
            list: Request::new(&target, "GET", format!("/{TABLE}()")).bytes(),
            point: Request::new(&target, "GET", point).bytes(),
            short_insert: insert.head_with("Content-Length: 64000\r\n"),
            long_insert: insert.head_with(&format!("Content-Length: {LONG_BODY_BYTES}\r\n")),
            endless_insert: insert.head_with("Transfer-Encoding: chunked\r\n"),
        }
    }
}

async fn behave(behaviour: Behaviour, mut stream: TcpStream, requests: &Requests) -> io::Result<()> {
    match behaviour {
        Behaviour::Idle => std::future::pending().await,
        Behaviour::HalfHead => {
            stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ").await?;
            stream.write_all(&[b'x'; HALF_BYTES]).await?;
            std::future::pending().await
        }
        Behaviour::RejectedBody => {
            stream.write_all(b"POST /devstoreaccount1/Tables HTTP/1.1\r\nHost: localhost\r\n").await?;
            stream.write_all(b"Content-Length: 64000\r\n\r\n").await?;
            stream.write_all(&[b' '; HALF_BYTES]).await?;
            std::future::pending().await
        }
        Behaviour::HalfBody => {
            stream.write_all(&requests.short_insert).await?;
            stream.write_all(&[b' '; HALF_BYTES]).await?;
            std::future::pending().await
        }
        Behaviour::SlowHead => drip(&mut stream, &requests.point).await,
        Behaviour::SlowBody => {
            stream.write_all(&requests.long_insert).await?;
            drip(&mut stream, &[b' '; 100_000]).await
        }
        Behaviour::StuckBody => {
            stream.write_all(&requests.long_insert).await?;
            for _ in 0..LONG_BODY_BYTES / CHUNK_BYTES {
                stream.write_all(&[b' '; CHUNK_BYTES]).await?;
            }
            std::future::pending().await
        }
        Behaviour::SlowReader => {
            stream.write_all(&requests.list).await?;
            loop {
                tokio::time::sleep(SLOW).await;
                stream.read_u8().await?;
            }
        }
        Behaviour::HugeHead => {
            stream.write_all(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Huge: ").await?;
            stream.write_all(&vec![b'x'; HUGE_HEADER_BYTES]).await?;
            std::future::pending().await
        }
        Behaviour::EndlessBody => {
            stream.write_all(&requests.endless_insert).await?;
            let head = format!("{CHUNK_BYTES:x}\r\n");
            let chunk = [head.as_bytes(), &vec![b' '; CHUNK_BYTES], b"\r\n"].concat();
            loop {
                stream.write_all(&chunk).await?;
            }
        }
        Behaviour::Flood => {
            let (mut reader, mut writer) = stream.into_split();
            let sending = async {
                loop {
                    writer.write_all(&requests.point).await?;
                }
            };
            let mut responses = vec![0; 16 << 10];
            let receiving = async {
                while reader.read(&mut responses).await? > 0 {}
                Ok(())
            };
            tokio::select! {
                ended = sending => ended,
                ended = receiving => ended,
            }
        }
    }
}

async fn drip(stream: &mut TcpStream, bytes: &[u8]) -> io::Result<()> {
    for byte in bytes {
        stream.write_all(&[*byte]).await?;
        tokio::time::sleep(SLOW).await;
    }
    Ok(())
}
