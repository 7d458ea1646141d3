//! Control characters in values that responses repeat.

use tablerock_conformance::expect::ensure;
use tablerock_conformance::sas::BlobSas;
use tablerock_conformance::{Outcome, batch};

use super::fixture::{Fixture, text};
use crate::run::Run;

/// Sends control characters in the Content-ID of a batch part.
pub(super) async fn in_content_id(run: &Run) -> Result<(), String> {
    let fixture = Fixture::start(run, "control-characters").await?;
    send_content_id(&fixture).await.map_err(text)?;
    fixture.stop().await?.clean_up();
    Ok(())
}

/// Sends control characters in a header that a SAS sets.
pub(super) async fn in_sas_headers(run: &Run) -> Result<(), String> {
    let fixture = Fixture::start(run, "control-characters").await?;
    send_content_type(&fixture).await.map_err(text)?;
    fixture.stop().await?.clean_up();
    Ok(())
}

async fn send_content_id(fixture: &Fixture) -> Outcome {
    let session = &fixture.session;
    let table = session.table().await?;
    for (row, id) in ["1\rX-Injected: 1", "2\0", "3\u{1b}[31m"].into_iter().enumerate() {
        let entity = serde_json::json!({ "PartitionKey": "p", "RowKey": row.to_string() });
        let part = batch::Part::insert(&table, &session.base(), entity).header("Content-ID", id);
        let response = batch::send(session, &[part]).await?.text();
        ensure(!response.contains(id), || format!("the Content-ID {id:?} is repeated: {response:?}"))?;
    }
    Ok(())
}

async fn send_content_type(fixture: &Fixture) -> Outcome {
    let session = &fixture.session;
    let container = session.container().await?;
    container.seed("b", "content").await?;
    for content_type in ["text/plain\r\nX-Injected: 1", "text\nplain", "text\0plain"] {
        let sas = BlobSas { content_type: content_type.into(), ..BlobSas::of_blob(&container.name, "b", "r") };
        let response = container.blob("GET", "b")?.sas(&sas.query(session.target())).send().await?;
        response.expect_code(400, "InvalidQueryParameterValue")?;
    }
    Ok(())
}
