//! The server under test: one process of the binary.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tablerock_conformance::Target;
use tablerock_conformance::http::Connection;

use crate::client::{Client, ClockOffset};
use crate::history::LogicalClock;
use crate::shim::Shim;

/// A start that takes longer has failed. A directory with a full journal takes a second or two.
const START_LIMIT: Duration = Duration::from_secs(60);
const STOP_LIMIT: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(2);

/// The binary and its ports.
#[derive(Debug, Clone)]
pub struct Program {
    pub binary: PathBuf,
    pub blob_port: u16,
    pub queue_port: u16,
    pub table_port: u16,
    pub admin_port: u16,
    /// The database with its data. The location then holds only the log.
    pub store: Option<String>,
    /// More arguments of the command line.
    pub arguments: Vec<String>,
}

impl Program {
    /// The same binary on a database, with four ports in a row from this one.
    pub fn on_database(&self, url: &str, first_port: u16) -> Self {
        Self {
            binary: self.binary.clone(),
            blob_port: first_port,
            queue_port: first_port + 1,
            table_port: first_port + 2,
            admin_port: first_port + 3,
            store: Some(url.to_owned()),
            arguments: self.arguments.clone(),
        }
    }

    /// The same binary and ports, with more arguments.
    pub fn with_arguments(&self, arguments: &[&str]) -> Self {
        let mut program = self.clone();
        program.arguments.extend(arguments.iter().map(|argument| (*argument).to_owned()));
        program
    }

    pub fn target(&self) -> Arc<Target> {
        let services = [("Blob", self.blob_port), ("Queue", self.queue_port), ("Table", self.table_port)];
        let endpoint = |(service, port)| format!(";{service}Endpoint=http://127.0.0.1:{port}/devstoreaccount1");
        let text = format!("UseDevelopmentStorage=true{}", services.map(endpoint).concat());
        Arc::new(Target::parse(&text).expect("the connection string is well formed"))
    }
}

/// A running process.
#[derive(Debug)]
pub struct Server {
    child: Child,
    program: Program,
    log: PathBuf,
    /// The offset in the log at which this process begins.
    log_start: u64,
    clock: ClockOffset,
    logical_clock: Option<LogicalClock>,
}

/// A failed start.
#[derive(Debug)]
pub struct StartError {
    pub status: Option<ExitStatus>,
    /// The process's stderr.
    pub text: String,
}

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.status {
            Some(status) => write!(f, "the server exited at its start ({status}): {}", self.text.trim()),
            None => write!(f, "the server does not respond: {}", self.text.trim()),
        }
    }
}

impl Server {
    /// Spawns a process on a location and does not wait for it. Its log is next to the location.
    pub fn spawn(program: &Program, location: &Path, shim: Option<&Shim>) -> Result<Self, String> {
        let log = location.with_extension("log");
        let log_start = fs::metadata(&log).map_or(0, |metadata| metadata.len());
        let stderr = OpenOptions::new().create(true).append(true).open(&log);
        let stderr = stderr.map_err(|error| format!("{}: {error}", log.display()))?;
        let mut command = Command::new(&program.binary);
        match &program.store {
            Some(url) => command.args(["--store", url]),
            None => command.arg("--location").arg(location),
        };
        command.args(["--log", "warn"]);
        command.args(["--blob-port", &program.blob_port.to_string()]);
        command.args(["--queue-port", &program.queue_port.to_string()]);
        command.args(["--table-port", &program.table_port.to_string()]);
        command.args(["--admin-port", &program.admin_port.to_string()]);
        command.args(&program.arguments);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
        if let Some(shim) = shim {
            shim.preload(&mut command, location);
        }
        let child = command.spawn().map_err(|error| format!("{}: {error}", program.binary.display()))?;
        let clock = shim.map(|shim| shim.clock.clone()).unwrap_or_default();
        let logical_clock = shim.and_then(Shim::logical_clock);
        Ok(Self { child, program: program.clone(), log, log_start, clock, logical_clock })
    }

    /// Starts a process and waits until it responds.
    pub async fn start(program: &Program, location: &Path, shim: Option<&Shim>) -> Result<Self, String> {
        let server = Self::spawn(program, location, shim)?;
        server.ready().await.map_err(|error| error.to_string())
    }

    /// Waits until the server responds to a request.
    pub async fn ready(mut self) -> Result<Self, StartError> {
        let started = Instant::now();
        loop {
            let status = self.child.try_wait().ok().flatten();
            if status.is_some() || started.elapsed() > START_LIMIT {
                return Err(StartError { status, text: log_after(&self.log, self.log_start) });
            }
            // The admin address responds before the data is open. A server that is read only from its start is ready.
            if self.health().await.is_ok_and(|(_, text)| !text.starts_with("starting")) {
                return Ok(self);
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// A client of the server, with the clocks of its shim.
    pub fn client(&self) -> Client {
        let client = Client::new(self.program.target()).with_clock(self.clock.clone());
        client.with_logical_clock(self.logical_clock.clone())
    }

    /// The status and body of `/health`.
    pub async fn health(&self) -> Result<(u16, String), String> {
        let endpoint = tablerock_conformance::target::Endpoint {
            tls: false,
            host: "127.0.0.1".to_owned(),
            port: self.program.admin_port,
            prefix: String::new(),
        };
        let request = async {
            let mut connection = Connection::open(&endpoint).await?;
            connection.exchange(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n").await
        };
        match tokio::time::timeout(Duration::from_secs(5), request).await {
            Ok(Ok(answer)) => Ok((answer.status, String::from_utf8_lossy(&answer.body).into_owned())),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("/health does not respond".to_owned()),
        }
    }

    /// Sends `SIGKILL` and waits for the process.
    pub fn kill(mut self) {
        self.kill_and_wait();
    }

    /// Stops the process where it is, and with `is_frozen` false lets it continue there.
    pub fn freeze(&self, is_frozen: bool) {
        let signal = if is_frozen { "STOP" } else { "CONT" };
        // A process that has just exited is not a failure of the signal.
        let _ = Command::new("sh").args(["-c", &format!("kill -{signal} {}", self.child.id())]).status();
    }

    fn kill_and_wait(&mut self) {
        // An error means that the process has exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Sends `SIGTERM` and expects exit code 0.
    pub async fn stop(self) -> Result<(), String> {
        let log = self.log.clone();
        match self.terminate().await? {
            status if status.success() => Ok(()),
            status => Err(format!("the server exited with {status}: {}", log_after(&log, 0))),
        }
    }

    /// Sends `SIGTERM` and accepts any exit code.
    pub async fn stop_with_any_code(self) -> Result<(), String> {
        self.terminate().await.map(drop)
    }

    async fn terminate(mut self) -> Result<ExitStatus, String> {
        let pid = self.child.id();
        let sent = Command::new("sh").args(["-c", &format!("kill -TERM {pid}")]).status();
        sent.map_err(|error| format!("cannot send a signal: {error}"))?;
        let started = Instant::now();
        while started.elapsed() < STOP_LIMIT {
            match self.child.try_wait().map_err(|error| error.to_string())? {
                Some(status) => return Ok(status),
                None => tokio::time::sleep(POLL).await,
            }
        }
        Err("the server did not exit after SIGTERM".to_owned())
    }

    /// Whether the process still runs.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// The resident memory of the process, from `/proc`.
    pub fn resident_bytes(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib * 1024)
    }
}

fn log_after(log: &Path, position: u64) -> String {
    let bytes = fs::read(log).unwrap_or_default();
    String::from_utf8_lossy(bytes.get(position as usize..).unwrap_or_default()).into_owned()
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill_and_wait();
    }
}

/// Fails unless all ports of the program are free.
pub fn check_ports(program: &Program) -> Result<(), String> {
    for port in [program.blob_port, program.queue_port, program.table_port, program.admin_port] {
        std::net::TcpListener::bind(("127.0.0.1", port)).map_err(|error| format!("port {port}: {error}"))?;
    }
    Ok(())
}

/// Creates an empty folder, and an empty log next to it.
pub fn fresh_folder(path: &Path) -> Result<(), String> {
    if path.exists() {
        fs::remove_dir_all(path).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    fs::create_dir_all(path).map_err(|error| format!("{}: {error}", path.display()))?;
    File::create(path.with_extension("log")).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(())
}
