//! The admin address on its own thread, so that it responds while the store opens and while a stalled disk blocks all other
//! threads.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;

use tablerock_kv::Store;
use tablerock_server::{Admin, AdminToken, Server, serve_admin};
use tablerock_services::SharedLoad;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::ports::Port;

/// The thread of the admin address.
pub(crate) struct AdminThread {
    admin: Arc<Admin>,
    address: SocketAddr,
    stop: watch::Sender<bool>,
    thread: JoinHandle<()>,
}

impl AdminThread {
    /// Listens at once. `/livez` responds from now on.
    pub(crate) fn start(port: Port, show_names: bool, token: Option<AdminToken>) -> Result<Self, String> {
        let listener = port.listen()?;
        let address = listener.local_addr().map_err(|error| format!("cannot serve the admin address: {error}"))?;
        let admin = Admin::new(address, show_names);
        let admin = Arc::new(match token {
            Some(token) => admin.with_token(token),
            None => admin,
        });
        let (stop, stopped) = watch::channel(false);
        let thread = spawn(admin.clone(), listener, stopped);
        let thread = thread.map_err(|error| format!("cannot serve the admin address: {error}"))?;
        Ok(Self { admin, address, stop, thread })
    }

    /// The address that it listens on.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Reports the server as ready, or as its store's health says.
    pub(crate) fn set_open(&self, server: Arc<Server>, store: Store) {
        self.admin.set_open(server, store);
    }

    /// Shows the load of all servers on the store. Must be called within the runtime that serves the store.
    pub(crate) fn share_load(&self, load: Arc<SharedLoad>) {
        self.admin.share_load(load);
    }

    /// Reports the server as not ready while it finishes its requests.
    pub(crate) fn set_stopping(&self) {
        self.admin.set_stopping();
    }

    pub(crate) async fn stop(self) {
        // Fails only if the thread has ended.
        let _ = self.stop.send(true);
        let _ = tokio::task::spawn_blocking(move || self.thread.join()).await;
    }
}

fn spawn(admin: Arc<Admin>, listener: TcpListener, stopped: watch::Receiver<bool>) -> io::Result<JoinHandle<()>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let listener = listener.into_std()?;
    let listener = {
        let _context = runtime.enter();
        TcpListener::from_std(listener)?
    };
    let serve = move || runtime.block_on(serve_admin(admin, listener, stopped));
    std::thread::Builder::new().name("tablerock-admin".to_owned()).spawn(serve)
}
