//! A server with two accounts, each with a table and a public blob of 8 MiB.

use tablerock_conformance::Target;
use tablerock_conformance::http::{Answer, Connection};
use tablerock_conformance::request::Request;

use crate::run::{DataDirectory, Run};
use crate::server::Server;

/// The account of the attacker.
pub(super) const ATTACKER: &str = "alpha";
/// The account of the client that must be served meanwhile.
pub(super) const VICTIM: &str = "beta";
pub(super) const BLOB_BYTES: usize = 8 << 20;
/// The blob, behind the account.
pub(super) const BLOB: &str = "/public/large";
pub(super) const TABLE: &str = "Exposed";
/// 64 bytes, which no warning is about.
const KEY: &str = "S0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLSw==";

pub(super) struct TwoAccounts {
    /// The run with a program that serves both accounts.
    pub(super) run: Run,
    directory: DataDirectory,
}

impl TwoAccounts {
    /// Creates the data with a server that is stopped again.
    pub(super) async fn prepare(run: &Run, name: &str) -> Result<Self, String> {
        let accounts = format!("{ATTACKER}:{KEY};{VICTIM}:{KEY}");
        let run = Run { program: run.program.with_arguments(&["--accounts", &accounts]), ..run.clone() };
        let directory = DataDirectory::create_in_memory(&run, name)?;
        let prepared = Self { run, directory };
        let server = prepared.start().await?;
        for account in [ATTACKER, VICTIM] {
            prepared.fill(account).await?;
        }
        server.stop().await?;
        Ok(prepared)
    }

    pub(super) async fn start(&self) -> Result<Server, String> {
        Server::start(&self.run.program, &self.directory.location, None).await
    }

    pub(super) fn clean_up(self) {
        self.directory.clean_up();
    }

    pub(super) fn target(&self, account: &str) -> Result<Target, String> {
        let program = &self.run.program;
        let services = [("Blob", program.blob_port), ("Queue", program.queue_port), ("Table", program.table_port)];
        let endpoint = |(service, port)| format!(";{service}Endpoint=http://127.0.0.1:{port}/{account}");
        Target::parse(&format!("AccountName={account};AccountKey={KEY}{}", services.map(endpoint).concat()))
    }

    async fn fill(&self, account: &str) -> Result<(), String> {
        let target = self.target(account)?;
        let blobs = target.blob.as_ref().ok_or("no blob endpoint")?;
        let (container, _) = BLOB.rsplit_once('/').unwrap_or_default();
        let create = Request::signing_headers(&target, blobs, "PUT", container)
            .query("restype", "container")
            .header("x-ms-blob-public-access", "container");
        expect(&target, &create, 201).await?;
        let put = Request::signing_headers(&target, blobs, "PUT", BLOB).header("x-ms-blob-type", "BlockBlob");
        expect(&target, &put.body(vec![7; BLOB_BYTES]), 201).await?;
        let table = Request::new(&target, "POST", "/Tables").json(format!("{{\"TableName\":\"{TABLE}\"}}"));
        expect(&target, &table, 201).await
    }
}

/// Sends a request on a new connection.
pub(super) async fn send(target: &Target, request: &Request<'_>) -> Result<Answer, String> {
    let is_table = request.raw_path().contains("/Tables") || request.raw_path().contains(TABLE);
    let endpoint = match &target.blob {
        Some(blob) if !is_table => &blob.primary,
        _ => &target.primary,
    };
    let exchange = async { Connection::open(endpoint).await?.exchange(&request.bytes()).await };
    exchange.await.map_err(|error| format!("{}: {error}", request.summary()))
}

pub(super) async fn expect(target: &Target, request: &Request<'_>, status: u16) -> Result<(), String> {
    let answer = send(target, request).await?;
    if answer.status == status {
        return Ok(());
    }
    Err(format!(
        "{}: {} instead of {status}: {}",
        request.summary(),
        answer.status,
        String::from_utf8_lossy(&answer.body)
    ))
}
