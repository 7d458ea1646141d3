//! The banner: the addresses of a server that is ready, and a connection string to paste into an application.

use std::net::SocketAddr;

use crate::accounts::{DEVELOPMENT_KEY, DEVELOPMENT_NAME};
use crate::settings::{DEFAULT_BLOB_PORT, DEFAULT_QUEUE_PORT, DEFAULT_TABLE_PORT, Settings};
use crate::store_location::StoreLocation;

/// The addresses that the services listen on.
pub(crate) struct ServiceAddresses {
    pub(crate) blob: SocketAddr,
    pub(crate) queue: SocketAddr,
    pub(crate) table: SocketAddr,
}

/// Returns the lines for stdout.
pub(crate) fn lines(settings: &Settings, services: &ServiceAddresses, admin: Option<SocketAddr>) -> Vec<String> {
    let scheme = if settings.tls.is_some() { "https" } else { "http" };
    let root = |address| format!("{scheme}://{}", reachable(address));
    let named = [("Table", services.table), ("Queue", services.queue), ("Blob", services.blob)];
    let listening =
        named.map(|(name, address)| format!("Tablerock {name} service is successfully listening at {}", root(address)));
    let mut lines = listening.to_vec();
    if let Some(admin) = admin {
        lines.push(format!(
            "Health, metrics, load: http://{0}/health, http://{0}/metrics, http://{0}/load",
            reachable(admin)
        ));
    }
    lines.push(match &settings.data {
        StoreLocation::Folder(data) if settings.data_is_new => format!("Data: {} (new)", data.display()),
        StoreLocation::Folder(data) => format!("Data: {}", data.display()),
        StoreLocation::Database { target, .. } => format!("Data: {target}, shared with all servers that use it"),
        StoreLocation::Memory => "Data: in memory, lost when the server stops".to_owned(),
    });
    lines.push("Connection string:".to_owned());
    for account in &settings.accounts {
        // The development key is public. Other keys are secret and must not appear in logs.
        let name = account.name.as_str();
        let key = if name == DEVELOPMENT_NAME { DEVELOPMENT_KEY } else { "<your key>" };
        let endpoints = named.map(|(service, address)| format!("{service}Endpoint={}/{name};", root(address)));
        lines.push(format!(
            "  DefaultEndpointsProtocol={scheme};AccountName={name};AccountKey={key};{}",
            endpoints.concat()
        ));
    }
    let is_default = settings.accounts.iter().any(|account| account.name.as_str() == DEVELOPMENT_NAME)
        && scheme == "http"
        && [services.blob.port(), services.queue.port(), services.table.port()]
            == [DEFAULT_BLOB_PORT, DEFAULT_QUEUE_PORT, DEFAULT_TABLE_PORT]
        && named.iter().all(|(_, address)| address.ip().is_loopback() || address.ip().is_unspecified());
    if is_default {
        lines.push("  or: UseDevelopmentStorage=true".to_owned());
    }
    lines.push("Stop with Ctrl-C.".to_owned());
    lines
}

/// Returns an address that clients on this machine can use: an unspecified address includes loopback.
fn reachable(address: SocketAddr) -> SocketAddr {
    match address {
        SocketAddr::V4(v4) if v4.ip().is_unspecified() => SocketAddr::from(([127, 0, 0, 1], v4.port())),
        SocketAddr::V6(v6) if v6.ip().is_unspecified() => SocketAddr::from(([127, 0, 0, 1], v6.port())),
        other => other,
    }
}
