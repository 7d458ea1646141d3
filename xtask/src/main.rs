//! The house work: `cargo xtask test`, `conform` and `docs`.
//!
//! `test` is what CI runs. Everything a suite needs is fetched from the package registries; what cannot run is told
//! as `skipped: why`, and with `CI=true` it is a failure.

mod cancel;
mod checks;
mod child;
mod conform;
mod descendants;
mod docs;
mod environments;
mod judge;
mod known;
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
        /// The table port of the server under test
        #[arg(long, default_value_t = port::DEVELOPMENT)]
        port: u16,
    },
    /// The conformance suites alone
    Conform {
        /// Run them against Azurite as well
        #[arg(long)]
        azurite: bool,
        /// Only this suite; may be given several times
        #[arg(long, value_enum)]
        suite: Vec<Suite>,
        /// The table port of the server under test
        #[arg(long, default_value_t = port::DEVELOPMENT)]
        port: u16,
    },
    /// Write docs/compatibility.md from the results of the last conformance run
    Docs,
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
        Task::Conform { azurite, suite, port } => conform::run(&workspace, suite, *azurite, *port),
        Task::Docs => docs::write(&workspace).map(|()| true),
    }
}
