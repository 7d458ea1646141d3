//! The steps that cargo does for us: formatting, lints, unit tests, and the binaries under test.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::child::{self, End, TAIL_LINES};
use crate::summary::Row;
use crate::workspace::{Workspace, cargo};

const MINUTE: Duration = Duration::from_secs(60);

pub(crate) fn fmt(workspace: &Workspace) -> Row {
    step(workspace, "fmt", &["fmt", "--all", "--check"], 2 * MINUTE)
}

pub(crate) fn lint(workspace: &Workspace) -> Row {
    step(workspace, "lint", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], 20 * MINUTE)
}

/// Unit tests, engine suites and doc tests of every crate; the row counts the tests.
pub(crate) fn unit(workspace: &Workspace) -> Row {
    let row = step(workspace, "unit", &["test", "--workspace", "--no-fail-fast"], 25 * MINUTE);
    let log = fs::read_to_string(workspace.log("unit")).unwrap_or_default();
    let Counts { passed, failed, ignored } = count_tests(&log);
    // Without a failed test the step's own verdict stays: the tests may not even have compiled.
    Row { passed, failed: failed.max(row.failed), skipped: ignored, ..row }
}

/// The server as it is shipped: built on its own, because cargo gives packages that are built together the features
/// of all.
pub(crate) fn build_server(workspace: &Workspace) -> Row {
    step(workspace, "build", &["build", "--release", "--package", "tablerock"], 20 * MINUTE)
}

/// The runner of the raw suite. Optimising its many cases takes minutes and saves seconds, and with the features of
/// the whole workspace its dependencies are those that the unit tests have built already.
pub(crate) fn build_raw(workspace: &Workspace) -> Row {
    step(workspace, "build-raw", &["build", "--workspace", "--bin", "tablerock-conformance"], 20 * MINUTE)
}

fn step(workspace: &Workspace, name: &str, arguments: &[&str], limit: Duration) -> Row {
    println!("{name}: cargo {}", arguments.join(" "));
    let started = Instant::now();
    let mut command: Command = cargo();
    command.args(arguments).current_dir(&workspace.root);
    let log = workspace.log(name);
    let end = child::run(&mut command, &log, limit);
    let time = started.elapsed();
    match end {
        Ok(End::Code(0)) => {
            println!("{name}: ok, {} s", time.as_secs());
            Row::passed(name, time)
        }
        Ok(end) => {
            println!("{name}: FAILED, {} s: {end}; see {}", time.as_secs(), workspace.shown(&log));
            print!("{}", child::tail(&log, TAIL_LINES));
            Row::failed(name, time)
        }
        Err(why) => {
            println!("{name}: FAILED: {why}");
            Row::failed(name, time)
        }
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    passed: usize,
    failed: usize,
    ignored: usize,
}

/// Adds up the lines `test result: ok. 12 passed; 0 failed; 1 ignored; ...`.
fn count_tests(log: &str) -> Counts {
    let mut counts = Counts::default();
    for line in log.lines().filter_map(|line| line.strip_prefix("test result: ")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        for pair in words.windows(2) {
            let Ok(number) = pair[0].parse::<usize>() else { continue };
            match pair[1] {
                "passed;" => counts.passed += number,
                "failed;" => counts.failed += number,
                "ignored;" => counts.ignored += number,
                _ => {}
            }
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_counted_over_all_crates() {
        let log = "running 3 tests\n\
            test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s\n\
            test result: FAILED. 4 passed; 2 failed; 0 ignored; 0 measured; 7 filtered out; finished in 0.01s\n";
        assert_eq!(count_tests(log), Counts { passed: 7, failed: 2, ignored: 1 });
    }
}
