//! Headers every request may carry and every response has.

use std::time::Duration;

use serde_json::json;

use crate::expect::{ensure, equal};
use crate::pattern::is_guid;
use crate::request::{FULL, MINIMAL, NONE};
use crate::response::Response;
use crate::{Failure, Outcome, Session, cases, clock};

cases! {
    QueryTables {
        request_ids_are_guids_and_differ,
        the_date_is_the_time_of_the_answer,
        a_client_request_id_is_echoed,
        a_client_request_id_of_1024_characters_is_echoed,
        a_client_request_id_of_1025_characters_is_not_echoed,
        a_client_request_id_outside_visible_ascii_is_not_echoed,
        no_client_request_id_is_made_up,
        a_client_request_id_is_echoed_on_errors,
        the_server_names_itself,
        data_service_versions_may_be_absent,
        data_service_versions_are_accepted_in_every_form,
        a_timeout_parameter_is_accepted,
        an_empty_content_type_on_a_get_is_accepted,
    }
    Authentication {
        a_front_end_refusal_names_the_http_stack_only,
    }
    QueryEntities {
        odata_answers_forbid_caching_and_sniffing,
        json_answers_name_their_metadata_level,
    }
    QueryEntity {
        an_error_of_the_data_layer_forbids_caching,
    }
    InsertEntity {
        errors_of_early_validation_have_no_cache_control,
    }
    GetTableServiceProperties {
        xml_answers_have_no_cache_control,
    }
}

async fn list(at: &Session) -> Outcome<Response> {
    let response = at.get("/Tables").query("$top", "1").send().await?;
    response.expect(200)?;
    Ok(response)
}

async fn request_ids_are_guids_and_differ(at: &Session) -> Outcome {
    let id = |response: &Response| response.header("x-ms-request-id").unwrap_or_default().to_owned();
    let (first, second) = (id(&list(at).await?), id(&list(at).await?));
    ensure(is_guid(&first) && is_guid(&second), || format!("expected GUIDs, got {first:?} and {second:?}"))?;
    ensure(first != second, || format!("two requests have the same id {first}"))
}

async fn the_date_is_the_time_of_the_answer(at: &Session) -> Outcome {
    let response = list(at).await?;
    let text = response.header("Date").unwrap_or_default();
    let date = httpdate::parse_http_date(text).map_err(|_| Failure::new(format!("not an RFC 1123 date: {text:?}")))?;
    equal("the date written again", clock::rfc1123(date).as_str(), text)?;
    let now = clock::now();
    let apart = now.duration_since(date).or_else(|_| date.duration_since(now)).unwrap_or(Duration::MAX);
    ensure(apart < clock::minutes(15), || format!("{text} is {apart:?} away"))
}

async fn with_client_id(at: &Session, id: &str) -> Outcome<Response> {
    at.get("/Tables").query("$top", "1").header("x-ms-client-request-id", id).send().await
}

async fn a_client_request_id_is_echoed(at: &Session) -> Outcome {
    let response = with_client_id(at, "caller-17.b_c").await?;
    response.expect(200)?.expect_header("x-ms-client-request-id", "caller-17.b_c")?;
    Ok(())
}

async fn a_client_request_id_of_1024_characters_is_echoed(at: &Session) -> Outcome {
    let id = "i".repeat(1024);
    with_client_id(at, &id).await?.expect(200)?.expect_header("x-ms-client-request-id", &id)?;
    Ok(())
}

async fn a_client_request_id_of_1025_characters_is_not_echoed(at: &Session) -> Outcome {
    with_client_id(at, &"i".repeat(1025)).await?.expect_no_header("x-ms-client-request-id")?;
    Ok(())
}

async fn a_client_request_id_outside_visible_ascii_is_not_echoed(at: &Session) -> Outcome {
    with_client_id(at, "caf\u{e9}").await?.expect_no_header("x-ms-client-request-id")?;
    Ok(())
}

async fn no_client_request_id_is_made_up(at: &Session) -> Outcome {
    list(at).await?.expect_no_header("x-ms-client-request-id")?;
    Ok(())
}

async fn a_client_request_id_is_echoed_on_errors(at: &Session) -> Outcome {
    let missing = at.missing_table().query().header("x-ms-client-request-id", "abc").send().await?;
    missing.expect(404)?.expect_header("x-ms-client-request-id", "abc")?;
    let refused = at.get("/Tables").key(b"wrong").header("x-ms-client-request-id", "abc").send().await?;
    refused.expect(403)?.expect_header("x-ms-client-request-id", "abc")?;
    Ok(())
}

async fn the_server_names_itself(at: &Session) -> Outcome {
    list(at).await?.expect_header("Server", "Windows-Azure-Table/1.0 Microsoft-HTTPAPI/2.0")?;
    Ok(())
}

async fn a_front_end_refusal_names_the_http_stack_only(at: &Session) -> Outcome {
    let refused = at.get("/Tables").key(b"wrong").send().await?;
    refused.expect(403)?.expect_header("Server", "Microsoft-HTTPAPI/2.0")?;
    Ok(())
}

async fn data_service_versions_may_be_absent(at: &Session) -> Outcome {
    let request = at.get("/Tables").query("$top", "1").without("DataServiceVersion").without("MaxDataServiceVersion");
    request.send().await?.expect(200)?;
    Ok(())
}

async fn data_service_versions_are_accepted_in_every_form(at: &Session) -> Outcome {
    for version in ["3.0", "3.0;", "3.0;NetFx", "1.0;NetFx", "2.0;NetFx"] {
        let request = at.get("/Tables").query("$top", "1").header("DataServiceVersion", version);
        request.header("MaxDataServiceVersion", "3.0;NetFx").send().await?.expect(200)?;
    }
    Ok(())
}

async fn a_timeout_parameter_is_accepted(at: &Session) -> Outcome {
    for seconds in ["5", "30", "60", " 5", "+5 "] {
        at.get("/Tables").query("$top", "1").query("timeout", seconds).send().await?.expect(200)?;
    }
    Ok(())
}

/// Legacy clients send it together with a zero length, and sign it as empty.
async fn an_empty_content_type_on_a_get_is_accepted(at: &Session) -> Outcome {
    let request = at.get("/Tables").query("$top", "1").header("content-type", "").header("content-length", "0");
    request.send().await?.expect(200)?;
    Ok(())
}

async fn odata_answers_forbid_caching_and_sniffing(at: &Session) -> Outcome {
    let table = at.table().await?;
    let responses = [
        table.insert(json!({ "PartitionKey": "p", "RowKey": "r" })).send().await?,
        table.query().send().await?,
        table.read("p", "r").send().await?,
        table.put("p", "r", "{}").send().await?,
        table.delete("p", "r").send().await?,
        list(at).await?,
    ];
    for response in responses {
        response.expect_header("Cache-Control", "no-cache")?.expect_header("X-Content-Type-Options", "nosniff")?;
    }
    Ok(())
}

async fn an_error_of_the_data_layer_forbids_caching(at: &Session) -> Outcome {
    let response = at.table().await?.read("p", "r").send().await?;
    response.expect(404)?.expect_header("Cache-Control", "no-cache")?;
    response.expect_header("X-Content-Type-Options", "nosniff")?;
    Ok(())
}

async fn errors_of_early_validation_have_no_cache_control(at: &Session) -> Outcome {
    let table = at.table().await?;
    let date = r#"{"PartitionKey":"p","RowKey":"r","D":"0001-01-01T00:00:00Z","D@odata.type":"Edm.DateTime"}"#;
    let responses = [
        (at.missing_table().query().send().await?, 404, "TableNotFound"),
        (table.insert(json!({ "PartitionKey": "a/b", "RowKey": "r" })).send().await?, 400, "OutOfRangeInput"),
        (table.filter("A eq 1'").send().await?, 400, "InvalidInput"),
        (table.insert(date).send().await?, 400, "OutOfRangeInput"),
    ];
    for (response, status, code) in responses {
        response.expect_code(status, code)?.expect_no_header("Cache-Control")?;
    }
    Ok(())
}

async fn json_answers_name_their_metadata_level(at: &Session) -> Outcome {
    let table = at.table().await?;
    for level in [NONE, MINIMAL, FULL] {
        let response = table.query().accept(level).send().await?;
        response.expect(200)?.expect_header("Content-Type", &format!("{level};streaming=true;charset=utf-8"))?;
    }
    Ok(())
}

async fn xml_answers_have_no_cache_control(at: &Session) -> Outcome {
    let table = at.table().await?;
    for response in [at.get_properties().send().await?, table.acl().send().await?] {
        response.expect(200)?.expect_header("Content-Type", "application/xml")?;
        response.expect_no_header("Cache-Control")?.expect_no_header("X-Content-Type-Options")?;
    }
    Ok(())
}
