//! The shim: a preloaded library in the server's process that intercepts every system call on its files. See
//! `crash/shim`.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::client::ClockOffset;
use crate::history::LogicalClock;
use crate::server::{Program, Server};

/// The settings and counters of the shim, in the order of their numbers in the shared page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Setting {
    /// The offset of the time of day.
    ClockOffsetNs = 0,
    /// The free space of the disk; negative for no limit.
    FreeBytes = 1,
    SyncsFail = 2,
    WritesShort = 3,
    ReadsFail = 4,
    /// Syncs that do nothing and report success: 1 of files, 2 of folders.
    SyncsLie = 5,
    /// The number of calls so far that change or sync something.
    Calls = 6,
    /// The number of the first such call that fails; negative for none.
    FailFrom = 7,
    /// The number of calls that fail from there.
    FailCount = 8,
    /// Whether calls on journals are neither counted nor failed.
    SparesJournals = 9,
    /// Syncs that block: 1 of journals, 2 all.
    SyncsWait = 10,
    /// Whether calls that change something block before they begin.
    IsHeld = 11,
    /// Whether such a call is running, or is not recorded yet.
    IsChanging = 12,
}

/// The initial values, in the same order.
const DEFAULTS: [i64; 13] = [0, -1, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0, 0];

fn initial() -> Vec<u8> {
    DEFAULTS.iter().flat_map(|number| number.to_le_bytes()).collect()
}

#[derive(Debug)]
pub struct Shim {
    library: PathBuf,
    control: PathBuf,
    pub record: PathBuf,
    is_recording: bool,
    /// Follows the offset of the time of day, for clients that sign requests.
    pub clock: ClockOffset,
}

/// Checks that the shim works with this binary on this system. The error gives the reason.
pub fn check(library: Option<&Path>, program: &Program, folder: &Path) -> Result<(), String> {
    let library = library.ok_or("the shim needs Linux on x86_64")?;
    let mut command = Command::new(&program.binary);
    command.arg("--version").env("LD_PRELOAD", library).env("TABLEROCK_CRASH_FOLDER", folder);
    let output = command.output().map_err(|error| format!("{}: {error}", program.binary.display()))?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    // The loader continues without a library that it cannot load, and prints a warning.
    if output.status.success() && stderr.is_empty() {
        return Ok(());
    }
    Err(format!("the shim does not work on this system ({}): {}", output.status, stderr.trim()))
}

impl Shim {
    /// A shim that records all changes. Its files are next to the location.
    pub fn recording(library: &Path, location: &Path) -> Result<Self, String> {
        let shim = Self {
            library: library.to_owned(),
            control: location.with_extension("control"),
            record: location.with_extension("record"),
            is_recording: true,
            clock: ClockOffset::default(),
        };
        shim.reset()?;
        File::create(&shim.record).map_err(|error| format!("{}: {error}", shim.record.display()))?;
        Ok(shim)
    }

    /// A shim that injects faults and records nothing.
    pub fn without_record(library: &Path, location: &Path) -> Result<Self, String> {
        Ok(Self { is_recording: false, ..Self::recording(library, location)? })
    }

    /// Preloads the shim into a process.
    pub fn preload(&self, command: &mut Command, location: &Path) {
        command
            .env("LD_PRELOAD", &self.library)
            .env("TABLEROCK_CRASH_CONTROL", &self.control)
            .env("TABLEROCK_CRASH_FOLDER", location);
        if self.is_recording {
            command.env("TABLEROCK_CRASH_RECORD", &self.record);
        }
    }

    /// Changes a setting, also of a running process.
    pub fn set(&self, setting: Setting, value: i64) -> Result<(), String> {
        let write = || {
            let mut file = OpenOptions::new().write(true).open(&self.control)?;
            file.seek(SeekFrom::Start(setting as u64 * 8))?;
            file.write_all(&value.to_le_bytes())
        };
        write().map_err(|error| format!("{}: {error}", self.control.display()))
    }

    /// Kills a server between two changes. A change that was made and not recorded would be missing in the record.
    pub async fn kill(&self, server: Server) -> Result<(), String> {
        self.set(Setting::IsHeld, 1)?;
        while self.read(Setting::IsChanging)? != 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        server.kill();
        self.set(Setting::IsHeld, 0)
    }

    /// The current value of a setting or counter.
    pub fn read(&self, setting: Setting) -> Result<i64, String> {
        let read = || {
            let mut number = [0; 8];
            let mut file = File::open(&self.control)?;
            file.seek(SeekFrom::Start(setting as u64 * 8))?;
            file.read_exact(&mut number)?;
            Ok(i64::from_le_bytes(number))
        };
        read().map_err(|error: io::Error| format!("{}: {error}", self.control.display()))
    }

    /// Sets everything to its initial value.
    pub fn reset(&self) -> Result<(), String> {
        // Not truncated first: a process that has the page mapped would be killed at its next access.
        let open = || OpenOptions::new().create(true).truncate(false).write(true).open(&self.control);
        let write = || open()?.write_all(&initial());
        write().map_err(|error| format!("{}: {error}", self.control.display()))
    }

    /// Steps the server's time of day, and the clients' with it.
    pub fn step_clock(&self, seconds: i64) -> Result<(), String> {
        self.clock.set_seconds(seconds);
        self.set(Setting::ClockOffsetNs, seconds * 1_000_000_000)
    }

    /// The length of the record as a clock, if there is a record.
    pub fn logical_clock(&self) -> Option<LogicalClock> {
        let record = self.record.clone();
        let length = move || fs::metadata(&record).map_or(0, |metadata| metadata.len());
        self.is_recording.then(|| LogicalClock::new(length))
    }

    /// Removes the shim's files.
    pub fn clean_up(&self) {
        let _ = fs::remove_file(&self.control);
        let _ = fs::remove_file(&self.record);
    }
}
