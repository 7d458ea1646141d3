//! The Rust client as a program. The suites of other clients give the text of its filters to their own queries, and continue
//! its pages; it continues theirs.
//!
//! `filters TABLE GROUP` fills an empty table and prints the filters of a group, with the keys of what each finds. `page TABLE SIZE [PARTITION
//! [ROW]]` prints the keys of one page, the first or that of a continuation, and the continuation after it.

mod filters;
mod pages;
mod samples;

use std::process::ExitCode;

use serde_json::Value;
use tablerock_client::{Error, TableClient, TableServiceClient};

/// The account, as for every suite. Without it, the development account on its usual ports.
const CONNECTION_STRING: &str = "CONFORMANCE_CONNECTION_STRING";

const USAGE: &str =
    "usage: tablerock-rust-client filters TABLE GROUP | page TABLE SIZE [NEXT_PARTITION_KEY [NEXT_ROW_KEY]]";

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&words).await {
        Ok(printed) => {
            println!("{printed}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(words: &[&str]) -> Result<Value, Error> {
    match words {
        ["filters", table, group] => filters::run(&client(table)?, group).await,
        ["page", table, size, next @ ..] if next.len() <= 2 => {
            let size = size.parse().map_err(|_| Error::Invalid(USAGE.to_owned()))?;
            pages::run(&client(table)?, size, next.first().copied(), next.get(1).copied()).await
        }
        _ => Err(Error::Invalid(USAGE.to_owned())),
    }
}

fn client(table: &str) -> Result<TableClient, Error> {
    let connection_string = std::env::var(CONNECTION_STRING).ok().filter(|text| !text.is_empty());
    let connection_string = connection_string.as_deref().unwrap_or("UseDevelopmentStorage=true");
    Ok(TableServiceClient::from_connection_string(connection_string)?.table(table))
}
