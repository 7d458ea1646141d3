//! Create, list and delete queues.

use crate::expect::{ensure, equal};
use crate::response::Response;
use crate::{Outcome, Session, cases};

cases! {
    CreateQueue {
        a_new_queue_is_created_with_nothing_in_the_answer,
        a_queue_that_exists_with_the_same_metadata_is_no_error,
        a_queue_that_exists_with_other_metadata_is_a_conflict,
        queue_names_of_another_length_are_refused,
        queue_names_with_other_characters_are_refused,
        a_queue_can_be_created_again_after_its_deletion,
    }
    DeleteQueue {
        a_deleted_queue_is_gone_with_its_messages,
        a_missing_queue_cannot_be_deleted,
    }
    ListQueues {
        queues_are_listed_by_prefix_in_order,
        a_page_of_queues_says_where_the_next_one_starts,
        queues_are_listed_with_metadata_on_request,
        a_listing_without_queues_has_empty_elements,
        a_queue_listing_names_its_service,
        a_queue_page_of_nothing_or_less_is_refused,
        a_queue_page_above_the_limit_is_served,
        an_unknown_include_of_queues_is_refused,
        a_queue_marker_of_another_form_is_refused,
    }
}

async fn a_new_queue_is_created_with_nothing_in_the_answer(at: &Session) -> Outcome {
    let response = at.missing_queue().create()?.send().await?;
    response.expect(201)?.expect_no_body()?.expect_header("x-ms-version", "2019-02-02")?;
    ensure(response.header("x-ms-request-id").is_some(), || "no x-ms-request-id".to_owned())
}

async fn a_queue_that_exists_with_the_same_metadata_is_no_error(at: &Session) -> Outcome {
    let queue = at.missing_queue();
    queue.create()?.header("x-ms-meta-color", "red").send().await?.expect(201)?;
    queue.create()?.header("x-ms-meta-color", "red").send().await?.expect(204)?.expect_no_body()?;
    Ok(())
}

async fn a_queue_that_exists_with_other_metadata_is_a_conflict(at: &Session) -> Outcome {
    let queue = at.missing_queue();
    queue.create()?.header("x-ms-meta-color", "red").send().await?.expect(201)?;
    for other in [queue.create()?, queue.create()?.header("x-ms-meta-color", "blue")] {
        let message = "The specified queue already exists.";
        other.send().await?.expect_error(409, "QueueAlreadyExists", message)?;
    }
    Ok(())
}

async fn queue_names_of_another_length_are_refused(at: &Session) -> Outcome {
    for name in ["ab", &"a".repeat(64)] {
        at.to_queues("PUT", format!("/{name}"))?.send().await?.expect_code(400, "OutOfRangeInput")?;
    }
    Ok(())
}

async fn queue_names_with_other_characters_are_refused(at: &Session) -> Outcome {
    for name in ["Upper", "two--hyphens", "-first", "last-", "under_score"] {
        at.to_queues("PUT", format!("/{name}"))?.send().await?.expect_code(400, "InvalidResourceName")?;
    }
    Ok(())
}

async fn a_queue_can_be_created_again_after_its_deletion(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    queue.seed("old").await?;
    queue.request("DELETE")?.send().await?.expect(204)?;
    // Azure keeps the name for a while.
    let response = queue.create()?.send().await?;
    if response.status() == 409 {
        response.expect_code(409, "QueueBeingDeleted")?;
        return Ok(());
    }
    response.expect(201)?;
    equal("messages", queue.peeked().await?.len(), 0)
}

async fn a_deleted_queue_is_gone_with_its_messages(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    queue.seed("text").await?;
    queue.request("DELETE")?.send().await?.expect(204)?.expect_no_body()?;
    for request in [queue.metadata()?, queue.get()?, queue.put("text")?, queue.acl()?, queue.on_messages("DELETE")?] {
        let response = request.send().await?;
        response.expect_error(404, "QueueNotFound", "The specified queue does not exist.")?;
    }
    Ok(())
}

async fn a_missing_queue_cannot_be_deleted(at: &Session) -> Outcome {
    at.missing_queue().request("DELETE")?.send().await?.expect_code(404, "QueueNotFound")?;
    Ok(())
}

/// Three queues with a prefix that no other case has.
async fn three_queues(at: &Session) -> Outcome<String> {
    let prefix = at.unused_name();
    for suffix in ["c", "a", "b"] {
        let name = format!("{prefix}-{suffix}");
        at.delete_afterwards(&name);
        let create = at.to_queues("PUT", format!("/{name}"))?;
        create.header("x-ms-meta-suffix", suffix).send().await?.expect(201)?;
    }
    Ok(prefix)
}

fn names(listing: &Response) -> Outcome<Vec<String>> {
    let root = listing.expect(200)?.xml()?;
    equal("root", root.name.as_str(), "EnumerationResults")?;
    let queues = root.child("Queues").map(|queues| queues.children.as_slice()).unwrap_or_default();
    Ok(queues.iter().map(|queue| queue.at("Name").unwrap_or_default().to_owned()).collect())
}

async fn queues_are_listed_by_prefix_in_order(at: &Session) -> Outcome {
    let prefix = three_queues(at).await?;
    let listing = at.to_queues("GET", "/")?.raw_query("comp=list").query("prefix", &prefix).send().await?;
    listing.expect_header("Content-Type", "application/xml")?;
    equal("names", names(&listing)?, ["a", "b", "c"].map(|suffix| format!("{prefix}-{suffix}")))?;
    let root = listing.xml()?;
    equal("elements", root.names(), ["Prefix", "Queues", "NextMarker"])?;
    equal("Prefix", root.at("Prefix"), Some(prefix.as_str()))?;
    equal("NextMarker", root.at("NextMarker"), Some(""))
}

async fn a_page_of_queues_says_where_the_next_one_starts(at: &Session) -> Outcome {
    let prefix = three_queues(at).await?;
    let list = || {
        Ok::<_, crate::Failure>(at.to_queues("GET", "/")?.raw_query("comp=list&maxresults=2").query("prefix", &prefix))
    };
    let first = list()?.send().await?;
    equal("the first page", names(&first)?.len(), 2)?;
    equal("elements", first.xml()?.names(), ["Prefix", "MaxResults", "Queues", "NextMarker"])?;
    let marker = first.xml()?.at("NextMarker").unwrap_or_default().to_owned();
    ensure(!marker.is_empty(), || "no marker".to_owned())?;
    let second = list()?.query("marker", &marker).send().await?;
    equal("the second page", names(&second)?, [format!("{prefix}-c")])?;
    let root = second.xml()?;
    equal("elements", root.names(), ["Prefix", "Marker", "MaxResults", "Queues", "NextMarker"])?;
    equal("NextMarker", root.at("NextMarker"), Some(""))
}

async fn queues_are_listed_with_metadata_on_request(at: &Session) -> Outcome {
    let prefix = three_queues(at).await?;
    let list = at.to_queues("GET", "/")?.raw_query("comp=list").query("prefix", &prefix);
    list.clone().send().await?.expect(200)?.expect_body_lacks("<Metadata>")?;
    let listing = list.raw_query("include=metadata").send().await?;
    listing.expect(200)?.expect_body_contains("<Metadata><suffix>a</suffix></Metadata>")?;
    Ok(())
}

async fn a_listing_without_queues_has_empty_elements(at: &Session) -> Outcome {
    let prefix = at.unused_name();
    let listing = at.to_queues("GET", "/")?.raw_query("comp=list").query("prefix", &prefix).send().await?;
    listing.expect(200)?.expect_body_contains("<Queues />")?.expect_body_contains("<NextMarker />")?;
    Ok(())
}

async fn a_queue_listing_names_its_service(at: &Session) -> Outcome {
    let listing = at.to_queues("GET", "/")?.raw_query("comp=list&maxresults=1").send().await?;
    let base = at.target().queue.as_ref().map(|queue| queue.primary.base()).unwrap_or_default();
    listing.expect(200)?.expect_body_contains(&format!("<EnumerationResults ServiceEndpoint=\"{base}"))?;
    ensure(listing.text().starts_with('\u{feff}'), || "no byte order mark".to_owned())
}

async fn a_queue_page_of_nothing_or_less_is_refused(at: &Session) -> Outcome {
    for size in ["0", "-1"] {
        let listing = at.to_queues("GET", "/")?.raw_query("comp=list").query("maxresults", size).send().await?;
        listing.expect_code(400, "OutOfRangeQueryParameterValue")?;
    }
    Ok(())
}

async fn a_queue_page_above_the_limit_is_served(at: &Session) -> Outcome {
    let listing = at.to_queues("GET", "/")?.raw_query("comp=list&maxresults=5001").send().await?;
    if listing.status() == 400 {
        listing.expect_code(400, "OutOfRangeQueryParameterValue")?;
        return Ok(());
    }
    listing.expect(200)?;
    Ok(())
}

async fn an_unknown_include_of_queues_is_refused(at: &Session) -> Outcome {
    let listing = at.to_queues("GET", "/")?.raw_query("comp=list&include=everything").send().await?;
    listing.expect_code(400, "InvalidQueryParameterValue")?;
    Ok(())
}

async fn a_queue_marker_of_another_form_is_refused(at: &Session) -> Outcome {
    for marker in ["garbage", "%2Fno%2Fmarker"] {
        let listing = at.to_queues("GET", "/")?.raw_query(&format!("comp=list&marker={marker}"));
        listing.send().await?.expect_code(400, "OutOfRangeInput")?;
    }
    Ok(())
}
