//! Put Message: the text, the times, and what comes back.

use crate::expect::{ensure, equal};
use crate::queue::{body, messages};
use crate::{Outcome, Session, cases};

cases! {
    PutMessage {
        a_put_message_comes_back_without_its_text,
        before_2016_put_message_answers_with_nothing,
        a_message_lives_for_a_week_unless_it_says_otherwise,
        a_message_may_live_for_ever,
        a_message_may_live_longer_than_a_week,
        before_2017_a_message_lives_no_longer_than_a_week,
        a_time_to_live_of_nothing_is_refused,
        a_put_message_may_be_hidden_at_first,
        a_visibility_of_put_outside_its_range_is_refused,
        a_message_must_become_visible_before_it_expires,
        text_is_kept_to_the_last_blank,
        text_with_markup_is_kept_when_it_is_escaped,
        text_that_xml_cannot_hold_is_refused,
        an_empty_text_is_a_message,
        a_body_without_a_text_is_refused,
        a_text_of_64_kib_is_accepted_and_one_more_byte_is_not,
        escapes_do_not_count_against_the_text,
        a_body_over_its_limit_is_refused,
        a_byte_order_mark_and_a_declaration_are_accepted,
        a_message_to_a_missing_queue_is_refused,
        the_sender_can_delete_what_it_put,
    }
}

async fn a_put_message_comes_back_without_its_text(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    let response = queue.put("text")?.send().await?;
    response.expect(201)?.expect_header("Content-Type", "application/xml")?;
    let root = response.xml()?;
    let wanted = ["MessageId", "InsertionTime", "ExpirationTime", "PopReceipt", "TimeNextVisible"];
    equal("elements", root.children.first().map(crate::xml::Element::names), Some(wanted.to_vec()))?;
    let message = messages(&response)?.remove(0);
    equal("TimeNextVisible", &message.next_visible, &message.inserted)?;
    ensure(message.inserted.ends_with(" GMT"), || format!("the time is {}", message.inserted))
}

async fn before_2016_put_message_answers_with_nothing(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    queue.put("text")?.version("2015-12-11").send().await?.expect(201)?.expect_no_body()?;
    equal("messages", queue.peeked().await?, ["text"])
}

async fn a_message_lives_for_a_week_unless_it_says_otherwise(at: &Session) -> Outcome {
    let message = at.queue().await?.seed("text").await?;
    let [inserted, expires] = [&message.inserted, &message.expires].map(|time| time[5..16].to_owned());
    ensure(inserted != expires && message.inserted[..3] == message.expires[..3], || {
        format!("from {} to {} is not a week", message.inserted, message.expires)
    })
}

async fn a_message_may_live_for_ever(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    let message = queue.sent(queue.put("text")?.raw_query("messagettl=-1&visibilitytimeout=604800")).await?;
    equal("ExpirationTime", message.expires.as_str(), "Fri, 31 Dec 9999 23:59:59 GMT")
}

async fn a_message_may_live_longer_than_a_week(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    queue.sent(queue.put("text")?.raw_query("messagettl=604801")).await?;
    let message = queue.sent(queue.put("text")?.raw_query("messagettl=999999999999")).await?;
    equal("ExpirationTime", message.expires.as_str(), "Fri, 31 Dec 9999 23:59:59 GMT")
}

async fn before_2017_a_message_lives_no_longer_than_a_week(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    for ttl in ["604801", "-1"] {
        let response = queue.put("text")?.query("messagettl", ttl).version("2016-05-31").send().await?;
        let accepted = [(400, "OutOfRangeQueryParameterValue"), (400, "InvalidQueryParameterValue")];
        response.expect_any_code(&accepted)?;
    }
    Ok(())
}

async fn a_time_to_live_of_nothing_is_refused(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    for ttl in ["0", "-2", "x"] {
        let response = queue.put("text")?.query("messagettl", ttl).send().await?;
        response.expect_code(400, "InvalidQueryParameterValue")?;
        response.expect_body_contains("<QueryParameterName>messagettl</QueryParameterName>")?;
    }
    Ok(())
}

async fn a_put_message_may_be_hidden_at_first(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    let message = queue.sent(queue.put("text")?.raw_query("visibilitytimeout=60")).await?;
    ensure(message.next_visible != message.inserted, || "it is visible at once".to_owned())?;
    equal("messages", queue.peeked().await?.len(), 0)?;
    equal("messages", queue.take().await?.len(), 0)
}

async fn a_visibility_of_put_outside_its_range_is_refused(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    for seconds in ["-1", "604801"] {
        let put = queue.put("text")?.raw_query("messagettl=-1").query("visibilitytimeout", seconds);
        let response = put.send().await?;
        response.expect_code(400, "OutOfRangeQueryParameterValue")?;
        let root = response.xml()?;
        equal("name", root.at("QueryParameterName"), Some("visibilitytimeout"))?;
        equal("value", root.at("QueryParameterValue"), Some(seconds))?;
        equal("bounds", (root.at("MinimumAllowed"), root.at("MaximumAllowed")), (Some("0"), Some("604800")))?;
    }
    Ok(())
}

async fn a_message_must_become_visible_before_it_expires(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    for times in ["visibilitytimeout=10&messagettl=10", "visibilitytimeout=11&messagettl=10"] {
        let response = queue.put("text")?.raw_query(times).send().await?;
        response.expect_code(400, "InvalidQueryParameterValue")?;
        let reason = "messagettl must be greater than visibilitytimeout";
        equal("Reason", response.xml()?.at("Reason"), Some(reason))?;
    }
    queue.put("text")?.raw_query("visibilitytimeout=9&messagettl=10").send().await?.expect(201)?;
    Ok(())
}

async fn text_is_kept_to_the_last_blank(at: &Session) -> Outcome {
    for text in [" leading", "trailing \t", "\n lines \n\n", "東京 😀", "   "] {
        let queue = at.queue().await?;
        queue.seed(text).await?;
        equal("text", queue.take_one().await?.text, text)?;
    }
    Ok(())
}

async fn text_with_markup_is_kept_when_it_is_escaped(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    queue.seed("&lt;a b=\"c\"&gt; &amp;amp; &amp;lt; &#x1F600; &apos;").await?;
    let response = queue.get()?.send().await?;
    response
        .expect(200)?
        .expect_body_contains("<MessageText>&lt;a b=\"c\"&gt; &amp;amp; &amp;lt; 😀 '</MessageText>")?;
    Ok(())
}

async fn text_that_xml_cannot_hold_is_refused(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    for text in ["\u{1}", "&#x1;", "&#0;", "&unknown;", "<open>"] {
        queue.put(text)?.send().await?.expect_code(400, "InvalidXmlDocument")?;
    }
    Ok(())
}

async fn an_empty_text_is_a_message(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    queue.seed("").await?;
    let closed = "<QueueMessage><MessageText /></QueueMessage>";
    queue.on_messages("POST")?.xml(closed).send().await?.expect(201)?;
    equal("messages", queue.peeked().await?, ["", ""])
}

async fn a_body_without_a_text_is_refused(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    for body in ["", "<QueueMessage />", "<QueueMessage><Text>x</Text></QueueMessage>", "no xml"] {
        let response = queue.on_messages("POST")?.xml(body).send().await?;
        response.expect_any_code(&[(400, "InvalidXmlDocument"), (400, "MissingRequiredXmlNode")])?;
    }
    Ok(())
}

async fn a_text_of_64_kib_is_accepted_and_one_more_byte_is_not(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    queue.seed(&"a".repeat(65_536)).await?;
    equal("length", queue.take_one().await?.text.len(), 65_536)?;
    let response = queue.put(&"a".repeat(65_537))?.send().await?;
    response.expect_any_code(&[(413, "RequestBodyTooLarge"), (400, "MessageTooLarge")])?;
    response.expect_body_contains("<MaxLimit>65536</MaxLimit>")?;
    Ok(())
}

async fn escapes_do_not_count_against_the_text(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    queue.seed(&("&lt;".repeat(16_384) + &"é".repeat(24_576))).await?;
    equal("length", queue.take_one().await?.text.len(), 65_536)
}

async fn a_body_over_its_limit_is_refused(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    let response = queue.put(&"a".repeat(140_000))?.send().await?;
    response.expect_any_code(&[(413, "RequestBodyTooLarge"), (400, "MessageTooLarge")])?;
    Ok(())
}

async fn a_byte_order_mark_and_a_declaration_are_accepted(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    let declared = format!("\u{feff}<?xml version=\"1.0\" encoding=\"utf-8\"?>\n{}\n", body("x"));
    queue.on_messages("POST")?.xml(declared).send().await?.expect(201)?;
    equal("messages", queue.peeked().await?, ["x"])
}

async fn a_message_to_a_missing_queue_is_refused(at: &Session) -> Outcome {
    at.missing_queue().put("text")?.send().await?.expect_code(404, "QueueNotFound")?;
    Ok(())
}

async fn the_sender_can_delete_what_it_put(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    let message = queue.seed("text").await?;
    queue.delete(&message)?.send().await?.expect(204)?;
    equal("messages", queue.peeked().await?.len(), 0)
}
