//! What the server says when it is ready: where it listens and what to paste into an application.

use std::net::SocketAddr;

use crate::accounts::{DEVELOPMENT_KEY, DEVELOPMENT_NAME};
use crate::settings::Settings;

/// The lines for stdout.
pub(crate) fn lines(settings: &Settings, table: SocketAddr, admin: Option<SocketAddr>) -> Vec<String> {
    let scheme = if settings.tls.is_some() { "https" } else { "http" };
    let root = format!("{scheme}://{}", reachable(table));
    let mut lines = vec![format!("Tablerock Table service is successfully listening at {root}")];
    if let Some(admin) = admin {
        lines.push(format!("Health and metrics: http://{0}/health, http://{0}/metrics", reachable(admin)));
    }
    lines.push(match &settings.data {
        Some(data) => format!("Data: {}", data.display()),
        None => "Data: in memory, gone when the server stops".to_owned(),
    });
    lines.push("Connection string:".to_owned());
    for account in &settings.accounts {
        // The development key is public; any other is the operator's secret and stays out of logs.
        let name = account.name.as_str();
        let key = if name == DEVELOPMENT_NAME { DEVELOPMENT_KEY } else { "<your key>" };
        lines.push(format!(
            "  DefaultEndpointsProtocol={scheme};AccountName={name};AccountKey={key};TableEndpoint={root}/{name};"
        ));
    }
    let is_default = settings.accounts.iter().any(|account| account.name.as_str() == DEVELOPMENT_NAME)
        && scheme == "http"
        && table.port() == 10002
        && (table.ip().is_loopback() || table.ip().is_unspecified());
    if is_default {
        lines.push("  or just: UseDevelopmentStorage=true".to_owned());
    }
    lines.push("Stop with Ctrl-C.".to_owned());
    lines
}

/// An address that clients on this machine can use: listening everywhere includes loopback.
fn reachable(address: SocketAddr) -> SocketAddr {
    match address {
        SocketAddr::V4(v4) if v4.ip().is_unspecified() => SocketAddr::from(([127, 0, 0, 1], v4.port())),
        SocketAddr::V6(v6) if v6.ip().is_unspecified() => SocketAddr::from(([127, 0, 0, 1], v6.port())),
        other => other,
    }
}
