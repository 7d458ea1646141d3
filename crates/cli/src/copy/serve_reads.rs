//! Serves reads while a copy runs. The copying process replaces the server of the source and rejects writes with a
//! retryable error. Clients have no other server, so a failed copy does not stop it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tablerock_kv::{Clock, Engine, ReadOnlyEngine, Store};

use super::copy_error::CopyError;
use super::{Outcome, print_status};
use crate::arguments::CopyArguments;
use crate::serve::{self, Listeners};
use crate::services;
use crate::settings::Settings;

const READ_ONLY_REASON: &str = "the data is being copied to another store; reads are served, writes are rejected";

/// The backoff between attempts of a failed copy: it doubles, up to the maximum.
const BACKOFF_MIN: Duration = Duration::from_secs(1);
const BACKOFF_MAX: Duration = Duration::from_secs(60);

/// Binds the ports for `--serve-reads`.
pub(super) async fn listeners(arguments: &CopyArguments, settings: &Settings) -> Result<Option<Listeners>, String> {
    match arguments.serve_reads {
        true => Listeners::bind(settings).await.map(Some),
        false => Ok(None),
    }
}

/// Returns a read-only store on an engine.
pub(super) fn read_only(engine: Arc<dyn Engine>) -> Store {
    Store::new(Arc::new(ReadOnlyEngine::new(engine, READ_ONLY_REASON)))
}

/// Copies. With listeners it also serves reads, during the copy and until it is stopped.
pub(super) async fn copy_and_serve(
    mut copy: impl AsyncFnMut() -> Result<Outcome, CopyError>,
    listeners: Option<Listeners>,
    settings: &mut Settings,
    engine: Arc<dyn Engine>,
    clock: Arc<dyn Clock>,
) -> Result<(), String> {
    let Some(listeners) = listeners else { return copy().await.map_err(|error| error.message)?.into_result() };
    // Recovery writes, so it comes before the store is read-only.
    services::recover(&settings.accounts, &Store::new(engine.clone()), &clock).await?;
    let serving = serve::serve_reads(settings, listeners, read_only(engine), clock);
    let mut outcome = Err("stopped before the copy was complete: run the same command again to resume".to_owned());
    let served = tokio::select! {
        served = serving => served,
        never = async {
            outcome = copy_with_retries(copy).await;
            if let Err(message) = &outcome {
                print_status(message);
            }
            // Clients still use this server, whether the copy is complete or has to be repaired.
            print_status("still serving reads; stop this process when the clients have moved");
            std::future::pending().await
        } => never,
    };
    served.and(outcome)
}

/// Copies, and retries until the copy is complete or an error is permanent.
async fn copy_with_retries(mut copy: impl AsyncFnMut() -> Result<Outcome, CopyError>) -> Result<(), String> {
    let mut backoff = BACKOFF_MIN;
    loop {
        let started = Instant::now();
        let error = match copy().await {
            Ok(outcome) => return outcome.into_result(),
            Err(error) => error,
        };
        if !error.is_transient {
            return Err(error.message);
        }
        if started.elapsed() > BACKOFF_MAX {
            backoff = BACKOFF_MIN;
        }
        print_status(&format!("{}; retrying in {} s", error.message, backoff.as_secs()));
        tokio::time::sleep(backoff).await;
        backoff = (2 * backoff).min(BACKOFF_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_copy_is_retried_while_errors_are_transient() {
        let begun = tokio::time::Instant::now();
        let error = |is_transient| CopyError { message: "the cable is out".to_owned(), is_transient };
        let mut outcomes = vec![Ok(Outcome::Complete), Err(error(true)), Err(error(true)), Err(error(true))];
        let copied = copy_with_retries(async || outcomes.pop().unwrap()).await;
        assert_eq!((copied, begun.elapsed().as_secs()), (Ok(()), 1 + 2 + 4));

        let mut outcomes = vec![Ok(Outcome::Complete), Err(error(false)), Err(error(true))];
        let copied = copy_with_retries(async || outcomes.pop().unwrap()).await;
        assert_eq!((copied, outcomes.len()), (Err("the cable is out".to_owned()), 1));
    }
}
