//! Reads while a copy is under way: the process takes the place of the store's server, and answers writes with a reason to
//! wait.

use std::sync::Arc;

use tablerock_kv::{Clock, Engine, ReadOnlyEngine, Store};

use super::{Ended, say};
use crate::arguments::CopyArguments;
use crate::road;
use crate::serve::{self, Doors};
use crate::settings::Settings;

const WHY_READ_ONLY: &str = "the data is being copied to another store; reads are served, writes have to wait for that";

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
    copying: impl Future<Output = Result<Ended, String>>,
    doors: Option<Doors>,
    settings: &mut Settings,
    engine: Arc<dyn Engine>,
    clock: Arc<dyn Clock>,
) -> Result<(), String> {
    let Some(doors) = doors else { return copying.await?.into_result() };
    // What a process before this one left unfinished has to be settled while that can be written.
    road::settle(&settings.accounts, &Store::new(engine.clone()), &clock).await?;
    let serving = serve::serve_reads(settings, doors, only(engine), clock);
    let mut outcome = Ok(());
    let served = tokio::select! {
        failed = async {
            match copying.await {
                // Clients have yet to be moved; until then they can read here.
                Ok(ended) => {
                    outcome = ended.into_result();
                    say("reads go on being served here until this is stopped");
                    std::future::pending().await
                }
                Err(failed) => Err(failed),
            }
        } => failed,
        served = serving => served,
    };
    served.and(outcome)
}
