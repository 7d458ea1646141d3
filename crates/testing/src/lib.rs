//! Azure Table, Queue and Blob Storage in the process of a test: one line, a few milliseconds.
//!
//! A [`TestServer`] has free ports, an account of its own and data in memory, and stops when it is dropped. It speaks HTTP, so
//! every SDK works with it. It is not for production: for that, run the binary `tablerock`.
//!
//! ```
//! use tablerock_testing::TestServer;
//!
//! # async fn example() -> tablerock_client::Result<()> {
//! let server = TestServer::start();
//! let tables = tablerock_client::TableServiceClient::from_connection_string(server.connection_string())?;
//! tables.table("People").create().await?;
//! # Ok(()) }
//! # tokio::runtime::Runtime::new().unwrap().block_on(example()).unwrap();
//! ```

mod serve;

use std::io;

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::serve::{Endpoints, Running};

/// The size of a key of Azure.
const KEY_BYTES: usize = 64;

/// A server with one account, stopped when dropped.
///
/// It runs on a thread of its own, so that tests may block.
#[doc(alias = "emulator")]
#[doc(alias = "azurite")]
#[doc(alias = "mock")]
#[derive(Debug)]
pub struct TestServer {
    running: Running,
    endpoints: Endpoints,
    account_name: String,
    account_key: String,
    connection_string: String,
}

impl TestServer {
    /// The name of the account, unless [`start_with_account`](Self::start_with_account) chooses another.
    pub const ACCOUNT_NAME: &str = "testaccount";

    /// Starts a server with an account of a new key.
    ///
    /// # Panics
    ///
    /// If the system has no free port, thread or random numbers. [`try_start`](Self::try_start) returns the error instead.
    pub fn start() -> Self {
        Self::try_start(Self::ACCOUNT_NAME)
            .expect("a server starts: there are a free port, a thread and random numbers")
    }

    /// Starts a server whose account has this name, of 3 to 24 lower-case letters and digits.
    ///
    /// # Panics
    ///
    /// As [`start`](Self::start), and if the name is invalid.
    pub fn start_with_account(account_name: &str) -> Self {
        Self::try_start(account_name)
            .expect("a server starts: the name is valid, and there are a free port and a thread")
    }

    /// Starts a server, or returns the reason why it cannot.
    pub fn try_start(account_name: &str) -> io::Result<Self> {
        let mut secret = [0; KEY_BYTES];
        getrandom::fill(&mut secret).map_err(|error| io::Error::other(error.to_string()))?;
        let (running, endpoints) = serve::start(account_name, &secret)?;
        let account_key = STANDARD.encode(secret);
        let Endpoints { blob, queue, table } = &endpoints;
        let connection_string = format!(
            "DefaultEndpointsProtocol=http;AccountName={account_name};AccountKey={account_key};BlobEndpoint={blob};\
             QueueEndpoint={queue};TableEndpoint={table};"
        );
        Ok(Self { running, endpoints, account_name: account_name.to_owned(), account_key, connection_string })
    }

    /// The connection string for every SDK.
    pub fn connection_string(&self) -> &str {
        &self.connection_string
    }

    /// The name of the account.
    pub fn account_name(&self) -> &str {
        &self.account_name
    }

    /// The key of the account, in Base64.
    pub fn account_key(&self) -> &str {
        &self.account_key
    }

    /// The URL of the Blob service, with the account.
    pub fn blob_endpoint(&self) -> &str {
        &self.endpoints.blob
    }

    /// The URL of the Queue service, with the account.
    pub fn queue_endpoint(&self) -> &str {
        &self.endpoints.queue
    }

    /// The URL of the Table service, with the account.
    pub fn table_endpoint(&self) -> &str {
        &self.endpoints.table
    }

    /// Stops the server and waits until requests in progress have ended. Dropping it does not wait.
    #[doc(alias = "shutdown")]
    pub fn stop(self) {
        self.running.stop();
    }
}
