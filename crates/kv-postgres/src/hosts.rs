//! Which of several hosts is asked, and in which order.
//!
//! The driver would try the hosts of a URL in their order every time, and bounds only the first step of what it takes to
//! connect. One host that accepts and then says nothing would so keep everybody from the one that serves. Here each
//! address is tried on its own and within its share of the time, and the one that served last is tried first.

use std::net::IpAddr;

use futures_util::future::join_all;
use parking_lot::Mutex;
use tokio_postgres::Config;
use tokio_postgres::config::Host;

/// Addresses that a name may have; more are not tried.
const ADDRESSES_PER_HOST_MAX: usize = 8;

/// The hosts of a database.
pub(crate) struct Hosts {
    /// What the URL says, once for each host.
    configs: Vec<Config>,
    /// Where to begin: at the place that served last.
    first: Mutex<Option<Place>>,
}

/// One address of one host. Without an address, the driver finds it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Place {
    host: usize,
    address: Option<IpAddr>,
}

impl Hosts {
    pub(crate) fn of(config: &Config) -> Self {
        let count = config.get_hosts().len().max(config.get_hostaddrs().len());
        Self { configs: (0..count).map(|index| only(config, index)).collect(), first: Mutex::default() }
    }

    /// Whether the operator named several, of which one may be the primary and the others not.
    pub(crate) fn are_several(&self) -> bool {
        self.configs.len() > 1
    }

    /// Every address of every host, in the order in which to try them.
    pub(crate) async fn places(&self) -> Vec<Place> {
        let found = self.configs.iter().enumerate().map(|(host, config)| async move {
            let addresses = addresses(config).await;
            match addresses.is_empty() {
                // The driver's own attempt says what is wrong with the name.
                true => vec![Place { host, address: None }],
                false => addresses.into_iter().map(|address| Place { host, address: Some(address) }).collect(),
            }
        });
        let mut places = join_all(found).await.concat();
        let first = places.iter().position(|place| Some(*place) == *self.first.lock());
        places.rotate_left(first.unwrap_or_default());
        places
    }

    pub(crate) fn config_at(&self, place: Place) -> Config {
        let mut config = self.configs[place.host].clone();
        if let (Some(address), true) = (place.address, config.get_hostaddrs().is_empty()) {
            config.hostaddr(address);
        }
        config
    }

    /// Begins an attempt at one place. Unless it succeeds, the next one to connect begins at `next`.
    pub(crate) fn attempt(&self, place: Place, next: Place) -> Attempt<'_> {
        Attempt { hosts: self, place, next, has_served: false }
    }
}

/// An attempt under way. One that is given up half-way counts as a failure, so that nobody begins with it again.
pub(crate) struct Attempt<'a> {
    hosts: &'a Hosts,
    place: Place,
    next: Place,
    has_served: bool,
}

impl Attempt<'_> {
    pub(crate) fn succeeded(mut self) {
        self.has_served = true;
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        let mut first = self.hosts.first.lock();
        if self.has_served {
            *first = Some(self.place);
        } else if first.is_none_or(|first| first == self.place) {
            *first = Some(self.next);
        }
    }
}

async fn addresses(config: &Config) -> Vec<IpAddr> {
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

/// The same database at one of its hosts. The driver has no way to take hosts out of what it read, so the rest is copied.
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
        let order = async || hosts.places().await.iter().map(|place| place.host).collect::<Vec<_>>();
        let places = hosts.places().await;
        assert_eq!(order().await, [0, 1, 2]);
        drop(hosts.attempt(places[0], places[1]));
        assert_eq!(order().await, [1, 2, 0], "an attempt that was given up is one that failed");
        hosts.attempt(places[2], places[0]).succeeded();
        assert_eq!(order().await, [2, 0, 1]);
        drop(hosts.attempt(places[1], places[2]));
        assert_eq!(order().await, [2, 0, 1], "what failed elsewhere says nothing about the one that serves");
    }
}
