//! The binary under test as a process: started, addressed, stopped, and killed at the latest when the test ends.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};

/// The arguments that let the system choose the ports of the services.
pub const ANY_PORTS: [&str; 6] = ["--blob-port", "0", "--queue-port", "0", "--table-port", "0"];

/// The arguments for a server without health and metrics.
pub const NO_ADMIN: [&str; 2] = ["--admin-port", "0"];

/// The beginning of the banner's last line.
const BANNER_END: &str = "Stop with";

/// A server that is killed when dropped.
#[derive(Debug)]
pub struct ServerProcess {
    process: Child,
    banner: Vec<String>,
}

impl ServerProcess {
    /// Starts a server and returns once its banner is complete.
    pub fn start(command: &mut Command) -> Self {
        let mut server = Self::spawn(command);
        let stdout = server.process.stdout.take().expect("stdout is piped");
        for line in BufReader::new(stdout).lines() {
            server.banner.push(line.expect("the banner is text"));
            if server.banner.last().is_some_and(|line| line.starts_with(BANNER_END)) {
                break;
            }
        }
        server
    }

    /// Starts a server whose standard output is closed before it prints anything.
    pub fn start_unread(command: &mut Command) -> Self {
        let mut server = Self::spawn(command);
        drop(server.process.stdout.take());
        server
    }

    fn spawn(command: &mut Command) -> Self {
        let process = command.stdout(Stdio::piped()).spawn().expect("the binary runs");
        Self { process, banner: Vec::new() }
    }

    /// The lines that the server printed at its start.
    pub fn banner(&self) -> &[String] {
        &self.banner
    }

    /// The host and port of a service: `Table`, `Queue` or `Blob`.
    pub fn address(&self, service: &str) -> &str {
        let line = self.banner.iter().find(|line| line.contains(&format!("{service} service"))).expect(service);
        line.rsplit("//").next().expect("the line ends in an address")
    }

    /// The host and port of health and metrics.
    pub fn admin_address(&self) -> &str {
        let line = self.banner.iter().find(|line| line.contains("/health")).expect("an admin address");
        line.split("//").nth(1).and_then(|rest| rest.split('/').next()).expect("the line has an address")
    }

    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// The server's standard error, if the command pipes it.
    pub fn stderr(&mut self) -> ChildStderr {
        self.process.stderr.take().expect("stderr is piped")
    }

    /// Sends a signal and waits for the end of the process.
    pub fn end(&mut self, signal: &str) -> ExitStatus {
        let pid = self.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().expect("kill runs").success());
        self.process.wait().expect("the process ends")
    }

    /// Stops the server in an orderly way.
    pub fn stop(mut self) {
        assert_eq!(self.end("-TERM").code(), Some(0));
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Sends a request over a connection of its own, and returns everything that comes back.
pub fn exchange(address: &str, request: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    stream.write_all(request).expect("the server reads");
    let mut response = Vec::new();
    stream.read_to_end(&mut response).expect("the server responds");
    response
}

/// The same, for a response in text.
pub fn exchange_text(address: &str, request: &str) -> String {
    String::from_utf8(exchange(address, request.as_bytes())).expect("the response is text")
}
