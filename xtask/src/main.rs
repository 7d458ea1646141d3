//! The tasks of the repository: `cargo xtask test`, `conform`, `crash`, `fuzz`, `bench`, `semver`, `docs`, `image`,
//! `packages` and `release`.
//!
//! CI runs `test`. The suites fetch what they need from the package registries. A suite that cannot run is reported as
//! `skipped: reason`; with `CI=true` it fails.

mod archive;
mod bench;
mod checks;
mod conform;
mod crash;
mod deny;
mod docs;
mod fuzz;
mod minimum_rust;
mod package;
mod process;
mod semver;
mod server;
mod setup;
mod snippets;
mod suite;
mod summary;
mod test;
mod tidy;
mod workspace;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::bench::BenchOptions;
use crate::conform::Others;
use crate::crash::CrashOptions;
use crate::fuzz::FuzzOptions;
use crate::package::check::Source;
use crate::package::release::ReleaseOptions;
use crate::semver::SemverOptions;
use crate::server::ports::Ports;
use crate::suite::Suite;
use crate::test::Part;
use crate::workspace::Workspace;

type Result<T> = std::result::Result<T, String>;

#[derive(Parser)]
#[command(
    name = "cargo xtask",
    about = "The tasks of this repository: tests, conformance, crashes, fuzzing, benchmarks, documents"
)]
struct Options {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Run every check of CI, from formatting to the official SDKs
    Test {
        /// Run only this part; repeatable
        #[arg(long, value_enum)]
        only: Vec<Part>,
        /// Table port of the server under test; queues use the port below it, blobs the next one below
        #[arg(long, default_value_t = Ports::DEVELOPMENT.table)]
        port: u16,
    },
    /// Run only the conformance suites
    Conform {
        /// Also run them against Azurite
        #[arg(long)]
        azurite: bool,
        /// Also run them against Tablerock on PostgreSQL
        #[arg(long)]
        postgres: bool,
        /// Run the engine suite and the conformance suites on this database, which is already there, and nowhere else
        ///
        /// The role must be able to create schemas. Schemas of earlier runs are dropped.
        #[arg(long, value_name = "URL", conflicts_with_all = ["azurite", "postgres"])]
        store: Option<String>,
        /// Run this server on the database instead of building one
        #[arg(long, value_name = "PATH", requires = "store")]
        binary: Option<PathBuf>,
        /// Run only this suite; repeatable
        #[arg(long, value_enum)]
        suite: Vec<Suite>,
        /// Table port of the server under test; queues use the port below it, blobs the next one below
        #[arg(long, default_value_t = Ports::DEVELOPMENT.table)]
        port: u16,
    },
    /// Test the release binary with kills, power cuts, failing disks, clock steps, contention and hostile load
    Crash(CrashOptions),
    /// Fuzz requests, filters, bodies, signatures and stored values
    Fuzz(FuzzOptions),
    /// Measure Tablerock next to Azurite, bare hyper and bare fjall, and write docs/benchmarks.md
    ///
    /// A full run takes about half an hour on two idle cores and 15 GB of disk. With --quick or --only, the numbers go to
    /// target/bench/benchmarks.md and docs/benchmarks.md stays unchanged. The exit code is 1 if a target is missed and no
    /// decision explains it.
    Bench(BenchOptions),
    /// Compare the public API of the published libraries with that of the last release
    ///
    /// The exit code is 1 if a change needs another version number. Without a tag there is nothing to compare.
    Semver(SemverOptions),
    /// Write the pictures of docs/benchmarks.md, and docs/compatibility.md from the results of the last conformance run
    Docs,
    /// Make the container image, without a container engine
    ///
    /// target/packages gets an OCI layout and a tar for `docker load`.
    Image {
        /// The binary to put into it, instead of building one
        #[arg(long)]
        binary: Option<PathBuf>,
    },
    /// Make packages and use each as its users do, as `test --only packages` does
    Packages {
        /// Only these, such as image, deb, python or npm
        only: Vec<String>,
        /// The binary to put into them, instead of building one
        #[arg(long)]
        binary: Option<PathBuf>,
        /// Make nothing, and use the packages and the binary of this release
        #[arg(long, value_name = "FOLDER", conflicts_with = "binary")]
        dist: Option<PathBuf>,
    },
    /// Make everything of a version into dist/: binary, packages, image, crates, bill of materials, checksums
    Release(ReleaseOptions),
    /// Check the published crates with the lowest version of Rust that they support
    MinimumRust,
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

/// Returns whether the task succeeded; an error means that it could not run.
fn run(task: &Task) -> Result<bool> {
    let mut workspace = Workspace::find()?;
    match task {
        Task::Test { only, port } => test::run(&workspace, only, *port),
        Task::Conform { store: Some(store), binary, suite, port, .. } => {
            workspace.store = Some(store.clone());
            workspace.server = binary.clone();
            conform::run_on_store(&workspace, suite, *port)
        }
        Task::Conform { azurite, postgres, suite, port, .. } => {
            let others = Others { azurite: *azurite, postgres: *postgres };
            conform::run(&workspace, suite, others, *port)
        }
        Task::Crash(options) => crash::run(&workspace, options),
        Task::Fuzz(options) => fuzz::run(&workspace, options),
        Task::Bench(options) => bench::run(&workspace, options),
        Task::Semver(options) => semver::run(&workspace, options),
        Task::Docs => docs::write(&workspace).map(|()| true),
        Task::Image { binary } => package::image::run(&workspace, binary.as_deref()).map(|()| true),
        Task::Packages { only, binary, dist } => {
            let source = Source { binary: binary.as_deref(), dist: dist.as_deref() };
            package::check::run_alone(&workspace, only, source)
        }
        Task::Release(options) => package::release::run(&workspace, options).map(|()| true),
        Task::MinimumRust => minimum_rust::run(&workspace),
        Task::Tidy { words: true, .. } => tidy::list_words(&workspace).map(|()| true),
        Task::Tidy { bless: true, .. } => tidy::bless_words(&workspace).map(|()| true),
        Task::Tidy { .. } => test::run(&workspace, &[Part::Tidy], Ports::DEVELOPMENT.table),
    }
}
