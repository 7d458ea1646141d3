//! Which port the server under test takes.

use std::net::{Ipv4Addr, TcpListener};

use crate::Result;

/// The port that `UseDevelopmentStorage=true` stands for.
pub(crate) const DEVELOPMENT: u16 = 10002;

/// Whether nobody listens there now.
pub(crate) fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

/// A port that the system says is free.
pub(crate) fn any_free() -> Result<u16> {
    let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    address.map(|address| address.port()).map_err(|error| format!("no free port: {error}"))
}

/// The wanted port if it is free. If not, that is an error where nothing may be left out, and otherwise any free one:
/// cases that need the wanted port then report themselves as skipped.
pub(crate) fn choose(wanted: u16, nothing_left_out: bool) -> Result<u16> {
    if is_free(wanted) {
        return Ok(wanted);
    }
    if nothing_left_out {
        return Err(format!(
            "port {wanted} is taken by another program, and the cases of the development account need it"
        ));
    }
    let other = any_free()?;
    println!("skipped: cases that need port {wanted}: another program listens there; using {other}");
    Ok(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_port_is_an_error_only_where_nothing_may_be_left_out() {
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        assert!(choose(port, true).is_err());
        assert_ne!(choose(port, false).unwrap(), port);
    }
}
