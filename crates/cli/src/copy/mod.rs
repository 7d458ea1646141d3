//! `tablerock copy`: copies accounts from one location to another. Between two stores it copies records, with everything that
//! they hold. If either end is an endpoint it copies over HTTP, and serves a store at the other end itself.
//!
//! | topic | file |
//! | --- | --- |
//! | from store to store | `stores.rs` |
//! | over HTTP | `wire.rs`, then `tables.rs`, `containers.rs`, `blobs.rs`, `queues.rs` |
//! | the ends of a copy | `location.rs`, `account.rs`, and `store_server.rs` for a store as an endpoint |
//! | resuming | `resume_file.rs`, `counts.rs` |
//! | reads during a copy, and retries | `serve_reads.rs`, `copy_error.rs` |

mod account;
mod blobs;
mod containers;
mod copy_error;
mod counts;
mod families;
mod location;
mod queues;
mod report;
mod resume_file;
mod serve_reads;
mod store_server;
mod stores;
mod tables;
mod wire;

use std::io::Write as _;
use std::time::Duration;

use crate::arguments::CopyArguments;
use crate::program::Program;
use crate::settings::Settings;
use crate::{logging, runtime};

use location::Location;

/// How often the copy prints its progress.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(2);

pub(crate) fn run(arguments: &CopyArguments) -> Result<(), String> {
    let mut settings = Settings::gather(&arguments.serve, Program::Tablerock)?;
    logging::start(&settings)?;
    let (from, to) = (Location::parse_existing(&arguments.from, "--from")?, Location::parse(&arguments.to, "--to")?);
    if let Location::Store(location) = &from {
        settings.data = location.clone();
    }
    runtime()?.block_on(async {
        match (from, to) {
            (Location::Store(_), Location::Store(to)) => stores::copy(arguments, settings, &to).await,
            (from, to) => wire::copy(arguments, settings, from, to).await,
        }
    })
}

/// The result of a copy that ran to its end.
#[derive(Debug)]
enum Outcome {
    /// Everything is copied.
    Complete,
    /// Everything that can be copied is. The text explains the rest.
    Partial(&'static str),
}

impl Outcome {
    fn into_result(self) -> Result<(), String> {
        match self {
            Self::Complete => Ok(()),
            Self::Partial(message) => Err(message.to_owned()),
        }
    }
}

/// Prints a line to stderr. A closed stderr does not stop a copy.
fn print_status(text: &str) {
    let _ = writeln!(std::io::stderr(), "tablerock: {text}");
}
