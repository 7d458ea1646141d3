//! The layer under a server: a library in its process that sees every system call on its files. See `crash/shim`.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use crate::history::LogLength;
use crate::server::{Program, Server};

/// What can be told to the layer, in the order of its numbers in the page that both sides share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Setting {
    /// How far the time of day is moved.
    ClockOffsetNs = 0,
    /// What the disk still takes; negative for no limit.
    FreeBytes = 1,
    SyncsFail = 2,
    WritesShort = 3,
    ReadsFail = 4,
    /// Syncs that do nothing and report success: 1 of files, 2 of folders.
    SyncsLie = 5,
    /// How many calls that change or sync something there have been.
    Calls = 6,
    /// The number of the first of these calls that fails; negative for none.
    FailFrom = 7,
    /// How many fail from there.
    FailCount = 8,
    /// Whether calls on journals neither count nor fail.
    SparesJournals = 9,
    /// Syncs that do not come back: 1 of journals, 2 all.
    SyncsWait = 10,
    /// Whether calls that change something wait before they begin.
    IsHeld = 11,
    /// Whether such a call is under way, or is not written down yet.
    IsChanging = 12,
}

/// What holds at first, in the same order.
const DEFAULTS: [i64; 13] = [0, -1, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0, 0];

fn initial() -> Vec<u8> {
    DEFAULTS.iter().flat_map(|number| number.to_le_bytes()).collect()
}

#[derive(Debug)]
pub struct Layer {
    library: PathBuf,
    control: PathBuf,
    pub record: PathBuf,
    is_recording: bool,
}

/// Whether a layer can be put under a program here. An error tells why not.
pub fn check(library: Option<&Path>, program: &Program, folder: &Path) -> Result<(), String> {
    let library = library.ok_or("there is no layer for this system; it needs Linux on x86_64")?;
    let mut command = Command::new(&program.binary);
    command.arg("--version").env("LD_PRELOAD", library).env("TABLEROCK_CRASH_FOLDER", folder);
    let output = command.output().map_err(|error| format!("{}: {error}", program.binary.display()))?;
    let told = String::from_utf8_lossy(&output.stderr);
    // The loader goes on without a library that it cannot load, and says so.
    if output.status.success() && told.is_empty() {
        return Ok(());
    }
    Err(format!("the layer does not work here ({}): {}", output.status, told.trim()))
}

impl Layer {
    /// A layer that has recorded nothing yet. Its files are beside the location.
    pub fn new(library: &Path, location: &Path) -> Result<Self, String> {
        let layer = Self {
            library: library.to_owned(),
            control: location.with_extension("control"),
            record: location.with_extension("record"),
            is_recording: true,
        };
        layer.reset()?;
        File::create(&layer.record).map_err(|error| format!("{}: {error}", layer.record.display()))?;
        Ok(layer)
    }

    /// A layer that only does as it is told.
    pub fn without_record(library: &Path, location: &Path) -> Result<Self, String> {
        Ok(Self { is_recording: false, ..Self::new(library, location)? })
    }

    /// Has a process watched from its start.
    pub fn put_under(&self, command: &mut Command, location: &Path) {
        command
            .env("LD_PRELOAD", &self.library)
            .env("TABLEROCK_CRASH_CONTROL", &self.control)
            .env("TABLEROCK_CRASH_FOLDER", location);
        if self.is_recording {
            command.env("TABLEROCK_CRASH_RECORD", &self.record);
        }
    }

    /// Changes a setting, also of a process that runs.
    pub fn set(&self, setting: Setting, value: i64) -> Result<(), String> {
        let write = || {
            let mut file = OpenOptions::new().write(true).open(&self.control)?;
            file.seek(SeekFrom::Start(setting as u64 * 8))?;
            file.write_all(&value.to_le_bytes())
        };
        write().map_err(|error| format!("{}: {error}", self.control.display()))
    }

    /// Kills a server between two changes: one that was made and not written down would be missing in the record.
    pub async fn kill(&self, server: Server) -> Result<(), String> {
        self.set(Setting::IsHeld, 1)?;
        while self.read(Setting::IsChanging)? != 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        server.kill();
        self.set(Setting::IsHeld, 0)
    }

    /// What a setting is now, or what the layer has counted.
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

    /// Everything as it was at first.
    pub fn reset(&self) -> Result<(), String> {
        // Not truncated first: a process that has the page mapped would be killed when it looks.
        let open = || OpenOptions::new().create(true).truncate(false).write(true).open(&self.control);
        let write = || open()?.write_all(&initial());
        write().map_err(|error| format!("{}: {error}", self.control.display()))
    }

    /// How long the record is, at any time.
    pub fn log_length(&self) -> LogLength {
        let record = self.record.clone();
        Arc::new(move || fs::metadata(&record).map_or(0, |metadata| metadata.len()))
    }

    /// Removes its files.
    pub fn clean_up(&self) {
        let _ = fs::remove_file(&self.control);
        let _ = fs::remove_file(&self.record);
    }
}
