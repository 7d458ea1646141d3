//! The database of a test: one that the test starts, or one that is already there.
//!
//! `TABLEROCK_TEST_STORE` names a database that is already there, of any kind that the engine supports: the same tests then
//! run on Citus, YugabyteDB, CockroachDB or a hosted PostgreSQL. Each test gets a schema of its own.

use std::process::Command;
use std::sync::Once;

use crate::postgres::{self, DatabaseServer};

/// The variable with the URL of a database that is already there.
pub const STORE_VARIABLE: &str = "TABLEROCK_TEST_STORE";

/// The beginning of the names of schemas in a given database. Those of earlier runs are dropped.
const PREFIX: &str = "tablerock_test_";

/// A database for tests.
#[derive(Debug)]
pub enum TestDatabase {
    /// Started by the test, and removed with it.
    Started(DatabaseServer),
    /// Already there.
    Given(GivenDatabase),
}

/// A database that is already there.
#[derive(Debug)]
pub struct GivenDatabase {
    url: String,
    /// The tests of a process wait until one of them has dropped the schemas of earlier runs.
    cleaning: Once,
}

impl TestDatabase {
    /// Returns the database that the environment names, or starts a PostgreSQL.
    pub fn find() -> Self {
        Self::at(std::env::var(STORE_VARIABLE).ok().filter(|url| !url.is_empty()).as_deref())
    }

    /// Returns the database at a URL, or starts a PostgreSQL.
    pub fn at(url: Option<&str>) -> Self {
        match url {
            Some(url) => Self::Given(GivenDatabase { url: url.to_owned(), cleaning: Once::new() }),
            None => Self::Started(DatabaseServer::start()),
        }
    }

    /// Runs SQL with `psql`, and returns its output.
    pub fn run(&self, sql: &str) -> String {
        match self {
            Self::Started(server) => server.run(sql),
            Self::Given(given) => given.run(sql),
        }
    }

    /// The server, if the test started it and may kill it.
    pub fn server(&self) -> Option<&DatabaseServer> {
        match self {
            Self::Started(server) => Some(server),
            Self::Given(_) => None,
        }
    }

    /// Creates a schema and returns the URL of the database with it.
    pub fn url(&self, schema: &str) -> String {
        match self {
            Self::Started(server) => server.url(schema),
            Self::Given(given) => given.url(schema),
        }
    }
}

impl GivenDatabase {
    fn url(&self, schema: &str) -> String {
        self.cleaning.call_once(|| self.drop_schemas());
        let schema = format!("{PREFIX}{schema}");
        self.run(&format!("CREATE SCHEMA IF NOT EXISTS {schema}"));
        with_search_path(&self.url, &schema)
    }

    fn drop_schemas(&self) {
        let find = format!("SELECT nspname FROM pg_namespace WHERE nspname LIKE '{PREFIX}%'");
        for schema in self.run(&find).split_whitespace() {
            self.run(&format!("DROP SCHEMA {schema} CASCADE"));
        }
    }

    fn run(&self, sql: &str) -> String {
        let mut psql = Command::new(postgres::program_of_client("psql"));
        psql.args(["-v", "ON_ERROR_STOP=1", "-qAt", "-c", sql]).arg(&self.url).env("PGOPTIONS", "");
        let output = psql.output().unwrap_or_else(|error| panic!("cannot run psql: {error}"));
        assert!(output.status.success(), "{sql}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

/// Adds a search path to the session options of a URL.
fn with_search_path(url: &str, schema: &str) -> String {
    let option = format!("-c%20search_path%3D{schema}");
    match (url.contains("options="), url.contains('?')) {
        (true, _) => url.replacen("options=", &format!("options={option}%20"), 1),
        (false, true) => format!("{url}&options={option}"),
        (false, false) => format!("{url}?options={option}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_joins_the_options_of_a_url() {
        let path = "options=-c%20search_path%3Da";
        for (given, expected) in [
            ("postgres://u@h/d", format!("postgres://u@h/d?{path}")),
            ("postgres://u@h/d?sslmode=require", format!("postgres://u@h/d?sslmode=require&{path}")),
            ("postgres://u@h/d?options=-c%20x%3Dy&b=c", format!("postgres://u@h/d?{path}%20-c%20x%3Dy&b=c")),
        ] {
            assert_eq!(with_search_path(given, "a"), expected);
        }
    }
}
