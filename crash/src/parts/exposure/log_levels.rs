//! Requests for operations that the server does not have. They are not failures of the server, so its log has no error.

use std::fs;

use tablerock_conformance::Outcome;

use super::fixture::{Fixture, text};
use crate::run::Run;

pub(super) async fn run(run: &Run) -> Result<(), String> {
    let fixture = Fixture::start(run, "log-levels").await?;
    send_unsupported(&fixture).await.map_err(text)?;
    let directory = fixture.stop().await?;
    let log = directory.location.with_extension("log");
    let log = fs::read_to_string(&log).map_err(|error| format!("{}: {error}", log.display()))?;
    if let Some(line) = log.lines().find(|line| line.contains("ERROR")) {
        return Err(format!("a request that is not implemented is logged as an error: {line}"));
    }
    directory.clean_up();
    Ok(())
}

async fn send_unsupported(fixture: &Fixture) -> Outcome {
    let table = fixture.session.table().await?;
    table.query().raw_query("$orderby=RowKey").send().await?.expect(501)?;
    let container = fixture.session.container().await?;
    container.blob_on("POST", "b", "query")?.send().await?.expect(501)?;
    Ok(())
}
