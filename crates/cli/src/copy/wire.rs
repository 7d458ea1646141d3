//! An account over the wire, from endpoint to endpoint. A store at either end is served for the time of the copy.

use std::io::Write as _;
use std::path::PathBuf;
use std::time::Instant;

use tablerock_kv::Store;
use tablerock_protocol::AccountName;
use tablerock_server::Account;
use tablerock_services::transfer::accounts_of;

use super::account::WireAccount;
use super::end::{End, store_label};
use super::failure::Failure;
use super::ledger::Ledger;
use super::report::{self, Report};
use super::served::Served;
use super::tally::Tally;
use super::{Ended, TELL_TIME, reads, say};
use crate::arguments::CopyArguments;
use crate::places::{self, Opening};
use crate::services;
use crate::settings::{DataPlace, Settings};

/// Copies between two ends of which at least one is an endpoint.
pub(super) async fn copy(arguments: &CopyArguments, mut settings: Settings, from: End, to: End) -> Result<(), String> {
    if arguments.account.len() > 1 {
        return Err("an endpoint has one account: give --account once, and copy one after the other".to_owned());
    }
    let place = match (from, &to) {
        (End::Store(place), _) => place,
        (End::Endpoint(_), _) if arguments.serve_reads => {
            return Err("--serve-reads is for a store: an endpoint answers reads itself".to_owned());
        }
        (End::Endpoint(_), End::Endpoint(_)) if !arguments.account.is_empty() => {
            return Err("--account is for a store: a connection string names its account".to_owned());
        }
        (End::Endpoint(source), _) => {
            let copied = copy_to(arguments, &source, &to, arguments.start_over).await;
            return copied.map_err(|failure| failure.why)?.into_result();
        }
    };
    let doors = reads::doors(arguments, &settings).await?;
    let (engine, clock) = places::open(&place, Opening::Existing).await?;
    let store = Store::new(engine.clone());
    let mut start_over = arguments.start_over;
    let copying = async || {
        let name = account_in(&store, arguments.account.first()).await?;
        let label = format!("{} account {}", store_label(&place), name.as_str());
        // What a process before this one left unfinished has to be settled while that can be written.
        let settled = [Account { name: name.clone(), keys: Vec::new() }];
        services::settle(&settled, &store, &clock).await?;
        let served = Served::start(&reads::only(engine.clone()), clock.clone(), name, label).await?;
        let outcome = copy_to(arguments, &served.account, &to, std::mem::take(&mut start_over)).await;
        served.stop().await;
        outcome
    };
    let outcome = reads::beside(copying, doors, &mut settings, engine.clone(), clock.clone()).await;
    let closed = store.close().await.map_err(|error| format!("the store was not closed cleanly: {error}"));
    outcome.and(closed)
}

/// Copies from an account to an end.
async fn copy_to(arguments: &CopyArguments, from: &WireAccount, to: &End, start_over: bool) -> Result<Ended, Failure> {
    match to {
        End::Endpoint(to) => Transfer::open(arguments, from, to, start_over)?.run().await,
        End::Store(place) => {
            let name = arguments.account.first().or(from.name.as_ref());
            let name =
                name.ok_or_else(|| "--account has to say what the account is called in the new store".to_owned())?;
            let name =
                AccountName::parse(name).ok_or_else(|| format!("{name} is not an account's name: use --account"))?;
            copy_into(arguments, from, place, name, start_over).await
        }
    }
}

async fn copy_into(
    arguments: &CopyArguments,
    from: &WireAccount,
    place: &DataPlace,
    name: AccountName,
    start_over: bool,
) -> Result<Ended, Failure> {
    let (engine, clock) = places::open(place, Opening::MayCreate).await?;
    let store = Store::new(engine);
    let label = format!("{} account {}", store_label(place), name.as_str());
    let served = Served::start(&store, clock, name, label).await?;
    let outcome = match Transfer::open(arguments, from, &served.account, start_over) {
        Ok(transfer) => transfer.run().await,
        Err(error) => Err(Failure::from(error)),
    };
    let server = served.stop().await;
    let closed = services::close_quietly(&server, &store).await;
    outcome.and_then(|ended| Ok(closed.map(|()| ended)?))
}

/// The account to be copied out of a store.
async fn account_in(store: &Store, wanted: Option<&String>) -> Result<AccountName, String> {
    let present = accounts_of(store).await.map_err(|error| error.to_string())?;
    let name = match (wanted, present.as_slice()) {
        (_, []) => return Err("no account has anything there: check --from".to_owned()),
        (Some(wanted), present) if present.contains(wanted) => wanted,
        (None, [only]) => only,
        (_, present) => return Err(format!("say which with --account; there is {}", present.join(", "))),
    };
    AccountName::parse(name).ok_or_else(|| format!("{name} is not an account's name"))
}

/// A copy under way.
pub(super) struct Transfer<'a> {
    pub(super) from: &'a WireAccount,
    pub(super) to: &'a WireAccount,
    pub(super) ledger: Ledger,
    pub(super) report: Report,
    /// Both ends have the key that stored access policies take.
    pub(super) with_policies: bool,
    told: Instant,
}

impl<'a> Transfer<'a> {
    fn open(
        arguments: &CopyArguments,
        from: &'a WireAccount,
        to: &'a WireAccount,
        start_over: bool,
    ) -> Result<Self, String> {
        if from.label == to.label {
            return Err("--from and --to are the same account".to_owned());
        }
        let path = arguments.resume_file.clone().unwrap_or_else(|| default_path(from, to));
        if start_over {
            Ledger::forget(&path)?;
        }
        let ledger = Ledger::open(&path, &from.label, &to.label)?;
        let with_policies = from.has_key && to.has_key;
        let mut report = Report::default();
        if !with_policies {
            report
                .note("stored access policies and public access: they take the account's key at both ends".to_owned());
        }
        Ok(Self { from, to, ledger, report, with_policies, told: Instant::now() })
    }

    async fn run(mut self) -> Result<Ended, Failure> {
        self.copy_queues().await;
        self.copy_containers().await;
        self.copy_tables().await;
        let (text, is_whole) = self.report.render(&self.from.label, &self.to.label, &self.ledger);
        // Nobody has to read it.
        let _ = writeln!(std::io::stdout(), "{text}");
        if self.report.has_failures() {
            let why = "not all is copied: run the same command again, and it goes on from where it was".to_owned();
            return Err(Failure { why, may_pass: self.report.may_pass() });
        }
        self.ledger.remove()?;
        Ok(match is_whole {
            true => Ended::Whole,
            false => Ended::WithRest("what can be copied is; the rest is named above, and stays where it is"),
        })
    }

    /// Says how far it is, if it has not been said for a while.
    pub(super) fn tell(&mut self) {
        self.tell_beside(&Tally::default());
    }

    /// The same with what of a page under way has arrived.
    pub(super) fn tell_beside(&mut self, under_way: &Tally) {
        if self.told.elapsed() < TELL_TIME {
            return;
        }
        self.told = Instant::now();
        let under_way = match under_way {
            Tally { blobs: 0, bytes: 0, .. } => String::new(),
            Tally { blobs, .. } => format!("; a container with {blobs} blobs so far, {:.1} MiB", under_way.mib()),
        };
        say(&format!("{}{under_way}", report::copied(&self.ledger)));
    }
}

/// A file in the current directory whose name comes from both ends.
fn default_path(from: &WireAccount, to: &WireAccount) -> PathBuf {
    let labels = format!("{}\n{}", from.label, to.label);
    // FNV-1a: the same in every version, and there is nobody to guard against.
    let hash = labels
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    let [from, to] = [from, to].map(|account| account.name.as_deref().unwrap_or("account"));
    PathBuf::from(format!("tablerock-copy-{from}-{to}-{hash:016x}.progress"))
}
