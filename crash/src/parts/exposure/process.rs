//! A process of the binary whose output a check reads, and requests to its admin address.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tablerock_conformance::http::Connection;
use tablerock_conformance::target::Endpoint;

use crate::run::Run;

const POLL: Duration = Duration::from_millis(5);
/// A start in memory takes a fraction of a second, also on a busy machine.
const START_LIMIT: Duration = Duration::from_secs(10);
/// The longest that a request to the admin address may take.
pub(super) const ADMIN_LIMIT: Duration = Duration::from_secs(2);
/// A line that the banner of a server has when it is ready.
const READY: &str = "successfully listening at";

/// A process that is killed when dropped. It keeps its data in memory, unless the arguments name a store.
pub(super) struct Process {
    child: Child,
    output: [PathBuf; 2],
    admin_port: u16,
}

impl Process {
    /// Spawns the binary on the ports of the run, with variables and further arguments.
    pub(super) fn spawn(run: &Run, variables: &[(&str, &str)], arguments: &[&str]) -> Result<Self, String> {
        let program = &run.program;
        let mut command = Command::new(&program.binary);
        command.args(["--blob-port", &program.blob_port.to_string(), "--queue-port", &program.queue_port.to_string()]);
        command.args(["--table-port", &program.table_port.to_string()]);
        command.args(["--admin-port", &program.admin_port.to_string()]);
        if !arguments.contains(&"--store") {
            command.arg("--in-memory");
        }
        command.args(arguments).envs(variables.iter().copied()).stdin(Stdio::null());
        let output = ["stdout", "stderr"].map(|name| run.folder.join(format!("exposure.{name}")));
        let [stdout, stderr] = &output;
        let create = |path: &PathBuf| File::create(path).map_err(|error| format!("{}: {error}", path.display()));
        command.stdout(create(stdout)?).stderr(create(stderr)?);
        let child = command.spawn().map_err(|error| format!("{}: {error}", program.binary.display()))?;
        Ok(Self { child, output, admin_port: program.admin_port })
    }

    /// Spawns the binary and waits for its banner.
    pub(super) async fn start(run: &Run, variables: &[(&str, &str)], arguments: &[&str]) -> Result<Self, String> {
        let mut process = Self::spawn(run, variables, arguments)?;
        let started = Instant::now();
        while !process.stdout().contains(READY) {
            if let Some(status) = process.child.try_wait().ok().flatten() {
                return Err(format!("with {arguments:?} the server exits ({status}): {}", process.stderr().trim()));
            }
            if started.elapsed() > START_LIMIT {
                return Err(format!("with {arguments:?} the server does not start: {}", process.stderr().trim()));
            }
            tokio::time::sleep(POLL).await;
        }
        Ok(process)
    }

    /// Waits until the process has exited by itself, and returns its exit code.
    pub(super) async fn exit_code(&mut self) -> Option<i32> {
        let started = Instant::now();
        while started.elapsed() < START_LIMIT && !self.stdout().contains(READY) {
            if let Ok(Some(status)) = self.child.try_wait() {
                return status.code();
            }
            tokio::time::sleep(POLL).await;
        }
        None
    }

    pub(super) fn stdout(&self) -> String {
        fs::read_to_string(&self.output[0]).unwrap_or_default()
    }

    pub(super) fn stderr(&self) -> String {
        fs::read_to_string(&self.output[1]).unwrap_or_default()
    }

    /// Gets a path of the admin address under a name, and returns status and body.
    pub(super) async fn admin(&self, path: &str, host: &str) -> Result<(u16, String), String> {
        let address =
            Endpoint { tls: false, host: "127.0.0.1".to_owned(), port: self.admin_port, prefix: String::new() };
        let exchange = async {
            let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
            Connection::open(&address).await?.exchange(request.as_bytes()).await
        };
        match tokio::time::timeout(ADMIN_LIMIT, exchange).await {
            Ok(Ok(answer)) => Ok((answer.status, String::from_utf8_lossy(&answer.body).into_owned())),
            Ok(Err(error)) => Err(format!("{path}: {error}")),
            Err(_) => Err(format!("{path} does not respond within {} s", ADMIN_LIMIT.as_secs())),
        }
    }

    /// Expects a status of a path of the admin address.
    pub(super) async fn expect(&self, path: &str, host: &str, expected: u16) -> Result<String, String> {
        match self.admin(path, host).await? {
            (status, body) if status == expected => Ok(body),
            (status, body) => {
                let begin: String = body.chars().take(80).collect();
                Err(format!("{path} with Host {host} returns {status} {begin:?} instead of {expected}"))
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // An error means that the process has exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.output.iter().for_each(|path| drop(fs::remove_file(path)));
    }
}
