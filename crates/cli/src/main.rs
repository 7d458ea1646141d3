//! `tablerock`: Azure Table, Queue and Blob Storage in one binary.
//!
//! Without arguments it serves. `arguments.rs` defines the command line, `settings.rs` merges it with the environment
//! and the settings file, `serve.rs` runs the server. `copy`, `export.rs`, `balance` and `health.rs` are the
//! other commands.

mod account_source;
mod accounts;
mod admin;
mod admin_file;
mod arguments;
mod azurite_arguments;
mod azurite_lines;
mod balance;
mod banner;
mod copy;
mod descriptors;
mod engine;
mod export;
mod exposure;
mod health;
mod hint;
mod logging;
mod notify;
mod ports;
mod private_file;
mod program;
mod reload;
mod serve;
mod services;
mod settings;
mod settings_file;
mod signals;
mod store_location;

use std::process::ExitCode;

use crate::arguments::{Arguments, Command};
use crate::program::Program;
use crate::settings::Settings;

/// One thread frees what another allocated, often many requests at once. The system's allocator spends a tenth of a
/// write on that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let program = Program::current();
    let arguments = Arguments::parse_as(program);
    let result = match &arguments.command {
        Some(Command::Serve(serve)) => Settings::gather(serve, program).and_then(serve::run),
        Some(Command::Copy(arguments)) => copy::run(arguments),
        Some(Command::Export(arguments)) => export::run(arguments),
        Some(Command::Balance(arguments)) => balance::run(arguments),
        Some(Command::Health(arguments)) => health::run(arguments),
        None => Settings::gather(&arguments.serve, program).and_then(serve::run),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", program.name());
            ExitCode::FAILURE
        }
    }
}

/// Threads that read and write files of large contents. Each keeps some memory of the allocator for itself, so the default
/// of 512 would be hundreds of megabytes.
const BLOCKING_THREADS_MAX: usize = 48;

fn runtime() -> Result<tokio::runtime::Runtime, String> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().max_blocking_threads(BLOCKING_THREADS_MAX).build();
    runtime.map_err(|error| format!("cannot start worker threads: {error}"))
}
