//! One suite against a running server: started, read, judged, reported.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::Result;
use crate::process::child::{self, End, TAIL_LINES};
use crate::server::connection_string;
use crate::server::ports::Ports;
use crate::server::second_port::SecondPort;
use crate::setup::environments::Environment;
use crate::suite::known_differences::Known;
use crate::suite::libtest;
use crate::suite::results::{self, CaseResult};
use crate::suite::verdict::{self, Verdict};
use crate::suite::{Suite, Target};
use crate::summary::Row;
use crate::workspace::Workspace;

/// The number of problems that are printed: a server that has ended fails every case.
const PROBLEMS_PRINTED_MAX: usize = 40;

#[derive(Debug)]
pub(crate) struct SuiteRun<'w> {
    workspace: &'w Workspace,
    target: Target,
    suite: Suite,
}

impl<'w> SuiteRun<'w> {
    /// Removes the results of an earlier run, so that they cannot be taken for those of this one.
    pub(crate) fn new(workspace: &'w Workspace, target: Target, suite: Suite) -> Result<Self> {
        let run = Self { workspace, target, suite };
        for file in [run.results(), run.second_results()] {
            match fs::remove_file(&file) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(format!("{}: {error}", workspace.shown(&file)));
                }
                _ => {}
            }
        }
        Ok(run)
    }

    /// Runs the suite, prints the outcome, and returns its row of the summary. The jobs of programs that could not be installed
    /// are reported as skipped.
    pub(crate) fn run(&self, ports: Ports, missing: &[(Environment, String)]) -> Result<Row> {
        let name = name(self.target, self.suite);
        println!("{name}: runs");
        let started = Instant::now();
        let verdict = self.judge(ports, missing)?;
        let time = started.elapsed();
        self.report(&name, &verdict, time);
        let Verdict { passed, known, skipped, problems } = verdict;
        Ok(Row { name, passed, known, failed: problems.len(), skipped: skipped.len(), time })
    }

    fn judge(&self, ports: Ports, missing: &[(Environment, String)]) -> Result<Verdict> {
        let mut command = self.suite.command(self.workspace);
        command.envs(missing.iter().map(|(program, why)| (program.variable("CONFORMANCE_MISSING_"), why)));
        let (mut end, mut results) = self.run_once(command, ports, &self.log(), &self.results())?;
        if ports == Ports::DEVELOPMENT
            && let Some(command) = self.suite.command_on_second_port(self.workspace)
        {
            let second = SecondPort::open(ports.table)?;
            let log = self.log().with_extension("second-port.log");
            let behind = Ports { table: second.port, ..ports };
            let (second_end, second_results) = self.run_once(command, behind, &log, &self.second_results())?;
            results = results::merged(vec![results, second_results]);
            end = worse(end, second_end);
            results::write(&self.results(), &results)?;
        }
        let known = Known::read(&self.workspace.known(self.target.kind(), self.suite))?;
        Ok(verdict::judge(&results, &known, end, self.suite.cases_min()))
    }

    fn run_once(&self, mut command: Command, ports: Ports, log: &Path, file: &Path) -> Result<(End, Vec<CaseResult>)> {
        command
            .env("CONFORMANCE_CONNECTION_STRING", connection_string(ports))
            .env("CONFORMANCE_TARGET", self.target.kind().name())
            .env("CONFORMANCE_RESULTS", file)
            .env("CLIENT_TEST_CONNECTION_STRING", connection_string(ports))
            // A proxy of the machine must not come between the suite and the server.
            .env("NO_PROXY", "127.0.0.1,localhost")
            .env("no_proxy", "127.0.0.1,localhost");
        let end = child::run(&mut command, log, self.suite.limit())?;
        if self.suite.is_of_our_client() {
            let printed = fs::read_to_string(log).map_err(|error| format!("{}: {error}", log.display()))?;
            results::write(file, &libtest::results(self.suite.name(), &printed))?;
            return Ok((libtest::end(end), results::read(file)?));
        }
        Ok((end, results::read(file)?))
    }

    fn results(&self) -> PathBuf {
        self.workspace.results(self.target, self.suite)
    }

    fn second_results(&self) -> PathBuf {
        self.results().with_extension("second-port.jsonl")
    }

    fn log(&self) -> PathBuf {
        self.workspace.log(&format!("{}-{}", self.target.name(), self.suite.name()))
    }

    fn report(&self, name: &str, verdict: &Verdict, time: Duration) {
        for case in &verdict.skipped {
            println!("{name}: skipped: {case}");
        }
        let seconds = time.as_secs();
        if verdict.problems.is_empty() {
            println!("{name}: ok, {} passed, {} as known, {seconds} s", verdict.passed, verdict.known);
            return;
        }
        println!("{name}: FAILED, {seconds} s; see {}", self.workspace.shown(&self.log()));
        for problem in verdict.problems.iter().take(PROBLEMS_PRINTED_MAX) {
            println!("{name}: {problem}");
        }
        if let Some(more @ 1..) = verdict.problems.len().checked_sub(PROBLEMS_PRINTED_MAX) {
            println!("{name}: and {more} more");
        }
        print!("{}", child::tail(&self.log(), TAIL_LINES));
    }
}

/// The name of a suite in the report. It names the target unless that is Tablerock on a disk.
pub(crate) fn name(target: Target, suite: Suite) -> String {
    match target {
        Target::Tablerock => suite.name().to_owned(),
        Target::TablerockOnPostgres => format!("postgres {}", suite.name()),
        Target::Azurite => format!("azurite {}", suite.name()),
    }
}

/// The worse of two ends.
fn worse(first: End, second: End) -> End {
    let badness = |end: End| match end {
        End::Code(0) => 0,
        End::Code(1) => 1,
        _ => 2,
    };
    if badness(second) > badness(first) { second } else { first }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_ends_the_worse_counts() {
        assert_eq!(worse(End::Code(0), End::Code(1)), End::Code(1));
        assert_eq!(worse(End::Signal, End::Code(1)), End::Signal);
        assert_eq!(worse(End::Code(1), End::Code(4)), End::Code(4));
        assert_eq!(worse(End::Code(0), End::Code(0)), End::Code(0));
    }

    #[test]
    fn results_of_an_earlier_run_are_forgotten() {
        let folder = std::env::temp_dir().join(format!("xtask-suite-run-{}", std::process::id()));
        let workspace = Workspace { root: folder.clone(), target: folder.join("target"), store: None, server: None };
        let file = workspace.results(Target::Tablerock, Suite::Go);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "{}").unwrap();
        let run = SuiteRun::new(&workspace, Target::Tablerock, Suite::Go).unwrap();
        assert!(!run.results().exists());
        fs::remove_dir_all(&folder).unwrap();
    }
}
