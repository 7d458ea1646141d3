//! Copies accounts from one store to another, record by record, with everything they hold.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use tablerock_kv::{Error, ErrorKind, Store};
use tablerock_services::transfer::{CopyTerms, Progress, accounts_of, copy_account, forget_copy, needs_start_over};

use super::copy_error::CopyError;
use super::location::store_label;
use super::{Outcome, PROGRESS_INTERVAL, print_status, serve_reads};
use crate::arguments::CopyArguments;
use crate::engine::{OpenMode, OpenedEngine, open_engine};
use crate::settings::Settings;
use crate::store_location::{self, CACHE_BYTES, StoreLocation};

/// Copies accounts between two stores.
pub(super) async fn copy(arguments: &CopyArguments, mut settings: Settings, to: &StoreLocation) -> Result<(), String> {
    // Ports first, as when serving: they fail fast.
    let listeners = serve_reads::listeners(arguments, &settings).await?;
    let source = store_label(&settings.data);
    let OpenedEngine { engine: from_engine, clock, .. } =
        open_engine(&settings.data, CACHE_BYTES, OpenMode::MustExist).await?;
    let to_engine = open_engine(to, CACHE_BYTES, OpenMode::CreateIfMissing).await?.engine;
    let (from, to) = (Store::new(from_engine.clone()), Store::new(to_engine));
    let mut start_over = arguments.start_over;
    let copy = async || {
        let accounts = accounts_in(&from, &arguments.account).await?;
        if start_over {
            forget(&to, &accounts).await?;
            start_over = false;
        }
        copy_accounts(&from, &source, &to, &accounts).await
    };
    let outcome = serve_reads::copy_and_serve(copy, listeners, &mut settings, from_engine, clock).await;
    let closed = [to.close().await, from.close().await];
    outcome?;
    closed.into_iter().collect::<Result<(), _>>().map_err(|error| format!("cannot close a store cleanly: {error}"))
}

/// Returns the accounts to copy: all, or those of `--account`.
async fn accounts_in(from: &Store, wanted: &[String]) -> Result<Vec<String>, CopyError> {
    let present = accounts_of(from).await.map_err(|error| CopyError::of_store(&error))?;
    let accounts = store_location::select_accounts(present, wanted)?;
    match accounts.is_empty() {
        true => Err("the source has no accounts: check --from".to_owned().into()),
        false => Ok(accounts),
    }
}

async fn forget(to: &Store, accounts: &[String]) -> Result<(), CopyError> {
    for account in accounts {
        if forget_copy(to, account).await.map_err(|error| CopyError::of_store(&error))? {
            print_status(&format!("{account}: deleted the data of an earlier copy from the target"));
        }
    }
    Ok(())
}

async fn copy_accounts(from: &Store, source: &str, to: &Store, accounts: &[String]) -> Result<Outcome, CopyError> {
    for account in accounts {
        let started = Instant::now();
        let printed_ms = AtomicU64::new(0);
        let print = |progress: Progress| {
            let now_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
            if now_ms.saturating_sub(printed_ms.load(Ordering::Relaxed)) >= PROGRESS_INTERVAL.as_millis() as u64 {
                printed_ms.store(now_ms, Ordering::Relaxed);
                print_status(&describe(account, progress));
            }
        };
        let done = copy_account(from, to, account, &CopyTerms::from_store(source), &print).await;
        let done = done.map_err(|error| incomplete(account, &error))?;
        print_status(&format!("{}; done in {:.1} s", describe(account, done), started.elapsed().as_secs_f64()));
    }
    Ok(Outcome::Complete)
}

fn incomplete(account: &str, error: &Error) -> CopyError {
    CopyError::of_store(error).map_message(|message| match error.kind() {
        _ if needs_start_over(error) => {
            let remedy = "run it with --start-over, which deletes the partial copy and copies everything again";
            format!("account {account} is not copied: {message}; {remedy}")
        }
        // The message contains the remedy.
        ErrorKind::Invalid => format!("account {account} is not copied: {message}"),
        _ => format!("account {account} is not completely copied: {message}; run the same command again to resume"),
    })
}

fn describe(account: &str, progress: Progress) -> String {
    let Progress { records, bytes, holdings_done, holdings } = progress;
    let mib = bytes as f64 / f64::from(1 << 20);
    format!("{account}: {holdings_done} of {holdings} tables, queues and containers; {records} records, {mib:.1} MiB")
}
