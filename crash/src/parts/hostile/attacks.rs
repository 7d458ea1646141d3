//! The attacks: each opens a number of connections that all behave the same way.

use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use tablerock_conformance::request::Request;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

use super::probe::{PARTITION, ROW, TABLE};
use crate::server::Program;

/// The attacker's receive buffer: the smallest that the system allows.
const RECEIVE_BYTES: u32 = 4096;
const OPEN_TIME_MAX: Duration = Duration::from_secs(30);

/// The time per byte of a slow connection.
const SLOW: Duration = Duration::from_millis(100);
const HUGE_HEADER_BYTES: usize = 1 << 20;
/// Just below the largest body.
const LONG_BODY_BYTES: usize = 4_000_000;
const CHUNK_BYTES: usize = 64 << 10;

pub(super) struct Attack {
    pub(super) name: &'static str,
    connections: usize,
    behaviour: Behaviour,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Behaviour {
    /// Sends nothing.
    Idle,
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
    Attack { name: "idle connections", connections: 10_000, behaviour: Behaviour::Idle },
    Attack { name: "slow heads", connections: 1_000, behaviour: Behaviour::SlowHead },
    Attack { name: "slow bodies", connections: 1_000, behaviour: Behaviour::SlowBody },
    Attack { name: "stuck bodies", connections: 500, behaviour: Behaviour::StuckBody },
    Attack { name: "slow readers", connections: 500, behaviour: Behaviour::SlowReader },
    Attack { name: "huge heads", connections: 200, behaviour: Behaviour::HugeHead },
    Attack { name: "endless bodies", connections: 50, behaviour: Behaviour::EndlessBody },
    Attack { name: "a flood", connections: 256, behaviour: Behaviour::Flood },
];

/// The running attackers, until this is dropped.
pub(super) struct Attackers {
    _tasks: JoinSet<()>,
}

impl Attack {
    /// Opens all connections and starts the attack.
    pub(super) async fn start(&self, program: &Program) -> Result<Attackers, String> {
        let requests = Requests::sign(program);
        let mut tasks = JoinSet::new();
        let opening = async {
            for _ in 0..self.connections {
                let stream = connect(program.table_port).await?;
                let (behaviour, requests) = (self.behaviour, requests.clone());
                tasks.spawn(async move {
                    // The server may close the connection.
                    let _ = behave(behaviour, stream, &requests).await;
                });
            }
            Ok::<_, io::Error>(())
        };
        match tokio::time::timeout(OPEN_TIME_MAX, opening).await {
            Ok(Ok(())) => Ok(Attackers { _tasks: tasks }),
            Ok(Err(error)) => Err(format!("after {} connections: {error}", tasks.len())),
            Err(_) => Err(format!("only {} connections were accepted in time", tasks.len())),
        }
    }
}

async fn connect(port: u16) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.set_recv_buffer_size(RECEIVE_BYTES)?;
    socket.connect((Ipv4Addr::LOCALHOST, port).into()).await
}

/// The requests of the attackers, signed with the account's key.
#[derive(Clone)]
struct Requests {
    /// A query of the whole table.
    list: Vec<u8>,
    /// A read of one small entity.
    point: Vec<u8>,
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
            long_insert: insert.head_with(&format!("Content-Length: {LONG_BODY_BYTES}\r\n")),
            endless_insert: insert.head_with("Transfer-Encoding: chunked\r\n"),
        }
    }
}

async fn behave(behaviour: Behaviour, mut stream: TcpStream, requests: &Requests) -> io::Result<()> {
    match behaviour {
        Behaviour::Idle => std::future::pending().await,
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
