//! The hosts of a database, and the order in which they are tried.
//!
//! The driver tries the hosts of a URL in their order every time, and its timeout covers only the TCP connect. One host
//! that accepts and then hangs would block all connections. Here each address has its own share of the time.
//!
//! Where one host serves and the others are its standbys, the one that served last is tried first. Where all serve, as the
//! nodes of a Citus cluster do, connections take turns, and an address that has failed is tried last for a while.

use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use parking_lot::Mutex;
use tablerock_kv::Rng;
use tokio_postgres::Config;
use tokio_postgres::config::Host;

/// The addresses of one name that are tried.
const ADDRESSES_PER_HOST_MAX: usize = 8;

/// The time for which an address that failed is tried after the others, where connections take turns.
const FAILED_FOR: Duration = Duration::from_secs(10);

/// The order in which addresses are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostOrder {
    /// The one that served last, and at first the first one: the others are its standbys.
    LastServed,
    /// Each connection begins with the next one: all of them serve.
    TakeTurns,
}

/// The hosts of a database.
pub(crate) struct Hosts {
    /// The settings of the URL, once for each host.
    configs: Vec<Config>,
    /// The address that served last.
    first: Mutex<Option<HostAddress>>,
    /// The number of connections so far, from a random number on: the servers of a store begin at different hosts.
    turn: AtomicUsize,
    /// The addresses whose last attempt failed, with its time.
    failed: Mutex<Vec<(HostAddress, Instant)>>,
}

/// One address of one host. Without `address`, the driver resolves the name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct HostAddress {
    host: usize,
    address: Option<IpAddr>,
}

impl Hosts {
    pub(crate) fn of(config: &Config) -> Self {
        let count = config.get_hosts().len().max(config.get_hostaddrs().len());
        Self {
            configs: (0..count).map(|index| only(config, index)).collect(),
            first: Mutex::default(),
            turn: AtomicUsize::new(Rng::from_os().number() as usize >> 1),
            failed: Mutex::default(),
        }
    }

    /// Returns whether the URL names several hosts, of which one may be the primary.
    pub(crate) fn are_several(&self) -> bool {
        self.configs.len() > 1
    }

    /// Returns every address of every host, in the order in which to try them.
    pub(crate) async fn addresses(&self, order: HostOrder) -> Vec<HostAddress> {
        let found = self.configs.iter().enumerate().map(|(host, config)| async move {
            let addresses = resolve(config).await;
            match addresses.is_empty() {
                // The driver's own attempt fails with the reason.
                true => vec![HostAddress { host, address: None }],
                false => addresses.into_iter().map(|address| HostAddress { host, address: Some(address) }).collect(),
            }
        });
        let mut addresses = join_all(found).await.concat();
        match order {
            HostOrder::LastServed => {
                let first = addresses.iter().position(|address| Some(*address) == *self.first.lock());
                addresses.rotate_left(first.unwrap_or_default());
            }
            HostOrder::TakeTurns => {
                let turn = self.turn.fetch_add(1, Ordering::Relaxed) % addresses.len().max(1);
                addresses.rotate_left(turn);
                addresses.sort_by_key(|address| self.has_failed(*address));
            }
        }
        addresses
    }

    fn has_failed(&self, address: HostAddress) -> bool {
        self.failed.lock().iter().any(|(failed, at)| *failed == address && at.elapsed() < FAILED_FOR)
    }

    pub(crate) fn config_of(&self, address: HostAddress) -> Config {
        let mut config = self.configs[address.host].clone();
        if let (Some(address), true) = (address.address, config.get_hostaddrs().is_empty()) {
            config.hostaddr(address);
        }
        config
    }

    /// Begins an attempt at one address. Unless it succeeds, the next connection begins at `next`.
    pub(crate) fn attempt(&self, address: HostAddress, next: HostAddress) -> ConnectAttempt<'_> {
        ConnectAttempt { hosts: self, address, next, has_served: false }
    }
}

/// An attempt in progress. A cancelled attempt counts as a failure, so that the next connection does not begin with it.
pub(crate) struct ConnectAttempt<'a> {
    hosts: &'a Hosts,
    address: HostAddress,
    next: HostAddress,
    has_served: bool,
}

impl ConnectAttempt<'_> {
    pub(crate) fn succeeded(mut self) {
        self.has_served = true;
    }
}

impl Drop for ConnectAttempt<'_> {
    fn drop(&mut self) {
        let mut failed = self.hosts.failed.lock();
        failed.retain(|(address, at)| *address != self.address && at.elapsed() < FAILED_FOR);
        if !self.has_served {
            failed.push((self.address, Instant::now()));
        }
        let mut first = self.hosts.first.lock();
        if self.has_served {
            *first = Some(self.address);
        } else if first.is_none_or(|first| first == self.address) {
            *first = Some(self.next);
        }
    }
}

async fn resolve(config: &Config) -> Vec<IpAddr> {
    let (hosts, given) = (config.get_hosts(), config.get_hostaddrs());
    let Some(Host::Tcp(name)) = hosts.first().filter(|_| given.is_empty()) else { return vec![] };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    let found = tokio::net::lookup_host((name.as_str(), port)).await;
    let mut addresses: Vec<IpAddr> = vec![];
    for address in found.into_iter().flatten().map(|address| address.ip()) {
        if !addresses.contains(&address) && addresses.len() < ADDRESSES_PER_HOST_MAX {
            addresses.push(address);
        }
    }
    addresses
}

/// Returns the settings for one of the hosts. The driver cannot remove hosts from a config, so the rest is copied.
fn only(config: &Config, index: usize) -> Config {
    let mut one = Config::new();
    match config.get_hosts().get(index) {
        Some(Host::Tcp(name)) => drop(one.host(name)),
        #[cfg(unix)]
        Some(Host::Unix(path)) => drop(one.host_path(path)),
        None => {}
    }
    if let Some(address) = config.get_hostaddrs().get(index) {
        one.hostaddr(*address);
    }
    let ports = config.get_ports();
    if let Some(port) = ports.get(index).or(ports.first()) {
        one.port(*port);
    }
    config.get_user().map(|user| one.user(user));
    config.get_password().map(|password| one.password(password));
    config.get_dbname().map(|name| one.dbname(name));
    config.get_options().map(|options| one.options(options));
    config.get_application_name().map(|name| one.application_name(name));
    config.get_connect_timeout().map(|wait| one.connect_timeout(*wait));
    config.get_tcp_user_timeout().map(|wait| one.tcp_user_timeout(*wait));
    config.get_keepalives_interval().map(|pause| one.keepalives_interval(pause));
    config.get_keepalives_retries().map(|retries| one.keepalives_retries(retries));
    one.keepalives(config.get_keepalives()).keepalives_idle(config.get_keepalives_idle());
    one.ssl_mode(config.get_ssl_mode()).ssl_negotiation(config.get_ssl_negotiation());
    one.channel_binding(config.get_channel_binding()).target_session_attrs(config.get_target_session_attrs());
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(url: &str) -> Hosts {
        Hosts::of(&url.parse().unwrap())
    }

    #[test]
    fn a_host_of_several_has_what_the_url_says_and_its_own_port() {
        let url = "postgres://user:hush@127.0.0.1:1,127.0.0.2:2/data?sslmode=require&options=-c%20a%3Db";
        let second = &hosts(url).configs[1];
        let alone: Config = "postgres://user:hush@127.0.0.2:2/data?sslmode=require&options=-c%20a%3Db".parse().unwrap();
        assert_eq!(*second, alone);
    }

    #[tokio::test]
    async fn the_next_attempt_begins_where_the_last_one_succeeded_and_never_where_it_failed() {
        let hosts = hosts("postgres://user@127.0.0.1:1,127.0.0.2:2,127.0.0.3:3/data");
        let order = async || {
            let addresses = hosts.addresses(HostOrder::LastServed).await;
            addresses.iter().map(|address| address.host).collect::<Vec<_>>()
        };
        let addresses = hosts.addresses(HostOrder::LastServed).await;
        assert_eq!(order().await, [0, 1, 2]);
        drop(hosts.attempt(addresses[0], addresses[1]));
        assert_eq!(order().await, [1, 2, 0], "an attempt that was given up is one that failed");
        hosts.attempt(addresses[2], addresses[0]).succeeded();
        assert_eq!(order().await, [2, 0, 1]);
        drop(hosts.attempt(addresses[1], addresses[2]));
        assert_eq!(order().await, [2, 0, 1], "what failed elsewhere says nothing about the one that serves");
    }

    #[tokio::test]
    async fn connections_take_turns_and_an_address_that_failed_comes_last() {
        let hosts = hosts("postgres://user@127.0.0.1:1,127.0.0.2:2,127.0.0.3:3/data");
        let mut firsts = [0; 3];
        for _ in 0..9 {
            firsts[hosts.addresses(HostOrder::TakeTurns).await[0].host] += 1;
        }
        assert_eq!(firsts, [3, 3, 3]);
        let all = hosts.addresses(HostOrder::LastServed).await;
        drop(hosts.attempt(all[1], all[2]));
        for _ in 0..6 {
            let order = hosts.addresses(HostOrder::TakeTurns).await;
            assert_eq!((order.len(), order[2].host), (3, 1), "{order:?}");
        }
        hosts.attempt(all[1], all[2]).succeeded();
        let mut firsts = vec![];
        for _ in 0..3 {
            firsts.push(hosts.addresses(HostOrder::TakeTurns).await[0].host);
        }
        assert!(firsts.contains(&1), "it serves again: {firsts:?}");
    }
}
