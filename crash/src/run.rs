//! One run: its seed, the program under test, and where it keeps data.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use fastrand::Rng;

use crate::disk::Tree;
use crate::server::{Program, fresh_folder};

/// A failure of hundreds of entities is told by its first few.
const VIOLATIONS_TOLD_MAX: usize = 20;

/// What all parts of a run share.
#[derive(Debug, Clone)]
pub struct Run {
    pub seed: u64,
    pub program: Program,
    /// The first of the ports in a row that several servers at once are given, four to each.
    pub more_ports: u16,
    /// The layer under the data directory, for the parts that need it.
    pub shim: Option<PathBuf>,
    /// Where data directories are made.
    pub folder: PathBuf,
    /// The same for disks that are made up, as after a power cut. If it is in memory, syncs cost nothing there, and
    /// thousands of servers can be started on thousands of disks.
    pub memory: PathBuf,
    pub is_long: bool,
    pub is_verbose: bool,
}

impl Run {
    /// Random numbers of one part. Parts do not disturb each other, so one of them alone repeats what it did before.
    pub fn rng(&self, part: &str) -> Rng {
        let mut hasher = DefaultHasher::new();
        (self.seed, part).hash(&mut hasher);
        Rng::with_seed(hasher.finish())
    }

    /// The layer, for a part that cannot do without.
    pub fn shim(&self) -> Result<&Path, String> {
        self.shim.as_deref().ok_or_else(|| "this part needs the layer: give --shim".to_owned())
    }

    /// Says how far a run is, to whoever wants to know.
    pub fn tell(&self, text: &str) {
        if self.is_verbose {
            println!("  {text}");
        }
    }
}

/// A folder for one server's data, which stays if something is wrong with it.
#[derive(Debug)]
pub struct Place {
    pub location: PathBuf,
}

impl Place {
    /// An empty folder.
    pub fn make(run: &Run, name: &str) -> Result<Self, String> {
        Self::make_in(&run.folder, name)
    }

    /// An empty folder where syncs cost nothing, for what does not depend on a true disk.
    pub fn make_in_memory(run: &Run, name: &str) -> Result<Self, String> {
        Self::make_in(&run.memory, name)
    }

    /// A folder with this in it.
    pub fn restore(run: &Run, name: &str, tree: &Tree) -> Result<Self, String> {
        let place = Self::make_in_memory(run, name)?;
        let saved = fs::remove_dir(&place.location).and_then(|()| tree.save(&place.location));
        saved.map_err(|error| format!("{}: {error}", place.location.display()))?;
        Ok(place)
    }

    fn make_in(folder: &Path, name: &str) -> Result<Self, String> {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        // The layer compares paths as text.
        let folder = folder.canonicalize().map_err(|error| format!("{}: {error}", folder.display()))?;
        let location = folder.join(name);
        fresh_folder(&location)?;
        Ok(Self { location })
    }

    /// What is there now.
    pub fn tree(&self) -> Result<Tree, String> {
        Tree::read(&self.location).map_err(|error| format!("{}: {error}", self.location.display()))
    }

    /// Passes if there are no violations. Otherwise the data is left as it is, for a look.
    pub fn judge(&self, step: &str, violations: Vec<String>) -> Result<(), String> {
        if violations.is_empty() {
            return Ok(());
        }
        let more = violations.len().saturating_sub(VIOLATIONS_TOLD_MAX);
        let shown: Vec<String> = violations.into_iter().take(VIOLATIONS_TOLD_MAX).collect();
        let more = if more == 0 { String::new() } else { format!("\n    and {more} more") };
        Err(format!("{step}: {}{more}\n    the data is kept in {}", shown.join("\n    "), self.location.display()))
    }

    /// Removes what nobody needs to look at.
    pub fn clean_up(self) {
        remove(&self.location);
    }
}

/// Removes a location and its log. What cannot be removed is overwritten by the next run.
pub fn remove(location: &Path) {
    let _ = fs::remove_dir_all(location);
    let _ = fs::remove_file(location.with_extension("log"));
}
