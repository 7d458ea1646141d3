//! The steps that cargo runs: formatting, lints, documentation, unit tests, and the binaries under test.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::process::child::{self, End, TAIL_LINES};
use crate::setup::postgres::STORE_VARIABLE;
use crate::summary::Row;
use crate::workspace::{Workspace, cargo};

const MINUTE: Duration = Duration::from_secs(60);
const REPORT_LINES_MAX: usize = 200;

/// The program of our client.
pub(crate) const RUST_CLIENT: &str = "tablerock-rust-client";

pub(crate) fn fmt(workspace: &Workspace) -> Row {
    step(workspace, "fmt", &["fmt", "--all", "--check"], 2 * MINUTE)
}

/// The whole workspace, and the client without its features: its users build it so, and nothing here does.
pub(crate) fn lint(workspace: &Workspace) -> Row {
    let whole = &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    let whole = step(workspace, "lint", whole, 20 * MINUTE);
    let bare = &["clippy", "--package", "tablerock-client", "--no-default-features", "--", "-D", "warnings"];
    let bare = step(workspace, "lint-bare-client", bare, 10 * MINUTE);
    let (passed, failed) = (whole.passed + bare.passed, whole.failed + bare.failed);
    Row { passed, failed, time: whole.time + bare.time, ..whole }
}

/// All features of the client. `--all-features` would include libFuzzer, which needs a C++ compiler.
const CLIENT_FEATURES: &str =
    "tablerock-client/encryption-rsa,tablerock-client/time,tablerock-client/chrono,tablerock-client/serde";

/// The libraries of the package registry.
const PUBLISHED: [&str; 4] =
    ["tablerock-protocol", "tablerock-client-derive", "tablerock-client", "tablerock-patterns"];

/// The pages of every library, and those of the published ones with all features, as docs.rs builds them. A broken link
/// is a failure.
pub(crate) fn doc(workspace: &Workspace) -> Row {
    let strict = "build.rustdocflags=['-D', 'warnings']";
    let pages = &["doc", "--workspace", "--lib", "--no-deps", "--features", CLIENT_FEATURES, "--config", strict];
    let whole = step(workspace, "doc", pages, 10 * MINUTE);
    let mut published = vec!["doc", "--lib", "--no-deps", "--all-features", "--config", strict];
    published.extend(PUBLISHED.iter().flat_map(|name| ["--package", name]));
    let published = step(workspace, "doc-published", &published, 10 * MINUTE);
    let (passed, failed) = (whole.passed + published.passed, whole.failed + published.failed);
    Row { passed, failed, time: whole.time + published.time, ..whole }
}

/// Leaves out the tests that need a database: those of its engine, and those with these words in their paths.
const WITHOUT_DATABASE: [&str; 5] = ["--exclude", "tablerock-kv-postgres", "--", "--skip", "on_postgres"];

/// Unit tests, engine suites and doc tests of every crate; the row counts the tests.
pub(crate) fn unit(workspace: &Workspace, is_database_there: bool) -> Row {
    // Examples are left out: lint checks them, and the tests include those that run.
    let tests = unit_part(workspace, "unit", "--tests", is_database_there);
    let examples = unit_part(workspace, "unit-doc", "--doc", is_database_there);
    Row {
        passed: tests.passed + examples.passed,
        failed: tests.failed + examples.failed,
        skipped: tests.skipped + examples.skipped,
        time: tests.time + examples.time,
        ..tests
    }
}

fn unit_part(workspace: &Workspace, name: &str, targets: &str, is_database_there: bool) -> Row {
    let mut arguments = vec!["test", "--workspace", "--no-fail-fast", targets];
    if !is_database_there {
        arguments.extend(WITHOUT_DATABASE);
    }
    let row = step(workspace, name, &arguments, 25 * MINUTE);
    let log = fs::read_to_string(workspace.log(name)).unwrap_or_default();
    let Counts { passed, failed, ignored } = count_tests(&log);
    // Without a failed test the outcome of the step counts: the tests may not have compiled.
    Row { passed, failed: failed.max(row.failed), skipped: ignored, ..row }
}

/// The server as shipped. It is built alone, because cargo unifies the features of packages that are built together.
pub(crate) fn build_server(workspace: &Workspace) -> Row {
    step(workspace, "build", &["build", "--release", "--package", "tablerock"], 20 * MINUTE)
}

/// The same for another target.
pub(crate) fn build_server_for(workspace: &Workspace, target: &str) -> Row {
    step(workspace, "build", &["build", "--release", "--package", "tablerock", "--target", target], 20 * MINUTE)
}

/// The runner of the raw suite, not optimised: that would take minutes and save seconds. With the features of the whole
/// workspace, its dependencies are those that the unit tests have built.
pub(crate) fn build_raw(workspace: &Workspace) -> Row {
    build_tool(workspace, "build-raw", "tablerock-conformance")
}

/// Our client as a program, for the suites of other clients.
pub(crate) fn build_rust_client(workspace: &Workspace) -> Row {
    build_tool(workspace, "build-rust-client", RUST_CLIENT)
}

/// The crash harness, with the features of the whole workspace for the same reason. The profile optimises it and the layer,
/// because they copy and compare many bytes.
pub(crate) fn build_crash(workspace: &Workspace) -> Row {
    build_tool(workspace, "build-crash", "tablerock-crash")
}

/// The contract of every engine, on the database of the workspace.
pub(crate) fn engine_suite(workspace: &Workspace) -> Row {
    let arguments = &["test", "--package", "tablerock-kv-postgres", "--test", "kv_postgres", "contract"];
    step(workspace, "engine-suite", arguments, 20 * MINUTE)
}

fn build_tool(workspace: &Workspace, name: &str, binary: &str) -> Row {
    let arguments = &["build", "--workspace", "--bin", binary, "--features", CLIENT_FEATURES];
    step(workspace, name, arguments, 20 * MINUTE)
}

/// The layer that the harness puts under a data directory.
pub(crate) fn build_crash_shim(workspace: &Workspace) -> Row {
    step(workspace, "build-crash-shim", &["build", "--package", "tablerock-crash-shim"], 5 * MINUTE)
}

/// The load generator and its bare server, optimised like the server that they are compared with. Each program is
/// linked with optimisation across crates, so only those that are run are built.
pub(crate) fn build_bench(workspace: &Workspace) -> Row {
    let mut arguments = vec!["build", "--release", "--package", "tablerock-bench"];
    arguments.extend(["tablerock-bench", "bare-hyper", "beside-postgres"].iter().flat_map(|name| ["--bin", name]));
    step(workspace, "build-bench", &arguments, 20 * MINUTE)
}

/// The program that measures the client, optimised as an application is.
pub(crate) fn build_client_cost(workspace: &Workspace) -> Row {
    let arguments = &["build", "--release", "--package", "tablerock-bench", "--bin", "client-cost"];
    step(workspace, "build-client-cost", arguments, 20 * MINUTE)
}

/// The release build with symbols, for valgrind.
pub(crate) fn build_profiling(workspace: &Workspace) -> Row {
    step(workspace, "build-profiling", &["build", "--profile", "profiling", "--package", "tablerock"], 30 * MINUTE)
}

/// The program that counts instructions.
pub(crate) fn build_instructions(workspace: &Workspace) -> Row {
    let arguments = &["build", "--package", "tablerock-bench", "--bin", "instructions"];
    step(workspace, "build-instructions", arguments, 20 * MINUTE)
}

fn step(workspace: &Workspace, name: &str, arguments: &[&str], limit: Duration) -> Row {
    println!("{name}: cargo {}", arguments.join(" "));
    let started = Instant::now();
    let mut command: Command = cargo();
    command.args(arguments).current_dir(&workspace.root);
    command.envs(workspace.store.iter().map(|url| (STORE_VARIABLE, url)));
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
            print!("{}", reports_of_failed_tests(&log).unwrap_or_else(|| child::tail(&log, TAIL_LINES)));
            Row::failed(name, time)
        }
        Err(why) => {
            println!("{name}: FAILED: {why}");
            Row::failed(name, time)
        }
    }
}

/// The reports of failed tests from every crate; `None` if no test failed. The end of the log does not have them, because
/// the tests of other crates follow.
fn reports_of_failed_tests(log: &Path) -> Option<String> {
    let text = fs::read_to_string(log).ok()?;
    let blocks = text.split("\nfailures:\n").skip(1).map(|rest| rest.split("\ntest result:").next().unwrap_or(rest));
    let lines: Vec<&str> = blocks.flat_map(str::lines).filter(|line| !line.trim().is_empty()).collect();
    let report = lines.iter().take(REPORT_LINES_MAX).map(|line| format!("    {line}\n")).collect();
    (!lines.is_empty()).then_some(report)
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

    #[test]
    fn reports_of_failed_tests_are_found() {
        let log = std::env::temp_dir().join(format!("xtask-checks-{}.log", std::process::id()));
        let text = "test a ... FAILED\n\nfailures:\n\n---- a stdout ----\nleft: 1\n\n\nfailures:\n    a\n\n\
            test result: FAILED. 0 passed; 1 failed\n\ntest b ... ok\n\ntest result: ok. 1 passed; 0 failed\n";
        fs::write(&log, text).unwrap();
        assert_eq!(reports_of_failed_tests(&log).unwrap(), "    ---- a stdout ----\n    left: 1\n        a\n");
        fs::write(&log, "error: could not compile").unwrap();
        assert_eq!(reports_of_failed_tests(&log), None);
        fs::remove_file(&log).unwrap();
    }
}
