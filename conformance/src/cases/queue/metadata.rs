//! Get and Set Queue Metadata, and the count of messages.

use crate::expect::equal;
use crate::{Outcome, Session, cases};

cases! {
    GetQueueMetadata {
        a_new_queue_has_no_messages_and_no_metadata,
        queue_metadata_answers_head,
        the_count_includes_invisible_messages,
        metadata_of_a_missing_queue_is_not_found,
        metadata_from_creation_comes_back,
    }
    SetQueueMetadata {
        queue_metadata_is_replaced_as_a_whole,
        metadata_of_a_missing_queue_cannot_be_set,
        a_metadata_name_that_is_no_identifier_is_refused,
        metadata_over_8_kib_is_refused,
    }
}

async fn a_new_queue_has_no_messages_and_no_metadata(at: &Session) -> Outcome {
    let response = at.queue().await?.metadata()?.send().await?;
    response.expect(200)?.expect_no_body()?.expect_header("x-ms-approximate-messages-count", "0")?;
    response.expect_header("Cache-Control", "no-cache")?;
    Ok(())
}

async fn queue_metadata_answers_head(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    let head = queue.request("HEAD")?.raw_query("comp=metadata").send().await?;
    head.expect(200)?.expect_header("x-ms-approximate-messages-count", "0")?;
    let missing = at.missing_queue().request("HEAD")?.raw_query("comp=metadata").send().await?;
    missing.expect(404)?.expect_header("x-ms-error-code", "QueueNotFound")?;
    Ok(())
}

async fn the_count_includes_invisible_messages(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    queue.seed("visible").await?;
    queue.sent(queue.put("hidden")?.raw_query("visibilitytimeout=60")).await?;
    let taken = queue.take_one().await?;
    equal("count", queue.count().await?, "2")?;
    queue.delete(&taken)?.send().await?.expect(204)?;
    equal("count", queue.count().await?, "1")
}

async fn metadata_of_a_missing_queue_is_not_found(at: &Session) -> Outcome {
    at.missing_queue().metadata()?.send().await?.expect_code(404, "QueueNotFound")?;
    Ok(())
}

async fn metadata_from_creation_comes_back(at: &Session) -> Outcome {
    let queue = at.missing_queue();
    let create = queue.create()?.header("x-ms-meta-color", "red").header("x-ms-meta-_size", "1 2");
    create.send().await?.expect(201)?;
    let response = queue.metadata()?.send().await?;
    response.expect_header("x-ms-meta-color", "red")?.expect_header("x-ms-meta-_size", "1 2")?;
    Ok(())
}

async fn queue_metadata_is_replaced_as_a_whole(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    let set = queue.set_metadata()?.header("x-ms-meta-one", "1").header("x-ms-meta-two", "2");
    set.send().await?.expect(204)?.expect_no_body()?;
    queue.set_metadata()?.header("x-ms-meta-three", "3").send().await?.expect(204)?;
    let response = queue.metadata()?.send().await?;
    response.expect_header("x-ms-meta-three", "3")?.expect_no_header("x-ms-meta-one")?;
    queue.set_metadata()?.send().await?.expect(204)?;
    queue.metadata()?.send().await?.expect_no_header("x-ms-meta-three")?;
    Ok(())
}

async fn metadata_of_a_missing_queue_cannot_be_set(at: &Session) -> Outcome {
    at.missing_queue().set_metadata()?.send().await?.expect_code(404, "QueueNotFound")?;
    Ok(())
}

async fn a_metadata_name_that_is_no_identifier_is_refused(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    for name in ["x-ms-meta-1a", "x-ms-meta-a-b", "x-ms-meta-a.b"] {
        queue.set_metadata()?.header(name, "x").send().await?.expect_code(400, "InvalidMetadata")?;
    }
    queue.set_metadata()?.header("x-ms-meta-", "x").send().await?.expect_code(400, "EmptyMetadataKey")?;
    Ok(())
}

async fn metadata_over_8_kib_is_refused(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    let value = "v".repeat(8 * 1024);
    queue.set_metadata()?.header("x-ms-meta-a", &value).send().await?.expect_code(400, "MetadataTooLarge")?;
    Ok(())
}
