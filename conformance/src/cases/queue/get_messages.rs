//! Get and Peek Messages.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::expect::{ensure, equal};
use crate::queue::{Queue, messages};
use crate::{Outcome, Session, cases};

cases! {
    GetMessages {
        a_message_that_is_given_out_has_seven_elements,
        messages_come_in_the_order_in_which_they_were_put,
        one_message_is_given_out_unless_more_are_asked_for,
        as_many_messages_as_asked_for_are_given_out,
        an_empty_queue_gives_an_empty_list,
        a_message_that_was_given_out_is_hidden,
        a_message_comes_back_after_its_timeout_with_a_higher_count,
        a_message_may_be_hidden_beyond_its_expiry,
        an_expired_message_is_not_given_out,
        a_count_of_messages_outside_its_range_is_refused,
        a_visibility_of_get_outside_its_range_is_refused,
        a_parameter_that_is_no_number_is_refused,
        messages_of_a_missing_queue_are_not_found,
        many_consumers_get_each_message_once,
    }
    PeekMessages {
        a_peeked_message_has_no_receipt,
        peeking_changes_nothing,
        invisible_messages_are_not_peeked,
        a_count_of_peeked_messages_outside_its_range_is_refused,
        messages_can_be_peeked_at_the_secondary,
    }
}

async fn of_one(at: &Session) -> Outcome<Queue<'_>> {
    let queue = at.queue().await?;
    queue.seed("text").await?;
    Ok(queue)
}

async fn a_message_that_is_given_out_has_seven_elements(at: &Session) -> Outcome {
    let queue = of_one(at).await?;
    let response = queue.get()?.send().await?;
    response.expect(200)?.expect_header("Content-Type", "application/xml")?;
    response.expect_header("Cache-Control", "no-cache")?;
    let root = response.xml()?;
    let wanted = [
        "MessageId",
        "InsertionTime",
        "ExpirationTime",
        "PopReceipt",
        "TimeNextVisible",
        "DequeueCount",
        "MessageText",
    ];
    equal("elements", root.children.first().map(crate::xml::Element::names), Some(wanted.to_vec()))?;
    let message = messages(&response)?.remove(0);
    equal("DequeueCount", message.dequeue_count.as_str(), "1")?;
    equal("MessageText", message.text.as_str(), "text")
}

async fn messages_come_in_the_order_in_which_they_were_put(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    for text in ["1", "2", "3", "4"] {
        queue.seed(text).await?;
    }
    let texts: Vec<String> = queue.take().await?.into_iter().map(|message| message.text).collect();
    equal("texts", texts, ["1", "2", "3", "4"])
}

async fn one_message_is_given_out_unless_more_are_asked_for(at: &Session) -> Outcome {
    let queue = of_one(at).await?;
    queue.seed("second").await?;
    equal("messages", messages(&queue.get()?.send().await?)?.len(), 1)
}

async fn as_many_messages_as_asked_for_are_given_out(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    for number in 0..33 {
        queue.seed(&number.to_string()).await?;
    }
    equal("messages", queue.take().await?.len(), 32)?;
    equal("messages", queue.take().await?.len(), 1)
}

async fn an_empty_queue_gives_an_empty_list(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    queue.get()?.send().await?.expect(200)?.expect_body_contains("<QueueMessagesList />")?;
    Ok(())
}

async fn a_message_that_was_given_out_is_hidden(at: &Session) -> Outcome {
    let queue = of_one(at).await?;
    let message = queue.take_one().await?;
    ensure(message.next_visible != message.inserted, || "it is visible at once".to_owned())?;
    equal("messages", queue.take().await?.len(), 0)?;
    equal("messages", queue.peeked().await?.len(), 0)
}

async fn a_message_comes_back_after_its_timeout_with_a_higher_count(at: &Session) -> Outcome {
    let queue = of_one(at).await?;
    let first = messages(&queue.get()?.raw_query("visibilitytimeout=1").send().await?)?;
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let second = queue.take_one().await?;
    equal("MessageId", Some(&second.id), first.first().map(|message| &message.id))?;
    equal("DequeueCount", second.dequeue_count.as_str(), "2")?;
    ensure(first.first().is_some_and(|first| first.receipt != second.receipt), || "the same receipt".to_owned())
}

async fn a_message_may_be_hidden_beyond_its_expiry(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    queue.sent(queue.put("text")?.raw_query("messagettl=30")).await?;
    let response = queue.get()?.raw_query("visibilitytimeout=604800").send().await?;
    equal("messages", messages(response.expect(200)?)?.len(), 1)
}

async fn an_expired_message_is_not_given_out(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    let message = queue.sent(queue.put("text")?.raw_query("messagettl=1")).await?;
    tokio::time::sleep(Duration::from_millis(2100)).await;
    equal("messages", queue.take().await?.len(), 0)?;
    equal("messages", queue.peeked().await?.len(), 0)?;
    queue.delete(&message)?.send().await?.expect_code(404, "MessageNotFound")?;
    Ok(())
}

async fn a_count_of_messages_outside_its_range_is_refused(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    for count in ["0", "33", "-1"] {
        let response = queue.get()?.query("numofmessages", count).send().await?;
        response.expect_code(400, "OutOfRangeQueryParameterValue")?;
        let root = response.xml()?;
        equal("name", root.at("QueryParameterName"), Some("numofmessages"))?;
        equal("value", root.at("QueryParameterValue"), Some(count))?;
        equal("bounds", (root.at("MinimumAllowed"), root.at("MaximumAllowed")), (Some("1"), Some("32")))?;
    }
    Ok(())
}

async fn a_visibility_of_get_outside_its_range_is_refused(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    for seconds in ["0", "-1", "604801"] {
        let response = queue.get()?.query("visibilitytimeout", seconds).send().await?;
        response.expect_code(400, "OutOfRangeQueryParameterValue")?;
        let root = response.xml()?;
        equal("bounds", (root.at("MinimumAllowed"), root.at("MaximumAllowed")), (Some("1"), Some("604800")))?;
    }
    Ok(())
}

async fn a_parameter_that_is_no_number_is_refused(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    for parameter in ["numofmessages", "visibilitytimeout"] {
        let response = queue.get()?.query(parameter, "many").send().await?;
        response.expect_any_code(&[(400, "InvalidQueryParameterValue"), (400, "OutOfRangeQueryParameterValue")])?;
    }
    Ok(())
}

async fn messages_of_a_missing_queue_are_not_found(at: &Session) -> Outcome {
    let queue = at.missing_queue();
    for request in [queue.get()?, queue.peek()?, queue.on_messages("DELETE")?] {
        request.send().await?.expect_code(404, "QueueNotFound")?;
    }
    Ok(())
}

async fn many_consumers_get_each_message_once(at: &Session) -> Outcome {
    const MESSAGES: usize = 60;
    let queue = at.queue().await?;
    for number in 0..MESSAGES {
        queue.seed(&number.to_string()).await?;
    }
    let consume = async || {
        let mut texts = Vec::new();
        for _ in 0..MESSAGES {
            let got = messages(queue.get()?.raw_query("numofmessages=3").send().await?.expect(200)?)?;
            if got.is_empty() {
                break;
            }
            texts.extend(got.into_iter().map(|message| message.text));
        }
        Ok::<_, crate::Failure>(texts)
    };
    let (a, b, c, d) = tokio::join!(consume(), consume(), consume(), consume());
    let all = [a?, b?, c?, d?].concat();
    let each: BTreeSet<&String> = all.iter().collect();
    equal("messages and those among them that differ", (all.len(), each.len()), (MESSAGES, MESSAGES))
}

async fn a_peeked_message_has_no_receipt(at: &Session) -> Outcome {
    let queue = of_one(at).await?;
    let root = queue.peek()?.send().await?.expect(200)?.xml()?;
    let wanted = ["MessageId", "InsertionTime", "ExpirationTime", "DequeueCount", "MessageText"];
    equal("elements", root.children.first().map(crate::xml::Element::names), Some(wanted.to_vec()))?;
    equal("DequeueCount", root.at("QueueMessage/DequeueCount"), Some("0"))
}

async fn peeking_changes_nothing(at: &Session) -> Outcome {
    let queue = of_one(at).await?;
    for _ in 0..2 {
        equal("messages", queue.peeked().await?, ["text"])?;
    }
    equal("DequeueCount", queue.take_one().await?.dequeue_count.as_str(), "1")
}

async fn invisible_messages_are_not_peeked(at: &Session) -> Outcome {
    let queue = of_one(at).await?;
    queue.sent(queue.put("hidden")?.raw_query("visibilitytimeout=60")).await?;
    equal("messages", queue.peeked().await?, ["text"])
}

async fn a_count_of_peeked_messages_outside_its_range_is_refused(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    for count in ["0", "33"] {
        let response = queue.peek()?.query("numofmessages", count).send().await?;
        response.expect_code(400, "OutOfRangeQueryParameterValue")?;
    }
    Ok(())
}

async fn messages_can_be_peeked_at_the_secondary(at: &Session) -> Outcome {
    let queue = of_one(at).await?;
    let response = queue.peek()?.at_secondary().send().await?;
    // Replication takes its time.
    if response.status() != 404 {
        response.expect(200)?;
    }
    queue.get()?.at_secondary().send().await?.expect_refusal()?;
    Ok(())
}
