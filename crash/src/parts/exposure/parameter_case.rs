//! Names of query parameters in any case: a request is read as it was signed.

use tablerock_conformance::Outcome;
use tablerock_conformance::expect::equal;
use tablerock_conformance::queue;

use super::fixture::{Fixture, text};
use crate::run::Run;

/// Spells names in every way that a signature accepts, and checks that what was meant is done.
pub(super) async fn run(run: &Run) -> Result<(), String> {
    let fixture = Fixture::start(run, "parameter-case").await?;
    delete_snapshots(&fixture).await.map_err(text)?;
    peek_messages(&fixture).await.map_err(text)?;
    query_entities(&fixture).await.map_err(text)?;
    fixture.stop().await?.clean_up();
    Ok(())
}

/// Deletes snapshots: the blob itself must stay.
async fn delete_snapshots(fixture: &Fixture) -> Outcome {
    let container = fixture.session.container().await?;
    container.seed("b", "content").await?;
    for name in ["Snapshot", "SNAPSHOT", "%53napshot"] {
        let deleted = container.blob("DELETE", "b")?.query(name, "2019-05-09T00:48:31.3653282Z").send().await?.status();
        let left = container.blob("GET", "b")?.send().await?.status();
        equal(
            format_args!("DELETE ?{name}= of a snapshot that is not there, then the blob"),
            (deleted, left),
            (404, 200),
        )?;
        let taken = container.blob_on("PUT", "b", "snapshot")?.send().await?;
        let taken = taken.expect(201)?.header("x-ms-snapshot").unwrap_or_default().to_owned();
        container.blob("DELETE", "b")?.query(name, &taken).send().await?.expect(202)?;
        container.blob("GET", "b")?.query("snapshot", &taken).send().await?.expect(404)?;
        let left = container.blob("GET", "b")?.send().await?.status();
        equal(format_args!("the status of the blob after DELETE ?{name}="), left, 200)?;
        // Two values are signed joined, so neither of them may be read alone.
        let both = container.blob("DELETE", "b")?.query("snapshot", &taken).query(name, "");
        both.send().await?.expect(400)?;
    }
    container.content("b").await?;
    Ok(())
}

/// Peeks: the message must stay visible, and its dequeue count zero.
async fn peek_messages(fixture: &Fixture) -> Outcome {
    let queue = fixture.session.queue().await?;
    queue.on_messages("POST")?.body(queue::body("text")).send().await?.expect(201)?;
    for name in ["PeekOnly", "PEEKONLY", "peek%4fnly"] {
        let peeked = queue.on_messages("GET")?.query(name, "true").send().await?;
        let messages = queue::messages(peeked.expect(200)?)?;
        equal(format_args!("messages of GET ?{name}=true"), messages.len(), 1)?;
        equal(format_args!("a receipt of GET ?{name}=true"), messages[0].receipt.as_str(), "")?;
        equal(format_args!("dequeue count after GET ?{name}=true"), messages[0].dequeue_count.as_str(), "0")?;
    }
    Ok(())
}

/// Reads one of two entities: a filter that is ignored would return both.
async fn query_entities(fixture: &Fixture) -> Outcome {
    let table = fixture.session.table().await?;
    for row in ["1", "2"] {
        let entity = serde_json::json!({ "PartitionKey": "p", "RowKey": row });
        table.insert(entity).send().await?.expect(201)?;
    }
    for name in ["$Filter", "%24FILTER"] {
        let found = table.query().raw_query(&format!("{name}=RowKey%20eq%20'1'")).send().await?;
        let found = found.expect(200)?.json()?;
        equal(format_args!("entities of GET ?{name}="), found["value"].as_array().map(Vec::len), Some(1))?;
    }
    Ok(())
}
