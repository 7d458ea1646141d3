//! Accounts from one store to another, record by record, with all that they have.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use tablerock_kv::{Error, ErrorKind, Store};
use tablerock_services::transfer::{CopyTerms, Progress, accounts_of, copy_account, forget_copy, needs_start_over};

use super::end::store_label;
use super::failure::Failure;
use super::{Ended, TELL_TIME, reads, say};
use crate::arguments::CopyArguments;
use crate::places::{self, Opening};
use crate::settings::{DataPlace, Settings};

/// Copies accounts from a store to another.
pub(super) async fn copy(arguments: &CopyArguments, mut settings: Settings, to: &DataPlace) -> Result<(), String> {
    // Ports first, as when serving: they fail fast.
    let doors = reads::doors(arguments, &settings).await?;
    let source = store_label(&settings.data);
    let (from_engine, clock) = places::open(&settings.data, Opening::Existing).await?;
    let (to_engine, _) = places::open(to, Opening::MayCreate).await?;
    let (from, to) = (Store::new(from_engine.clone()), Store::new(to_engine));
    let mut start_over = arguments.start_over;
    let copying = async || {
        let accounts = accounts_in(&from, &arguments.account).await?;
        if start_over {
            forget(&to, &accounts).await?;
            start_over = false;
        }
        copy_accounts(&from, &source, &to, &accounts).await
    };
    let outcome = reads::beside(copying, doors, &mut settings, from_engine, clock).await;
    let closed = [to.close().await, from.close().await];
    outcome?;
    closed.into_iter().collect::<Result<(), _>>().map_err(|error| format!("a store was not closed cleanly: {error}"))
}

/// The accounts that are wanted: all that there are, or some of them.
async fn accounts_in(from: &Store, wanted: &[String]) -> Result<Vec<String>, Failure> {
    let present = accounts_of(from).await.map_err(|error| Failure::of_store(&error))?;
    let accounts = places::chosen(present, wanted)?;
    match accounts.is_empty() {
        true => Err("no account has anything there: check --from".to_owned().into()),
        false => Ok(accounts),
    }
}

async fn forget(to: &Store, accounts: &[String]) -> Result<(), Failure> {
    for account in accounts {
        if forget_copy(to, account).await.map_err(|error| Failure::of_store(&error))? {
            say(&format!("{account}: what an earlier copy had brought there is given back"));
        }
    }
    Ok(())
}

async fn copy_accounts(from: &Store, source: &str, to: &Store, accounts: &[String]) -> Result<Ended, Failure> {
    for account in accounts {
        let started = Instant::now();
        let told_ms = AtomicU64::new(0);
        let tell = |progress: Progress| {
            let now_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
            if now_ms.saturating_sub(told_ms.load(Ordering::Relaxed)) >= TELL_TIME.as_millis() as u64 {
                told_ms.store(now_ms, Ordering::Relaxed);
                say(&describe(account, progress));
            }
        };
        let done = copy_account(from, to, account, &CopyTerms::from_store(source), &tell).await;
        let done = done.map_err(|error| unfinished(account, &error))?;
        say(&format!("{}; done in {:.1} s", describe(account, done), started.elapsed().as_secs_f64()));
    }
    Ok(Ended::Whole)
}

fn unfinished(account: &str, error: &Error) -> Failure {
    Failure::of_store(error).said(|why| match error.kind() {
        _ if needs_start_over(error) => {
            let remedy = "copy with --start-over, which deletes what has arrived and copies everything again";
            format!("{account} is not copied: {why}; {remedy}")
        }
        // The message names the remedy.
        ErrorKind::Invalid => format!("{account} is not copied: {why}"),
        _ => {
            format!("{account} is not copied yet: {why}; run the same command again, and it goes on from where it was")
        }
    })
}

fn describe(account: &str, progress: Progress) -> String {
    let Progress { records, bytes, holdings_done, holdings } = progress;
    let mib = bytes as f64 / f64::from(1 << 20);
    format!("{account}: {holdings_done} of {holdings} tables, queues and containers; {records} records, {mib:.1} MiB")
}
