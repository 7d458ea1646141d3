//! `cargo xtask fuzz`: builds the fuzzers with coverage on, runs them two at a time at the lowest priority, and keeps
//! what they found: inputs that reach something new in `fuzz/corpus`, inputs that break a check for a person to look at.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::Result;
use crate::process::child::{self, End, TAIL_LINES};
use crate::workspace::{Workspace, cargo};

const MINUTE: Duration = Duration::from_secs(60);
const AT_A_TIME: usize = 2;
/// Longer inputs find no more and make the corpora heavy.
const INPUT_BYTES_MAX: usize = 4096;
/// An input that takes longer is a finding, and so is one that makes the process grow beyond this.
const INPUT_SECONDS_MAX: usize = 10;
const MEMORY_MB_MAX: usize = 1024;

/// The flags that make rustc count edges and report comparisons in the way that libFuzzer reads.
const COVERAGE_FLAGS: [&str; 5] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

#[derive(Debug, Args)]
pub(crate) struct FuzzOptions {
    /// Only this target; may be given several times
    #[arg(long, value_enum)]
    target: Vec<FuzzTarget>,
    /// How long each target runs
    #[arg(long, default_value_t = 15)]
    minutes: u32,
    /// Instead of the targets, send requests to this server program, with framing that no client sends
    #[arg(long, value_name = "PATH", conflicts_with = "target")]
    binary: Option<PathBuf>,
    /// With --binary: the first of three ports for the server
    #[arg(long, value_name = "PORT", default_value_t = 10390, requires = "binary")]
    first_port: u16,
    /// With --binary: the number of requests after which it ends before its time
    #[arg(long, value_name = "N", default_value_t = 200_000, requires = "binary")]
    requests: u64,
    /// With --binary: the seed of all choices
    #[arg(long, default_value_t = 1, requires = "binary")]
    seed: u64,
}

/// One fuzzer each, in `fuzz/src/bin`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FuzzTarget {
    Authorization,
    Batch,
    Body,
    Field,
    Filter,
    Json,
    Path,
    Request,
    Sas,
    SharedKey,
    Stored,
}

impl FuzzTarget {
    fn name(self) -> String {
        self.to_possible_value().expect("no target is hidden").get_name().to_owned()
    }
}

pub(crate) fn run(workspace: &Workspace, options: &FuzzOptions) -> Result<bool> {
    if let Some(binary) = &options.binary {
        return run_wire(workspace, options, binary);
    }
    let binaries = build(workspace)?;
    let targets = if options.target.is_empty() { FuzzTarget::value_variants() } else { &options.target };
    let waiting = Mutex::new(targets.iter().copied().collect::<VecDeque<_>>());
    let outcomes = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                let next = || waiting.lock().expect("no worker panics").pop_front();
                while let Some(target) = next() {
                    let fuzzer = Fuzzer { workspace, name: target.name(), binaries: binaries.clone() };
                    let outcome = fuzzer.run(options.minutes);
                    match &outcome {
                        Ok(report) => println!("{}: {report}", fuzzer.name),
                        Err(why) => println!("{}: FAILED: {why}", fuzzer.name),
                    }
                    outcomes.lock().expect("no worker panics").push(outcome);
                }
            });
        }
    });
    let outcomes = outcomes.into_inner().expect("no worker panics");
    Ok(outcomes.iter().all(|outcome| outcome.as_ref().is_ok_and(|report| report.findings.is_empty())))
}

/// Sends requests to a server in a process of its own, and prints the statuses that came back.
fn run_wire(workspace: &Workspace, options: &FuzzOptions, binary: &Path) -> Result<bool> {
    let binary = binary.canonicalize().map_err(|error| format!("{}: {error}", binary.display()))?;
    let mut command = cargo();
    command.args(["run", "--quiet", "--package", "tablerock-fuzz", "--bin", "fuzz-wire", "--"]);
    command.arg(binary).arg(workspace.root.join("fuzz/corpus/request"));
    command.args(
        [u64::from(options.first_port), options.minutes.into(), options.requests, options.seed]
            .map(|number| number.to_string()),
    );
    println!("wire: {} minutes or {} requests", options.minutes, options.requests);
    let log = workspace.log("fuzz-wire");
    let end = child::run(command.current_dir(&workspace.root), &log, MINUTE * options.minutes + 20 * MINUTE)?;
    println!("{}", child::tail(&log, TAIL_LINES));
    Ok(end.is_success())
}

/// The folder of the fuzzers. They have a target directory of their own, because flags change everything in it.
fn build(workspace: &Workspace) -> Result<PathBuf> {
    let directory = workspace.target.join("fuzz");
    let host = host()?;
    println!("fuzz: builds the fuzzers");
    let mut command = cargo();
    command.args(["build", "--package", "tablerock-fuzz", "--features", "libfuzzer", "--profile", "fuzz"]);
    // Not all programs of the package: one without libFuzzer has nothing that the coverage could call.
    for target in FuzzTarget::value_variants() {
        command.args(["--bin", &format!("fuzz-{}", target.name())]);
    }
    // Named, even though it is the usual one: cargo then leaves build scripts and macros without the flags.
    command.args(["--target", &host]);
    command.env("CARGO_TARGET_DIR", &directory).env("RUSTFLAGS", COVERAGE_FLAGS.join(" "));
    let log = workspace.log("build-fuzz");
    match child::run(command.current_dir(&workspace.root), &log, 30 * MINUTE)? {
        End::Code(0) => Ok(directory.join(host).join("fuzz")),
        end => Err(format!("the fuzzers do not build ({end}):\n{}", child::tail(&log, TAIL_LINES))),
    }
}

fn host() -> Result<String> {
    let output = Command::new("rustc").arg("-vV").output().map_err(|error| format!("rustc: {error}"))?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = printed.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc -vV prints no host".to_owned())
}

/// One target on its way.
struct Fuzzer<'a> {
    workspace: &'a Workspace,
    name: String,
    binaries: PathBuf,
}

impl Fuzzer<'_> {
    fn run(&self, minutes: u32) -> Result<Report> {
        let (found, findings) = (self.made("found"), self.made("findings"));
        for folder in [&found, &findings, &self.kept("corpus")] {
            fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        let earlier = self.findings()?;
        let mut command = self.command();
        command.args([&found, &self.kept("corpus")]);
        command.args(Some(self.kept("regressions")).filter(|folder| folder.is_dir()));
        command.arg(format!("-dict={}", self.kept("dictionaries").with_extension("dict").display()));
        command.arg(format!("-artifact_prefix={}/", findings.display()));
        command.arg(format!("-max_total_time={}", minutes * 60)).arg("-print_final_stats=1");
        println!("{}: {minutes} minutes", self.name);
        let log = self.workspace.log(&format!("fuzz-{}", self.name));
        let end = child::run(&mut command, &log, MINUTE * minutes + 5 * MINUTE)?;
        let printed = fs::read(&log).map_err(|error| format!("{}: {error}", log.display()))?;
        let mut report = Report { findings: self.findings()?, ..Report::read(&String::from_utf8_lossy(&printed)) };
        report.findings.retain(|finding| !earlier.contains(finding));
        if !end.is_success() && report.findings.is_empty() {
            return Err(format!("{end}; see {}\n{}", self.workspace.shown(&log), child::tail(&log, TAIL_LINES)));
        }
        self.keep()?;
        Ok(report)
    }

    /// Copies into the corpus a smallest set of inputs that cover what the corpus does not: once, however often a
    /// line runs, since thousands of inputs that differ in a count do not belong in a repository.
    fn keep(&self) -> Result<()> {
        let mut command = self.command();
        command.args(["-set_cover_merge=1", "-use_counters=0"]).args([self.kept("corpus"), self.made("found")]);
        let log = self.workspace.log(&format!("merge-{}", self.name));
        match child::run(&mut command, &log, 20 * MINUTE)? {
            End::Code(0) => Ok(()),
            end => Err(format!("the corpus cannot be merged ({end}); see {}", self.workspace.shown(&log))),
        }
    }

    fn command(&self) -> Command {
        let mut command = Command::new("nice");
        command.args(["-n", "19"]).arg(self.binaries.join(format!("fuzz-{}", self.name)));
        command.arg(format!("-max_len={INPUT_BYTES_MAX}"));
        command.arg(format!("-timeout={INPUT_SECONDS_MAX}")).arg(format!("-rss_limit_mb={MEMORY_MB_MAX}"));
        command
    }

    fn findings(&self) -> Result<Vec<String>> {
        let folder = self.made("findings");
        let entries = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let paths = entries.filter_map(|entry| Some(self.workspace.shown(&entry.ok()?.path())));
        Ok(paths.collect())
    }

    /// In the repository.
    fn kept(&self, kind: &str) -> PathBuf {
        self.workspace.root.join("fuzz").join(kind).join(&self.name)
    }

    /// In the target directory.
    fn made(&self, kind: &str) -> PathBuf {
        self.workspace.target.join("fuzz").join(kind).join(&self.name)
    }
}

/// The final statistics of libFuzzer.
#[derive(Debug, Default, PartialEq, Eq)]
struct Report {
    executions: u64,
    edges: u64,
    features: u64,
    findings: Vec<String>,
}

impl Report {
    fn read(log: &str) -> Self {
        let number = |text: &str| text.split_whitespace().next()?.parse().ok();
        let last = |mark: &str| log.rsplit_once(mark).and_then(|(_, rest)| number(rest)).unwrap_or_default();
        Self {
            executions: last("stat::number_of_executed_units: "),
            edges: last(" cov: "),
            features: last(" ft: "),
            findings: Vec::new(),
        }
    }
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { executions, edges, features, findings } = self;
        write!(f, "{executions} executions, {edges} edges, {features} features, {} findings", findings.len())?;
        findings.iter().try_for_each(|finding| write!(f, "\n    {finding}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_numbers_of_a_log_count() {
        let log = "#2\tINITED cov: 10 ft: 11 corp: 1/1b\n#9\tDONE   cov: 34 ft: 40 corp: 31/290b lim: 9 exec/s: 0\n\
            Done 21505236 runs in 31 second(s)\nstat::number_of_executed_units: 21505236\nstat::average_exec_per_sec: 7\n";
        let expected = Report { executions: 21_505_236, edges: 34, features: 40, findings: vec![] };
        assert_eq!(Report::read(log), expected);
        assert_eq!(Report::read("nothing"), Report::default());
    }

    #[test]
    fn every_fuzzer_is_a_target() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/src/bin");
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut found: Vec<String> = files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
        found.sort();
        let named: Vec<String> = FuzzTarget::value_variants().iter().map(|target| target.name()).collect();
        assert_eq!(found, named);
    }
}
