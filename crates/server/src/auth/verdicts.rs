//! Every operation, by every kind of caller, alone, in a batch and as the source of a copy: the verdicts are equal, and
//! they are those of `verdicts.txt`, the matrix of access. `BLESS=1` rewrites that file; a change of it is a change
//! of access.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, HeaderValue, header};
use tablerock_kv::{Clock, Rng, Store, SystemClock};
use tablerock_protocol::signing::{
    AccountKey, AccountPermissions, AccountSasTerms, BlobPermissions, BlobSasTerms, QueuePermissions, QueueSasTerms,
    SignedResourceTypes, SignedServices, TablePermissions, TableSasTerms,
};
use tablerock_protocol::{
    AccountName, BlobName, ContainerName, DateTime, ErrorCode, Metadata, QueryString, QueueName, Service, TableName,
};
use tablerock_services::blob::PublicAccess;
use tablerock_services::{AccountService, Analytics, BlobService, QueueService, TableService, ThrottleTargets};

use super::*;
use crate::http::endpoint::Endpoint;
use crate::request_context::{Peer, RequestContext};
use crate::{Account, MemoryBudget, Metrics, Operation, ServedAccounts, Server};

const ACCOUNT: &str = "acct";
const KEY: &[u8] = b"the key of the account that these tests are about";
const MATRIX: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/auth/verdicts.txt");

impl Request for Operation {
    fn operation(&self) -> Operation {
        *self
    }
}

async fn server() -> Server {
    let (store, clock): (Store, Arc<dyn Clock>) = (Store::in_memory(), Arc::new(SystemClock));
    let tables = TableService::open(store.clone(), clock.clone(), ThrottleTargets::default()).await.unwrap();
    let queues = QueueService::open(store.clone(), clock.clone(), Rng::seeded(2)).await.unwrap();
    let blobs = BlobService::open(store.clone(), clock.clone(), Rng::seeded(3)).await.unwrap();
    let settings = AccountService::new(store);
    let analytics = Analytics::open(&settings, &blobs, clock.clone(), [ACCOUNT], Operation::names_of).await.unwrap();
    tables.create_table(ACCOUNT, &TableName::parse("People").unwrap()).await.unwrap();
    blobs.create_container(ACCOUNT, "photos", &Metadata::default(), PublicAccess::Container).await.unwrap();
    let account = |name| Account { name: AccountName::parse(name).unwrap(), keys: vec![AccountKey::from_bytes(KEY)] };
    Server {
        accounts: ServedAccounts::new([account(ACCOUNT), account("other")]),
        tables,
        queues,
        blobs,
        settings,
        analytics,
        clock,
        rng: Rng::seeded(1),
        metrics: Metrics::new(),
        memory: MemoryBudget::default(),
        accept_tokens: true,
        host_style: false,
        is_loose: false,
    }
}

/// Credentials as they are on the wire, by the name that the matrix has for them: a kind, and the letters of a SAS.
struct Shown {
    kind: &'static str,
    letters: String,
    query: String,
    headers: HeaderMap,
}

fn shown(kind: &'static str, letters: &str, query: String) -> Shown {
    Shown { kind, letters: letters.to_owned(), query, headers: HeaderMap::new() }
}

/// A caller of each kind, and one for each permission of each kind of SAS, and one for all of them.
fn callers(service: Service, now: DateTime) -> Vec<Shown> {
    let forged = "sv=2020-12-06&ss=btq&srt=sco&sp=rwdlacup&se=2099-01-01T00:00:00Z&sig=AAAA";
    let mut callers = vec![shown("anonymous", "", String::new()), shown("forged", "", forged.to_owned())];
    let claims = URL_SAFE_NO_PAD.encode("{\"aud\":\"https://storage.azure.com\",\"exp\":9999999999}");
    let mut token = shown("token", "", String::new());
    let bearer = HeaderValue::try_from(format!("Bearer e30.{claims}.signature")).unwrap();
    token.headers.insert(header::AUTHORIZATION, bearer);
    callers.push(token);

    let expiry = DateTime::from_ticks(now.ticks() + 36_000_000_000);
    let each = |letters: &'static str| letters.char_indices().map(|(at, one)| &letters[at..at + one.len_utf8()]);
    for types in each(SignedResourceTypes::LETTERS) {
        for letters in each(AccountPermissions::LETTERS).chain([AccountPermissions::LETTERS]) {
            let terms = AccountSasTerms::new(
                SignedServices::parse("btq").unwrap(),
                SignedResourceTypes::parse(types).unwrap(),
                AccountPermissions::parse(letters).unwrap(),
                expiry,
            );
            let query = terms.sign(ACCOUNT, &key()).unwrap().to_query();
            callers.push(shown("account", &format!("{types}:{}", letters_or_all(letters)), query));
        }
    }
    let letters = match service {
        Service::Table => TablePermissions::LETTERS,
        Service::Queue => QueuePermissions::LETTERS,
        Service::Blob => BlobPermissions::LETTERS,
    };
    for letters in each(letters).chain([letters]) {
        callers.push(shown("sas", letters_or_all(letters), service_sas(service, letters, expiry)));
    }
    callers
}

fn key() -> AccountKey {
    AccountKey::from_bytes(KEY)
}

fn letters_or_all(letters: &str) -> &str {
    if letters.len() == 1 { letters } else { "all" }
}

fn service_sas(service: Service, letters: &str, expiry: DateTime) -> String {
    match service {
        Service::Table => {
            let terms = TableSasTerms::new("People", TablePermissions::parse(letters).unwrap(), expiry);
            terms.sign(ACCOUNT, &key()).unwrap().to_query()
        }
        Service::Queue => {
            let permissions = QueuePermissions::parse(letters).unwrap();
            let terms = QueueSasTerms::new(QueueName::parse("jobs").unwrap(), permissions, expiry);
            terms.sign(ACCOUNT, &key()).unwrap().to_query()
        }
        Service::Blob => {
            let permissions = BlobPermissions::parse(letters).unwrap();
            let terms = BlobSasTerms::new(ContainerName::parse("photos").unwrap(), permissions, expiry);
            terms.sign(ACCOUNT, &key()).unwrap().to_query()
        }
    }
}

type Verdict = Result<(), ErrorCode>;

/// The gate, for one operation on one target.
struct Gate<'a> {
    cx: &'a RequestContext<'a>,
    endpoint: &'a Endpoint<'a>,
    target: Target<'a>,
    operation: Operation,
}

impl Gate<'_> {
    async fn verdict(&self, claim: Claim<'_>) -> Verdict {
        let admitted = admit(self.cx, claim, self.endpoint, self.target, Ok(self.operation)).await;
        admitted.map(|_| ()).map_err(|rejection| rejection.error.code)
    }

    /// The verdict on credentials, which is the same for a part of a batch that their caller sends, and for the source of a
    /// copy that they sign.
    async fn equal_verdict(&self, shown: &Credentials<'_>, name: &str) -> Verdict {
        let alone = self.verdict(Claim::Own(*shown)).await;
        if let Ok((caller, _)) = shown.authenticate(self.cx, self.endpoint.account, self.target).await {
            assert_eq!(self.verdict(Claim::Batch(&caller)).await, alone, "{:?} in a batch: {name}", self.operation);
            let account = self.endpoint.account;
            let copy = Claim::Source { copier: Some((&caller, account)), url: *shown };
            assert_eq!(self.verdict(copy).await, alone, "{:?} as a source: {name}", self.operation);
        }
        let other = self.cx.accounts.find("other").unwrap();
        let stranger = Claim::Source { copier: Some((&Caller::Owner, other)), url: *shown };
        assert_eq!(self.verdict(stranger).await, alone, "{:?} as another account's source: {name}", self.operation);
        alone
    }
}

#[tokio::test]
async fn every_operation_has_one_verdict_for_each_caller() {
    let server = server().await;
    let accounts = server.accounts.current();
    let (head, _) = http::Request::get("/acct").header("host", "localhost").body(()).unwrap().into_parts();
    let peer = Peer { address: [127, 0, 0, 1].into(), port: 1, is_https: true };
    let endpoint = Endpoint::identify(&accounts, false, "https", Some("localhost"), "/acct").unwrap();
    let (queue, container) = (QueueName::parse("jobs").unwrap(), ContainerName::parse("photos").unwrap());
    let blob = BlobName::parse("ann.jpg").unwrap();
    let mut matrix = String::new();
    for &operation in Operation::ALL {
        let cx = RequestContext::new(&server, &accounts, operation.service(), &head, peer);
        let target = match operation.service() {
            Service::Table => Target::Table("People"),
            Service::Queue => Target::Queue(&queue),
            Service::Blob if operation.name().contains("Container") || operation == Operation::ListBlobs => {
                Target::Container(&container)
            }
            Service::Blob => Target::Blob(&container, &blob),
        };
        let gate = Gate { cx: &cx, endpoint: &endpoint, target, operation };
        let mut admitted: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for caller in callers(operation.service(), cx.now) {
            let query = QueryString::parse(&caller.query).unwrap();
            let (method, path, is_https) = ("GET", "/acct", true);
            let shown = Credentials { method, headers: &caller.headers, path, query: &query, is_https };
            let name = format!("{} {}", caller.kind, caller.letters);
            if gate.equal_verdict(&shown, &name).await.is_ok() {
                admitted.entry(caller.kind).or_default().push(caller.letters);
            }
        }
        assert!(gate.verdict(Claim::Batch(&Caller::Owner)).await.is_ok(), "{operation:?} by the owner");
        assert_eq!(admitted.get("forged"), None, "{operation:?}");
        let _ = write!(matrix, "{}:", operation.name());
        for (kind, letters) in admitted {
            let letters = letters.join(" ");
            let _ = if letters.is_empty() { write!(matrix, " {kind}") } else { write!(matrix, " {kind}[{letters}]") };
        }
        matrix.push('\n');
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(MATRIX, &matrix).unwrap();
    }
    assert_eq!(matrix, std::fs::read_to_string(MATRIX).unwrap(), "who may do what has changed");
}

#[tokio::test]
async fn a_token_reads_and_writes_policies_with_the_versions_that_know_of_it() {
    let server = server().await;
    let accounts = server.accounts.current();
    let (head, _) = http::Request::get("/acct").header("host", "localhost").body(()).unwrap().into_parts();
    let peer = Peer { address: [127, 0, 0, 1].into(), port: 1, is_https: true };
    let endpoint = Endpoint::identify(&accounts, false, "https", Some("localhost"), "/acct").unwrap();
    for operation in Operation::ALL.iter().copied().filter(|operation| operation.is_policy_access()) {
        let mut cx = RequestContext::new(&server, &accounts, operation.service(), &head, peer);
        for (version, expected) in [("2025-05-05", Err(ErrorCode::ResourceNotFound)), ("2025-07-05", Ok(()))] {
            cx.version = version.parse().unwrap();
            let gate = Gate { cx: &cx, endpoint: &endpoint, target: Target::Service, operation };
            assert_eq!(gate.verdict(Claim::Batch(&Caller::Token)).await, expected, "{operation:?} with {version}");
        }
    }
}

#[tokio::test]
async fn a_secondary_and_what_analytics_wrote_are_read_only_for_the_owner_too() {
    let server = server().await;
    let accounts = server.accounts.current();
    let (head, _) = http::Request::get("/acct").header("host", "localhost").body(()).unwrap().into_parts();
    let peer = Peer { address: [127, 0, 0, 1].into(), port: 1, is_https: true };
    let endpoint = |path| Endpoint::identify(&accounts, false, "https", Some("localhost"), path).unwrap();
    let (primary, secondary) = (endpoint("/acct"), endpoint("/acct-secondary"));
    let logs = ContainerName::parse("$logs").unwrap();
    for &operation in Operation::ALL {
        let cx = RequestContext::new(&server, &accounts, operation.service(), &head, peer);
        let owner = Claim::Batch(&Caller::Owner);
        let gate = Gate { cx: &cx, endpoint: &secondary, target: Target::Service, operation };
        assert_eq!(
            gate.verdict(owner).await.is_ok(),
            !operation.is_write() || operation.may_only_read(),
            "{operation:?} on the secondary"
        );
        let target = match operation.service() {
            Service::Table => Target::Table("$MetricsHourPrimaryTransactionsTable"),
            Service::Blob => Target::Container(&logs),
            Service::Queue => continue,
        };
        let gate = Gate { endpoint: &primary, target, ..gate };
        let is_allowed = operation.is_allowed_on_analytics();
        assert_eq!(gate.verdict(owner).await.is_ok(), is_allowed, "{operation:?} on what Analytics wrote");
    }
}
