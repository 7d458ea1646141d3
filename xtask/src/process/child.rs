//! Runs another program: its output goes to a log, and it ends within a time limit.
//!
//! Children stay in our process group, so that Ctrl-C at the terminal reaches them too.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::Result;
use crate::process::cancel::Cancel;
use crate::process::tree;

const POLL: Duration = Duration::from_millis(50);

/// How many of a log's last lines a report repeats.
pub(crate) const TAIL_LINES: usize = 60;

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// With this exit code.
    Code(i32),
    /// By a signal.
    Signal,
    /// Still running after its time, and killed for it.
    Late(Duration),
    /// No longer wanted, and killed.
    Cancelled,
}

impl End {
    pub(crate) fn is_success(self) -> bool {
        self == End::Code(0)
    }
}

impl From<ExitStatus> for End {
    fn from(status: ExitStatus) -> Self {
        status.code().map_or(End::Signal, End::Code)
    }
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            End::Code(code) => write!(f, "exit code {code}"),
            End::Signal => write!(f, "end by a signal"),
            End::Late(limit) => write!(f, "no end within {} s", limit.as_secs()),
            End::Cancelled => write!(f, "cancelled"),
        }
    }
}

/// Starts a command whose output goes to `log`, which is emptied first.
pub(crate) fn start(command: &mut Command, log: &Path) -> Result<Child> {
    let file = create(log)?;
    let same_file = file.try_clone().map_err(|error| format!("{}: {error}", log.display()))?;
    command
        .stdin(Stdio::null())
        .stdout(file)
        .stderr(same_file)
        .spawn()
        .map_err(|error| format!("{}: {error}", command.get_program().to_string_lossy()))
}

/// Runs a command to its end, or to the end of its time.
pub(crate) fn run(command: &mut Command, log: &Path, limit: Duration) -> Result<End> {
    run_unless(command, log, limit, &Cancel::default())
}

/// The same, for a command that may be cancelled.
pub(crate) fn run_unless(command: &mut Command, log: &Path, limit: Duration, cancel: &Cancel) -> Result<End> {
    let mut child = start(command, log)?;
    wait(&mut child, limit, cancel)
}

/// Waits for a child's end and, when time is up, makes it end together with everything it started.
pub(crate) fn wait(child: &mut Child, limit: Duration, cancel: &Cancel) -> Result<End> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            return Ok(status.into());
        }
        let early_end = match (cancel.is_set(), started.elapsed() >= limit) {
            (true, _) => Some(End::Cancelled),
            (_, true) => Some(End::Late(limit)),
            _ => None,
        };
        if let Some(end) = early_end {
            tree::kill_with_descendants(child);
            return Ok(end);
        }
        thread::sleep(POLL);
    }
}

/// The last lines of a log, each set in a little, for a report about a failure.
pub(crate) fn tail(log: &Path, lines_max: usize) -> String {
    let bytes = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    let kept = &lines[lines.len().saturating_sub(lines_max)..];
    kept.iter().map(|line| format!("    {line}\n")).collect()
}

fn create(log: &Path) -> Result<File> {
    let folder: PathBuf = log.parent().map(Path::to_owned).unwrap_or_default();
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    File::create(log).map_err(|error| format!("{}: {error}", log.display()))
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration, name: &str) -> (End, String) {
        let log = std::env::temp_dir().join(format!("xtask-child-{}-{name}.log", std::process::id()));
        let end = run(Command::new("sh").args(["-c", script]), &log, limit).unwrap();
        let said = tail(&log, 2);
        fs::remove_file(&log).unwrap();
        (end, said)
    }

    #[test]
    fn the_exit_code_and_the_last_lines_are_kept() {
        let (end, said) = shell("echo one; echo two >&2; echo three; exit 3", Duration::from_secs(10), "code");
        assert_eq!(end, End::Code(3));
        assert_eq!(said, "    two\n    three\n");
    }

    #[test]
    fn a_child_that_does_not_end_is_killed_with_its_own_children() {
        let limit = Duration::from_millis(300);
        let started = Instant::now();
        let (end, said) = shell("sleep 60 & echo $!; wait", limit, "late");
        assert_eq!(end, End::Late(limit));
        assert!(started.elapsed() < Duration::from_secs(30));
        let grandchild = said.trim();
        let is_alive = || {
            let asked = Command::new("sh").args(["-c", &format!("kill -0 {grandchild}")]).output().unwrap();
            asked.status.success() && !is_zombie(grandchild)
        };
        // A busy machine delivers the signal when it gets to it.
        while is_alive() {
            assert!(started.elapsed() < Duration::from_secs(30), "{grandchild} still runs");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Whether it is killed and its exit code has not been collected yet.
    fn is_zombie(pid: &str) -> bool {
        fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") Z "))
    }
}
