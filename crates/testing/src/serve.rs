//! The thread of a server: an engine in memory, the three services, and their ports.

use std::io;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use tablerock_kv::{Clock, Rng, Store, SystemClock};
use tablerock_protocol::signing::AccountKey;
use tablerock_protocol::{AccountName, Service};
use tablerock_server::{
    Account, Connections, Listening, MemoryBudget, Metrics, Operation, ServedAccounts, Server, serve_service,
};
use tablerock_services::{AccountService, Analytics, BlobService, Error, QueueService, TableService, ThrottleTargets};
use tokio::net::TcpListener;
use tokio::sync::watch;

/// Connections of one service. A test has few.
const CONNECTIONS_MAX: usize = 1024;
const IDLE_TIME: Duration = Duration::from_secs(60);

/// The URLs of the services, with the account.
#[derive(Debug)]
pub(crate) struct Endpoints {
    pub(crate) blob: String,
    pub(crate) queue: String,
    pub(crate) table: String,
}

/// A server that runs, and stops when dropped.
#[derive(Debug)]
pub(crate) struct Running {
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    pub(crate) fn stop(mut self) {
        let _ = self.stop.send(true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Fails only if the thread has ended.
        let _ = self.stop.send(true);
    }
}

/// Starts a server and returns once it accepts requests.
pub(crate) fn start(account: &str, secret: &[u8]) -> io::Result<(Running, Endpoints)> {
    let invalid =
        || io::Error::new(io::ErrorKind::InvalidInput, "an account name has 3 to 24 lower-case letters and digits");
    let name = AccountName::parse(account).ok_or_else(invalid)?;
    let account = Account { name, keys: vec![AccountKey::from_bytes(secret)] };
    let (stop, stopped) = watch::channel(false);
    let (report, reported) = mpsc::sync_channel(1);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let run = move || {
        runtime.block_on(async {
            match listen(account, &stopped).await {
                Ok((endpoints, services)) => {
                    // The receiver waits for this.
                    let _ = report.send(Ok(endpoints));
                    for service in services {
                        let _ = service.await;
                    }
                }
                Err(error) => {
                    let _ = report.send(Err(error));
                }
            }
        });
    };
    let thread = std::thread::Builder::new().name("tablerock-testing".to_owned()).spawn(run)?;
    let endpoints = reported.recv().map_err(|_| io::Error::other("the server's thread ended at its start"))??;
    Ok((Running { stop, thread: Some(thread) }, endpoints))
}

type Services = Vec<tokio::task::JoinHandle<()>>;

async fn listen(account: Account, stopped: &watch::Receiver<bool>) -> io::Result<(Endpoints, Services)> {
    let name = account.name.as_str().to_owned();
    let server = Arc::new(open(account).await.map_err(|error| io::Error::other(error.to_string()))?);
    let connections = Connections::new(CONNECTIONS_MAX);
    let mut services = Vec::new();
    let mut endpoint = async |service| {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        let listening = Listening { tls: None, connections: connections.clone(), idle_time: IDLE_TIME };
        services.push(tokio::spawn(serve_service(service, server.clone(), listener, listening, stopped.clone())));
        io::Result::Ok(format!("http://127.0.0.1:{port}/{name}"))
    };
    let blob = endpoint(Service::Blob).await?;
    let queue = endpoint(Service::Queue).await?;
    let table = endpoint(Service::Table).await?;
    Ok((Endpoints { blob, queue, table }, services))
}

async fn open(account: Account) -> Result<Server, Error> {
    let (store, clock): (Store, Arc<dyn Clock>) = (Store::in_memory(), Arc::new(SystemClock));
    let tables = TableService::open(store.clone(), clock.clone(), ThrottleTargets::default()).await?;
    let queues = QueueService::open(store.clone(), clock.clone(), Rng::from_os()).await?;
    let blobs = BlobService::open(store.clone(), clock.clone(), Rng::from_os()).await?;
    let settings = AccountService::new(store);
    let name = account.name.as_str();
    let analytics = Analytics::open(&settings, &blobs, clock.clone(), [name], Operation::names_of).await?;
    Ok(Server {
        accounts: ServedAccounts::new([account]),
        tables,
        queues,
        blobs,
        settings,
        analytics,
        clock,
        rng: Rng::from_os(),
        metrics: Metrics::new(),
        memory: MemoryBudget::default(),
        accept_tokens: false,
        host_style: true,
        is_loose: false,
    })
}
