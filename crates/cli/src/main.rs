//! `tablerock`: Azure Table Storage that you can own, in one binary.
//!
//! Without arguments it serves. `arguments.rs` says what can be told to it, `settings.rs` where a setting comes
//! from, `serve.rs` what then happens. `copy` and `export.rs` are the other commands.

mod accounts;
mod arguments;
mod banner;
mod copy;
mod export;
mod hint;
mod logging;
mod places;
mod serve;
mod services;
mod settings;

use std::process::ExitCode;

use clap::Parser;

use crate::arguments::{Arguments, Command};
use crate::settings::Settings;

/// A request allocates on one thread what another frees, and groups of them free at once: the system's allocator spends a
/// tenth of a write on that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match &arguments.command {
        Some(Command::Serve(serve)) => Settings::gather(serve).and_then(serve::run),
        Some(Command::Copy(arguments)) => copy::run(arguments),
        Some(Command::Export(arguments)) => export::run(arguments),
        None => Settings::gather(&arguments.serve).and_then(serve::run),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("tablerock: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// Threads for everything that waits.
fn runtime() -> Result<tokio::runtime::Runtime, String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|error| format!("cannot start worker threads: {error}"))
}
