//! `tablerock`: Azure Table Storage that you can own, in one binary.
//!
//! Without arguments it serves. `arguments.rs` says what can be told to it, `settings.rs` where a setting comes
//! from, `serve.rs` what then happens.

mod accounts;
mod arguments;
mod banner;
mod logging;
mod serve;
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
    let serve_arguments = match arguments.command {
        Some(Command::Serve(serve)) => serve,
        None => arguments.serve,
    };
    let served = Settings::gather(&serve_arguments).and_then(serve::run);
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("tablerock: {problem}");
            ExitCode::FAILURE
        }
    }
}
