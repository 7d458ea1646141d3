//! The ports of a server. All are bound first, so that a taken one is found before the data is opened. Those of the services
//! listen once the store is open: until then the system rejects connections, and a TCP probe does not take a recovery for
//! a server that is ready.

use std::io;
use std::net::SocketAddr;

use tablerock_protocol::Service;
use tokio::net::{TcpListener, TcpSocket, lookup_host};

use crate::settings::{Address, Settings};

/// Connections that the kernel accepts ahead of the server.
const BACKLOG: u32 = 1024;

/// The flag of the admin port.
const ADMIN_PORT: &str = "--admin-port";

/// The target of the warnings about the admin address, which every log filter lets through: nothing else shows its port.
pub(crate) const TARGET: &str = "tablerock::ports";

/// The addresses that a server is bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BoundAddresses {
    services: Vec<(&'static str, SocketAddr)>,
    pub(crate) admin: Option<SocketAddr>,
}

impl BoundAddresses {
    pub(crate) fn new(
        services: impl IntoIterator<Item = (&'static str, SocketAddr)>,
        admin: Option<SocketAddr>,
    ) -> Self {
        Self { services: services.into_iter().collect(), admin }
    }

    /// The services by name, in the order of the banner.
    pub(crate) fn services(&self) -> Vec<(&'static str, SocketAddr)> {
        self.services.clone()
    }
}

/// The name of a service in lines for people.
pub(crate) fn title(service: Service) -> &'static str {
    match service {
        Service::Blob => "Blob",
        Service::Queue => "Queue",
        Service::Table => "Table",
    }
}

/// Returns whether only this machine reaches an address.
pub(crate) fn is_loopback(address: SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

/// The bound ports of a server: those of its services in the order of their default ports, and the admin address.
pub(crate) struct Ports {
    pub(crate) services: Vec<(Service, Port)>,
    pub(crate) admin: Option<Port>,
}

impl Ports {
    pub(crate) async fn bind(settings: &Settings) -> Result<Self, String> {
        let mut services = Vec::new();
        for (service, port) in settings.services() {
            services.push((service, Port::bind(&port.address, port_flag(service)).await?));
        }
        let admin = match &settings.admin_address {
            None => None,
            Some(address) if settings.is_admin_port_given => Some(Port::bind(address, ADMIN_PORT).await?),
            Some(address) => {
                // The port of a service that does not listen yet could be bound twice, and fail later.
                let is_taken = services.iter().any(|(_, port)| port.bound.port() == address.port);
                match Port::bind_or_move(address, ADMIN_PORT, is_taken).await {
                    Err(error) if !settings.is_admin_wanted => {
                        tracing::warn!(target: TARGET, error, "there is no admin address, it cannot be bound");
                        None
                    }
                    bound => Some(bound?),
                }
            }
        };
        Ok(Self { services, admin })
    }

    pub(crate) fn addresses(&self) -> BoundAddresses {
        let services = self.services.iter().rev().map(|(service, port)| (title(*service), port.bound));
        BoundAddresses::new(services, self.admin.as_ref().map(|port| port.bound))
    }
}

fn port_flag(service: Service) -> &'static str {
    match service {
        Service::Blob => "--blob-port",
        Service::Queue => "--queue-port",
        Service::Table => "--table-port",
    }
}

/// A port that is bound and does not listen yet.
pub(crate) struct Port {
    socket: TcpSocket,
    bound: SocketAddr,
    wanted: Address,
    flag: &'static str,
    /// Whether any free port does if the wanted one is in use.
    is_movable: bool,
}

impl Port {
    async fn bind(wanted: &Address, flag: &'static str) -> Result<Self, String> {
        let bound = async {
            let mut failure = io::Error::new(io::ErrorKind::InvalidInput, "the host has no address");
            for address in lookup_host((wanted.host.as_str(), wanted.port)).await? {
                match bind(address) {
                    Ok(bound) => return Ok(bound),
                    Err(error) => failure = error,
                }
            }
            Err(failure)
        };
        let (socket, bound) = bound.await.map_err(|error| explain(&error, wanted, flag))?;
        Ok(Self { socket, bound, wanted: wanted.clone(), flag, is_movable: false })
    }

    /// Binds a port that was not given. If it is in use, any free port of the host takes its place.
    async fn bind_or_move(wanted: &Address, flag: &'static str, is_taken: bool) -> Result<Self, String> {
        let bound = match Self::bind(wanted, flag).await {
            Ok(bound) if !is_taken => bound,
            _ => {
                let moved = Self::bind(&Address { port: 0, ..wanted.clone() }, flag).await?;
                log_move(wanted, moved.bound);
                moved
            }
        };
        Ok(Self { is_movable: true, ..bound })
    }

    /// The address that it is bound to.
    pub(crate) fn address(&self) -> SocketAddr {
        self.bound
    }

    /// Accepts connections from now on. It fails, or moves if it may, if another program bound the port at the same time and
    /// listens already.
    pub(crate) fn listen(self) -> Result<TcpListener, String> {
        let Self { socket, wanted, flag, bound, is_movable } = self;
        let listener = socket.listen(BACKLOG).or_else(|error| {
            if !is_movable || error.kind() != io::ErrorKind::AddrInUse {
                return Err(error);
            }
            let (socket, moved) = bind(SocketAddr::new(bound.ip(), 0))?;
            log_move(&wanted, moved);
            socket.listen(BACKLOG)
        });
        listener.map_err(|error| explain(&error, &wanted, flag))
    }
}

fn log_move(wanted: &Address, bound: SocketAddr) {
    tracing::warn!(
        target: TARGET,
        wanted = wanted.port,
        chosen = %bound,
        "the default admin port is in use, another was chosen: set --admin-port to choose one, or 0 for none"
    );
}

fn bind(address: SocketAddr) -> io::Result<(TcpSocket, SocketAddr)> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // Connections of an earlier process that are still closing do not keep the port. On Windows the option means that two
    // programs can listen on it.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    let bound = socket.local_addr()?;
    Ok((socket, bound))
}

fn explain(error: &io::Error, Address { host, port }: &Address, flag: &str) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            format!("port {port} on {host} is in use: stop the program that uses it, or choose another with {flag}")
        }
        io::ErrorKind::PermissionDenied => {
            format!("no permission to listen on port {port} of {host}: choose a port above 1023 with {flag}")
        }
        _ => format!("cannot listen on {host}:{port}: {error}; check the host and {flag}"),
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpStream;

    use super::*;
    use crate::arguments::ServeArguments;
    use crate::program::Program;

    fn local(port: u16) -> Address {
        Address { host: "127.0.0.1".to_owned(), port }
    }

    #[tokio::test]
    async fn a_bound_port_refuses_connections_until_it_listens() {
        let port = Port::bind(&local(0), "--table-port").await.unwrap();
        let address = port.address();
        let refused = TcpStream::connect(address).await.unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
        let _listener = port.listen().unwrap();
        TcpStream::connect(address).await.unwrap();
    }

    #[tokio::test]
    async fn a_port_that_listens_is_taken_for_others_whenever_they_came() {
        let first = Port::bind(&local(0), "--table-port").await.unwrap();
        let taken = local(first.bound.port());
        let at_the_same_time = Port::bind(&taken, "--queue-port").await;
        let _listener = first.listen().unwrap();
        for later in [at_the_same_time, Port::bind(&taken, "--queue-port").await] {
            let error = later.and_then(Port::listen).unwrap_err();
            assert!(error.contains("is in use") && error.contains("--queue-port"), "{error}");
        }
    }

    #[tokio::test]
    async fn an_admin_port_that_is_not_given_gives_way_to_a_service() {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let given = ServeArguments {
            blob_port: Some(0),
            queue_port: Some(0),
            table_port: Some(free),
            in_memory: true,
            ..Default::default()
        };
        let mut settings = Settings::gather(&given, Program::Tablerock).unwrap();
        settings.admin_address = Some(local(free));
        let Ports { services, admin } = Ports::bind(&settings).await.unwrap();
        let admin = admin.unwrap();
        assert_ne!(admin.address().port(), free);
        let _admin = admin.listen().unwrap();
        let _services: Vec<_> = services.into_iter().map(|(_, port)| port.listen().unwrap()).collect();
    }

    #[tokio::test]
    async fn an_admin_address_that_cannot_be_bound_is_left_out_unless_it_is_wanted() {
        let given = ServeArguments {
            blob_port: Some(0),
            queue_port: Some(0),
            table_port: Some(0),
            in_memory: true,
            ..Default::default()
        };
        let mut settings = Settings::gather(&given, Program::Tablerock).unwrap();
        // An address for documentation, which no machine has.
        settings.admin_address = Some(Address { host: "192.0.2.1".to_owned(), port: 10003 });
        assert!(Ports::bind(&settings).await.unwrap().admin.is_none());
        settings.is_admin_wanted = true;
        assert!(Ports::bind(&settings).await.is_err());
    }

    #[test]
    fn loopback_is_judged_by_the_address() {
        for text in ["127.0.0.1:1", "127.1.2.3:1", "[::1]:1", "[::ffff:127.0.0.1]:1"] {
            assert!(is_loopback(text.parse().unwrap()), "{text}");
        }
        for text in ["0.0.0.0:1", "[::]:1", "10.0.0.1:1", "[::ffff:0.0.0.0]:1"] {
            assert!(!is_loopback(text.parse().unwrap()), "{text}");
        }
    }
}
