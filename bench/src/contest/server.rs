//! The servers that are compared, as child processes: started, waited for, asked about their memory, and ended.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tablerock_protocol::Service;

use crate::Result;
use crate::load::At;
use crate::load::process::{cpu_time, memory_now, memory_peak};

const START_LIMIT: Duration = Duration::from_secs(120);
const STOP_LIMIT: Duration = Duration::from_secs(120);
/// Starts are measured in milliseconds, so the server is polled often for its first response.
const POLL: Duration = Duration::from_micros(500);
/// How much of a log is repeated when its writer has ended.
const LAST_LINES: usize = 5;
const QUIET_LIMIT: Duration = Duration::from_secs(60);
const QUIET_SPAN: Duration = Duration::from_millis(250);

/// A running server. Dropping it kills it.
#[derive(Debug)]
pub struct Server {
    name: &'static str,
    child: RefCell<Child>,
    log: PathBuf,
    at: At,
    /// From the start of the process to its first response.
    pub start_time: Duration,
}

impl Server {
    /// Starts a command and waits until a request to it succeeds.
    pub fn start(name: &'static str, mut command: Command, port: u16, log: &Path, request: &[u8]) -> Result<Self> {
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_err() {
            return Err(format!("port {port} is taken: choose others with --port"));
        }
        let failed = |error: std::io::Error| format!("{name} cannot be started: {error}");
        let output = File::create(log).map_err(failed)?;
        command.stdin(Stdio::null()).stdout(output.try_clone().map_err(failed)?).stderr(output);
        let started = Instant::now();
        let child = command.spawn().map_err(failed)?;
        let at = At { port, pid: child.id() };
        let mut server = Self { name, child: RefCell::new(child), log: log.to_owned(), at, start_time: Duration::ZERO };
        while !succeeds(port, request) {
            if let Some(end) = server.end() {
                return Err(format!("{name} ended at its start, {end}"));
            }
            if started.elapsed() > START_LIMIT {
                return Err(format!("{name} does not respond within {} s", START_LIMIT.as_secs()));
            }
            thread::sleep(POLL);
        }
        server.start_time = started.elapsed();
        Ok(server)
    }

    pub fn at(&self) -> At {
        self.at
    }

    pub fn memory_now(&self) -> u64 {
        memory_now(self.at.pid).unwrap_or_default()
    }

    pub fn memory_peak(&self) -> u64 {
        memory_peak(self.at.pid).unwrap_or_default()
    }

    /// How its process ended, if it did, and what it said at last.
    pub fn end(&self) -> Option<String> {
        let status = self.status()?;
        let log = fs::read(&self.log).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let lines: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
        let said = lines[lines.len().saturating_sub(LAST_LINES)..].join("\n");
        Some(if said.is_empty() { status.to_string() } else { format!("{status}, and said\n{said}") })
    }

    fn status(&self) -> Option<ExitStatus> {
        self.child.borrow_mut().try_wait().ok()?
    }

    /// Asks it to end as a service manager would, and waits for that.
    pub fn stop(self) -> Result<()> {
        // The shell's own `kill`, because small systems have no program of that name.
        let _ = Command::new("sh").args(["-c", &format!("kill -TERM {}", self.at.pid)]).status();
        let asked = Instant::now();
        while asked.elapsed() < STOP_LIMIT {
            match self.status() {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(format!("{} ended with {status}", self.name)),
                None => thread::sleep(Duration::from_millis(10)),
            }
        }
        Err(format!("{} does not end within {} s", self.name, STOP_LIMIT.as_secs()))
    }

    /// Ends it as a crash would.
    pub fn kill(self) {
        drop(self);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let child = self.child.get_mut();
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Waits until servers have nothing to do, within a bound: what they still do for the last run must not be taken from
/// the next one's processors.
pub fn wait_until_quiet(servers: &[&Server]) {
    let computed = || servers.iter().filter_map(|server| cpu_time(server.at.pid)).sum::<Duration>();
    let started = Instant::now();
    let mut before = computed();
    while started.elapsed() < QUIET_LIMIT {
        thread::sleep(QUIET_SPAN);
        let now = computed();
        if now.saturating_sub(before) * 20 < QUIET_SPAN {
            return;
        }
        before = now;
    }
}

/// Where the programs are.
#[derive(Debug, Clone)]
pub struct Programs {
    pub tablerock: PathBuf,
    pub bare_hyper: PathBuf,
    /// Azurite's package; without it, what is compared with Azurite stays open.
    pub azurite: Option<PathBuf>,
}

impl Programs {
    /// With the settings that hold by default. The service that is measured gets the port, the admin address the one
    /// behind it, and the others get ports that are not used.
    pub fn tablerock(&self, service: Service, port: u16, location: &Path) -> Command {
        let mut command = Command::new(&self.tablerock);
        command.arg("--location").arg(location).arg("--silent");
        command.args(["--admin-port", &(port + 1).to_string()]);
        for each in Service::ALL {
            let port = if each == service { port } else { 0 };
            command.args([format!("--{}-port", each.name()), port.to_string()]);
        }
        command
    }

    /// One service, with its default way of keeping data in a directory, or in memory only. The flags spare it a line of log for each
    /// request and a call home. Node is named, so that the process that we start is the one that serves.
    pub fn azurite(&self, service: Service, port: u16, directory: &Path, in_memory: bool) -> Option<Command> {
        let name = service.name();
        let mut command = Command::new("node");
        command.arg(self.azurite.as_ref()?.join(format!("dist/src/{name}/main.js")));
        command.args(["--silent", "--disableTelemetry", "--skipApiVersionCheck"]);
        command.args([format!("--{name}Port"), port.to_string()]);
        if in_memory {
            command.arg("--inMemoryPersistence");
        } else {
            command.arg("--location").arg(directory);
        }
        command.current_dir(directory);
        Some(command)
    }

    pub fn bare_hyper(&self, port: u16, answer: &Path) -> Command {
        let mut command = Command::new(&self.bare_hyper);
        command.args(["--port", &port.to_string(), "--answer"]).arg(answer);
        command
    }
}

/// Whether a server there responds to a request with 200.
fn succeeds(port: u16, request: &[u8]) -> bool {
    const SUCCESS: [u8; 12] = *b"HTTP/1.1 200";
    let ask = || -> std::io::Result<[u8; SUCCESS.len()]> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_read_timeout(Some(START_LIMIT))?;
        stream.write_all(request)?;
        let mut beginning = [0; SUCCESS.len()];
        stream.read_exact(&mut beginning)?;
        Ok(beginning)
    };
    ask().is_ok_and(|beginning| beginning == SUCCESS)
}
