//! `cargo xtask bench`: builds and installs everything that is compared, and runs the load generator, which does the
//! rest and talks to the terminal itself.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::Result;
use crate::checks;
use crate::docs;
use crate::setup::debian;
use crate::setup::environments::Environment;
use crate::setup::postgres::{self, DatabaseServer, TestDatabase};
use crate::setup::preparation::Preparation;
use crate::summary::Row;
use crate::workspace::{Workspace, is_ci};

/// The rows as the load generator names them; it is not asked, because it may not be built yet.
const ROWS: [&str; 23] = [
    "point-read",
    "insert-many",
    "insert-one",
    "insert-single",
    "group",
    "partition-query",
    "row-range",
    "filter-scan",
    "big-read",
    "put-message",
    "get-message",
    "delete-message",
    "message-round-trip",
    "put-small-blob",
    "get-small-blob",
    "put-medium-blob",
    "get-medium-blob",
    "put-large-blob",
    "get-large-blob",
    "start",
    "big-start",
    "memory",
    "size",
];

/// The options that are passed on to the load generator.
#[derive(Debug, Args)]
pub(crate) struct BenchOptions {
    /// Small sizes and a few minutes, for a developer: rough ratios, and a missed target does not fail the run
    #[arg(long)]
    quick: bool,
    /// Only this row of the table; may be given several times
    #[arg(long, value_name = "ROW", value_parser = PossibleValuesParser::new(ROWS))]
    only: Vec<String>,
    /// Measure on a database instead of the data directory, next to its driver alone: `postgres` for one that the run
    /// starts, or the URL of one that is already there
    #[arg(long, value_name = "STORE", conflicts_with_all = ["quick", "only"])]
    store: Option<String>,
    /// Measure the processor time of the Rust client next to hyper with a signature, for reads and inserts
    #[arg(long, conflicts_with_all = ["quick", "only", "store", "instructions"])]
    client: bool,
    /// Count the instructions of single requests under valgrind, apart from the kernel and from hashing
    ///
    /// Takes two minutes, and up to eight on a busy machine. There, figures of messages repeat within 3 %, all others
    /// within 0.5 %.
    #[arg(long, conflicts_with_all = ["quick", "only", "store"])]
    instructions: bool,
    /// Measure this server instead of building one; to count instructions it needs symbols, as with --profile profiling
    #[arg(long, value_name = "PATH", conflicts_with_all = ["quick", "only"])]
    binary: Option<PathBuf>,
    /// Write the counted instructions to this file, as JSON
    #[arg(long, value_name = "FILE", requires = "instructions")]
    save: Option<PathBuf>,
    /// Compare with the counted instructions in this file, and fail if an operation takes over 2 % more
    #[arg(long, value_name = "FILE", requires = "instructions")]
    compare: Option<PathBuf>,
    /// The first of nine ports in a row
    #[arg(long, default_value_t = 10180)]
    port: u16,
}

impl BenchOptions {
    /// Only a run that leaves nothing out is for the record, and it needs all rivals.
    fn is_full(&self) -> bool {
        !self.quick && self.only.is_empty()
    }
}

pub(crate) fn run(workspace: &Workspace, options: &BenchOptions) -> Result<bool> {
    if options.instructions {
        return count_instructions(workspace, options);
    }
    if options.client {
        return measure_client(workspace, options.port);
    }
    if let Some(store) = &options.store {
        return run_beside_postgres(workspace, store, options);
    }
    if options.binary.is_some() {
        return Err("--binary goes with --store or --instructions; other runs measure the release build".to_owned());
    }
    let mut preparation = Preparation::begin(workspace, &[Environment::Azurite]);
    for build in [checks::build_server, checks::build_bench] {
        if build(workspace).failed > 0 {
            return Ok(false);
        }
    }
    let mut command = Command::new(workspace.binary("release", "tablerock-bench"));
    command.arg("--tablerock").arg(workspace.binary("release", "tablerock"));
    command.arg("--work").arg(workspace.target.join("bench"));
    command.arg("--report").arg(workspace.root.join("docs/benchmarks.md"));
    command.args(["--port", &options.port.to_string()]);
    command.args(options.quick.then_some("--quick"));
    command.args(options.only.iter().flat_map(|row| ["--only", row]));
    match preparation.wait_for(Environment::Azurite) {
        Ok(()) => {
            command.arg("--azurite").arg(workspace.installed("azurite/node_modules/azurite"));
        }
        Err(why) if options.is_full() => {
            return Err(format!("a full run compares with Azurite, but {why}; --quick and --only go without it"));
        }
        Err(why) => println!("skipped: comparisons with Azurite: {why}"),
    }
    let status = command.status().map_err(|error| format!("tablerock-bench: {error}"))?;
    if options.is_full() {
        // The chart and the README show the figures of the report.
        docs::write_figures(workspace)?;
    }
    Ok(status.success())
}

/// Measures Tablerock on a database next to the driver alone: on the one with this URL, or on a new one that syncs every
/// commit.
fn run_beside_postgres(workspace: &Workspace, store: &str, options: &BenchOptions) -> Result<bool> {
    if store != "postgres" && !store.contains("://") {
        return Err(format!(
            "--store {store} is neither `postgres` nor a URL (postgres://user:password@host:port/database)"
        ));
    }
    let builds = [checks::build_server, checks::build_bench];
    for build in &builds[usize::from(options.binary.is_some())..] {
        if build(workspace).failed > 0 {
            return Ok(false);
        }
    }
    postgres::ensure(workspace)?;
    let database = match store {
        "postgres" => TestDatabase::Started(DatabaseServer::start_durable()),
        url => TestDatabase::at(Some(url)),
    };
    let mut command = Command::new(workspace.binary("release", "beside-postgres"));
    let server = options.binary.clone().unwrap_or_else(|| workspace.binary("release", "tablerock"));
    command.arg("--tablerock").arg(server);
    command.args(["--url", &database.url("bench"), "--port", &options.port.to_string()]);
    let status = command.status().map_err(|error| format!("beside-postgres: {error}"))?;
    Ok(status.success())
}

/// Measures the client next to hyper with a signature. Fails if it needs more processor time than its targets.
fn measure_client(workspace: &Workspace, port: u16) -> Result<bool> {
    for build in [checks::build_server, checks::build_client_cost] {
        if build(workspace).failed > 0 {
            return Ok(false);
        }
    }
    let mut command = Command::new(workspace.binary("release", "client-cost"));
    command.arg("--tablerock").arg(workspace.binary("release", "tablerock")).args(["--port", &port.to_string()]);
    let status = command.status().map_err(|error| format!("client-cost: {error}"))?;
    Ok(status.success())
}

/// Runs the server under valgrind and counts its instructions. The generator does not matter for that, so it is built
/// without optimisation.
fn count_instructions(workspace: &Workspace, options: &BenchOptions) -> Result<bool> {
    ensure_valgrind(workspace)?;
    let mut builds: Vec<fn(&Workspace) -> Row> = vec![checks::build_instructions];
    let binary = options.binary.clone().unwrap_or_else(|| {
        builds.push(checks::build_profiling);
        workspace.binary("profiling", "tablerock")
    });
    for build in builds {
        if build(workspace).failed > 0 {
            return Ok(false);
        }
    }
    let mut command = Command::new(workspace.binary("debug", "instructions"));
    command.arg("--tablerock").arg(&binary).arg("--work").arg(workspace.target.join("bench"));
    command.args(["--port", &options.port.to_string()]);
    if options.binary.is_none() {
        command.args(commit(workspace).iter().flat_map(|commit| ["--commit", commit]));
    }
    for (flag, file) in [("--save", &options.save), ("--compare", &options.compare)] {
        command.args(file.iter().flat_map(|file| [OsStr::new(flag), file.as_os_str()]));
    }
    let status = command.status().map_err(|error| format!("instructions: {error}"))?;
    Ok(status.success())
}

/// Installs valgrind on a CI machine; anywhere else the error names the command.
fn ensure_valgrind(workspace: &Workspace) -> Result<()> {
    let is_there = |program| Command::new(program).arg("--version").output().is_ok();
    if is_there("valgrind") && is_there("vgdb") {
        return Ok(());
    }
    let missing = "valgrind is not installed: apt-get install valgrind";
    if !is_ci() {
        return Err(missing.to_owned());
    }
    debian::install_named(workspace, &["valgrind"]).map_err(|error| format!("{missing} ({error})"))
}

/// The commit that is built, if git knows it.
fn commit(workspace: &Workspace) -> Option<String> {
    let output = Command::new("git").args(["describe", "--always", "--dirty"]).current_dir(&workspace.root).output();
    let commit = String::from_utf8(output.ok()?.stdout).ok()?.trim().to_owned();
    (!commit.is_empty()).then_some(commit)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `PointRead` as `point-read`.
    fn kebab(variant: &str) -> String {
        let letters = variant.char_indices().flat_map(|(at, letter)| {
            let dash = (at > 0 && letter.is_ascii_uppercase()).then_some('-');
            dash.into_iter().chain([letter.to_ascii_lowercase()])
        });
        letters.collect()
    }

    #[test]
    fn rows_are_those_of_the_load_generator() {
        let source = include_str!("../../bench/src/contest/rows.rs");
        let variants = source.split("pub enum Row {").nth(1).and_then(|rest| rest.split('}').next()).unwrap();
        let names: Vec<String> =
            variants.split(',').map(str::trim).filter(|name| !name.is_empty()).map(kebab).collect();
        assert_eq!(names, ROWS);
    }
}
