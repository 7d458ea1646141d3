//! An account to test against: on a server in the test's own process, or the one of `CLIENT_TEST_CONNECTION_STRING`.

pub mod example;
mod script;

use tablerock_client::{ClientOptions, TableClient, TableServiceClient};

pub use crate::server::{Server, ServerOptions};
pub use script::{Script, Step};

const VARIABLE: &str = "CLIENT_TEST_CONNECTION_STRING";

/// A server's account. The server, if it is ours, ends with it.
#[derive(Debug)]
pub struct Account {
    connection_string: String,
    server: Option<Server>,
}

impl Account {
    pub async fn open() -> Self {
        match std::env::var(VARIABLE) {
            Ok(connection_string) => Self { connection_string, server: None },
            Err(_) => {
                let server = Server::start(ServerOptions::default()).await;
                Self { connection_string: server.connection_string(), server: Some(server) }
            }
        }
    }

    /// The metrics of the server, if the test started it.
    pub fn metrics(&self) -> Option<String> {
        self.server.as_ref().map(Server::metrics)
    }

    pub fn connection_string(&self) -> &str {
        &self.connection_string
    }

    pub fn tables(&self) -> TableServiceClient {
        TableServiceClient::from_connection_string(&self.connection_string).unwrap()
    }

    pub fn tables_with(&self, options: ClientOptions) -> TableServiceClient {
        TableServiceClient::from_connection_string_with(&self.connection_string, options).unwrap()
    }

    /// A table of its own, which is there.
    pub async fn table(&self) -> TableClient {
        let table = self.tables().table(unique_name());
        table.create().await.unwrap();
        table
    }
}

/// A table name that no other test uses.
pub fn unique_name() -> String {
    format!("t{:016x}", fastrand::Rng::new().u64(..))
}
