//! A server in memory, on ports of its own.

use std::sync::Arc;
use std::time::Duration;

use tablerock_kv::{Clock, Rng, Store, SystemClock};
use tablerock_protocol::signing::AccountKey;
use tablerock_protocol::{AccountName, Service};
use tablerock_server::{
    Account, Connections, Listening, MemoryBudget, Metrics, Operation, ServedAccounts, serve_service, tls,
};
use tablerock_services::{
    AccountService, Analytics, BlobService, LoadReport, QueueService, TableService, ThrottleTargets,
};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

const ACCOUNT: &str = Server::ACCOUNT;
const KEY: &str = Server::KEY;

/// How a server differs from the usual.
#[derive(Debug, Default)]
pub struct ServerOptions {
    /// With a certificate of its own.
    pub tls: bool,
    pub accept_tokens: bool,
    /// Entities of one partition in a second, above which it is busy.
    pub partition_entities_per_second: Option<u32>,
    /// The store, if it is not one of its own in memory.
    pub store: Option<Store>,
}

/// A server, stopped when dropped.
#[derive(Debug)]
pub struct Server {
    ports: [u16; 3],
    pub certificate: Option<rustls::pki_types::CertificateDer<'static>>,
    scheme: &'static str,
    stop: watch::Sender<bool>,
    serving: Vec<JoinHandle<()>>,
    server: Arc<tablerock_server::Server>,
}

impl Server {
    pub const ACCOUNT: &str = "acct";
    pub const KEY: &str = "c2VjcmV0";

    pub async fn start(options: ServerOptions) -> Self {
        let server = Arc::new(server(&options).await);
        let (acceptor, certificate) = if options.tls { certified() } else { (None, None) };
        let (stop, stopped) = watch::channel(false);
        let (mut ports, mut serving) = ([0; 3], Vec::new());
        for (service, port) in Service::ALL.into_iter().zip(&mut ports) {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            *port = listener.local_addr().unwrap().port();
            let listening = Listening {
                tls: acceptor.clone(),
                connections: Connections::new(256),
                idle_time: Duration::from_secs(60),
            };
            serving.push(tokio::spawn(serve_service(service, server.clone(), listener, listening, stopped.clone())));
        }
        Self { ports, certificate, scheme: if options.tls { "https" } else { "http" }, stop, serving, server }
    }

    /// Stops the server and returns once all of its services have ended.
    pub async fn stop(mut self) {
        let _ = self.stop.send(true);
        for service in std::mem::take(&mut self.serving) {
            service.await.expect("a service does not panic");
        }
    }

    /// The metrics of the server, in Prometheus's text format.
    pub fn metrics(&self) -> String {
        self.server.metrics.render(&LoadReport::default())
    }

    pub fn port(&self, service: Service) -> u16 {
        self.ports[Service::ALL.iter().position(|known| *known == service).unwrap()]
    }

    pub fn endpoint(&self, service: Service) -> String {
        let host = if self.scheme == "https" { "localhost" } else { "127.0.0.1" };
        format!("{}://{host}:{}/{ACCOUNT}", self.scheme, self.port(service))
    }

    pub fn connection_string(&self) -> String {
        let [blob, queue, table] = Service::ALL.map(|service| self.endpoint(service));
        format!(
            "AccountName={ACCOUNT};AccountKey={KEY};BlobEndpoint={blob};QueueEndpoint={queue};TableEndpoint={table}"
        )
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.stop.send(true);
    }
}

async fn server(options: &ServerOptions) -> tablerock_server::Server {
    let partition_entities_per_second = options.partition_entities_per_second;
    let throttle = ThrottleTargets { partition_entities_per_second, ..ThrottleTargets::default() };
    let store = options.store.clone().unwrap_or_else(Store::in_memory);
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let tables = TableService::open(store.clone(), clock.clone(), throttle).await.unwrap();
    let queues = QueueService::open(store.clone(), clock.clone(), Rng::seeded(2)).await.unwrap();
    let blobs = BlobService::open(store.clone(), clock.clone(), Rng::seeded(3)).await.unwrap();
    let settings = AccountService::new(store);
    let analytics = Analytics::open(&settings, &blobs, clock.clone(), [ACCOUNT], Operation::names_of).await.unwrap();
    let name = AccountName::parse(ACCOUNT).unwrap();
    tablerock_server::Server {
        accounts: ServedAccounts::new([Account { name, keys: vec![AccountKey::parse(KEY).unwrap()] }]),
        tables,
        queues,
        blobs,
        settings,
        analytics,
        clock,
        rng: Rng::seeded(1),
        metrics: Metrics::new(),
        memory: MemoryBudget::default(),
        accept_tokens: options.accept_tokens,
        host_style: true,
        is_loose: false,
    }
}

type Certified = (Option<tls::Tls>, Option<rustls::pki_types::CertificateDer<'static>>);

fn certified() -> Certified {
    let signed = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    std::fs::write(&cert, signed.cert.pem()).unwrap();
    std::fs::write(&key, signed.signing_key.serialize_pem()).unwrap();
    let files = tls::CertificateFiles { certificate: cert, key: Some(key), password: None };
    (Some(tls::Tls::open(files).unwrap()), Some(signed.cert.der().clone()))
}
