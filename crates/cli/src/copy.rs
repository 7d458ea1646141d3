//! `tablerock copy`: accounts from one store to another, with reads served from the old one meanwhile.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tablerock_kv::{ReadOnlyEngine, Store};
use tablerock_services::transfer::{Progress, accounts_of, copy_account};

use crate::arguments::CopyArguments;
use crate::places;
use crate::serve::{self, Doors};
use crate::settings::Settings;
use crate::{logging, runtime};

const WHY_READ_ONLY: &str = "the data is being copied to another store; reads are served, writes have to wait for that";
/// How often it is told how far the copy is.
const TELL_TIME: Duration = Duration::from_secs(2);

pub(crate) fn run(arguments: &CopyArguments) -> Result<(), String> {
    let mut settings = Settings::gather(&arguments.serve)?;
    logging::start(&settings)?;
    settings.data = places::parse_existing(&arguments.from, "--from")?;
    runtime()?.block_on(copy(arguments, settings))
}

async fn copy(arguments: &CopyArguments, mut settings: Settings) -> Result<(), String> {
    // Ports first, as when serving: they fail fast.
    let doors = match arguments.serve_reads {
        true => Some(Doors::open(&settings).await?),
        false => None,
    };
    let target = places::parse(&arguments.to, "--to")?;
    let (from_engine, clock) = places::open(&settings.data).await?;
    let (to_engine, _) = places::open(&target).await?;
    let (from, to) = (Store::new(from_engine.clone()), Store::new(to_engine));
    let copying = copy_accounts(&from, &to, &arguments.account);
    let outcome = match doors {
        None => copying.await,
        Some(doors) => {
            // What a process before this one left unfinished has to be settled while that can be written.
            serve::settle(&settings, &from, &clock).await?;
            let readable = Store::new(Arc::new(ReadOnlyEngine::new(from_engine, WHY_READ_ONLY)));
            let serving = serve::serve_reads(&mut settings, doors, readable, clock);
            tokio::select! {
                outcome = async {
                    match copying.await {
                        // Clients have yet to be moved; until then they can read here.
                        Ok(()) => {
                            say("reads go on being served here until this is stopped");
                            std::future::pending().await
                        }
                        failed => failed,
                    }
                } => outcome,
                served = serving => served,
            }
        }
    };
    let closed = [to.close().await, from.close().await];
    outcome?;
    closed.into_iter().collect::<Result<(), _>>().map_err(|error| format!("a store was not closed cleanly: {error}"))
}

async fn copy_accounts(from: &Store, to: &Store, wanted: &[String]) -> Result<(), String> {
    let present = accounts_of(from).await.map_err(|error| error.to_string())?;
    if let Some(unknown) = wanted.iter().find(|account| !present.contains(account)) {
        let named = if present.is_empty() { "no account".to_owned() } else { present.join(", ") };
        return Err(format!("the account {unknown} has nothing there; there is {named}"));
    }
    let accounts = if wanted.is_empty() { present } else { wanted.to_vec() };
    if accounts.is_empty() {
        return Err("no account has anything there: check --from".to_owned());
    }
    for account in &accounts {
        let started = Instant::now();
        let told_ms = AtomicU64::new(0);
        let tell = |progress: Progress| {
            let now_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
            if now_ms.saturating_sub(told_ms.load(Ordering::Relaxed)) >= TELL_TIME.as_millis() as u64 {
                told_ms.store(now_ms, Ordering::Relaxed);
                say(&describe(account, progress));
            }
        };
        let done = copy_account(from, to, account, &tell).await;
        let done = done.map_err(|error| {
            format!(
                "{account} is not copied yet: {error}; run the same command again, and it goes on from where it was"
            )
        })?;
        say(&format!("{}; done in {:.1} s", describe(account, done), started.elapsed().as_secs_f64()));
    }
    Ok(())
}

fn describe(account: &str, progress: Progress) -> String {
    let Progress { records, bytes, holdings_done, holdings } = progress;
    let mib = bytes as f64 / f64::from(1 << 20);
    format!("{account}: {holdings_done} of {holdings} tables, queues and containers; {records} records, {mib:.1} MiB")
}

/// Progress is for whoever watches; nobody has to.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "tablerock: {text}");
}
