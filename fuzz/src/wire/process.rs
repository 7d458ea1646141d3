//! The server under test.

use std::env;
use std::fs::{self, File};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

const START_ATTEMPTS: usize = 100;
const START_PAUSE: Duration = Duration::from_millis(100);

/// The key of the account, as Base64: that of [`super::key`].
const ACCOUNTS: &str = "acct:b3Vycw==";

pub(super) struct ServerProcess {
    child: Child,
    /// The messages of the process.
    log: PathBuf,
}

impl ServerProcess {
    pub(super) fn start(program: &Path, first_port: u16) -> Result<Self, String> {
        let mut command = Command::new(program);
        command.args(["serve", "--in-memory", "--admin-port", "0", "--accounts", ACCOUNTS]);
        for (name, place) in [("--table-port", 0), ("--queue-port", 1), ("--blob-port", 2)] {
            command.args([name, &(first_port + place).to_string()]);
        }
        let log = env::temp_dir().join(format!("tablerock-fuzz-wire-{first_port}.log"));
        let file = File::create(&log).map_err(|error| format!("{}: {error}", log.display()))?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
        let child = command.spawn().map_err(|error| format!("{}: {error}", program.display()))?;
        let mut process = Self { child, log };
        for _ in 0..START_ATTEMPTS {
            if (0..3).all(|place| TcpStream::connect(("127.0.0.1", first_port + place)).is_ok()) {
                return Ok(process);
            }
            if !process.is_running() {
                return Err(format!("{} ended at its start; see {}", program.display(), process.log.display()));
            }
            thread::sleep(START_PAUSE);
        }
        Err(format!("{} does not listen on ports {first_port} to {}", program.display(), first_port + 2))
    }

    /// The lines in which the process reports a panic. One in a task of its own need not be seen in any response.
    pub(super) fn panics(&self) -> Result<Vec<String>, String> {
        let log = fs::read(&self.log).map_err(|error| format!("{}: {error}", self.log.display()))?;
        let text = String::from_utf8_lossy(&log);
        Ok(text.lines().filter(|line| line.contains("panicked at")).map(str::to_owned).collect())
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
