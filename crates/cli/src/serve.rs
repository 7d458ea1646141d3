//! Runs the server: from settings to open ports, and to a clean stop.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use tablerock_kv::{Clock, Store};
use tablerock_protocol::Service;
use tablerock_server::tls::{self, TlsAcceptor};
use tablerock_server::{Listening, Server, serve_admin, serve_service};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::banner::{self, ServiceAddresses};
use crate::engine::{OpenMode, open_engine};
use crate::logging;
use crate::services::{self, ServiceOptions};
use crate::settings::{Address, Settings};

/// Serves until a signal arrives. The error is a sentence for the operator.
pub(crate) fn run(settings: Settings) -> Result<(), String> {
    logging::start(&settings)?;
    crate::runtime()?.block_on(serve(settings))
}

/// The bound ports of a server, and its TLS configuration.
pub(crate) struct Listeners {
    blob: TcpListener,
    queue: TcpListener,
    table: TcpListener,
    admin: Option<TcpListener>,
    tls: Option<TlsAcceptor>,
}

impl Listeners {
    pub(crate) async fn bind(settings: &Settings) -> Result<Self, String> {
        Ok(Self {
            blob: bind(&settings.blob.address, "--blob-port").await?,
            queue: bind(&settings.queue.address, "--queue-port").await?,
            table: bind(&settings.table.address, "--table-port").await?,
            admin: match &settings.admin_address {
                Some(address) => Some(bind(address, "--admin-port").await?),
                None => None,
            },
            tls: match &settings.tls {
                Some((cert, key)) => Some(tls::acceptor(cert, key)?),
                None => None,
            },
        })
    }
}

async fn serve(mut settings: Settings) -> Result<(), String> {
    // Ports first: they fail fast, and nothing is open yet that would need closing.
    let listeners = Listeners::bind(&settings).await?;
    let mode = if settings.must_exist { OpenMode::MustExist } else { OpenMode::CreateIfMissing };
    let opened = open_engine(&settings.data, settings.cache_bytes, mode).await?;
    settings.data_is_new = opened.is_new;
    serve_on(&mut settings, listeners, Store::new(opened.engine), opened.clock, Role::Server).await
}

/// Whether the server runs its background work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Server,
    /// The store is read-only, so there is none.
    Reader,
}

/// Serves a read-only store until a signal arrives.
pub(crate) async fn serve_reads(
    settings: &mut Settings,
    listeners: Listeners,
    store: Store,
    clock: Arc<dyn Clock>,
) -> Result<(), String> {
    serve_on(settings, listeners, store, clock, Role::Reader).await
}

async fn serve_on(
    settings: &mut Settings,
    listeners: Listeners,
    store: Store,
    clock: Arc<dyn Clock>,
    role: Role,
) -> Result<(), String> {
    let banner = prepare_banner(settings, &listeners)?;
    let Listeners { blob, queue, table, admin: admin_listener, tls: acceptor } = listeners;
    let names: Vec<String> = settings.accounts.iter().map(|account| account.name.as_str().to_owned()).collect();
    let options = ServiceOptions {
        accounts: std::mem::take(&mut settings.accounts),
        throttle: settings.throttle,
        accept_tokens: settings.accept_tokens,
        host_style: settings.host_style,
    };
    let server =
        services::open(options, &store, clock).await.map_err(|error| format!("cannot read the data: {error}"))?;
    let server = Arc::new(server);
    // The handlers are installed before the first response, because a client may send a signal right after it. Until here,
    // a signal ends the process.
    let signals = Signals::listen()?;
    let (stop, stopped) = watch::channel(false);
    let ports = [
        (Service::Blob, blob, &settings.blob),
        (Service::Queue, queue, &settings.queue),
        (Service::Table, table, &settings.table),
    ];
    let serving = ports.map(|(service, listener, port)| {
        let (tls, connections_max) = (acceptor.clone(), settings.connections_max);
        let listening = Listening { tls, connections_max, idle_time: Duration::from_secs(port.idle_seconds) };
        tokio::spawn(serve_service(service, server.clone(), listener, listening, stopped.clone()))
    });
    let background = (role == Role::Server).then(|| start_background_work(&server, names, stopped.clone()));
    let admin = match admin_listener {
        Some(listener) => Some(start_admin(server.clone(), store.clone(), listener, stopped)?),
        None => None,
    };
    // A closed stdout is not a reason to stop.
    let _ = banner.iter().try_for_each(|line| writeln!(io::stdout(), "{line}"));
    signals.wait().await;
    tracing::info!("stopping, waiting for requests in progress");
    // Fails only if all receivers have ended.
    let _ = stop.send(true);
    for service in serving {
        let _ = service.await;
    }
    if let Some(admin) = admin {
        let _ = tokio::task::spawn_blocking(move || admin.join()).await;
    }
    let Some((sweep, analytics)) = background else { return Ok(()) };
    sweep.abort();
    let _ = analytics.await;
    services::close(&server, &store).await
}

type Task = tokio::task::JoinHandle<()>;

/// Starts the sweep, and the task that writes Storage Analytics until the server stops.
fn start_background_work(
    server: &Arc<Server>,
    accounts: Vec<String>,
    mut stopped: watch::Receiver<bool>,
) -> (Task, Task) {
    let sweeper = server.clone();
    let sweep = tokio::spawn(async move {
        let Server { tables, queues, blobs, .. } = &*sweeper;
        tokio::join!(tables.keep_sweeping(&accounts), queues.keep_sweeping(&accounts), blobs.keep_sweeping(&accounts));
    });
    let analyst = server.clone();
    let analytics = tokio::spawn(async move {
        let stop = async {
            let _ = stopped.wait_for(|stop| *stop).await;
        };
        analyst.analytics.keep_writing(&analyst.tables, &analyst.blobs, stop).await;
    });
    (sweep, analytics)
}

/// Serves the admin address on its own thread, so that `/health` responds while a stalled disk blocks all other threads.
fn start_admin(
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

async fn bind(address: &Address, flag: &str) -> Result<TcpListener, String> {
    let Address { host, port } = address;
    TcpListener::bind((host.as_str(), *port)).await.map_err(|error| match error.kind() {
        std::io::ErrorKind::AddrInUse => {
            format!("port {port} on {host} is in use: stop the program that uses it, or choose another with {flag}")
        }
        std::io::ErrorKind::PermissionDenied => {
            format!("no permission to listen on port {port} of {host}: choose a port above 1023 with {flag}")
        }
        _ => format!("cannot listen on {host}:{port}: {error}; check the host and {flag}"),
    })
}

/// Prints the explanations of flags without effect to stderr, and returns the banner.
fn prepare_banner(settings: &Settings, listeners: &Listeners) -> Result<Vec<String>, String> {
    for explanation in &settings.explanations {
        let _ = writeln!(io::stderr(), "tablerock: {explanation}");
    }
    if settings.silent {
        return Ok(vec![]);
    }
    let address = |listener: &TcpListener| -> Result<SocketAddr, String> {
        listener.local_addr().map_err(|error| format!("cannot read the address of a listening port: {error}"))
    };
    let services = ServiceAddresses {
        blob: address(&listeners.blob)?,
        queue: address(&listeners.queue)?,
        table: address(&listeners.table)?,
    };
    Ok(banner::lines(settings, &services, listeners.admin.as_ref().map(address).transpose()?))
}

/// The signals that stop the server: SIGTERM and SIGINT.
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

/// The signal that stops the server: Ctrl-C.
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
