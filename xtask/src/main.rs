//! The house work: `cargo xtask test`, `conform`, `crash`, `fuzz`, `bench` and `docs`.
//!
//! `test` is what CI runs. Everything a suite needs is fetched from the package registries; what cannot run is told
//! as `skipped: why`, and with `CI=true` it is a failure.

mod bench;
mod cancel;
mod checks;
mod child;
mod conform;
mod crash;
mod database;
mod descendants;
mod docs;
mod environments;
mod fuzz;
mod judge;
mod known;
mod libtest;
mod linux_packages;
mod port;
mod preparation;
mod results;
mod second_port;
mod server_under_test;
mod suite_run;
mod suites;
mod summary;
mod test;
mod tidy;
mod tools;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::bench::BenchOptions;
use crate::conform::Others;
use crate::crash::CrashOptions;
use crate::fuzz::FuzzOptions;
use crate::port::Ports;
use crate::suites::Suite;
use crate::test::Part;
use crate::workspace::Workspace;

type Result<T> = std::result::Result<T, String>;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Tablerock's house work")]
struct Options {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Everything that CI checks, from formatting to the official SDKs
    Test {
        /// Only this part; may be given several times
        #[arg(long, value_enum)]
        only: Vec<Part>,
        /// The table port of the server under test; queues are on the port below, blobs on the one below that
        #[arg(long, default_value_t = Ports::DEVELOPMENT.table)]
        port: u16,
    },
    /// The conformance suites alone
    Conform {
        /// Run them against Azurite as well
        #[arg(long)]
        azurite: bool,
        /// Run them against Tablerock on a PostgreSQL as well
        #[arg(long)]
        postgres: bool,
        /// Only this suite; may be given several times
        #[arg(long, value_enum)]
        suite: Vec<Suite>,
        /// The table port of the server under test; queues are on the port below, blobs on the one below that
        #[arg(long, default_value_t = Ports::DEVELOPMENT.table)]
        port: u16,
    },
    /// Kills, power cuts, failing disks, clock steps, contention and hostile load against the release binary
    Crash(CrashOptions),
    /// Look for inputs that break what must always hold: requests, filters, bodies, signatures, stored values
    Fuzz(FuzzOptions),
    /// Measure Tablerock beside Azurite, bare hyper and fjall alone, and write docs/benchmarks.md
    ///
    /// All of it takes about half an hour on two cores and 15 GB of disk, and wants a machine with nothing else to do. With
    /// --quick or --only, docs/benchmarks.md stays as it is, and the numbers go to benchmarks.md in target/bench. The
    /// exit code is 1 if a target was missed and no decision explains it.
    Bench(BenchOptions),
    /// Write docs/compatibility.md from the results of the last conformance run
    Docs,
    /// Check the house rules, as `test --only tidy` does
    Tidy {
        /// Record the current numbers of banned words
        #[arg(long)]
        bless: bool,
        /// List all banned words with their replacements
        #[arg(long)]
        words: bool,
    },
}

fn main() -> ExitCode {
    match run(&Options::parse().task) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

/// Whether all went well; an error means that the task could not even be judged.
fn run(task: &Task) -> Result<bool> {
    let workspace = Workspace::find()?;
    match task {
        Task::Test { only, port } => test::run(&workspace, only, *port),
        Task::Conform { azurite, postgres, suite, port } => {
            let others = Others { azurite: *azurite, postgres: *postgres };
            conform::run(&workspace, suite, others, *port)
        }
        Task::Crash(options) => crash::run(&workspace, options),
        Task::Fuzz(options) => fuzz::run(&workspace, options),
        Task::Bench(options) => bench::run(&workspace, options),
        Task::Docs => docs::write(&workspace).map(|()| true),
        Task::Tidy { words: true, .. } => tidy::list_words(&workspace).map(|()| true),
        Task::Tidy { bless: true, .. } => tidy::bless_words(&workspace).map(|()| true),
        Task::Tidy { .. } => test::run(&workspace, &[Part::Tidy], Ports::DEVELOPMENT.table),
    }
}
