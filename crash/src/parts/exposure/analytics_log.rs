//! Signatures in `$logs`, which the readers of a log must not get.

use std::time::{Duration, Instant};

use tablerock_conformance::expect::ensure;
use tablerock_conformance::sas::BlobSas;
use tablerock_conformance::{Failure, Outcome, container};

use super::fixture::{Fixture, text};
use crate::run::Run;

const SETTINGS: &str = "<StorageServiceProperties><Logging><Version>1.0</Version><Read>true</Read><Write>true</Write>\
    <Delete>true</Delete><RetentionPolicy><Enabled>false</Enabled></RetentionPolicy></Logging>\
    </StorageServiceProperties>";
/// Logs are written every second or so.
const LOG_TIME_MAX: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(100);
/// The agents that mark the requests of the check in the log.
const READER: &str = "exposure-reader";
const COPIER: &str = "exposure-copier";

/// Sends signatures in every place that a log shows, and reads the log.
pub(super) async fn run(run: &Run) -> Result<(), String> {
    let fixture = Fixture::start(run, "analytics-log").await?;
    read_and_log(&fixture).await.map_err(text)?;
    fixture.stop().await?.clean_up();
    Ok(())
}

async fn read_and_log(fixture: &Fixture) -> Outcome {
    let session = &fixture.session;
    let settings = session.to_blobs("PUT", "/")?.raw_query("restype=service&comp=properties");
    settings.body(SETTINGS).send().await?.expect(202)?;
    let container = session.container().await?;
    container.seed("b", "content").await?;
    let token = BlobSas::of_blob(&container.name, "b", "r").query(session.target());
    let signature = token.split("sig=").nth(1).unwrap_or_default().to_owned();
    let url = format!("{}?{token}", container.url("b"));
    for token in [token.clone(), token.replace("sig=", "%73ig="), token.replace("sig=", "SIG=")] {
        let read = container.blob("GET", "b")?.sas(&token).header("User-Agent", READER).header("Referer", &url);
        read.send().await?;
    }
    let copy = container.blob("PUT", "copy")?.header("x-ms-copy-source", &url).header("User-Agent", COPIER);
    copy.send().await?.expect(202)?;
    let log = log_with_copy(fixture).await?;
    if let Some(line) = log.lines().find(|line| line.contains(&signature)) {
        return Err(Failure::new(format!("$logs has a signature: {line}")));
    }
    for line in log.lines().filter(|line| line.contains(READER)) {
        ensure(line.contains(";sas;"), || format!("a request with a SAS is logged as another: {line}"))?;
    }
    Ok(())
}

/// All logs, once the last request of the check is in them.
async fn log_with_copy(fixture: &Fixture) -> Outcome<String> {
    let session = &fixture.session;
    let end = Instant::now() + LOG_TIME_MAX;
    loop {
        let list =
            session.to_blobs("GET", "/$logs")?.raw_query("restype=container&comp=list&prefix=blob/").send().await?;
        let mut log = String::new();
        for name in container::names(&list)? {
            log.push_str(&session.to_blobs("GET", format!("/$logs/{name}"))?.send().await?.expect(200)?.text());
        }
        if log.contains(COPIER) {
            return Ok(log);
        }
        ensure(Instant::now() < end, || format!("the copy is not in $logs after {LOG_TIME_MAX:?}"))?;
        tokio::time::sleep(POLL).await;
    }
}
