//! The server under test.

use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

const START_ATTEMPTS: usize = 100;
const START_PAUSE: Duration = Duration::from_millis(100);

/// The key of the account, as Base64: that of [`super::key`].
const ACCOUNTS: &str = "acct:b3Vycw==";

pub(super) struct ServerProcess {
    child: Child,
}

impl ServerProcess {
    pub(super) fn start(program: &Path, first_port: u16) -> Result<Self, String> {
        let mut command = Command::new(program);
        command.args(["serve", "--in-memory", "--admin-port", "0", "--accounts", ACCOUNTS]);
        for (name, place) in [("--table-port", 0), ("--queue-port", 1), ("--blob-port", 2)] {
            command.args([name, &(first_port + place).to_string()]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let child = command.spawn().map_err(|error| format!("{}: {error}", program.display()))?;
        let mut process = Self { child };
        for _ in 0..START_ATTEMPTS {
            if (0..3).all(|place| TcpStream::connect(("127.0.0.1", first_port + place)).is_ok()) {
                return Ok(process);
            }
            if !process.is_running() {
                return Err(format!("{} ended at its start; its output has the reason", program.display()));
            }
            thread::sleep(START_PAUSE);
        }
        Err(format!("{} does not listen on ports {first_port} to {}", program.display(), first_port + 2))
    }

    pub(super) fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // Both fail only if the process has ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
