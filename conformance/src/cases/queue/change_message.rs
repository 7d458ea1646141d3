//! Update, Delete and Clear Messages, and what a pop receipt is good for.

use std::time::Duration;

use crate::expect::{ensure, equal};
use crate::queue::{Message, Queue, body, messages};
use crate::{Outcome, Session, cases};

cases! {
    UpdateMessage {
        an_update_answers_with_a_new_receipt,
        an_update_without_a_body_keeps_the_text,
        an_update_with_an_empty_text_empties_the_message,
        an_update_to_now_shows_the_message,
        an_update_voids_the_old_receipt,
        an_update_keeps_counts_and_times,
        an_update_must_say_for_how_long,
        a_visibility_of_update_outside_its_range_is_refused,
        an_update_beyond_the_expiry_is_refused,
        an_update_with_a_malformed_body_is_refused,
        an_update_with_too_large_a_text_is_refused,
        an_update_of_an_unknown_message_is_not_found,
    }
    DeleteMessage {
        a_deleted_message_is_gone,
        a_message_is_deleted_once,
        a_stale_receipt_deletes_nothing,
        a_receipt_holds_after_the_timeout_until_somebody_gets_the_message,
        a_receipt_is_for_one_message_only,
        a_receipt_must_be_shown,
        a_malformed_receipt_is_refused,
        an_unknown_message_cannot_be_deleted,
        an_unknown_message_is_not_found_whatever_its_receipt,
        a_message_of_a_missing_queue_cannot_be_deleted,
    }
    ClearMessages {
        clearing_removes_visible_and_invisible_messages,
        a_cleared_queue_goes_on,
    }
}

async fn taken(at: &Session) -> Outcome<(Queue<'_>, Message)> {
    let queue = at.queue().await?;
    queue.seed("text").await?;
    let message = queue.take_one().await?;
    Ok((queue, message))
}

/// Updates a message, which must be accepted, and returns it with its new receipt.
async fn updated(queue: &Queue<'_>, message: &Message, seconds: &str, text: Option<&str>) -> Outcome<Message> {
    let update = queue.update(message, seconds)?;
    let update = match text {
        Some(text) => update.xml(body(text)),
        None => update,
    };
    let response = update.send().await?;
    response.expect(204)?.expect_no_body()?;
    let receipt = response.header("x-ms-popreceipt").unwrap_or_default().to_owned();
    ensure(!receipt.is_empty(), || "no x-ms-popreceipt".to_owned())?;
    let next_visible = response.header("x-ms-time-next-visible").unwrap_or_default().to_owned();
    Ok(Message { receipt, next_visible, ..message.clone() })
}

async fn an_update_answers_with_a_new_receipt(at: &Session) -> Outcome {
    let (queue, message) = taken(at).await?;
    let after = updated(&queue, &message, "100", Some("new")).await?;
    ensure(after.receipt != message.receipt, || "the receipt is the old one".to_owned())?;
    ensure(after.next_visible.ends_with(" GMT"), || format!("the time is {}", after.next_visible))?;
    equal("messages", queue.take().await?.len(), 0)
}

async fn an_update_without_a_body_keeps_the_text(at: &Session) -> Outcome {
    let (queue, message) = taken(at).await?;
    updated(&queue, &message, "0", None).await?;
    equal("messages", queue.peeked().await?, ["text"])
}

async fn an_update_with_an_empty_text_empties_the_message(at: &Session) -> Outcome {
    let (queue, message) = taken(at).await?;
    updated(&queue, &message, "0", Some("")).await?;
    equal("messages", queue.peeked().await?, [""])
}

async fn an_update_to_now_shows_the_message(at: &Session) -> Outcome {
    let (queue, message) = taken(at).await?;
    updated(&queue, &message, "0", Some(" new &amp; ")).await?;
    equal("messages", queue.peeked().await?, [" new & "])
}

async fn an_update_voids_the_old_receipt(at: &Session) -> Outcome {
    let (queue, message) = taken(at).await?;
    let after = updated(&queue, &message, "60", None).await?;
    for request in [queue.delete(&message)?, queue.update(&message, "0")?] {
        request.send().await?.expect_code(404, "MessageNotFound")?;
    }
    queue.delete(&after)?.send().await?.expect(204)?;
    Ok(())
}

async fn an_update_keeps_counts_and_times(at: &Session) -> Outcome {
    let (queue, message) = taken(at).await?;
    updated(&queue, &message, "0", Some("new")).await?;
    let again = queue.take_one().await?;
    equal("DequeueCount", again.dequeue_count.as_str(), "2")?;
    equal("times", (&again.inserted, &again.expires), (&message.inserted, &message.expires))
}

async fn an_update_must_say_for_how_long(at: &Session) -> Outcome {
    let (queue, message) = taken(at).await?;
    let response = queue.on_message("PUT", &message.id, &message.receipt)?.send().await?;
    response.expect_code(400, "MissingRequiredQueryParameter")?;
    Ok(())
}

async fn a_visibility_of_update_outside_its_range_is_refused(at: &Session) -> Outcome {
    let (queue, message) = taken(at).await?;
    for seconds in ["-1", "604801"] {
        let response = queue.update(&message, seconds)?.send().await?;
        response.expect_code(400, "OutOfRangeQueryParameterValue")?;
        let root = response.xml()?;
        equal("bounds", (root.at("MinimumAllowed"), root.at("MaximumAllowed")), (Some("0"), Some("604800")))?;
    }
    Ok(())
}

async fn an_update_beyond_the_expiry_is_refused(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    let message = queue.sent(queue.put("text")?.raw_query("messagettl=60")).await?;
    queue.update(&message, "600")?.send().await?.expect_code(400, "InvalidQueryParameterValue")?;
    queue.update(&message, "30")?.send().await?.expect(204)?;
    Ok(())
}

async fn an_update_with_a_malformed_body_is_refused(at: &Session) -> Outcome {
    let (queue, message) = taken(at).await?;
    queue.update(&message, "0")?.xml("no xml").send().await?.expect_code(400, "InvalidXmlDocument")?;
    Ok(())
}

async fn an_update_with_too_large_a_text_is_refused(at: &Session) -> Outcome {
    let (queue, message) = taken(at).await?;
    let response = queue.update(&message, "0")?.xml(body(&"a".repeat(65_537))).send().await?;
    response.expect_any_code(&[(413, "RequestBodyTooLarge"), (400, "MessageTooLarge")])?;
    Ok(())
}

fn unknown(message: &Message) -> Message {
    Message { id: "11111111-2222-3333-4444-555555555555".to_owned(), ..message.clone() }
}

async fn an_update_of_an_unknown_message_is_not_found(at: &Session) -> Outcome {
    let (queue, message) = taken(at).await?;
    let response = queue.update(&unknown(&message), "0")?.send().await?;
    response.expect_error(404, "MessageNotFound", "The specified message does not exist.")?;
    Ok(())
}

async fn a_deleted_message_is_gone(at: &Session) -> Outcome {
    let (queue, message) = taken(at).await?;
    queue.delete(&message)?.send().await?.expect(204)?.expect_no_body()?;
    equal("count", queue.count().await?, "0")
}

async fn a_message_is_deleted_once(at: &Session) -> Outcome {
    let (queue, message) = taken(at).await?;
    queue.delete(&message)?.send().await?.expect(204)?;
    queue.delete(&message)?.send().await?.expect_code(404, "MessageNotFound")?;
    Ok(())
}

async fn a_stale_receipt_deletes_nothing(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    let sent = queue.seed("text").await?;
    let got = queue.take_one().await?;
    queue.delete(&sent)?.send().await?.expect_code(404, "MessageNotFound")?;
    queue.delete(&got)?.send().await?.expect(204)?;
    Ok(())
}

async fn a_receipt_holds_after_the_timeout_until_somebody_gets_the_message(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    queue.seed("text").await?;
    let got = messages(&queue.get()?.raw_query("visibilitytimeout=1").send().await?)?.remove(0);
    tokio::time::sleep(Duration::from_millis(1500)).await;
    equal("messages", queue.peeked().await?, ["text"])?;
    queue.delete(&got)?.send().await?.expect(204)?;
    Ok(())
}

async fn a_receipt_is_for_one_message_only(at: &Session) -> Outcome {
    let (queue, message) = taken(at).await?;
    let other = queue.seed("other").await?;
    let mixed = Message { receipt: message.receipt.clone(), ..other };
    queue.delete(&mixed)?.send().await?.expect_code(404, "MessageNotFound")?;
    Ok(())
}

async fn a_receipt_must_be_shown(at: &Session) -> Outcome {
    let (queue, message) = taken(at).await?;
    let path = format!("/{}/messages/{}", queue.name, message.id);
    for request in [at.to_queues("DELETE", &*path)?, at.to_queues("PUT", &*path)?.raw_query("visibilitytimeout=0")] {
        request.send().await?.expect_code(400, "MissingRequiredQueryParameter")?;
    }
    Ok(())
}

async fn a_malformed_receipt_is_refused(at: &Session) -> Outcome {
    let (queue, message) = taken(at).await?;
    for receipt in ["no base64!", "AAAA"] {
        let bad = Message { receipt: receipt.to_owned(), ..message.clone() };
        queue.delete(&bad)?.send().await?.expect_code(400, "InvalidQueryParameterValue")?;
    }
    Ok(())
}

async fn an_unknown_message_is_not_found_whatever_its_receipt(at: &Session) -> Outcome {
    let (queue, message) = taken(at).await?;
    for id in [unknown(&message).id.as_str(), "no-guid"] {
        for receipt in ["no base64!", "AAAA", message.receipt.as_str()] {
            let bad = Message { id: id.to_owned(), receipt: receipt.to_owned(), ..message.clone() };
            queue.delete(&bad)?.send().await?.expect_code(404, "MessageNotFound")?;
            queue.update(&bad, "0")?.send().await?.expect_code(404, "MessageNotFound")?;
        }
    }
    Ok(())
}

async fn an_unknown_message_cannot_be_deleted(at: &Session) -> Outcome {
    let (queue, message) = taken(at).await?;
    queue.delete(&unknown(&message))?.send().await?.expect_code(404, "MessageNotFound")?;
    Ok(())
}

async fn a_message_of_a_missing_queue_cannot_be_deleted(at: &Session) -> Outcome {
    let (_, message) = taken(at).await?;
    at.missing_queue().delete(&message)?.send().await?.expect_code(404, "QueueNotFound")?;
    Ok(())
}

async fn clearing_removes_visible_and_invisible_messages(at: &Session) -> Outcome {
    let (queue, hidden) = taken(at).await?;
    queue.seed("visible").await?;
    queue.on_messages("DELETE")?.send().await?.expect(204)?.expect_no_body()?;
    equal("count", queue.count().await?, "0")?;
    queue.delete(&hidden)?.send().await?.expect_code(404, "MessageNotFound")?;
    Ok(())
}

async fn a_cleared_queue_goes_on(at: &Session) -> Outcome {
    let queue = at.missing_queue();
    queue.create()?.header("x-ms-meta-color", "red").send().await?.expect(201)?;
    queue.seed("old").await?;
    queue.on_messages("DELETE")?.send().await?.expect(204)?;
    queue.seed("new").await?;
    equal("messages", queue.peeked().await?, ["new"])?;
    queue.metadata()?.send().await?.expect_header("x-ms-meta-color", "red")?;
    Ok(())
}
