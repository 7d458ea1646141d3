//! The server that the suites talk to: started on the development account, waited for, and stopped.

pub(crate) mod ports;
pub(crate) mod second_port;

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use crate::Result;
use crate::process::cancel::Cancel;
use crate::process::child::{self, End, TAIL_LINES};
use crate::process::tree;
use crate::server::ports::Ports;
use crate::setup::postgres::{self, TestDatabase};
use crate::suite::Target;
use crate::workspace::Workspace;

const START_LIMIT: Duration = Duration::from_secs(60);
const STOP_LIMIT: Duration = Duration::from_secs(30);

const ACCOUNT: &str = "devstoreaccount1";
/// The published key of the development account; no secret.
const KEY: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// A running server. Dropping it kills it; `stop` is the polite way.
#[derive(Debug)]
pub(crate) struct ServerUnderTest {
    target: Target,
    child: Child,
    log: PathBuf,
    pub(crate) ports: Ports,
    /// Goes away after the server.
    _database: Option<TestDatabase>,
}

impl ServerUnderTest {
    /// Starts it on an empty data directory and waits until it responds.
    pub(crate) fn start(workspace: &Workspace, target: Target, ports: Ports) -> Result<Self> {
        let data = workspace.data(target);
        if data.exists() {
            fs::remove_dir_all(&data).map_err(|error| format!("{}: {error}", workspace.shown(&data)))?;
        }
        fs::create_dir_all(&data).map_err(|error| format!("{}: {error}", workspace.shown(&data)))?;
        let mut database = None;
        let mut command = match target {
            Target::Tablerock => {
                let mut command = tablerock(workspace, ports)?;
                command.arg("--location").arg(&data);
                command
            }
            Target::TablerockOnPostgres => {
                let started = postgres::ensure(workspace).map(|()| TestDatabase::at(workspace.store.as_deref()));
                let mut command = tablerock(workspace, ports)?;
                command.arg("--store").arg(database.insert(started?).url("conformance"));
                command
            }
            Target::Azurite => azurite(workspace, ports),
        };
        let log = workspace.log(&format!("{}-server", target.name()));
        let child = child::start(&mut command, &log)?;
        let mut server = Self { target, child, log, ports, _database: database };
        server.wait_until_it_answers().map_err(|why| {
            format!("{why}; see {}\n{}", workspace.shown(&server.log), child::tail(&server.log, TAIL_LINES))
        })?;
        Ok(server)
    }

    fn wait_until_it_answers(&mut self) -> Result<()> {
        let started = Instant::now();
        while started.elapsed() < START_LIMIT {
            if let Some(status) = self.child.try_wait().map_err(|error| error.to_string())? {
                return Err(format!("{} ended at its start: {}", self.target.name(), End::from(status)));
            }
            if self.ports.all().into_iter().all(answers) {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(100));
        }
        Err(format!("{} does not respond within {} s", self.target.name(), START_LIMIT.as_secs()))
    }

    /// Asks it to end, as a service manager would. Tablerock must then end in order; Azurite's ways are not our matter.
    pub(crate) fn stop(mut self) -> Result<()> {
        let name = self.target.name();
        if let Some(status) = self.child.try_wait().map_err(|error| error.to_string())? {
            let tail = child::tail(&self.log, TAIL_LINES);
            return Err(format!("{name} ended before it was asked to: {}\n{tail}", End::from(status)));
        }
        if !self.target.is_ours() || !cfg!(unix) {
            return Ok(());
        }
        if !tree::signal("TERM", self.child.id()) {
            return Err(format!("{name} could not be asked to end"));
        }
        match child::wait(&mut self.child, STOP_LIMIT, &Cancel::default())? {
            End::Code(0) => Ok(()),
            end => Err(format!("{name} after SIGTERM: {end}\n{}", child::tail(&self.log, TAIL_LINES))),
        }
    }
}

impl Drop for ServerUnderTest {
    fn drop(&mut self) {
        tree::kill_with_descendants(&mut self.child);
    }
}

/// The connection string of the development account at ports of this machine, which every suite gets.
pub(crate) fn connection_string(ports: Ports) -> String {
    let endpoint = |service: &str, port: u16| format!("{service}Endpoint=http://127.0.0.1:{port}/{ACCOUNT};");
    [
        format!("DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={KEY};"),
        endpoint("Blob", ports.blob),
        endpoint("Queue", ports.queue),
        endpoint("Table", ports.table),
    ]
    .concat()
}

fn tablerock(workspace: &Workspace, ports: Ports) -> Result<Command> {
    let mut command = Command::new(workspace.server());
    for (flag, port) in [
        ("--blob-port", ports.blob),
        ("--queue-port", ports.queue),
        ("--table-port", ports.table),
        ("--admin-port", ports::any_free()?),
    ] {
        command.args([flag, &port.to_string()]);
    }
    command.arg("--silent");
    Ok(command)
}

fn azurite(workspace: &Workspace, ports: Ports) -> Command {
    let program = if cfg!(windows) { "azurite.cmd" } else { "azurite" };
    let mut command = Command::new(workspace.installed("azurite/node_modules/.bin").join(program));
    command.args(["--silent", "--inMemoryPersistence", "--disableTelemetry", "--skipApiVersionCheck"]);
    for (flag, port) in [("--blobPort", ports.blob), ("--queuePort", ports.queue), ("--tablePort", ports.table)] {
        command.args([flag, &port.to_string()]);
    }
    command.current_dir(workspace.data(Target::Azurite));
    command
}

/// Whether a server there speaks HTTP; any response will do.
fn answers(port: u16) -> bool {
    let ask = || -> std::io::Result<[u8; 5]> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_read_timeout(Some(Duration::from_secs(2)))?;
        stream.write_all(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")?;
        let mut beginning = [0; 5];
        stream.read_exact(&mut beginning)?;
        Ok(beginning)
    };
    ask().is_ok_and(|beginning| &beginning == b"HTTP/")
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_connection_string_says_where_each_service_is() {
        let text = connection_string(Ports::DEVELOPMENT);
        for endpoint in ["Blob", "Queue", "Table"]
            .into_iter()
            .zip([10000, 10001, 10002])
            .map(|(service, port)| format!(";{service}Endpoint=http://127.0.0.1:{port}/devstoreaccount1;"))
        {
            assert!(text.contains(&endpoint), "{text} lacks {endpoint}");
        }
    }

    #[test]
    fn only_a_server_that_speaks_http_answers() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let serving = thread::spawn(move || {
            for said in ["HTTP/1.1 400 Bad Request\r\n\r\n", "220 smtp\r\n"] {
                let (mut stream, _) = listener.accept().unwrap();
                // Closing with the request unread would discard the response.
                assert_ne!(stream.read(&mut [0; 1024]).unwrap(), 0);
                stream.write_all(said.as_bytes()).unwrap();
            }
        });
        assert!(answers(port));
        assert!(!answers(port));
        serving.join().unwrap();
        assert!(!answers(port));
    }
}
