//! `cargo xtask test`: everything that CI checks, cheap things first.
//!
//! A failed step ends the run before the next, slower stage. Within the stage of the suites, all of them run.

use std::thread;
use std::time::Instant;

use clap::ValueEnum;

use crate::Result;
use crate::checks;
use crate::conform;
use crate::crash;
use crate::deny;
use crate::docs;
use crate::package;
use crate::package::check::Source;
use crate::server::ports::Ports;
use crate::setup::environments::Environment;
use crate::setup::postgres;
use crate::setup::preparation::Preparation;
use crate::snippets;
use crate::suite::{Suite, Target};
use crate::summary::{Row, Summary};
use crate::tidy;
use crate::workspace::Workspace;

/// The values of `--only`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    Fmt,
    Lint,
    Tidy,
    Deny,
    Unit,
    Crash,
    Raw,
    Client,
    Python,
    Js,
    LegacyNode,
    LegacyPython,
    LegacyJava,
    Go,
    Java,
    Az,
    Rclone,
    Programs,
    Snippets,
    Packages,
}

impl Part {
    fn of(suite: Suite) -> Self {
        match suite {
            Suite::Raw => Part::Raw,
            Suite::Client => Part::Client,
            Suite::Python => Part::Python,
            Suite::Js => Part::Js,
            Suite::LegacyNode => Part::LegacyNode,
            Suite::LegacyPython => Part::LegacyPython,
            Suite::LegacyJava => Part::LegacyJava,
            Suite::Go => Part::Go,
            Suite::Java => Part::Java,
            Suite::Az => Part::Az,
            Suite::Rclone => Part::Rclone,
            Suite::Programs => Part::Programs,
        }
    }
}

pub(crate) fn run(workspace: &Workspace, only: &[Part], table_port: u16) -> Result<bool> {
    let ports = Ports::up_to(table_port)?;
    let wants = |part: Part| only.is_empty() || only.contains(&part);
    let suites: Vec<Suite> = Suite::ALL.into_iter().filter(|&suite| wants(Part::of(suite))).collect();
    let mut summary = Summary::default();

    if wants(Part::Fmt) {
        summary.push(checks::fmt(workspace));
    }
    if wants(Part::Tidy) {
        summary.push(tidy_step(workspace)?);
    }
    if wants(Part::Deny) {
        deny::step(workspace).into_iter().for_each(|row| summary.push(row));
    }
    // Installing begins once the quick checks have passed, and continues while cargo builds.
    let mut preparation = summary.is_success().then(|| {
        let environments: Vec<Environment> = suites.iter().flat_map(|suite| suite.environments()).copied().collect();
        Preparation::begin(workspace, &environments)
    });
    if wants(Part::Lint) && summary.is_success() {
        summary.push(checks::lint(workspace));
        if summary.is_success() {
            summary.push(checks::doc(workspace));
        }
    }
    if wants(Part::Unit) && summary.is_success() {
        unit_step(workspace, !suites.is_empty(), &mut summary);
    }
    match preparation.as_mut().filter(|_| summary.is_success()) {
        Some(preparation) => run_suites(workspace, &suites, ports, preparation, &mut summary),
        None => conform::leave_out(Target::Tablerock, &suites, &mut summary),
    }
    drop(preparation);
    // After the suites, because CI installs languages for them.
    if wants(Part::Snippets) && summary.is_success() {
        snippets::step(workspace).into_iter().for_each(|row| summary.push(row));
    }
    if wants(Part::Packages) {
        packages_step(workspace, &mut summary);
    }
    // Last, on idle processors: one of its parts measures how long requests wait.
    if wants(Part::Crash) {
        crash_step(workspace, &mut summary);
    }

    println!("\n{summary}");
    Ok(summary.is_success())
}

/// Unit tests. Those that start a database are reported as skipped where there is none; on CI that is a failure.
fn unit_step(workspace: &Workspace, is_server_needed: bool, summary: &mut Summary) {
    let missing = postgres::ensure(workspace).err().map(|why| conform::cannot_run("unit on postgres", "tests", &why));
    let is_database_there = missing.is_none();
    missing.into_iter().for_each(|row| summary.push(row));
    if summary.is_success() {
        let rows = unit_beside_build(workspace, is_server_needed, is_database_there);
        rows.into_iter().for_each(|row| summary.push(row));
    }
}

/// Unit tests, and at the same time the build of the server for the suites: its longest part has one thread, and tests
/// often wait.
fn unit_beside_build(workspace: &Workspace, is_server_needed: bool, is_database_there: bool) -> Vec<Row> {
    thread::scope(|scope| {
        let build = is_server_needed.then(|| scope.spawn(|| checks::build_server(workspace)));
        let unit = checks::unit(workspace, is_database_there);
        let build = build.map(|build| build.join().expect("a step reports its failures as a row"));
        [Some(unit), build].into_iter().flatten().collect()
    })
}

fn run_suites(
    workspace: &Workspace,
    suites: &[Suite],
    ports: Ports,
    preparation: &mut Preparation,
    summary: &mut Summary,
) {
    if suites.is_empty() {
        return;
    }
    let used = conform::against_both(workspace, suites, ports, preparation, summary);
    // The document has the numbers of a full run on the development ports, where no case is skipped.
    if suites == Suite::ALL && used == Some(Ports::DEVELOPMENT) && summary.is_success() {
        summary.push(docs_step(workspace));
    }
}

/// The packages contain the release binary, which the suites have built already.
fn packages_step(workspace: &Workspace, summary: &mut Summary) {
    if !summary.is_success() {
        println!("skipped: packages: an earlier step failed");
        return summary.push(Row::skipped("packages"));
    }
    let build = checks::build_server(workspace);
    if build.failed > 0 {
        return summary.push(build);
    }
    package::check::step(workspace, &[], Source::default()).into_iter().for_each(|row| summary.push(row));
}

fn crash_step(workspace: &Workspace, summary: &mut Summary) {
    if !summary.is_success() {
        println!("skipped: crash: an earlier step failed");
        return summary.push(Row::skipped("crash"));
    }
    crash::step(workspace).into_iter().for_each(|row| summary.push(row));
}

fn tidy_step(workspace: &Workspace) -> Result<Row> {
    let started = Instant::now();
    let findings = tidy::check(workspace)?;
    for finding in &findings {
        println!("tidy: {finding}");
    }
    let failed = findings.iter().filter(|finding| !finding.is_warning).count();
    println!("tidy: {}", if failed == 0 { "ok".to_owned() } else { format!("FAILED, {failed} findings") });
    Ok(Row {
        name: "tidy".to_owned(),
        passed: usize::from(failed == 0),
        failed,
        time: started.elapsed(),
        ..Row::default()
    })
}

fn docs_step(workspace: &Workspace) -> Row {
    let started = Instant::now();
    match docs::check_fresh(workspace) {
        Ok(()) => Row::passed("docs", started.elapsed()),
        Err(why) => {
            println!("docs: FAILED: {why}");
            Row::failed("docs", started.elapsed())
        }
    }
}
