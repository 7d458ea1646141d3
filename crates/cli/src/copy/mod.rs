//! `tablerock copy`: an account from one place to another. Between two stores records are copied, with all that they have.
//! Where an end is an endpoint, everything goes over the wire, and a store at the other end is served for that time.
//!
//! | to follow | read |
//! | --- | --- |
//! | from store to store | `stores.rs` |
//! | over the wire | `wire.rs`, then `tables.rs`, `containers.rs`, `blobs.rs`, `queues.rs` |
//! | what an end is | `end.rs`, `account.rs`, and `served.rs` for a store as an endpoint |
//! | going on after an interruption | `ledger.rs`, `tally.rs` |
//! | reads meanwhile, and trying again | `reads.rs`, `failure.rs` |

mod account;
mod blobs;
mod containers;
mod end;
mod failure;
mod ledger;
mod queues;
mod reads;
mod report;
mod served;
mod stores;
mod tables;
mod tally;
mod wire;

use std::io::Write as _;
use std::time::Duration;

use crate::arguments::CopyArguments;
use crate::settings::Settings;
use crate::{logging, runtime};

use end::End;

/// How often it is told how far the copy is.
const TELL_TIME: Duration = Duration::from_secs(2);

pub(crate) fn run(arguments: &CopyArguments) -> Result<(), String> {
    let mut settings = Settings::gather(&arguments.serve)?;
    logging::start(&settings)?;
    let (from, to) = (End::parse_existing(&arguments.from, "--from")?, End::parse(&arguments.to, "--to")?);
    if let End::Store(place) = &from {
        settings.data = place.clone();
    }
    runtime()?.block_on(async {
        match (from, to) {
            (End::Store(_), End::Store(to)) => stores::copy(arguments, settings, &to).await,
            (from, to) => wire::copy(arguments, settings, from, to).await,
        }
    })
}

/// A copy that has come to its end.
#[derive(Debug)]
enum Ended {
    /// Everything has arrived.
    Whole,
    /// All that can be copied has, and this is said of the rest.
    WithRest(&'static str),
}

impl Ended {
    fn into_result(self) -> Result<(), String> {
        match self {
            Self::Whole => Ok(()),
            Self::WithRest(said) => Err(said.to_owned()),
        }
    }
}

/// Progress is for whoever watches; nobody has to.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "tablerock: {text}");
}
