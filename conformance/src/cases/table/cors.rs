//! Cross-origin rules: preflight, and the headers of actual requests.

use crate::expect::{ensure, equal};
use crate::request::Request;
use crate::{Outcome, Session, cases};

cases! {
    TablePreflightRequest {
        preflight_without_rules_is_refused,
        preflight_of_a_matching_rule_is_answered,
        preflight_is_answered_on_every_kind_of_path,
        preflight_of_a_wildcard_rule_allows_any_origin,
        preflight_from_another_origin_is_refused,
        preflight_matches_origins_by_case,
        preflight_for_another_method_is_refused,
        preflight_for_another_header_is_refused,
        preflight_matches_header_prefixes_in_any_case,
        preflight_takes_the_first_matching_rule,
        preflight_needs_an_origin,
        preflight_needs_a_method,
    }
    QueryTables {
        a_request_from_an_allowed_origin_is_marked,
        a_request_from_another_origin_is_served_unmarked,
        a_request_under_a_wildcard_rule_is_marked_with_a_star,
    }
}

const ORIGIN: &str = "http://app.example";

fn rule(origins: &str, methods: &str, headers: &str, max_age: u32) -> String {
    format!(
        "<CorsRule><AllowedOrigins>{origins}</AllowedOrigins><AllowedMethods>{methods}</AllowedMethods>\
         <MaxAgeInSeconds>{max_age}</MaxAgeInSeconds><ExposedHeaders>x-ms-request-id</ExposedHeaders>\
         <AllowedHeaders>{headers}</AllowedHeaders></CorsRule>"
    )
}

async fn with_rules(at: &Session, rules: &str) -> Outcome {
    at.borrow_properties().await?;
    let body = format!("<StorageServiceProperties><Cors>{rules}</Cors></StorageServiceProperties>");
    at.set_properties(&body).send().await?.expect(202)?;
    Ok(())
}

async fn with_one_rule(at: &Session) -> Outcome {
    with_rules(at, &rule(ORIGIN, "GET,PUT", "x-ms-meta*,accept", 60)).await
}

fn preflight<'s>(at: &'s Session, origin: &str, method: &str) -> Request<'s> {
    let request = at.request("OPTIONS", "/Tables").anonymous().without("x-ms-date");
    request.header("Origin", origin).header("Access-Control-Request-Method", method)
}

async fn expect_refused(request: Request<'_>) -> Outcome {
    let message = "CORS not enabled or no matching rule found for this request.";
    request.send().await?.expect_error(403, "CorsPreflightFailure", message)?;
    Ok(())
}

async fn preflight_without_rules_is_refused(at: &Session) -> Outcome {
    with_rules(at, "").await?;
    expect_refused(preflight(at, ORIGIN, "GET")).await
}

async fn preflight_of_a_matching_rule_is_answered(at: &Session) -> Outcome {
    with_one_rule(at).await?;
    let request = preflight(at, ORIGIN, "GET").header("Access-Control-Request-Headers", "accept,x-ms-meta-a");
    let response = request.send().await?;
    response.expect(200)?.expect_header("Access-Control-Allow-Origin", ORIGIN)?;
    response.expect_header("Access-Control-Max-Age", "60")?;
    response.expect_header("Access-Control-Allow-Credentials", "true")?;
    let methods = response.header("Access-Control-Allow-Methods").unwrap_or_default();
    ensure(methods.contains("GET"), || format!("allowed methods {methods:?}"))?;
    let headers = response.header("Access-Control-Allow-Headers").unwrap_or_default();
    ensure(headers.contains("accept") && headers.contains("x-ms-meta"), || format!("allowed headers {headers:?}"))
}

async fn preflight_is_answered_on_every_kind_of_path(at: &Session) -> Outcome {
    with_one_rule(at).await?;
    for path in ["/", "/Tables", "/Tables('x')", "/People", "/People(PartitionKey='p',RowKey='r')", "/$batch"] {
        let request = at.request("OPTIONS", path).anonymous().without("x-ms-date");
        let request = request.header("Origin", ORIGIN).header("Access-Control-Request-Method", "GET");
        request.send().await?.expect(200)?;
    }
    Ok(())
}

async fn preflight_of_a_wildcard_rule_allows_any_origin(at: &Session) -> Outcome {
    with_rules(at, &rule("*", "GET", "*", 60)).await?;
    let request = preflight(at, ORIGIN, "GET").header("Access-Control-Request-Headers", "anything");
    request.send().await?.expect(200)?.expect_header("Access-Control-Allow-Origin", "*")?;
    Ok(())
}

async fn preflight_from_another_origin_is_refused(at: &Session) -> Outcome {
    with_one_rule(at).await?;
    expect_refused(preflight(at, "http://other.example", "GET")).await
}

async fn preflight_matches_origins_by_case(at: &Session) -> Outcome {
    with_one_rule(at).await?;
    expect_refused(preflight(at, "http://APP.example", "GET")).await
}

async fn preflight_for_another_method_is_refused(at: &Session) -> Outcome {
    with_one_rule(at).await?;
    expect_refused(preflight(at, ORIGIN, "DELETE")).await
}

async fn preflight_for_another_header_is_refused(at: &Session) -> Outcome {
    with_one_rule(at).await?;
    expect_refused(preflight(at, ORIGIN, "GET").header("Access-Control-Request-Headers", "accept,x-other")).await
}

async fn preflight_matches_header_prefixes_in_any_case(at: &Session) -> Outcome {
    with_one_rule(at).await?;
    let request = preflight(at, ORIGIN, "GET").header("Access-Control-Request-Headers", "X-MS-Meta-Colour, ACCEPT");
    request.send().await?.expect(200)?;
    Ok(())
}

async fn preflight_takes_the_first_matching_rule(at: &Session) -> Outcome {
    let rules = [rule(ORIGIN, "PUT", "*", 10), rule(ORIGIN, "GET", "*", 20), rule("*", "GET", "*", 30)];
    with_rules(at, &rules.concat()).await?;
    preflight(at, ORIGIN, "GET").send().await?.expect(200)?.expect_header("Access-Control-Max-Age", "20")?;
    Ok(())
}

const INCOMPLETE: &str = "A required CORS header is not present.";

async fn preflight_needs_an_origin(at: &Session) -> Outcome {
    let request = preflight(at, ORIGIN, "GET").without("Origin");
    request.send().await?.expect_error(400, "InvalidHeaderValue", INCOMPLETE)?;
    Ok(())
}

async fn preflight_needs_a_method(at: &Session) -> Outcome {
    let request = preflight(at, ORIGIN, "GET").without("Access-Control-Request-Method");
    request.send().await?.expect_error(400, "InvalidHeaderValue", INCOMPLETE)?;
    Ok(())
}

async fn a_request_from_an_allowed_origin_is_marked(at: &Session) -> Outcome {
    with_one_rule(at).await?;
    let response = at.get("/Tables").query("$top", "1").header("Origin", ORIGIN).send().await?;
    response.expect(200)?.expect_header("Access-Control-Allow-Origin", ORIGIN)?;
    response.expect_header("Access-Control-Expose-Headers", "x-ms-request-id")?;
    response.expect_header("Access-Control-Allow-Credentials", "true")?.expect_header("Vary", "Origin")?;
    Ok(())
}

async fn a_request_from_another_origin_is_served_unmarked(at: &Session) -> Outcome {
    with_one_rule(at).await?;
    let response = at.get("/Tables").query("$top", "1").header("Origin", "http://other.example").send().await?;
    response.expect(200)?.expect_no_header("Access-Control-Allow-Origin")?;
    equal("Vary", response.header("Vary"), Some("Origin"))
}

async fn a_request_under_a_wildcard_rule_is_marked_with_a_star(at: &Session) -> Outcome {
    with_rules(at, &rule("*", "GET", "*", 60)).await?;
    let response = at.get("/Tables").query("$top", "1").header("Origin", ORIGIN).send().await?;
    response.expect(200)?.expect_header("Access-Control-Allow-Origin", "*")?;
    Ok(())
}
