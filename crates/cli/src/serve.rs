//! Runs the server: from settings to open ports, and to a clean stop.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::Duration;

use tablerock_kv::{Clock, Store};
use tablerock_protocol::Service;
use tablerock_server::tls::{self, Tls};
use tablerock_server::{Connections, Listening, Server, serve_service};
use tokio::sync::watch;

use crate::admin::AdminThread;
use crate::admin_file::PendingAdminFile;
use crate::banner;
use crate::descriptors;
use crate::engine::{OpenMode, open_engine};
use crate::exposure;
use crate::logging;
use crate::notify;
use crate::ports::{BoundAddresses, Port, Ports};
use crate::services::{self, ServiceOptions};
use crate::settings::Settings;

/// Serves until a signal arrives. The error is a sentence for the operator.
pub(crate) fn run(settings: Settings) -> Result<(), String> {
    logging::start(&settings)?;
    crate::runtime()?.block_on(serve(settings))
}

/// The bound ports of a server, its TLS configuration, and its admin address, which is served already.
pub(crate) struct Listeners {
    blob: Port,
    queue: Port,
    table: Port,
    addresses: BoundAddresses,
    admin: Option<AdminThread>,
    admin_file: Option<PendingAdminFile>,
    tls: Option<Tls>,
}

impl Listeners {
    /// Binds the ports, logs the warnings about them, and serves the admin address.
    pub(crate) async fn bind(settings: &Settings) -> Result<Self, String> {
        let ports = Ports::bind(settings).await?;
        let mut addresses = ports.addresses();
        let warnings = exposure::check(settings, &addresses)?;
        let tls = match &settings.tls {
            Some((cert, key)) => Some(tls::acceptor(cert, key)?),
            None => None,
        };
        exposure::log(&warnings);
        let Ports { blob, queue, table, admin } = ports;
        let admin_file = PendingAdminFile::of(settings)?;
        let token = admin_file.as_ref().map(|file| file.token.clone());
        let admin = admin.map(|port| AdminThread::start(port, settings.admin_show_names, token)).transpose()?;
        addresses.admin = admin.as_ref().map(AdminThread::address);
        Ok(Self { blob, queue, table, addresses, admin, admin_file, tls })
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
    let banner = prepare_banner(settings, &listeners.addresses);
    let Listeners { blob, queue, table, addresses, admin, admin_file, tls: acceptor } = listeners;
    let names: Vec<String> = settings.accounts.iter().map(|account| account.name.as_str().to_owned()).collect();
    let options = ServiceOptions {
        accounts: std::mem::take(&mut settings.accounts),
        throttle: settings.throttle,
        accept_tokens: settings.accept_tokens,
        host_style: settings.host_style,
        is_loose: settings.is_loose,
    };
    let server =
        services::open(options, &store, clock).await.map_err(|error| format!("cannot read the data: {error}"))?;
    let server = Arc::new(server);
    // The handlers are installed before the first response, because a client may send a signal right after it. Until here,
    // a signal ends the process.
    let signals = Signals::listen()?;
    let (stop, stopped) = watch::channel(false);
    let ports = [
        (Service::Blob, blob.listen()?, &settings.blob),
        (Service::Queue, queue.listen()?, &settings.queue),
        (Service::Table, table.listen()?, &settings.table),
    ];
    let connections = Connections::new(descriptors::connections_max(settings.connections_max));
    let serving = ports.map(|(service, listener, port)| {
        let (tls, connections) = (acceptor.clone(), connections.clone());
        let listening = Listening { tls, connections, idle_time: Duration::from_secs(port.idle_seconds) };
        tokio::spawn(serve_service(service, server.clone(), listener, listening, stopped.clone()))
    });
    let background = (role == Role::Server).then(|| start_background_work(&server, names, stopped));
    if let Some(admin) = &admin {
        admin.set_open(server.clone(), store.clone());
    }
    let admin_file = admin_file.map(|file| file.write(settings, &addresses)).transpose()?;
    // A closed stdout is not a reason to stop.
    let _ = banner.iter().try_for_each(|line| writeln!(io::stdout(), "{line}"));
    notify::ready();
    signals.wait().await;
    notify::stopping();
    drop(admin_file);
    tracing::info!("stopping, waiting for requests in progress");
    if let Some(admin) = &admin {
        admin.set_stopping();
    }
    // Fails only if all receivers have ended.
    let _ = stop.send(true);
    for service in serving {
        let _ = service.await;
    }
    if let Some(admin) = admin {
        admin.stop().await;
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

/// Prints the explanations of flags without effect to stderr, and returns the banner.
fn prepare_banner(settings: &Settings, addresses: &BoundAddresses) -> Vec<String> {
    for explanation in &settings.explanations {
        let _ = writeln!(io::stderr(), "tablerock: {explanation}");
    }
    if settings.silent { vec![] } else { banner::lines(settings, addresses) }
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
