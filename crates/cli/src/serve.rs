//! From settings to a running server, and its orderly end. The only place that names an engine.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use tablerock_kv::{Clock, Engine, MemoryEngine, Store, SystemClock};
use tablerock_kv_local::{LocalEngine, LocalOptions};
use tablerock_kv_postgres::{PostgresEngine, PostgresOptions};
use tablerock_protocol::Service;
use tablerock_server::tls::{self, TlsAcceptor};
use tablerock_server::{Listening, Server, serve_admin, serve_service};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::banner::{self, Services};
use crate::hint;
use crate::logging;
use crate::places::Opening;
use crate::services::{self, ServiceOptions};
use crate::settings::{Address, DataPlace, Settings};

/// Serves until a signal asks for the end. The error is a sentence for the operator.
pub(crate) fn run(settings: Settings) -> Result<(), String> {
    logging::start(&settings)?;
    crate::runtime()?.block_on(serve(settings))
}

/// The ports of the services, open.
struct Listeners {
    blob: TcpListener,
    queue: TcpListener,
    table: TcpListener,
}

/// All that a server is reached by.
pub(crate) struct Doors {
    listeners: Listeners,
    admin: Option<TcpListener>,
    tls: Option<TlsAcceptor>,
}

impl Doors {
    pub(crate) async fn open(settings: &Settings) -> Result<Self, String> {
        let listeners = Listeners {
            blob: bind(&settings.blob.address, "--blob-port").await?,
            queue: bind(&settings.queue.address, "--queue-port").await?,
            table: bind(&settings.table.address, "--table-port").await?,
        };
        let admin = match &settings.admin_address {
            Some(address) => Some(bind(address, "--admin-port").await?),
            None => None,
        };
        let tls = match &settings.tls {
            Some((cert, key)) => Some(tls::acceptor(cert, key)?),
            None => None,
        };
        Ok(Self { listeners, admin, tls })
    }
}

async fn serve(mut settings: Settings) -> Result<(), String> {
    // Ports first: they fail fast, and nothing has been opened yet that would need closing.
    let doors = Doors::open(&settings).await?;
    let (engine, clock) = open_engine(&settings.data, settings.cache_bytes, Opening::MayCreate).await?;
    serve_on(&mut settings, doors, Store::new(engine), clock, Role::Server).await
}

/// What is done beside answering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// All of it.
    Server,
    /// Nothing: the store takes no writes.
    Reader,
}

/// Serves a store that takes no writes until a signal asks for the end.
pub(crate) async fn serve_reads(
    settings: &mut Settings,
    doors: Doors,
    store: Store,
    clock: Arc<dyn Clock>,
) -> Result<(), String> {
    serve_on(settings, doors, store, clock, Role::Reader).await
}

async fn serve_on(
    settings: &mut Settings,
    doors: Doors,
    store: Store,
    clock: Arc<dyn Clock>,
    role: Role,
) -> Result<(), String> {
    let Doors { listeners, admin: admin_listener, tls: acceptor } = doors;
    let banner = announcement(settings, &listeners, admin_listener.as_ref())?;
    let names: Vec<String> = settings.accounts.iter().map(|account| account.name.as_str().to_owned()).collect();
    let terms = ServiceOptions {
        accounts: std::mem::take(&mut settings.accounts),
        throttle: settings.throttle,
        accept_tokens: settings.accept_tokens,
        host_style: settings.host_style,
    };
    let server =
        services::open(terms, &store, clock).await.map_err(|error| format!("cannot read the data: {error}"))?;
    let server = Arc::new(server);
    // Whoever gets an answer may ask for the end at once, so the signals are listened for before the first one. A start
    // that takes long can still be cut off.
    let signals = Signals::listen()?;
    let (stop, stopped) = watch::channel(false);
    let ports = [
        (Service::Blob, listeners.blob, &settings.blob),
        (Service::Queue, listeners.queue, &settings.queue),
        (Service::Table, listeners.table, &settings.table),
    ];
    let serving = ports.map(|(service, listener, port)| {
        let (tls, connections_max) = (acceptor.clone(), settings.connections_max);
        let listening = Listening { tls, connections_max, idle_time: Duration::from_secs(port.idle_seconds) };
        tokio::spawn(serve_service(service, server.clone(), listener, listening, stopped.clone()))
    });
    let behind = (role == Role::Server).then(|| work_in_background(&server, names, stopped.clone()));
    let administering = match admin_listener {
        Some(listener) => Some(administer(server.clone(), store.clone(), listener, stopped)?),
        None => None,
    };
    // Nobody has to read it: whoever started the server may be gone, which is no reason to stop.
    let _ = banner.iter().try_for_each(|line| writeln!(io::stdout(), "{line}"));
    signals.wait().await;
    tracing::info!("stopping: requests under way may finish");
    // Whoever listened is gone only if the server is ending anyway.
    let _ = stop.send(true);
    for service in serving {
        let _ = service.await;
    }
    if let Some(administering) = administering {
        let _ = tokio::task::spawn_blocking(move || administering.join()).await;
    }
    let Some((sweeping, analysing)) = behind else { return Ok(()) };
    sweeping.abort();
    let _ = analysing.await;
    services::close(&server, &store).await
}

type Task = tokio::task::JoinHandle<()>;

/// Sweeping, and what Storage Analytics writes until the end.
fn work_in_background(server: &Arc<Server>, accounts: Vec<String>, mut stopped: watch::Receiver<bool>) -> (Task, Task) {
    let sweeper = server.clone();
    let sweeping = tokio::spawn(async move {
        let Server { tables, queues, blobs, .. } = &*sweeper;
        tokio::join!(tables.keep_sweeping(&accounts), queues.keep_sweeping(&accounts), blobs.keep_sweeping(&accounts));
    });
    let analyst = server.clone();
    let analysing = tokio::spawn(async move {
        let stop = async {
            let _ = stopped.wait_for(|stop| *stop).await;
        };
        analyst.analytics.keep_writing(&analyst.tables, &analyst.blobs, stop).await;
    });
    (sweeping, analysing)
}

/// Serves the admin address on a thread of its own: when a disk that does not answer holds up all others, somebody has
/// to say so.
fn administer(
    server: Arc<Server>,
    store: Store,
    listener: TcpListener,
    stopped: watch::Receiver<bool>,
) -> Result<JoinHandle<()>, String> {
    let start = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = listener.into_std()?;
        let listener = {
            let _context = runtime.enter();
            TcpListener::from_std(listener)?
        };
        let serve = move || runtime.block_on(serve_admin(server, store, listener, stopped));
        std::thread::Builder::new().name("tablerock-admin".to_owned()).spawn(serve)
    };
    start().map_err(|error: io::Error| format!("cannot serve the admin address: {error}"))
}

/// The engine, and the clock that goes with it: servers that share a database share its time as well.
pub(crate) async fn open_engine(
    place: &DataPlace,
    cache_bytes: u64,
    opening: Opening,
) -> Result<(Arc<dyn Engine>, Arc<dyn Clock>), String> {
    match place {
        DataPlace::Memory => Ok((Arc::new(MemoryEngine::new()), Arc::new(SystemClock))),
        DataPlace::Folder(data) => {
            let options = LocalOptions { cache_bytes, ..LocalOptions::default() };
            let engine = LocalEngine::open_with(data, &options).map_err(|error| hint::with_remedy(&error))?;
            Ok((Arc::new(engine), Arc::new(SystemClock)))
        }
        DataPlace::Database { target, connections_max } => {
            let create_if_missing = opening == Opening::MayCreate;
            let connections_max = *connections_max;
            let options = PostgresOptions { connections_max, create_if_missing, ..PostgresOptions::default() };
            let engine = PostgresEngine::open(target.clone(), options).await;
            let engine = engine.map_err(|error| format!("cannot use {target}: {error}"))?;
            let clock = engine.clock();
            Ok((engine, clock))
        }
    }
}

async fn bind(address: &Address, flag: &str) -> Result<TcpListener, String> {
    let Address { host, port } = address;
    TcpListener::bind((host.as_str(), *port)).await.map_err(|error| match error.kind() {
        std::io::ErrorKind::AddrInUse => {
            format!("port {port} on {host} is taken: stop the program that has it, or choose another with {flag}")
        }
        std::io::ErrorKind::PermissionDenied => {
            format!("port {port} on {host} needs privileges: choose one above 1023 with {flag}")
        }
        _ => format!("cannot listen on {host}:{port}: {error}; check the host and {flag}"),
    })
}

/// What to say once the server is up.
fn announcement(
    settings: &Settings,
    listeners: &Listeners,
    admin: Option<&TcpListener>,
) -> Result<Vec<String>, String> {
    for explanation in &settings.explanations {
        let _ = writeln!(io::stderr(), "tablerock: {explanation}");
    }
    if settings.silent {
        return Ok(vec![]);
    }
    let address = |listener: &TcpListener| -> Result<SocketAddr, String> {
        listener.local_addr().map_err(|error| format!("a listening port has no address: {error}"))
    };
    let services = Services {
        blob: address(&listeners.blob)?,
        queue: address(&listeners.queue)?,
        table: address(&listeners.table)?,
    };
    Ok(banner::lines(settings, &services, admin.map(address).transpose()?))
}

/// The requests to stop: SIGTERM and SIGINT.
#[cfg(unix)]
struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn listen() -> Result<Self, String> {
        use tokio::signal::unix::{SignalKind, signal};
        let listen = |kind| signal(kind).map_err(|error| format!("cannot listen for signals: {error}"));
        Ok(Self { terminate: listen(SignalKind::terminate())?, interrupt: listen(SignalKind::interrupt())? })
    }

    async fn wait(mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// The request to stop: Ctrl-C.
#[cfg(windows)]
struct Signals(tokio::signal::windows::CtrlC);

#[cfg(windows)]
impl Signals {
    fn listen() -> Result<Self, String> {
        tokio::signal::windows::ctrl_c().map(Self).map_err(|error| format!("cannot listen for Ctrl-C: {error}"))
    }

    async fn wait(mut self) {
        self.0.recv().await;
    }
}
