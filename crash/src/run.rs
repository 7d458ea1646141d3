//! One run: its seed, the program under test, and the data directories.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use fastrand::Rng;

use crate::disk::Tree;
use crate::server::{Program, Server, fresh_folder};
use crate::shim::Shim;
use crate::small_buffers;

/// The most violations that one report prints.
const VIOLATIONS_SHOWN_MAX: usize = 20;

/// The settings that all parts of a run share.
#[derive(Debug, Clone)]
pub struct Run {
    pub seed: u64,
    pub program: Program,
    /// The first of the ports of several servers, four for each server.
    pub more_ports: u16,
    /// The database that is already there, for servers that share one.
    pub store: Option<String>,
    /// The library of the shim, for the parts that need it.
    pub shim: Option<PathBuf>,
    /// The folder of the data directories.
    pub folder: PathBuf,
    /// The folder of simulated disks. If it is in memory, syncs are free, and thousands of disks can be tested.
    pub memory: PathBuf,
    pub is_long: bool,
    pub is_verbose: bool,
}

impl Run {
    /// The random numbers of one part. Each part has its own, so that one part alone repeats its choices.
    pub fn rng(&self, part: &str) -> Rng {
        let mut hasher = DefaultHasher::new();
        (self.seed, part).hash(&mut hasher);
        Rng::with_seed(hasher.finish())
    }

    /// Prints a step if `--verbose` is set.
    pub fn print_step(&self, text: &str) {
        if self.is_verbose {
            println!("  {text}");
        }
    }

    fn shim(&self) -> Result<&Path, String> {
        self.shim.as_deref().ok_or_else(|| "this part needs the shim: pass --shim".to_owned())
    }
}

/// The data directory of one server. It is kept if a check fails.
#[derive(Debug)]
pub struct DataDirectory {
    pub location: PathBuf,
    program: Program,
    shim: Option<Shim>,
}

impl DataDirectory {
    /// Creates an empty directory.
    pub fn create(run: &Run, name: &str) -> Result<Self, String> {
        Self::create_in(&run.folder, run, name)
    }

    /// Creates an empty directory in memory, for tests that do not need a real disk.
    pub fn create_in_memory(run: &Run, name: &str) -> Result<Self, String> {
        Self::create_in(&run.memory, run, name)
    }

    /// Creates a directory with this content.
    pub fn restore(run: &Run, name: &str, tree: &Tree) -> Result<Self, String> {
        let directory = Self::create_in_memory(run, name)?;
        let saved = fs::remove_dir(&directory.location).and_then(|()| tree.save(&directory.location));
        saved.map_err(|error| format!("{}: {error}", directory.location.display()))?;
        Ok(directory)
    }

    fn create_in(folder: &Path, run: &Run, name: &str) -> Result<Self, String> {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        // The shim compares paths as text.
        let folder = folder.canonicalize().map_err(|error| format!("{}: {error}", folder.display()))?;
        let location = folder.join(name);
        fresh_folder(&location)?;
        Ok(Self { location, program: run.program.clone(), shim: None })
    }

    /// Creates the store with small write buffers, so that a little load makes the engine flush and compact.
    pub async fn prepare_small_buffers(&self) -> Result<(), String> {
        small_buffers::prepare(&self.location).await
    }

    /// Runs the following servers with a shim that records all changes.
    pub fn record(&mut self, run: &Run) -> Result<(), String> {
        self.shim = Some(Shim::recording(run.shim()?, &self.location)?);
        Ok(())
    }

    /// Runs the following servers with a shim that injects faults and records nothing.
    pub fn inject_faults(&mut self, run: &Run) -> Result<(), String> {
        self.shim = Some(Shim::without_record(run.shim()?, &self.location)?);
        Ok(())
    }

    /// The shim of the servers.
    pub fn shim(&self) -> &Shim {
        self.shim.as_ref().expect("the part has attached a shim")
    }

    /// Runs the following servers without a shim.
    pub fn detach_shim(&mut self) {
        self.shim.take().iter().for_each(Shim::clean_up);
    }

    /// Spawns a server and does not wait for it.
    pub fn spawn(&self) -> Result<Server, String> {
        Server::spawn(&self.program, &self.location, self.shim.as_ref())
    }

    /// Starts a server and waits until it responds.
    pub async fn start(&self) -> Result<Server, String> {
        Server::start(&self.program, &self.location, self.shim.as_ref()).await
    }

    /// Reads the current content.
    pub fn tree(&self) -> Result<Tree, String> {
        Tree::read(&self.location).map_err(|error| format!("{}: {error}", self.location.display()))
    }

    /// Fails if there are violations. The error names the step and the directory, which is kept for inspection.
    pub fn verify(&self, step: &str, violations: Vec<String>) -> Result<(), String> {
        if violations.is_empty() {
            return Ok(());
        }
        let more = violations.len().saturating_sub(VIOLATIONS_SHOWN_MAX);
        let shown: Vec<String> = violations.into_iter().take(VIOLATIONS_SHOWN_MAX).collect();
        let more = if more == 0 { String::new() } else { format!("\n    and {more} more") };
        Err(format!("{step}: {}{more}\n    the data is kept in {}", shown.join("\n    "), self.location.display()))
    }

    /// Removes the directory, its log and the shim's files. The next run overwrites whatever cannot be removed.
    pub fn clean_up(mut self) {
        self.detach_shim();
        let _ = fs::remove_dir_all(&self.location);
        let _ = fs::remove_file(self.location.with_extension("log"));
    }
}
