//! The servers of a run and their directories: who is up, at which port, and what was seen of their memory.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use tablerock_protocol::Service;

use crate::Result;
use crate::contest::plan::Plan;
use crate::contest::server::{Programs, Server};
use crate::data::dataset::Dataset;
use crate::http::caller::{Call, Caller, Credential};
use crate::http::header_caller::{HeaderCall, HeaderCaller};
use crate::report::thousands;
use crate::results::Results;
use crate::results::series::Who;

/// The ports of the servers, counted from the first port. Tablerock's admin address takes the port behind its own.
#[derive(Debug, Clone, Copy)]
pub enum Place {
    Usual = 0,
    Azurite = 2,
    BareHyper = 3,
    Small = 4,
    Big = 6,
    AzuriteInMemory = 8,
}

/// How many ports that makes.
pub const PORTS: u16 = 9;

/// The most memory that a Tablerock has held, in bytes, and what it did.
#[derive(Debug, Clone, Copy, Default)]
pub struct MemoryPeak {
    pub bytes: u64,
    pub during: &'static str,
}

#[derive(Debug)]
pub struct Stage {
    pub programs: Programs,
    pub plan: Plan,
    /// Whether large tables of earlier runs may be used again.
    pub may_reuse: bool,
    /// Everything that can be made again.
    pub work: PathBuf,
    pub first_port: u16,
    pub results: Results,
    pub memory_peak: Cell<MemoryPeak>,
}

impl Stage {
    /// A Tablerock on an empty directory, of which tables are asked.
    pub fn fresh_tablerock(&self, name: &str) -> Result<Server> {
        self.fresh_tablerock_for(Service::Table, name)
    }

    /// The same, of which another service is asked.
    pub fn fresh_tablerock_for(&self, service: Service, name: &str) -> Result<Server> {
        let request = list_request(service, self.port(Place::Usual))?;
        self.start_tablerock(service, Place::Usual, &self.emptied(name)?, &request)
    }

    pub fn tablerock(&self, place: Place, directory: &Path) -> Result<Server> {
        self.tablerock_asked(place, directory, &list_request(Service::Table, self.port(place))?)
    }

    /// The same, started when this request succeeds for the first time.
    pub fn tablerock_asked(&self, place: Place, directory: &Path, request: &[u8]) -> Result<Server> {
        self.start_tablerock(Service::Table, place, directory, request)
    }

    fn start_tablerock(&self, service: Service, place: Place, directory: &Path, request: &[u8]) -> Result<Server> {
        let port = self.port(place);
        let command = self.programs.tablerock(service, port, directory);
        Server::start("Tablerock", command, port, &self.log("tablerock"), request)
    }

    /// One of Azurite's services in its two forms, each on nothing, unless there is no Azurite.
    pub fn azurites(&self, service: Service) -> Result<Vec<(Who, Server)>> {
        let mut servers = Vec::new();
        for (who, place, name) in [
            (Who::Azurite, Place::Azurite, "azurite"),
            (Who::AzuriteInMemory, Place::AzuriteInMemory, "azurite-in-memory"),
        ] {
            let (port, directory) = (self.port(place), self.emptied(name)?);
            let command = self.programs.azurite(service, port, &directory, who == Who::AzuriteInMemory);
            let Some(command) = command else { continue };
            let request = list_request(service, port)?;
            servers.push((who, Server::start(who.name(), command, port, &self.log(name), &request)?));
        }
        Ok(servers)
    }

    /// The same with a table. A server that fails to load it is recorded as a mishap and left out.
    pub fn azurites_with(&mut self, dataset: Dataset) -> Result<Vec<(Who, Server)>> {
        let mut servers = Vec::new();
        for (who, server) in self.azurites(Service::Table)? {
            match dataset.load(server.at()) {
                Ok(_) => servers.push((who, server)),
                Err(why) => {
                    let doing = format!("taking in {} entities", thousands(dataset.entities as f64));
                    self.results.mishap(who, doing, why, server.end());
                }
            }
        }
        thread::sleep(self.plan.azurite_rest);
        Ok(servers)
    }

    /// Bare hyper with this response to every request.
    pub fn bare_hyper(&self, answer: &[u8]) -> Result<Server> {
        let port = self.port(Place::BareHyper);
        let file = self.work.join("response.http");
        fs::write(&file, answer).map_err(|error| format!("{}: {error}", file.display()))?;
        let command = self.programs.bare_hyper(port, &file);
        Server::start("bare hyper", command, port, &self.log("bare-hyper"), &list_request(Service::Table, port)?)
    }

    /// Ends a Tablerock that has been under load.
    pub fn retire(&self, server: Server, did: &'static str) -> Result<()> {
        self.note_memory(&server, did);
        server.stop()
    }

    pub fn note_memory(&self, server: &Server, during: &'static str) {
        let bytes = server.memory_peak();
        if bytes > self.memory_peak.get().bytes {
            self.memory_peak.set(MemoryPeak { bytes, during });
        }
    }

    pub fn port(&self, place: Place) -> u16 {
        self.first_port + place as u16
    }

    pub fn directory(&self, name: &str) -> PathBuf {
        self.work.join(name)
    }

    /// A directory below our own, empty.
    pub fn emptied(&self, name: &str) -> Result<PathBuf> {
        let directory = self.directory(name);
        let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
        if directory.exists() {
            fs::remove_dir_all(&directory).map_err(failed)?;
        }
        fs::create_dir_all(&directory).map_err(failed)?;
        Ok(directory)
    }

    fn log(&self, name: &str) -> PathBuf {
        self.work.join(format!("{name}.log"))
    }
}

/// The request for what there is: tables, queues or containers.
fn list_request(service: Service, port: u16) -> Result<Vec<u8>> {
    let mut request = Vec::new();
    match service {
        Service::Table => {
            Caller::new(port, "", Credential::SharedKey)?.write(&Call::get("/Tables", ""), &mut request);
        }
        Service::Queue | Service::Blob => {
            HeaderCaller::new(port)?.write(&HeaderCall::new("GET", "/", "comp=list"), &mut request);
        }
    }
    Ok(request)
}
