//! The three forms of an error body, and which response has which.

use crate::expect::{ensure, equal};
use crate::request::{FULL, MINIMAL, NONE};
use crate::response::Response;
use crate::sas::TableSas;
use crate::{Outcome, Session, cases};

cases! {
    QueryEntity {
        a_json_error_has_the_shape_of_the_service,
        the_level_of_a_json_error_follows_the_request,
        the_request_id_of_an_error_is_that_of_the_answer,
        the_format_parameter_decides_the_form_of_an_error,
        an_error_of_the_data_layer_has_no_error_code_header,
    }
    DeleteEntity {
        an_error_without_json_accept_is_odata_xml,
    }
    Authentication {
        a_front_end_error_is_json_when_asked_for,
        a_front_end_error_without_json_accept_is_prefixed_xml,
    }
    GetTableAcl {
        an_acl_error_is_prefixed_xml,
    }
    GetBlobProperties {
        a_failed_head_has_neither_body_nor_type,
    }
    QueryEntities {
        no_error_has_the_form_of_blobs_and_queues,
    }
}

const NOT_FOUND_JSON: &str = r#"{"odata.error":{"code":"ResourceNotFound","message":{"lang":"en-US","value":"The specified resource does not exist.\nRequestId:⟨guid⟩\nTime:⟨time7⟩"}}}"#;
const METADATA: &str = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata";
const REFUSED: &str = "Server failed to authenticate the request. \
    Make sure the value of Authorization header is formed correctly including the signature.";

async fn missing(at: &Session) -> Outcome<Response> {
    at.table().await?.read("p", "r").send().await
}

async fn a_json_error_has_the_shape_of_the_service(at: &Session) -> Outcome {
    let response = missing(at).await?;
    response.expect(404)?.expect_body(NOT_FOUND_JSON)?;
    Ok(())
}

async fn the_level_of_a_json_error_follows_the_request(at: &Session) -> Outcome {
    let table = at.table().await?;
    for level in [NONE, MINIMAL, FULL] {
        let response = table.read("p", "r").accept(level).send().await?;
        response.expect(404)?.expect_header("Content-Type", &format!("{level};streaming=true;charset=utf-8"))?;
    }
    Ok(())
}

async fn the_request_id_of_an_error_is_that_of_the_answer(at: &Session) -> Outcome {
    let response = missing(at).await?;
    let id = response.expect(404)?.header("x-ms-request-id").unwrap_or("(absent)");
    response.expect_body_contains(&format!("RequestId:{id}\\nTime:"))?;
    Ok(())
}

async fn the_format_parameter_decides_the_form_of_an_error(at: &Session) -> Outcome {
    let table = at.table().await?;
    let request = table.delete("p", "r").without("Accept").query("$format", MINIMAL);
    let response = request.send().await?;
    response.expect_code(404, "ResourceNotFound")?;
    ensure(response.text().starts_with('{'), || format!("not JSON: {}", response.text()))
}

async fn an_error_of_the_data_layer_has_no_error_code_header(at: &Session) -> Outcome {
    missing(at).await?.expect(404)?.expect_no_header("x-ms-error-code")?;
    Ok(())
}

async fn an_error_without_json_accept_is_odata_xml(at: &Session) -> Outcome {
    let response = at.table().await?.delete("p", "r").without("Accept").send().await?;
    response.expect(404)?.expect_header("Content-Type", "application/xml;charset=utf-8")?;
    let body = response.text();
    let template = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\" standalone=\"yes\"?><error xmlns=\"{METADATA}\">\
         <code>ResourceNotFound</code><message xml:lang=\"en-US\">The specified resource does not exist.\n\
         RequestId:⟨guid⟩\nTime:⟨time7⟩</message></error>"
    );
    crate::pattern::expect_matches("error", body.trim_start_matches('\u{feff}'), &template)
}

async fn a_front_end_error_is_json_when_asked_for(at: &Session) -> Outcome {
    let response = at.get("/Tables").key(b"wrong").send().await?;
    let template = format!(
        r#"{{"odata.error":{{"code":"AuthenticationFailed","message":{{"lang":"en-US","value":"{REFUSED}\nRequestId:⟨guid⟩\nTime:⟨time7⟩"}}}}}}"#
    );
    response.expect(403)?.expect_body(&template)?;
    Ok(())
}

fn expect_prefixed_xml(response: &Response, code: &str, message: &str) -> Outcome {
    response.expect_header("Content-Type", "application/xml")?.expect_header("x-ms-error-code", code)?;
    let body = response.text();
    let template = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?><m:error xmlns:m=\"{METADATA}\"><m:code>{code}</m:code>\
         <m:message xml:lang=\"en-US\">{message}\nRequestId:⟨guid⟩\nTime:⟨time7⟩</m:message></m:error>"
    );
    crate::pattern::expect_matches("error", body.trim_start_matches('\u{feff}'), &template)
}

async fn a_front_end_error_without_json_accept_is_prefixed_xml(at: &Session) -> Outcome {
    for request in [at.get_properties(), at.table().await?.acl()] {
        let response = request.key(b"wrong").send().await?;
        expect_prefixed_xml(response.expect(403)?, "AuthenticationFailed", REFUSED)?;
    }
    Ok(())
}

async fn an_acl_error_is_prefixed_xml(at: &Session) -> Outcome {
    let response = at.table().await?.set_acl("<SignedIdentifiers>").send().await?;
    equal("status", response.status(), 400)?;
    expect_prefixed_xml(&response, "InvalidXmlDocument", "XML specified is not syntactically valid.")
}

/// Blobs and queues respond with `<Error><Code>`; no client of tables reads that.
async fn no_error_has_the_form_of_blobs_and_queues(at: &Session) -> Outcome {
    let table = at.table().await?;
    let responses = [
        table.query().key(b"wrong").send().await?,
        table.query().sas(&TableSas::new(&table.name, "a").query(at.target())).send().await?,
        table.query().accept("application/atom+xml").send().await?,
        table.query().version("latest").send().await?,
        at.missing_table().acl().send().await?,
        at.get("/").raw_query("restype=service&comp=stats").accept("application/xml").send().await?,
        at.request("OPTIONS", "/Tables").anonymous().send().await?,
        at.delete("/Tables('bad-name')").without("Accept").send().await?,
    ];
    for response in responses {
        response.expect_refusal()?.error()?;
        response.expect_body_lacks("<Error>")?;
    }
    Ok(())
}

/// A length or a type without a body makes SDKs parse nothing as XML, and throw that instead of the error.
async fn a_failed_head_has_neither_body_nor_type(at: &Session) -> Outcome {
    let container = at.container().await?;
    let missing = at.missing_container();
    for request in
        [container.blob("HEAD", "none")?, missing.request("HEAD")?, container.blob("HEAD", "none")?.anonymous()]
    {
        let response = request.send().await?;
        ensure((400..500).contains(&response.status()), || format!("status {}", response.status()))?;
        response.expect_no_body()?.expect_no_header("Content-Type")?.expect_no_header("Content-Length")?;
        ensure(response.header("x-ms-error-code").is_some(), || "no x-ms-error-code".to_owned())?;
    }
    Ok(())
}
