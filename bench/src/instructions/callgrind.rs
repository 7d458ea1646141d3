//! A server under valgrind's callgrind, whose instructions can be counted for a span of time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::contest::server::Server;
use crate::http::caller::{Call, Caller, Credential};
use crate::instructions::profile::Profile;

/// The ports of one server.
#[derive(Debug, Clone, Copy)]
pub struct Ports {
    pub table: u16,
    pub queue: u16,
    pub blob: u16,
    admin: u16,
}

impl Ports {
    pub fn starting_at(first: u16) -> Self {
        Self { table: first, queue: first + 1, blob: first + 2, admin: first + 3 }
    }
}

/// A running server. It counts nothing before [`CountedServer::count_from_here`].
#[derive(Debug)]
pub struct CountedServer {
    server: Server,
    /// Dumps are `{dumps}.1`, `{dumps}.2` and so on.
    dumps: PathBuf,
    dumps_taken: u32,
}

impl CountedServer {
    /// Starts the binary on an empty directory below `work`.
    pub fn start(binary: &Path, work: &Path, ports: Ports) -> Result<Self> {
        let directory = work.join("instructions");
        let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
        if directory.exists() {
            fs::remove_dir_all(&directory).map_err(failed)?;
        }
        fs::create_dir_all(&directory).map_err(failed)?;
        let dumps = directory.join("callgrind.out");
        let mut command = Command::new("valgrind");
        // Threads take turns in a fixed order; strings are written in full, as the parser expects.
        command.args(["--tool=callgrind", "--instr-atstart=no", "--fair-sched=yes", "--compress-strings=no"]);
        command.args(["--compress-pos=no", "--dump-line=no"]);
        command.arg(format!("--callgrind-out-file={}", dumps.display()));
        command.arg(binary).arg("--location").arg(directory.join("data")).arg("--silent");
        for (name, port) in
            [("table", ports.table), ("queue", ports.queue), ("blob", ports.blob), ("admin", ports.admin)]
        {
            command.args([format!("--{name}-port"), port.to_string()]);
        }
        // With one worker no instruction is spent on waking another.
        command.env("TOKIO_WORKER_THREADS", "1");
        let mut request = Vec::new();
        Caller::new(ports.table, "", Credential::SharedKey)?.write(&Call::get("/Tables", ""), &mut request);
        let log = directory.join("server.log");
        let server = Server::start("Tablerock under valgrind", command, ports.table, &log, &request)?;
        Ok(Self { server, dumps, dumps_taken: 0 })
    }

    /// Switches counting on.
    pub fn count_from_here(&self) -> Result<()> {
        self.control(&["instrumentation", "on"])
    }

    /// Sets the count to zero.
    pub fn zero(&self) -> Result<()> {
        self.control(&["zero"])
    }

    /// The instructions since the last [`CountedServer::zero`].
    pub fn counted(&mut self) -> Result<Profile> {
        self.control(&["dump"])?;
        self.dumps_taken += 1;
        let mut file = self.dumps.clone().into_os_string();
        file.push(format!(".{}", self.dumps_taken));
        let file = PathBuf::from(file);
        let dump = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        fs::remove_file(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        Profile::parse(&dump)
    }

    pub fn stop(self) -> Result<()> {
        self.server.stop()
    }

    /// Sends a monitor command, and returns when it has been carried out.
    fn control(&self, command: &[&str]) -> Result<()> {
        let pid = format!("--pid={}", self.server.at().pid);
        let output = Command::new("vgdb").arg(pid).args(command).output().map_err(|error| format!("vgdb: {error}"))?;
        if output.status.success() {
            return Ok(());
        }
        let printed = String::from_utf8_lossy(&output.stderr);
        Err(format!("vgdb {}: {}\n{}", command.join(" "), output.status, printed.trim()))
    }
}
