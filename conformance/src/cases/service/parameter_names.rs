//! Names of query parameters, which have no case: neither for a signature nor for the operation. PHP's SDK writes `Prefix`,
//! and .NET's writes `include=Metadata`.

use crate::expect::{ensure, equal};
use crate::{Outcome, Session, cases, queue};

cases! {
    QueryEntities {
        names_of_query_options_have_no_case,
    }
    GetTableServiceProperties {
        restype_and_comp_have_no_case,
    }
    PeekMessages {
        the_name_of_peekonly_has_no_case,
    }
    GetMessages {
        a_peekonly_that_is_no_boolean_takes_nothing,
    }
    ListBlobs {
        names_of_list_parameters_have_no_case,
        a_repeated_include_is_one_list,
    }
    DeleteBlob {
        the_name_of_snapshot_has_no_case,
        two_snapshots_name_none,
    }
}

async fn names_of_query_options_have_no_case(at: &Session) -> Outcome {
    let table = at.table().await?;
    for row in ["1", "2", "3"] {
        let entity = serde_json::json!({ "PartitionKey": "p", "RowKey": row, "Size": 1 });
        table.insert(entity).send().await?.expect(201)?;
    }
    let query = table.query().raw_query("$Filter=RowKey%20gt%20'1'&$TOP=1&%24Select=RowKey").send().await?;
    let found = query.expect(200)?.json()?;
    let entities = found["value"].as_array().cloned().unwrap_or_default();
    equal("entities", entities.len(), 1)?;
    equal("RowKey", entities[0]["RowKey"].as_str(), Some("2"))?;
    ensure(entities[0].get("Size").is_none(), || format!("$Select is ignored: {found}"))
}

async fn restype_and_comp_have_no_case(at: &Session) -> Outcome {
    let properties = at.get("/").raw_query("ResType=Service&Comp=Properties").accept("application/xml").send().await?;
    properties.expect(200)?.expect_body_contains("<StorageServiceProperties>")?;
    Ok(())
}

async fn the_name_of_peekonly_has_no_case(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    queue.on_messages("POST")?.body(queue::body("text")).send().await?.expect(201)?;
    for name in ["PeekOnly", "peek%4Fnly"] {
        let peeked = queue.on_messages("GET")?.raw_query(&format!("{name}=true")).send().await?;
        let messages = queue::messages(peeked.expect(200)?)?;
        equal("messages", messages.len(), 1)?;
        equal("pop receipt", messages[0].receipt.as_str(), "")?;
        equal("dequeue count", messages[0].dequeue_count.as_str(), "0")?;
    }
    Ok(())
}

async fn a_peekonly_that_is_no_boolean_takes_nothing(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    queue.on_messages("POST")?.body(queue::body("text")).send().await?.expect(201)?;
    let odd = queue.on_messages("GET")?.raw_query("peekonly=yes").send().await?;
    odd.expect_code(400, "InvalidQueryParameterValue")?;
    let peeked = queue.on_messages("GET")?.raw_query("peekonly=true").send().await?;
    equal("messages", queue::messages(peeked.expect(200)?)?.len(), 1)
}

async fn names_of_list_parameters_have_no_case(at: &Session) -> Outcome {
    let container = at.container().await?;
    for name in ["a1", "a2", "b1"] {
        container.seed(name, "").await?;
    }
    let list = at.to_blobs("GET", format!("/{}", container.name))?;
    let list = list.raw_query("ResType=Container&COMP=List&Prefix=a&MaxResults=1").send().await?;
    equal("names", crate::container::names(&list)?, ["a1"])
}

async fn a_repeated_include_is_one_list(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.put("b", "")?.header("x-ms-meta-color", "red").send().await?.expect(201)?;
    container.blob_on("PUT", "b", "snapshot")?.send().await?.expect(201)?;
    let list = container.on("GET", "list")?.raw_query("include=snapshots&Include=Metadata").send().await?;
    list.expect(200)?.expect_body_contains("<Snapshot>")?.expect_body_contains("red")?;
    Ok(())
}

async fn the_name_of_snapshot_has_no_case(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "content").await?;
    let taken = container.blob_on("PUT", "b", "snapshot")?.send().await?;
    let taken = taken.expect(201)?.header("x-ms-snapshot").unwrap_or_default().to_owned();
    container.blob("DELETE", "b")?.query("Snapshot", &taken).send().await?.expect(202)?;
    container.blob("DELETE", "b")?.query("SNAPSHOT", &taken).send().await?.expect(404)?;
    equal("the blob", container.content("b").await?.as_str(), "content")
}

async fn two_snapshots_name_none(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "content").await?;
    let taken = container.blob_on("PUT", "b", "snapshot")?.send().await?;
    let taken = taken.expect(201)?.header("x-ms-snapshot").unwrap_or_default().to_owned();
    for other in ["2019-05-09T00:48:31.3653282Z", ""] {
        let delete = container.blob("DELETE", "b")?.query("snapshot", &taken).query("Snapshot", other).send().await?;
        delete.expect_code(400, "InvalidQueryParameterValue")?;
    }
    container.blob("GET", "b")?.query("snapshot", &taken).send().await?.expect(200)?;
    Ok(())
}
