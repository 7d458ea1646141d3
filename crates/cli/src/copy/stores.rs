//! Accounts from one store to another, record by record, with all that they have.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use tablerock_kv::Store;
use tablerock_services::transfer::{Progress, accounts_of, copy_account};

use super::{Ended, TELL_TIME, reads, say};
use crate::arguments::CopyArguments;
use crate::places;
use crate::settings::{DataPlace, Settings};

/// Copies accounts from a store to another.
pub(super) async fn copy(arguments: &CopyArguments, mut settings: Settings, to: &DataPlace) -> Result<(), String> {
    // Ports first, as when serving: they fail fast.
    let doors = reads::doors(arguments, &settings).await?;
    let (from_engine, clock) = places::open(&settings.data).await?;
    let (to_engine, _) = places::open(to).await?;
    let (from, to) = (Store::new(from_engine.clone()), Store::new(to_engine));
    let copying = copy_accounts(&from, &to, &arguments.account);
    let outcome = reads::beside(copying, doors, &mut settings, from_engine, clock).await;
    let closed = [to.close().await, from.close().await];
    outcome?;
    closed.into_iter().collect::<Result<(), _>>().map_err(|error| format!("a store was not closed cleanly: {error}"))
}

async fn copy_accounts(from: &Store, to: &Store, wanted: &[String]) -> Result<Ended, String> {
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
    Ok(Ended::Whole)
}

fn describe(account: &str, progress: Progress) -> String {
    let Progress { records, bytes, holdings_done, holdings } = progress;
    let mib = bytes as f64 / f64::from(1 << 20);
    format!("{account}: {holdings_done} of {holdings} tables, queues and containers; {records} records, {mib:.1} MiB")
}
