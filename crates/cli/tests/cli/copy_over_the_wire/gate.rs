//! A way to a server that lets so many bytes through and then holds everything up, until it is opened.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

pub(crate) struct Gate {
    pub(crate) address: SocketAddr,
    state: Arc<State>,
}

struct State {
    bytes_left: AtomicUsize,
    is_shut: AtomicBool,
    is_opened: AtomicBool,
}

impl Gate {
    pub(crate) fn before(server: &str, bytes: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = State {
            bytes_left: AtomicUsize::new(bytes),
            is_shut: AtomicBool::new(false),
            is_opened: AtomicBool::new(false),
        };
        let state = Arc::new(state);
        let (server, shared) = (server.to_owned(), state.clone());
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(&server) else { return };
                let (back, forth) = (server.try_clone().unwrap(), stream.try_clone().unwrap());
                let state = shared.clone();
                thread::spawn(move || pass(stream, server, Some(&state)));
                thread::spawn(move || pass(back, forth, None));
            }
        });
        Self { address, state }
    }

    /// Waits until the bytes have passed.
    pub(crate) fn wait_until_shut(&self) {
        for _ in 0..6_000 {
            if self.state.is_shut.load(Ordering::SeqCst) {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("too little came through the gate");
    }

    pub(crate) fn open(&self) {
        self.state.is_opened.store(true, Ordering::SeqCst);
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, state: Option<&State>) {
    let mut buffer = [0; 16 << 10];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        if let Some(state) = state.filter(|state| !state.is_opened.load(Ordering::SeqCst)) {
            let spend = |left: usize| left.checked_sub(count);
            if state.bytes_left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, spend).is_err() {
                state.is_shut.store(true, Ordering::SeqCst);
                while !state.is_opened.load(Ordering::SeqCst) {
                    thread::sleep(Duration::from_millis(10));
                }
                return;
            }
        }
        if to.write_all(&buffer[..count]).is_err() {
            return;
        }
    }
}
