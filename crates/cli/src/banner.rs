//! The banner: the addresses of a server that is ready, and a connection string to paste into an application.

use std::net::SocketAddr;

use tablerock_server::Account;

use crate::accounts::{self, DEVELOPMENT_KEY, DEVELOPMENT_NAME};
use crate::ports::BoundAddresses;
use crate::settings::{DEFAULT_BLOB_PORT, DEFAULT_QUEUE_PORT, DEFAULT_TABLE_PORT, Settings};
use crate::store_location::StoreLocation;

/// The ports of `UseDevelopmentStorage=true`, in the order of the banner.
const DEFAULT_PORTS: [u16; 3] = [DEFAULT_TABLE_PORT, DEFAULT_QUEUE_PORT, DEFAULT_BLOB_PORT];

/// Returns the lines about the services. Supervisors wait for them, also with `--silent`.
pub(crate) fn listening(settings: &Settings, bound: &BoundAddresses) -> Vec<String> {
    let scheme = scheme(settings);
    let listening = bound.services().into_iter();
    listening
        .map(|(name, address)| format!("Tablerock {name} service is successfully listening at {scheme}://{address}"))
        .collect()
}

fn scheme(settings: &Settings) -> &'static str {
    if settings.tls.is_some() { "https" } else { "http" }
}

/// Returns the lines for stdout.
pub(crate) fn lines(settings: &Settings, bound: &BoundAddresses) -> Vec<String> {
    let scheme = scheme(settings);
    let services = bound.services();
    let mut lines = listening(settings, bound);
    if let Some(admin) = bound.admin {
        lines
            .push(format!("Health, metrics, load: http://{admin}/health, http://{admin}/metrics, http://{admin}/load"));
    }
    lines.push(match &settings.data {
        StoreLocation::Folder(data) if settings.data_is_new => format!("Data: {} (new)", data.display()),
        StoreLocation::Folder(data) => format!("Data: {}", data.display()),
        StoreLocation::Database { target, .. } => format!("Data: {target}, shared with all servers that use it"),
        StoreLocation::Memory => "Data: in memory, lost when the server stops".to_owned(),
    });
    lines.push(if services.iter().any(|(_, address)| address.ip().is_unspecified()) {
        "Connection string on this machine; on others, replace 127.0.0.1 with its name or address:".to_owned()
    } else {
        "Connection string:".to_owned()
    });
    for account in &settings.accounts {
        // The development key is public. Other keys are secret and must not appear in logs.
        let name = account.name.as_str();
        let key = if account.keys.iter().any(accounts::is_development_key) { DEVELOPMENT_KEY } else { "<your key>" };
        let endpoint = |(service, address): &(&str, SocketAddr)| {
            format!("{service}Endpoint={scheme}://{}/{name};", reachable(*address))
        };
        let endpoints: String = services.iter().map(endpoint).collect();
        lines.push(format!("  DefaultEndpointsProtocol={scheme};AccountName={name};AccountKey={key};{endpoints}"));
    }
    if scheme == "http" && is_development_storage(settings, bound) {
        lines.push("  or: UseDevelopmentStorage=true".to_owned());
    }
    lines.push("Stop with Ctrl-C.".to_owned());
    lines
}

/// Whether `UseDevelopmentStorage=true` leads to this server.
fn is_development_storage(settings: &Settings, bound: &BoundAddresses) -> bool {
    let is_account = |account: &Account| {
        account.name.as_str() == DEVELOPMENT_NAME && account.keys.iter().any(accounts::is_development_key)
    };
    let has_loopback = |(_, address): (&str, SocketAddr)| address.ip().is_loopback() || address.ip().is_unspecified();
    settings.accounts.iter().any(is_account)
        && bound.services().iter().map(|(_, address)| address.port()).eq(DEFAULT_PORTS)
        && bound.services().into_iter().all(has_loopback)
}

/// Returns an address that clients on this machine can use: an unspecified address includes loopback.
fn reachable(address: SocketAddr) -> SocketAddr {
    match address {
        SocketAddr::V4(v4) if v4.ip().is_unspecified() => SocketAddr::from(([127, 0, 0, 1], v4.port())),
        SocketAddr::V6(v6) if v6.ip().is_unspecified() => SocketAddr::from(([127, 0, 0, 1], v6.port())),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::ServeArguments;
    use crate::program::Program;

    fn banner(accounts: Option<&str>, host: &str) -> String {
        let given = ServeArguments { accounts: accounts.map(str::to_owned), ..Default::default() };
        let address = |port| format!("{host}:{port}").parse().unwrap();
        let services = ["Table", "Queue", "Blob"].into_iter().zip(DEFAULT_PORTS.map(address));
        let bound = BoundAddresses::new(services, Some(address(10003)));
        lines(&Settings::gather(&given, Program::Tablerock).unwrap(), &bound).join("\n")
    }

    #[test]
    fn the_addresses_are_those_that_are_bound_and_the_connection_string_works() {
        for host in ["0.0.0.0", "[::]"] {
            let banner = banner(None, host);
            assert!(banner.contains(&format!("listening at http://{host}:10002\n")), "{banner}");
            assert!(banner.contains("TableEndpoint=http://127.0.0.1:10002/devstoreaccount1;"), "{banner}");
            assert!(banner.contains("on others, replace 127.0.0.1"), "{banner}");
            assert!(banner.contains(&format!("http://{host}:10003/load")), "{banner}");
        }
        assert!(banner(None, "127.0.0.1").contains("\nConnection string:\n"));
    }

    #[test]
    fn only_the_published_key_is_shown() {
        assert!(banner(None, "127.0.0.1").contains("UseDevelopmentStorage=true"));
        let banner = banner(Some("devstoreaccount1:c2VjcmV0"), "127.0.0.1");
        assert!(banner.contains("AccountKey=<your key>;"), "{banner}");
        assert!(!banner.contains("UseDevelopmentStorage=true") && !banner.contains(DEVELOPMENT_KEY), "{banner}");
    }
}
