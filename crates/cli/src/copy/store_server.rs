//! Serves a store as an endpoint on loopback during a copy, with a random key.

use std::sync::Arc;
use std::time::Duration;

use tablerock_client::{Credential, Endpoint};
use tablerock_kv::{Clock, Store};
use tablerock_protocol::signing::AccountKey;
use tablerock_protocol::{AccountName, Service};
use tablerock_server::{Account, Connections, Listening, Server, serve_service};
use tablerock_services::ThrottleTargets;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::account::WireAccount;
use crate::services::{self, ServiceOptions};

const KEY_BYTES: usize = 32;
const CONNECTIONS_MAX: usize = 256;
const IDLE_TIME: Duration = Duration::from_secs(120);

/// A running server of a store.
pub(super) struct StoreServer {
    pub(super) account: WireAccount,
    pub(super) server: Arc<Server>,
    serving: Vec<JoinHandle<()>>,
    stop: watch::Sender<bool>,
}

impl StoreServer {
    /// Starts to serve one account of a store.
    pub(super) async fn start(
        store: &Store,
        clock: Arc<dyn Clock>,
        name: AccountName,
        label: String,
    ) -> Result<Self, String> {
        let key = random_key()?;
        let parsed = AccountKey::parse(&key).map_err(|_| "the generated key is not valid".to_owned())?;
        let options = ServiceOptions {
            accounts: vec![Account { name: name.clone(), keys: vec![parsed] }],
            throttle: ThrottleTargets::default(),
            accept_tokens: false,
            host_style: false,
            is_loose: false,
        };
        let server = services::open(options, store, clock)
            .await
            .map_err(|error| format!("{label}: cannot read the data: {error}"))?;
        let server = Arc::new(server);
        let (stop, stopped) = watch::channel(false);
        let mut serving = Vec::new();
        let mut endpoints = Vec::new();
        for service in [Service::Table, Service::Queue, Service::Blob] {
            let open = async {
                let listener = TcpListener::bind("127.0.0.1:0").await?;
                listener.local_addr().map(|address| (listener, address))
            };
            let (listener, address) = open.await.map_err(|error| format!("cannot listen on 127.0.0.1: {error}"))?;
            let listening =
                Listening { tls: None, connections: Connections::new(CONNECTIONS_MAX), idle_time: IDLE_TIME };
            serving.push(tokio::spawn(serve_service(service, server.clone(), listener, listening, stopped.clone())));
            endpoints.push(Endpoint::parse(&format!("http://{address}/{}", name.as_str())));
        }
        let endpoints: [_; 3] = endpoints.try_into().expect("there are three services");
        let endpoints = endpoints.map(|endpoint| endpoint.map_err(|error| error.to_string()));
        let credential = Credential::shared_key(name.as_str(), &key).map_err(|error| error.to_string())?;
        let account = WireAccount::new(Some(name.as_str().to_owned()), label, endpoints, &credential);
        Ok(Self { account: account.map_err(|error| error.to_string())?, server, serving, stop })
    }

    /// Stops after all requests have ended. The services stay open.
    pub(super) async fn stop(self) -> Arc<Server> {
        // Fails only if all receivers have ended.
        let _ = self.stop.send(true);
        for service in self.serving {
            let _ = service.await;
        }
        self.server
    }
}

/// Returns 64 hexadecimal digits, which are also valid Base64.
fn random_key() -> Result<String, String> {
    let mut bytes = [0; KEY_BYTES];
    getrandom::fill(&mut bytes)
        .map_err(|error| format!("cannot get random bytes from the operating system: {error}"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
