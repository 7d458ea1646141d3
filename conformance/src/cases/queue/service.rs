//! The Queue service as a whole: properties, stats, CORS, and the form of its errors.

use crate::expect::{ensure, equal};
use crate::{Outcome, Session, cases};

cases! {
    GetQueueServiceProperties {
        queue_properties_have_four_sections,
    }
    SetQueueServiceProperties {
        queue_properties_that_are_no_xml_are_refused,
        a_section_that_queues_do_not_have_is_refused,
    }
    GetQueueServiceStats {
        the_secondary_of_the_queues_tells_its_state,
        stats_of_the_primary_queues_are_refused,
    }
    QueuePreflightRequest {
        a_preflight_without_rules_is_refused_by_the_queues,
    }
    GetQueueMetadata {
        an_error_of_the_queues_is_one_line_of_xml,
        every_answer_of_the_queues_echoes_the_client_request_id,
        the_queues_name_themselves_in_server,
        a_verb_that_no_queue_knows_is_refused,
        a_comp_that_no_queue_knows_is_refused,
    }
}

async fn queue_properties_have_four_sections(at: &Session) -> Outcome {
    let response = at.to_queues("GET", "/")?.raw_query("restype=service&comp=properties").send().await?;
    let root = response.expect(200)?.xml()?;
    equal("root", root.name.as_str(), "StorageServiceProperties")?;
    equal("sections", root.names(), ["Logging", "HourMetrics", "MinuteMetrics", "Cors"])
}

async fn queue_properties_that_are_no_xml_are_refused(at: &Session) -> Outcome {
    let request = at.to_queues("PUT", "/")?.raw_query("restype=service&comp=properties").xml("no xml");
    request.send().await?.expect_code(400, "InvalidXmlDocument")?;
    Ok(())
}

async fn a_section_that_queues_do_not_have_is_refused(at: &Session) -> Outcome {
    let body = "<StorageServiceProperties><DefaultServiceVersion>2019-02-02</DefaultServiceVersion></StorageServiceProperties>";
    let request = at.to_queues("PUT", "/")?.raw_query("restype=service&comp=properties").xml(body);
    request.send().await?.expect_any_code(&[(400, "UnsupportedXmlNode"), (400, "InvalidXmlDocument")])?;
    Ok(())
}

async fn the_secondary_of_the_queues_tells_its_state(at: &Session) -> Outcome {
    let request = at.to_queues("GET", "/")?.raw_query("restype=service&comp=stats").at_secondary();
    let root = request.send().await?.expect(200)?.xml()?;
    let status = root.at("GeoReplication/Status").unwrap_or_default().to_owned();
    ensure(["live", "bootstrap", "unavailable"].contains(&status.as_str()), || format!("the status is {status}"))
}

async fn stats_of_the_primary_queues_are_refused(at: &Session) -> Outcome {
    let request = at.to_queues("GET", "/")?.raw_query("restype=service&comp=stats");
    request.send().await?.expect_code(400, "InvalidQueryParameterValue")?;
    Ok(())
}

async fn a_preflight_without_rules_is_refused_by_the_queues(at: &Session) -> Outcome {
    let queue = at.missing_queue();
    let request = queue.request("OPTIONS")?.anonymous();
    let request = request.header("Origin", "http://nobody.example").header("Access-Control-Request-Method", "GET");
    request.send().await?.expect_code(403, "CorsPreflightFailure")?;
    Ok(())
}

async fn an_error_of_the_queues_is_one_line_of_xml(at: &Session) -> Outcome {
    let response = at.missing_queue().metadata()?.send().await?;
    response.expect(404)?.expect_header("x-ms-error-code", "QueueNotFound")?;
    response.expect_header("Content-Type", "application/xml")?;
    let text = response.text();
    let head = "\u{feff}<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>QueueNotFound</Code>\
        <Message>The specified queue does not exist.\nRequestId:";
    ensure(text.starts_with(head), || format!("the body is {text}"))?;
    ensure(text.ends_with("Z</Message></Error>"), || format!("the body is {text}"))
}

async fn every_answer_of_the_queues_echoes_the_client_request_id(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    for request in [queue.metadata()?, at.missing_queue().metadata()?, queue.put("x")?] {
        let response = request.header("x-ms-client-request-id", "my id").send().await?;
        response.expect_header("x-ms-client-request-id", "my id")?;
        ensure(response.header("Date").is_some(), || "no Date".to_owned())?;
    }
    Ok(())
}

async fn the_queues_name_themselves_in_server(at: &Session) -> Outcome {
    let response = at.queue().await?.metadata()?.send().await?;
    let server = response.header("Server").unwrap_or_default().to_owned();
    ensure(server.starts_with("Windows-Azure-Queue/1.0"), || format!("the server is {server}"))
}

async fn a_verb_that_no_queue_knows_is_refused(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    queue.request("POST")?.body("").send().await?.expect_refusal()?;
    queue.on_messages("PUT")?.body("").send().await?.expect_refusal()?;
    Ok(())
}

async fn a_comp_that_no_queue_knows_is_refused(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    queue.request("GET")?.raw_query("comp=lease").send().await?.expect_code(400, "InvalidQueryParameterValue")?;
    Ok(())
}
