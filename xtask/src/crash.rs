//! `cargo xtask crash`: builds the server, the crash tests and their shim, and runs the crash tests. The short form is a
//! step of `cargo xtask test`.

use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;

use crate::Result;
use crate::checks;
use crate::process::cancel::Cancel;
use crate::process::child::{self, End};
use crate::server::ports;
use crate::setup::postgres;
use crate::summary::Row;
use crate::workspace::{Workspace, is_ci};

/// The short form takes two or three minutes, on a busy machine several times as long.
const SHORT_LIMIT: Duration = Duration::from_secs(20 * 60);
const LONG_LIMIT: Duration = Duration::from_secs(24 * 60 * 60);
const PORTS: Range<u16> = 10_134..10_198;
/// The port options of the harness, for consecutive ports.
const PORT_OPTIONS: [&str; 5] = ["--table-port", "--admin-port", "--queue-port", "--blob-port", "--more-ports"];
/// The last option takes twelve ports.
const PORT_COUNT: usize = PORT_OPTIONS.len() + 11;

/// The options that are passed on to the harness.
#[derive(Debug, Default, Args)]
pub(crate) struct CrashOptions {
    /// Run for an hour or two instead of minutes, with 500 kills and a power cut at every sync
    #[arg(long)]
    long: bool,
    /// Repeat the run with this seed
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// The number of kills of the part `kill`
    #[arg(long, value_name = "N")]
    kills: Option<usize>,
    /// Run only this part: prove, kill, archive, power, faults, clock, concurrency, hostile,
    /// exposure or many-servers; may be repeated
    #[arg(long, value_name = "PART")]
    only: Vec<String>,
    /// Test this binary instead of the release build of the workspace
    #[arg(long, value_name = "PATH")]
    binary: Option<PathBuf>,
    /// Run only many-servers, on this database, which is already there and is not killed
    #[arg(long, value_name = "URL", conflicts_with = "only")]
    store: Option<String>,
    /// Print every step
    #[arg(long, short)]
    verbose: bool,
}

pub(crate) fn run(workspace: &Workspace, options: &CrashOptions) -> Result<bool> {
    if build(workspace, options.binary.is_none()).iter().any(|row| row.failed > 0) {
        return Ok(false);
    }
    Ok(run_harness(workspace, options)?.failed == 0)
}

/// Runs the short form as a step of the tests. Returns the rows of the builds and of the run.
pub(crate) fn step(workspace: &Workspace) -> Vec<Row> {
    let mut rows = build(workspace, true);
    if rows.iter().all(|row| row.failed == 0) {
        rows.push(run_harness(workspace, &CrashOptions::default()).unwrap_or_else(|why| {
            println!("crash: FAILED: {why}");
            Row::failed("crash", Duration::ZERO)
        }));
    }
    rows
}

/// Builds the binaries, up to the first failure.
fn build(workspace: &Workspace, with_server: bool) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let builds = [checks::build_server, checks::build_crash, checks::build_crash_shim];
    for build in &builds[usize::from(!with_server)..] {
        rows.push(build(workspace));
        if rows.iter().any(|row| row.failed > 0) {
            break;
        }
    }
    rows
}

/// Runs the harness and counts its parts.
fn run_harness(workspace: &Workspace, options: &CrashOptions) -> Result<Row> {
    let started = Instant::now();
    if is_ci() {
        postgres::ensure(workspace)?;
    }
    let mut command = with_all_descriptors(&workspace.binary("debug", "tablerock-crash").to_string_lossy());
    command.arg("--server").arg(options.binary.clone().unwrap_or_else(|| workspace.binary("release", "tablerock")));
    command.arg("--folder").arg(workspace.target.join("crash"));
    let port = free_ports()?;
    for (number, name) in (0..).zip(PORT_OPTIONS) {
        command.args([name, &(port + number).to_string()]);
    }
    if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        command.arg("--shim").arg(workspace.target.join("debug/libtablerock_crash_shim.so"));
    }
    command.args(options.long.then_some("--long"));
    command.args(options.verbose.then_some("--verbose"));
    command.args(is_ci().then_some("--nothing-left-out"));
    command.args(options.seed.iter().flat_map(|seed| ["--seed".to_owned(), seed.to_string()]));
    command.args(options.kills.iter().flat_map(|kills| ["--kills".to_owned(), kills.to_string()]));
    command.args(options.only.iter().flat_map(|part| ["--only", part]));
    command.args(options.store.iter().flat_map(|url| ["--only", "many-servers", "--store", url]));

    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    let child = child.as_mut().map_err(|error| format!("tablerock-crash: {error}"))?;
    let output = child.stdout.take().ok_or("tablerock-crash: no output")?;
    let reader = thread::spawn(move || {
        let mut counts = Counts::default();
        for line in BufReader::new(output).lines().map_while(std::result::Result::ok) {
            println!("{line}");
            counts.count(&line);
        }
        counts
    });
    let limit = if options.long { LONG_LIMIT } else { SHORT_LIMIT };
    let end = child::wait(child, limit, &Cancel::default())?;
    let counts = reader.join().map_err(|_| "cannot read the output of tablerock-crash")?;
    if !end.is_success() && end != End::Code(1) {
        println!("crash: FAILED: {end}");
    }
    let failed = if end.is_success() { 0 } else { counts.failed.max(1) };
    let Counts { passed, skipped, .. } = counts;
    Ok(Row { name: "crash".to_owned(), passed, failed, skipped, time: started.elapsed(), ..Row::default() })
}

/// The first of the consecutive free ports. They are below the ephemeral ports: servers are started on them repeatedly, while
/// thousands of connections open and close.
fn free_ports() -> Result<u16> {
    let is_free = |first: &u16| (*first..).take(PORT_COUNT).all(ports::is_free);
    let free = PORTS.step_by(PORT_COUNT).find(is_free);
    free.ok_or_else(|| format!("no {PORT_COUNT} consecutive free ports in {PORTS:?}"))
}

/// Ten thousand connections need as many descriptors in the harness and in the server, more than the default limit of most
/// systems. The shell raises the soft limit to the hard limit.
fn with_all_descriptors(program: &str) -> Command {
    if !cfg!(unix) {
        return Command::new(program);
    }
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -S -n \"$(ulimit -H -n)\"; exec \"$@\"", "sh", program]);
    command
}

/// The number of parts by their result.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    passed: usize,
    failed: usize,
    skipped: usize,
}

impl Counts {
    /// Counts a line: `crash: kill: ok, ...`, `crash: kill: FAILED, ...` or `skipped: crash power: ...`. Others are ignored.
    fn count(&mut self, line: &str) {
        let outcome = line.strip_prefix("crash: ").and_then(|rest| rest.split_once(": ")).map(|(_, outcome)| outcome);
        match outcome {
            Some(outcome) if outcome.starts_with("ok,") => self.passed += 1,
            Some(outcome) if outcome.starts_with("FAILED,") => self.failed += 1,
            _ if line.starts_with("skipped: ") => self.skipped += 1,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_counted_by_their_lines() {
        let mut counts = Counts::default();
        let lines = ["crash: seed 7", "crash: kill: ok, 16 kills, 9 s", "  kill 3: ok, whatever"];
        let others = ["crash: clock: FAILED, seed 7, 2 s: start 1: ...", "skipped: crash power: no shim"];
        lines.iter().chain(&others).for_each(|line| counts.count(line));
        assert_eq!(counts, Counts { passed: 1, failed: 1, skipped: 1 });
    }
}
