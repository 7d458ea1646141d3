//! Copies an account over HTTP, from endpoint to endpoint. A store at either end is served during the copy.

use std::io::Write as _;
use std::path::PathBuf;
use std::time::Instant;

use tablerock_kv::Store;
use tablerock_protocol::AccountName;
use tablerock_server::Account;
use tablerock_services::transfer::accounts_of;

use super::account::WireAccount;
use super::copy_error::CopyError;
use super::counts::Counts;
use super::location::{Location, store_label};
use super::report::{self, Report};
use super::resume_file::ResumeFile;
use super::store_server::StoreServer;
use super::{Outcome, PROGRESS_INTERVAL, print_status, serve_reads};
use crate::arguments::CopyArguments;
use crate::engine::{OpenMode, OpenedEngine, open_engine};
use crate::services;
use crate::settings::Settings;
use crate::store_location::{CACHE_BYTES, StoreLocation};

/// Copies between two locations of which at least one is an endpoint.
pub(super) async fn copy(
    arguments: &CopyArguments,
    mut settings: Settings,
    from: Location,
    to: Location,
) -> Result<(), String> {
    if arguments.account.len() > 1 {
        return Err("an endpoint has one account: use --account once, and run one copy for each account".to_owned());
    }
    let location = match (from, &to) {
        (Location::Store(location), _) => location,
        (Location::Account(_), _) if arguments.serve_reads => {
            return Err("--serve-reads is for a store: an endpoint serves reads itself".to_owned());
        }
        (Location::Account(_), Location::Account(_)) if !arguments.account.is_empty() => {
            return Err("--account is for a store: a connection string names its account".to_owned());
        }
        (Location::Account(source), _) => {
            let copied = copy_to(arguments, &source, &to, arguments.start_over).await;
            return copied.map_err(|error| error.message)?.into_result();
        }
    };
    let listeners = serve_reads::listeners(arguments, &settings).await?;
    let OpenedEngine { engine, clock, .. } = open_engine(&location, CACHE_BYTES, OpenMode::MustExist).await?;
    let store = Store::new(engine.clone());
    let mut start_over = arguments.start_over;
    let copy = async || {
        let name = account_in(&store, arguments.account.first()).await?;
        let label = format!("{} account {}", store_label(&location), name.as_str());
        // Recovery writes, so it comes before the store is read-only.
        let accounts = [Account { name: name.clone(), keys: Vec::new() }];
        services::recover(&accounts, &store, &clock).await?;
        let read_only = serve_reads::read_only(engine.clone());
        let store_server = StoreServer::start(&read_only, clock.clone(), name, label).await?;
        let outcome = copy_to(arguments, &store_server.account, &to, std::mem::take(&mut start_over)).await;
        store_server.stop().await;
        outcome
    };
    let outcome = serve_reads::copy_and_serve(copy, listeners, &mut settings, engine.clone(), clock.clone()).await;
    let closed = store.close().await.map_err(|error| format!("cannot close the store cleanly: {error}"));
    outcome.and(closed)
}

/// Copies from an account to a location.
async fn copy_to(
    arguments: &CopyArguments,
    from: &WireAccount,
    to: &Location,
    start_over: bool,
) -> Result<Outcome, CopyError> {
    match to {
        Location::Account(to) => Transfer::open(arguments, from, to, start_over)?.run().await,
        Location::Store(location) => {
            let name = arguments.account.first().or(from.name.as_ref());
            let name =
                name.ok_or_else(|| "--account is required: it names the account in the target store".to_owned())?;
            let name =
                AccountName::parse(name).ok_or_else(|| format!("{name} is not an account name: set --account"))?;
            copy_into(arguments, from, location, name, start_over).await
        }
    }
}

async fn copy_into(
    arguments: &CopyArguments,
    from: &WireAccount,
    location: &StoreLocation,
    name: AccountName,
    start_over: bool,
) -> Result<Outcome, CopyError> {
    let OpenedEngine { engine, clock, .. } = open_engine(location, CACHE_BYTES, OpenMode::CreateIfMissing).await?;
    let store = Store::new(engine);
    let label = format!("{} account {}", store_label(location), name.as_str());
    let store_server = StoreServer::start(&store, clock, name, label).await?;
    let outcome = match Transfer::open(arguments, from, &store_server.account, start_over) {
        Ok(transfer) => transfer.run().await,
        Err(error) => Err(CopyError::from(error)),
    };
    let server = store_server.stop().await;
    let closed = services::close_without_analytics(&server, &store).await;
    outcome.and_then(|outcome| Ok(closed.map(|()| outcome)?))
}

/// Returns the account to copy from a store.
async fn account_in(store: &Store, wanted: Option<&String>) -> Result<AccountName, String> {
    let present = accounts_of(store).await.map_err(|error| error.to_string())?;
    let name = match (wanted, present.as_slice()) {
        (_, []) => return Err("the source has no accounts: check --from".to_owned()),
        (Some(wanted), present) if present.contains(wanted) => wanted,
        (None, [only]) => only,
        (_, present) => {
            return Err(format!("choose an account with --account; present: {}", present.join(", ")));
        }
    };
    AccountName::parse(name).ok_or_else(|| format!("{name} is not an account name"))
}

/// A copy in progress.
pub(super) struct Transfer<'a> {
    pub(super) from: &'a WireAccount,
    pub(super) to: &'a WireAccount,
    pub(super) resume_file: ResumeFile,
    pub(super) report: Report,
    /// Both ends have the account's key, which stored access policies and tags require.
    pub(super) with_policies: bool,
    printed_at: Instant,
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
            ResumeFile::forget(&path)?;
        }
        let resume_file = ResumeFile::open(&path, &from.label, &to.label)?;
        let with_policies = from.has_key && to.has_key;
        let mut report = Report::default();
        if !with_policies {
            report.note(
                "stored access policies, public access and tags of blobs: they require the account's key at both ends"
                    .to_owned(),
            );
        }
        Ok(Self { from, to, resume_file, report, with_policies, printed_at: Instant::now() })
    }

    async fn run(mut self) -> Result<Outcome, CopyError> {
        self.copy_queues().await;
        self.copy_containers().await;
        self.copy_tables().await;
        let (text, is_whole) = self.report.render(&self.from.label, &self.to.label, &self.resume_file);
        // A closed stdout does not fail the copy.
        let _ = writeln!(std::io::stdout(), "{text}");
        if self.report.has_errors() {
            let message = "the copy is incomplete: run the same command again to resume".to_owned();
            return Err(CopyError { message, is_transient: self.report.is_transient() });
        }
        self.resume_file.remove()?;
        Ok(match is_whole {
            true => Outcome::Complete,
            false => Outcome::Partial("copied everything that can be copied; the report above lists the rest"),
        })
    }

    /// Prints the progress, at most every two seconds.
    pub(super) fn print_progress(&mut self) {
        self.print_progress_with(&Counts::default());
    }

    /// Prints the progress with the counts of a container in progress.
    pub(super) fn print_progress_with(&mut self, in_progress: &Counts) {
        if self.printed_at.elapsed() < PROGRESS_INTERVAL {
            return;
        }
        self.printed_at = Instant::now();
        let in_progress = match in_progress {
            Counts { blobs: 0, bytes: 0, .. } => String::new(),
            Counts { blobs, .. } => format!("; a container with {blobs} blobs so far, {:.1} MiB", in_progress.mib()),
        };
        print_status(&format!("{}{in_progress}", report::copied(&self.resume_file)));
    }
}

/// Returns a file in the current directory, named after both ends.
fn default_path(from: &WireAccount, to: &WireAccount) -> PathBuf {
    let labels = format!("{}\n{}", from.label, to.label);
    // FNV-1a: the same in every version; the hash needs no protection against attacks.
    let hash = labels
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    let [from, to] = [from, to].map(|account| account.name.as_deref().unwrap_or("account"));
    PathBuf::from(format!("tablerock-copy-{from}-{to}-{hash:016x}.progress"))
}
