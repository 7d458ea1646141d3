//! The limits of cross-origin rules, which the three services share.

use crate::request::Request;
use crate::{Outcome, Session, cases};

cases! {
    SetTableServiceProperties {
        too_many_origins_or_headers_of_a_table_rule_are_refused,
        a_table_rule_may_name_any_method_of_http,
    }
    SetQueueServiceProperties {
        too_many_origins_or_headers_of_a_queue_rule_are_refused,
        a_queue_rule_may_name_any_method_of_http,
    }
    SetBlobServiceProperties {
        too_many_origins_or_headers_of_a_blob_rule_are_refused,
        a_blob_rule_may_name_any_method_of_http,
    }
}

fn body(origins: &str, methods: &str, allowed: &str, exposed: &str) -> String {
    format!(
        "<StorageServiceProperties><Cors><CorsRule><AllowedOrigins>{origins}</AllowedOrigins><AllowedMethods>{methods}\
         </AllowedMethods><MaxAgeInSeconds>1</MaxAgeInSeconds><ExposedHeaders>{exposed}</ExposedHeaders>\
         <AllowedHeaders>{allowed}</AllowedHeaders></CorsRule></Cors></StorageServiceProperties>"
    )
}

fn numbered(count: usize, text: &str) -> String {
    (0..count).map(|number| text.replace('#', &number.to_string())).collect::<Vec<_>>().join(",")
}

/// Sets properties of a service that nothing else depends on: each body is refused.
async fn expect_refused<'s>(set: impl Fn(String) -> Outcome<Request<'s>>) -> Outcome {
    let origins = numbered(65, "http://a#.b");
    let (literal, prefixed) = (numbered(65, "h#"), numbered(3, "h#*"));
    for body in [
        body(&origins, "GET", "*", "*"),
        body("*", "GET", &literal, "*"),
        body("*", "GET", &prefixed, "*"),
        body("*", "GET", "*", &literal),
        body("*", "GET", "*", &prefixed),
    ] {
        set(body)?.send().await?.expect_code(400, "InvalidXmlNodeValue")?;
    }
    let six = body("*", "GET", "*", "*");
    let (head, tail) = six.split_once("<CorsRule>").unwrap_or_default();
    let (rule, end) = tail.split_once("</Cors>").unwrap_or_default();
    let six = format!("{head}{}</Cors>{end}", format!("<CorsRule>{rule}").repeat(6));
    set(six)?.send().await?.expect_code(400, "InvalidXmlDocument")?;
    Ok(())
}

const METHODS: &str = "GET,HEAD,POST,OPTIONS,PUT,MERGE,DELETE,TRACE,CONNECT";

fn queues<'s>(at: &'s Session) -> impl Fn(String) -> Outcome<Request<'s>> {
    |body| Ok(at.to_queues("PUT", "/")?.raw_query("restype=service&comp=properties").xml(body))
}

fn blobs<'s>(at: &'s Session) -> impl Fn(String) -> Outcome<Request<'s>> {
    |body| Ok(at.to_blobs("PUT", "/")?.raw_query("restype=service&comp=properties").xml(body))
}

/// Sets the rule, and sets no rule afterwards.
async fn expect_accepted<'s>(set: impl Fn(String) -> Outcome<Request<'s>>) -> Outcome {
    let response = set(body("http://app.example", METHODS, "*", "*"))?.send().await?;
    let none = "<StorageServiceProperties><Cors /></StorageServiceProperties>".to_owned();
    set(none)?.send().await?.expect(202)?;
    response.expect(202)?;
    Ok(())
}

async fn too_many_origins_or_headers_of_a_table_rule_are_refused(at: &Session) -> Outcome {
    // A server that accepts them would keep them for the cases after this one.
    at.borrow_properties().await?;
    expect_refused(|body| Ok(at.set_properties(&body))).await
}

async fn a_table_rule_may_name_any_method_of_http(at: &Session) -> Outcome {
    at.borrow_properties().await?;
    expect_accepted(|body| Ok(at.set_properties(&body))).await
}

async fn too_many_origins_or_headers_of_a_queue_rule_are_refused(at: &Session) -> Outcome {
    expect_refused(queues(at)).await
}

async fn a_queue_rule_may_name_any_method_of_http(at: &Session) -> Outcome {
    expect_accepted(queues(at)).await
}

async fn too_many_origins_or_headers_of_a_blob_rule_are_refused(at: &Session) -> Outcome {
    expect_refused(blobs(at)).await
}

async fn a_blob_rule_may_name_any_method_of_http(at: &Session) -> Outcome {
    expect_accepted(blobs(at)).await
}
