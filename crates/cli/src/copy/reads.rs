//! Reads while a copy is under way: the process takes the place of the store's server, and answers writes with a reason to
//! wait. It is the only one that answers clients, so nothing that befalls the copy ends it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tablerock_kv::{Clock, Engine, ReadOnlyEngine, Store};

use super::failure::Failure;
use super::{Ended, say};
use crate::arguments::CopyArguments;
use crate::serve::{self, Doors};
use crate::services;
use crate::settings::Settings;

const WHY_READ_ONLY: &str = "the data is being copied to another store; reads are served, writes have to wait for that";

/// How long a copy that failed rests before it goes on: twice as long each time, within a bound.
const PAUSE_MIN: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// The ports to answer on, if that was asked for.
pub(super) async fn doors(arguments: &CopyArguments, settings: &Settings) -> Result<Option<Doors>, String> {
    match arguments.serve_reads {
        true => Doors::open(settings).await.map(Some),
        false => Ok(None),
    }
}

/// A store that shows what an engine has and takes nothing.
pub(super) fn only(engine: Arc<dyn Engine>) -> Store {
    Store::new(Arc::new(ReadOnlyEngine::new(engine, WHY_READ_ONLY)))
}

/// Copies, and with doors serves reads meanwhile and until it is stopped.
pub(super) async fn beside(
    mut copying: impl AsyncFnMut() -> Result<Ended, Failure>,
    doors: Option<Doors>,
    settings: &mut Settings,
    engine: Arc<dyn Engine>,
    clock: Arc<dyn Clock>,
) -> Result<(), String> {
    let Some(doors) = doors else { return copying().await.map_err(|failure| failure.why)?.into_result() };
    // What a process before this one left unfinished has to be settled while that can be written.
    services::settle(&settings.accounts, &Store::new(engine.clone()), &clock).await?;
    let serving = serve::serve_reads(settings, doors, only(engine), clock);
    let mut outcome = Err("stopped before all was copied: run the same command again, and it goes on".to_owned());
    let served = tokio::select! {
        served = serving => served,
        never = async {
            outcome = copy_patiently(copying).await;
            if let Err(why) = &outcome {
                say(why);
            }
            // Clients have yet to be moved, or need an answer while somebody sees to the copy.
            say("reads go on being served here until this is stopped");
            std::future::pending().await
        } => never,
    };
    served.and(outcome)
}

/// Copies again and again, until all is copied or something is in the way that does not go by itself.
async fn copy_patiently(mut copying: impl AsyncFnMut() -> Result<Ended, Failure>) -> Result<(), String> {
    let mut pause = PAUSE_MIN;
    loop {
        let started = Instant::now();
        let failure = match copying().await {
            Ok(ended) => return ended.into_result(),
            Err(failure) => failure,
        };
        if !failure.may_pass {
            return Err(failure.why);
        }
        if started.elapsed() > PAUSE_MAX {
            pause = PAUSE_MIN;
        }
        say(&format!("{}; it is tried again in {} s", failure.why, pause.as_secs()));
        tokio::time::sleep(pause).await;
        pause = (2 * pause).min(PAUSE_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_copy_is_tried_again_as_long_as_that_may_help() {
        let begun = tokio::time::Instant::now();
        let failure = |may_pass| Failure { why: "the cable is out".to_owned(), may_pass };
        let mut outcomes = vec![Ok(Ended::Whole), Err(failure(true)), Err(failure(true)), Err(failure(true))];
        let copied = copy_patiently(async || outcomes.pop().unwrap()).await;
        assert_eq!((copied, begun.elapsed().as_secs()), (Ok(()), 1 + 2 + 4));

        let mut outcomes = vec![Ok(Ended::Whole), Err(failure(false)), Err(failure(true))];
        let copied = copy_patiently(async || outcomes.pop().unwrap()).await;
        assert_eq!((copied, outcomes.len()), (Err("the cable is out".to_owned()), 1));
    }
}
