//! An account to test against: a server in the test's own process, or whatever `CLIENT_TEST_CONNECTION_STRING` names.

#![allow(dead_code, unused_imports, reason = "each test is a program of its own and uses what it needs")]

mod script;
mod server;

use tablerock_client::{ClientOptions, TableClient, TableServiceClient};

pub(crate) use script::{Script, Step};
pub(crate) use server::{Server, ServerOptions};

const VARIABLE: &str = "CLIENT_TEST_CONNECTION_STRING";

/// A server's account. The server, if it is ours, ends with it.
pub(crate) struct Account {
    connection_string: String,
    server: Option<Server>,
}

impl Account {
    pub(crate) async fn open() -> Self {
        match std::env::var(VARIABLE) {
            Ok(connection_string) => Self { connection_string, server: None },
            Err(_) => {
                let server = Server::start(ServerOptions::default()).await;
                Self { connection_string: server.connection_string(), server: Some(server) }
            }
        }
    }

    /// What the server has counted, if it is ours.
    pub(crate) fn metrics(&self) -> Option<String> {
        self.server.as_ref().map(Server::metrics)
    }

    pub(crate) fn connection_string(&self) -> &str {
        &self.connection_string
    }

    pub(crate) fn tables(&self) -> TableServiceClient {
        TableServiceClient::from_connection_string(&self.connection_string).unwrap()
    }

    pub(crate) fn tables_with(&self, options: ClientOptions) -> TableServiceClient {
        TableServiceClient::from_connection_string_with(&self.connection_string, options).unwrap()
    }

    /// A table of its own, which is there.
    pub(crate) async fn table(&self) -> TableClient {
        let table = self.tables().table(unique_name());
        table.create().await.unwrap();
        table
    }
}

/// A name for a table that nobody else has.
pub(crate) fn unique_name() -> String {
    format!("t{:016x}", fastrand::Rng::new().u64(..))
}
