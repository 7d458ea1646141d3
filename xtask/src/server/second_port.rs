//! The server under test behind another port as well.
//!
//! The Python SDK takes `localhost` with any port but 10002 for Cosmos DB and speaks differently to it. The cases about
//! that need such a port while the rest of the suite runs on 10002, so connections are carried over from one to the other.

use std::io;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use crate::Result;

/// Carries connections until it is dropped.
#[derive(Debug)]
pub(crate) struct SecondPort {
    pub(crate) port: u16,
    closing: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

impl SecondPort {
    pub(crate) fn open(first: u16) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|error| error.to_string())?;
        let port = listener.local_addr().map_err(|error| error.to_string())?.port();
        let closing = Arc::new(AtomicBool::new(false));
        let accepting = thread::spawn({
            let closing = closing.clone();
            move || accept(&listener, first, &closing)
        });
        Ok(Self { port, closing, accepting: Some(accepting) })
    }
}

impl Drop for SecondPort {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::Relaxed);
        // The listener wakes up only for a connection.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        if let Some(thread) = self.accepting.take() {
            let _ = thread.join();
        }
    }
}

fn accept(listener: &TcpListener, first: u16, closing: &AtomicBool) {
    for near in listener.incoming().map_while(io::Result::ok) {
        if closing.load(Ordering::Relaxed) {
            return;
        }
        // A client whose connection cannot be carried sees it closed.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, first)).and_then(|far| carry(&near, &far));
    }
}

fn carry(near: &TcpStream, far: &TcpStream) -> io::Result<()> {
    for (mut from, mut to) in [(near.try_clone()?, far.try_clone()?), (far.try_clone()?, near.try_clone()?)] {
        thread::spawn(move || {
            let _ = io::copy(&mut from, &mut to);
            let _ = to.shutdown(Shutdown::Write);
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn a_conversation_is_carried_both_ways() {
        let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let second = SecondPort::open(server.local_addr().unwrap().port()).unwrap();
        let answering = thread::spawn(move || {
            let (mut stream, _) = server.accept().unwrap();
            let mut asked = String::new();
            stream.read_to_string(&mut asked).unwrap();
            stream.write_all(asked.to_uppercase().as_bytes()).unwrap();
        });
        let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, second.port)).unwrap();
        client.write_all(b"hello").unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        assert_eq!(answer, "HELLO");
        answering.join().unwrap();
    }
}
