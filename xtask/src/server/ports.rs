//! The ports of the server under test.

use std::net::{Ipv4Addr, TcpListener};

use crate::Result;

/// Where the three services of one server listen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ports {
    pub(crate) blob: u16,
    pub(crate) queue: u16,
    pub(crate) table: u16,
}

impl Ports {
    /// The ports that `UseDevelopmentStorage=true` stands for.
    pub(crate) const DEVELOPMENT: Ports = Ports { blob: 10000, queue: 10001, table: 10002 };

    /// Three in a row in the order of the development ports, of which the last is known.
    pub(crate) fn up_to(table: u16) -> Result<Self> {
        match table.checked_sub(2) {
            Some(blob @ 1..) => Ok(Self { blob, queue: blob + 1, table }),
            _ => Err(format!("port {table} leaves no two below it for queues and blobs")),
        }
    }

    /// Three free ports.
    pub(crate) fn any_free() -> Result<Self> {
        // All are held until the last is known, so that none is given twice.
        let held = [listen_anywhere()?, listen_anywhere()?, listen_anywhere()?];
        let [blob, queue, table] = held.each_ref().map(port_of);
        Ok(Self { blob: blob?, queue: queue?, table: table? })
    }

    /// The wanted ports if they are free. If not, that is an error where nothing may be left out, and otherwise any
    /// free ones: cases that need the wanted ports then report themselves as skipped.
    pub(crate) fn choose(wanted: Self, nothing_left_out: bool) -> Result<Self> {
        let Some(taken) = wanted.all().into_iter().find(|&port| !is_free(port)) else {
            return Ok(wanted);
        };
        if nothing_left_out {
            return Err(format!(
                "port {taken} is taken by another program, and the cases of the development account need it"
            ));
        }
        let other = Self::any_free()?;
        println!("skipped: cases that need port {taken}: another program listens there; using {:?}", other.all());
        Ok(other)
    }

    /// Blobs, queues, tables.
    pub(crate) const fn all(self) -> [u16; 3] {
        [self.blob, self.queue, self.table]
    }
}

/// Whether the port is free now.
pub(crate) fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

/// A free port.
pub(crate) fn any_free() -> Result<u16> {
    port_of(&listen_anywhere()?)
}

fn listen_anywhere() -> Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|error| format!("no free port: {error}"))
}

fn port_of(listener: &TcpListener) -> Result<u16> {
    listener.local_addr().map(|address| address.port()).map_err(|error| format!("no free port: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_port_is_an_error_only_where_nothing_may_be_left_out() {
        let taken = listen_anywhere().unwrap();
        let wanted = Ports { queue: port_of(&taken).unwrap(), ..Ports::any_free().unwrap() };
        assert!(Ports::choose(wanted, true).is_err());
        assert_ne!(Ports::choose(wanted, false).unwrap(), wanted);
    }

    #[test]
    fn the_table_port_gives_the_others() {
        assert_eq!(Ports::up_to(10002).unwrap(), Ports::DEVELOPMENT);
        assert!(Ports::up_to(2).is_err());
    }
}
