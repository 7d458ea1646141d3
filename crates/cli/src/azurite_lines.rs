//! The lines that Azurite prints to stdout, byte by byte. Supervisors and test harnesses wait for some of them, so `--silent`
//! does not suppress them.
//!
//! Azurite starts its services one after the other, so a line about the start of the second follows the line about the
//! readiness of the first. The commands of a single service have wordings of their own.

use std::net::SocketAddr;

use tablerock_protocol::Service;

use crate::ports::title;
use crate::program::Program;
use crate::settings::Address;

/// A service as Azurite names it in its lines.
#[derive(Debug, Clone)]
pub(crate) struct ServiceLines {
    program: Program,
    service: Service,
    scheme: &'static str,
    wanted: Address,
}

impl ServiceLines {
    pub(crate) fn new(program: Program, service: Service, is_https: bool, wanted: Address) -> Self {
        Self { program, service, scheme: if is_https { "https" } else { "http" }, wanted }
    }

    fn name(&self) -> &'static str {
        title(self.service)
    }

    /// The line before the start, with the address as configured.
    pub(crate) fn starting(&self) -> String {
        let Self { scheme, wanted, .. } = self;
        match self.program {
            Program::AzuriteService(_) => format!("Azurite {} service is starting on {wanted}", self.name()),
            _ => format!("Azurite {} service is starting at {scheme}://{wanted}", self.name()),
        }
    }

    /// The line of a service that accepts connections, with the address as bound.
    pub(crate) fn listening(&self, bound: SocketAddr) -> String {
        let (name, scheme) = (self.name(), self.scheme);
        match self.program {
            Program::AzuriteService(Service::Table) => {
                format!("Azurite {name} service successfully started on {bound}")
            }
            Program::AzuriteService(_) => format!("Azurite {name} service successfully listens on {scheme}://{bound}"),
            _ => format!("Azurite {name} service is successfully listening at {scheme}://{bound}"),
        }
    }

    pub(crate) fn closing(&self) -> String {
        format!("Azurite {} service is closing...", self.name())
    }

    pub(crate) fn closed(&self) -> String {
        format!("Azurite {} service successfully closed", self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_are_those_of_azurite() {
        let wanted = Address { host: "0.0.0.0".to_owned(), port: 0 };
        let bound = "0.0.0.0:10000".parse().unwrap();
        let lines = |program, service, is_https| {
            let lines = ServiceLines::new(program, service, is_https, wanted.clone());
            [lines.starting(), lines.listening(bound)]
        };
        assert_eq!(
            lines(Program::Azurite, Service::Blob, false),
            [
                "Azurite Blob service is starting at http://0.0.0.0:0",
                "Azurite Blob service is successfully listening at http://0.0.0.0:10000"
            ]
        );
        assert_eq!(
            lines(Program::AzuriteService(Service::Queue), Service::Queue, true),
            [
                "Azurite Queue service is starting on 0.0.0.0:0",
                "Azurite Queue service successfully listens on https://0.0.0.0:10000"
            ]
        );
        assert_eq!(
            lines(Program::AzuriteService(Service::Table), Service::Table, true),
            [
                "Azurite Table service is starting on 0.0.0.0:0",
                "Azurite Table service successfully started on 0.0.0.0:10000"
            ]
        );
    }
}
