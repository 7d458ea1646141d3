//! Runs the server: from settings to open ports, and to a clean stop.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tablerock_kv::{Clock, Store};
use tablerock_protocol::Service;
use tablerock_server::tls::Tls;
use tablerock_server::{Connections, Listening, Server, serve_service};
use tablerock_services::SharedLoad;
use tokio::sync::watch;

use crate::admin::AdminThread;
use crate::admin_file::PendingAdminFile;
use crate::azurite_lines::ServiceLines;
use crate::banner;
use crate::descriptors;
use crate::engine::{OpenMode, open_engine};
use crate::exposure;
use crate::logging;
use crate::notify;
use crate::ports::{self, BoundAddresses, Port, Ports};
use crate::reload::Reloader;
use crate::services::{self, ServiceOptions};
use crate::settings::{ServicePort, Settings};
use crate::signals::Signals;

/// Serves until a signal arrives. The error is a sentence for the operator.
pub(crate) fn run(settings: Settings) -> Result<(), String> {
    logging::start(&settings)?;
    crate::runtime()?.block_on(serve(settings))
}

/// The bound ports of a server, its TLS configuration, and its admin address, which is served already.
pub(crate) struct Listeners {
    services: Vec<(Service, Port)>,
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
            Some(files) => Some(Tls::open(files.clone())?),
            None => None,
        };
        exposure::log(&warnings);
        let admin_file = PendingAdminFile::of(settings)?;
        let token = admin_file.as_ref().map(|file| file.token.clone());
        let Ports { services, admin } = ports;
        let admin = match admin.map(|port| AdminThread::start(port, settings.admin_show_names, token)).transpose() {
            Err(error) if !settings.is_admin_wanted => {
                tracing::warn!(target: ports::TARGET, error, "there is no admin address, it cannot be served");
                None
            }
            admin => admin?,
        };
        addresses.admin = admin.as_ref().map(AdminThread::address);
        Ok(Self { services, addresses, admin, admin_file, tls })
    }
}

async fn serve(mut settings: Settings) -> Result<(), String> {
    let signals = Signals::listen()?;
    // Ports first: they fail fast, and nothing is open yet that would need closing.
    let listeners = Listeners::bind(&settings).await?;
    let lines = StartLines::begin(&settings, &listeners);
    let mode = if settings.must_exist { OpenMode::MustExist } else { OpenMode::CreateIfMissing };
    let opened = open_engine(&settings.data, settings.cache_bytes, mode).await?;
    settings.data_is_new = opened.is_new;
    serve_on(&mut settings, listeners, lines, signals, Store::new(opened.engine), opened.clock, Role::Server).await
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
    let signals = Signals::listen()?;
    // A copy that is stopped is not complete, so its exit code is that of the copy.
    signals.serving();
    let lines = StartLines::begin(settings, &listeners);
    serve_on(settings, listeners, lines, signals, store, clock, Role::Reader).await
}

async fn serve_on(
    settings: &mut Settings,
    listeners: Listeners,
    lines: StartLines,
    mut signals: Signals,
    store: Store,
    clock: Arc<dyn Clock>,
    role: Role,
) -> Result<(), String> {
    let banner = prepare_banner(settings, &listeners.addresses);
    let Listeners { services: bound, addresses, admin, admin_file, tls: acceptor } = listeners;
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
    // A client may send a signal right after the first response.
    signals.serving();
    let (stop, stopped) = watch::channel(false);
    // All listen before the first serves, so that a port that another program took ends the start.
    let listening = bound.into_iter().map(|(service, port)| port.listen().map(|listener| (service, listener)));
    let listening = listening.collect::<Result<Vec<_>, _>>()?;
    let connections = Connections::new(descriptors::connections_max(settings.connections_max));
    let serve_one = |((service, listener), (_, port)): (_, (_, &ServicePort))| {
        let (tls, connections) = (acceptor.clone(), connections.clone());
        let listening = Listening { tls, connections, idle_time: Duration::from_secs(port.idle_seconds) };
        tokio::spawn(serve_service(service, server.clone(), listener, listening, stopped.clone()))
    };
    let serving: Vec<Task> = listening.into_iter().zip(settings.services()).map(serve_one).collect();
    let mut reloader = Reloader::new(server.clone(), acceptor.clone());
    if role == Role::Server {
        reloader = reloader.with_accounts(settings, &addresses);
    }
    let reloading = tokio::spawn(reloader.keep_reloading(signals.clone()));
    let load = SharedLoad::of(&store, server.clock.clone()).map(Arc::new);
    let background = (role == Role::Server).then(|| start_background_work(&server, load.clone(), stopped));
    if let Some(admin) = &admin {
        admin.set_open(server.clone(), store.clone());
        load.into_iter().for_each(|load| admin.share_load(load));
    }
    let admin_file = admin_file.map(|file| file.write(settings, &addresses)).transpose()?;
    print(&banner);
    lines.listening();
    notify::ready();
    signals.stopped().await;
    notify::stopping();
    drop(admin_file);
    lines.closing();
    reloading.abort();
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
    if let Some((sweep, analytics)) = background {
        sweep.abort();
        let _ = analytics.await;
        services::close(&server, &store).await?;
    }
    lines.closed();
    Ok(())
}

/// Prints lines to stdout. A closed stdout is not a reason to stop.
fn print(lines: &[String]) {
    let _ = lines.iter().try_for_each(|line| writeln!(io::stdout(), "{line}"));
}

/// The lines of a program with a name of Azurite; none under its own name.
struct StartLines(Vec<(ServiceLines, SocketAddr)>);

impl StartLines {
    /// Prints the line about the start of the first service.
    fn begin(settings: &Settings, listeners: &Listeners) -> Self {
        if !settings.program.is_azurite() {
            return Self(Vec::new());
        }
        let services = settings.services().zip(&listeners.services).map(|((service, port), (_, bound))| {
            let is_https = settings.tls.is_some();
            (ServiceLines::new(settings.program, service, is_https, port.address.clone()), bound.address())
        });
        let lines = Self(services.collect());
        print(&lines.0.iter().take(1).map(|(lines, _)| lines.starting()).collect::<Vec<_>>());
        lines
    }

    /// Prints that each service is ready, in between that the next one starts.
    fn listening(&self) {
        let each = self.0.iter().map(|(lines, bound)| [lines.starting(), lines.listening(*bound)]);
        print(&each.flatten().skip(1).collect::<Vec<_>>());
    }

    fn closing(&self) {
        print(&self.0.iter().map(|(lines, _)| lines.closing()).collect::<Vec<_>>());
    }

    fn closed(&self) {
        print(&self.0.iter().map(|(lines, _)| lines.closed()).collect::<Vec<_>>());
    }
}

type Task = tokio::task::JoinHandle<()>;

/// The tables, queues and containers, and the partitions, whose load other servers get to know.
const SHARED_LOAD_MAX: usize = 50;

/// Starts the sweep, which also shares the load with other servers, and the task that writes Storage Analytics until the
/// server stops.
fn start_background_work(
    server: &Arc<Server>,
    load: Option<Arc<SharedLoad>>,
    mut stopped: watch::Receiver<bool>,
) -> (Task, Task) {
    let sweeper = server.clone();
    let sweep = tokio::spawn(async move {
        let Server { tables, queues, blobs, accounts, .. } = &*sweeper;
        let accounts = || accounts.current().names().map(str::to_owned).collect();
        let share_load = async {
            if let Some(load) = load {
                load.keep_publishing(|| sweeper.load(SHARED_LOAD_MAX)).await;
            }
        };
        tokio::join!(
            tables.keep_sweeping(accounts),
            queues.keep_sweeping(accounts),
            blobs.keep_sweeping(accounts),
            share_load
        );
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
        let _ = writeln!(io::stderr(), "{}: {explanation}", settings.program.name());
    }
    match (settings.program.is_azurite(), settings.silent) {
        (true, _) => {
            // Azurite's stdout has no place for them.
            let admin = addresses.admin.map(|admin| format!("http://{admin}"));
            tracing::info!(data = %settings.data, admin, "serving under a name of Azurite");
            vec![]
        }
        (false, true) => banner::listening(settings, addresses),
        (false, false) => banner::lines(settings, addresses),
    }
}
