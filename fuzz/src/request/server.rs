//! A server with a memory engine on a port of its own, and the one connection to it. All of it runs in the fuzzer's
//! thread, so that one input is one run.

use std::sync::Arc;
use std::time::Duration;

use tablerock_kv::{ManualClock, Rng, Store};
use tablerock_protocol::signing::AccountKey;
use tablerock_protocol::{AccountName, Service};
use tablerock_server::{
    Account, Connections, Listening, MemoryBudget, Metrics, Operation, ServedAccounts, Server, serve_service,
};
use tablerock_services::{AccountService, Analytics, BlobService, QueueService, TableService, ThrottleTargets};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::watch;

use super::message::{DATE, Incoming, Outgoing};
use super::state::{self, Places, State};
use crate::known_table::{ACCOUNT, NOON};

pub(super) struct FuzzedServer {
    runtime: Runtime,
    server: Arc<Server>,
    key: AccountKey,
    /// Of each service: tables, queues, blobs.
    endpoints: [Endpoint; 3],
    /// Nothing is sent through it; the server stops when it is dropped.
    _stop: watch::Sender<bool>,
}

/// A service of the server, as the harness sees it.
struct Endpoint {
    address: std::net::SocketAddr,
    connection: Option<TcpStream>,
    /// The state that every request finds.
    beginning: State,
    places: Places,
}

pub(super) const SERVICES: [Service; 3] = [Service::Table, Service::Queue, Service::Blob];

impl FuzzedServer {
    pub(super) fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let key = AccountKey::from_bytes(b"ours");
        let (stop, stopped) = watch::channel(false);
        let (server, endpoints) = runtime.block_on(async {
            let server = Arc::new(server(key.clone()).await);
            let mut endpoints = Vec::new();
            for service in SERVICES {
                endpoints.push(Endpoint::start(service, &server, stopped.clone()).await);
            }
            (server, endpoints.try_into().unwrap_or_else(|_| panic!("one for each service")))
        });
        Self { runtime, server, key, endpoints, _stop: stop }
    }

    /// Sends a request and waits for its response; `None` if hyper closed the connection without one.
    pub(super) fn send(&mut self, request: &Outgoing) -> Option<Incoming> {
        let wire = request.to_wire(&self.key, DATE);
        let endpoint = &mut self.endpoints[place(request.service)];
        let (connection, address) = (endpoint.connection.take(), endpoint.address);
        let answer = self.runtime.block_on(async {
            let mut connection = match connection {
                Some(connection) => connection,
                None => TcpStream::connect(address).await.expect("our own server listens"),
            };
            connection.write_all(&wire).await.ok()?;
            let response = read_response(&mut connection, &request.method).await?;
            Some((response, connection))
        });
        let (response, connection) = answer?;
        endpoint.connection = (!response.is_last()).then_some(connection);
        Some(response)
    }

    /// Texts that only the server can give.
    pub(super) fn places(&self, service: Service) -> &Places {
        &self.endpoints[place(service)].places
    }

    /// The state that every request finds.
    pub(super) fn beginning(&self, service: Service) -> &State {
        &self.endpoints[place(service)].beginning
    }

    /// Everything that a client could see.
    pub(super) fn state(&self, service: Service) -> State {
        self.runtime.block_on(State::of(&self.server, service))
    }

    /// Back to the beginning, with newer Timestamps.
    pub(super) fn reset(&mut self, service: Service) {
        let (places, beginning) = self.runtime.block_on(async {
            let places = state::reset(&self.server, service).await;
            (places, State::of(&self.server, service).await)
        });
        let endpoint = &mut self.endpoints[place(service)];
        (endpoint.places, endpoint.beginning) = (places, beginning);
    }

    /// Whether a request needs a new connection, because the last one ended it.
    pub(super) fn is_disconnected(&self, service: Service) -> bool {
        self.endpoints[place(service)].connection.is_none()
    }
}

impl Endpoint {
    async fn start(service: Service, server: &Arc<Server>, stopped: watch::Receiver<bool>) -> Self {
        let places = state::fill(server, service).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("a bound port");
        let listening =
            Listening { tls: None, connections: Connections::new(16), idle_time: Duration::from_secs(3600) };
        tokio::spawn(serve_service(service, server.clone(), listener, listening, stopped));
        Self { address, connection: None, beginning: State::of(server, service).await, places }
    }
}

fn place(service: Service) -> usize {
    SERVICES.iter().position(|known| *known == service).expect("one of three")
}

async fn server(key: AccountKey) -> Server {
    let clock = Arc::new(ManualClock::at(NOON));
    let store = Store::in_memory();
    let tables = TableService::open(store.clone(), clock.clone(), ThrottleTargets::default()).await;
    let queues = QueueService::open(store.clone(), clock.clone(), Rng::seeded(2)).await;
    let blobs = BlobService::open(store.clone(), clock.clone(), Rng::seeded(3)).await;
    let blobs = blobs.expect("an empty store opens");
    let settings = AccountService::new(store);
    let analytics = Analytics::open(&settings, &blobs, clock.clone(), [ACCOUNT], Operation::names_of).await;
    Server {
        accounts: ServedAccounts::new([Account {
            name: AccountName::parse(ACCOUNT).expect("a name"),
            keys: vec![key],
        }]),
        tables: tables.expect("an empty store opens"),
        queues: queues.expect("an empty store opens"),
        blobs,
        settings,
        analytics: analytics.expect("an empty store opens"),
        clock,
        rng: Rng::seeded(1),
        metrics: Metrics::new(),
        memory: MemoryBudget::default(),
        accept_tokens: true,
        host_style: true,
        is_loose: false,
    }
}

async fn read_response(connection: &mut TcpStream, method: &str) -> Option<Incoming> {
    let mut bytes = Vec::with_capacity(4096);
    let (mut response, head_length) = loop {
        if connection.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        if let Some(parsed) = Incoming::parse_head(&bytes) {
            break parsed;
        }
    };
    let whole = head_length + response.body_length(method);
    while bytes.len() < whole {
        let read = connection.read_buf(&mut bytes).await.expect("the rest of a response");
        assert!(read > 0, "a response is cut short");
    }
    assert_eq!(bytes.len(), whole, "one request, one response");
    response.body = bytes.split_off(head_length);
    Some(response)
}
