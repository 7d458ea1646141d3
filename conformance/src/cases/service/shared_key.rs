//! Shared Key and Shared Key Lite: what is signed, and the form of the errors.

use serde_json::json;

use crate::expect::{ensure, equal};
use crate::request::Request;
use crate::response::Response;
use crate::{Failure, Outcome, Session, cases, clock, sign};

cases! {
    Authentication {
        shared_key_is_accepted_with_x_ms_date,
        shared_key_is_accepted_with_date_alone,
        shared_key_lite_is_accepted_with_x_ms_date,
        shared_key_lite_is_accepted_with_date_alone,
        x_ms_date_goes_before_date,
        a_signature_over_date_fails_when_x_ms_date_is_there,
        the_content_type_is_signed_exactly_as_sent,
        content_md5_is_signed,
        the_verb_is_signed,
        the_path_is_signed_as_sent,
        comp_is_signed,
        restype_is_not_signed,
        a_tunnelled_request_is_signed_as_post,
        shared_key_with_a_wrong_key_is_refused,
        shared_key_lite_with_a_wrong_key_is_refused,
        a_refused_write_changes_nothing,
        a_date_fourteen_minutes_off_is_accepted,
        a_date_sixteen_minutes_ago_is_refused,
        a_date_sixteen_minutes_ahead_is_refused,
        a_missing_date_is_refused,
        an_unreadable_date_is_refused,
        a_malformed_authorization_is_refused,
        an_unknown_scheme_is_refused,
        a_signature_that_is_not_base64_is_refused,
        the_account_of_the_signature_must_be_the_one_addressed,
        an_unknown_account_is_not_found,
        an_invalid_bearer_token_is_refused_with_a_challenge,
        the_secondary_serves_reads,
        the_secondary_refuses_writes,
    }
}

const REFUSED: &str = "Server failed to authenticate the request. \
    Make sure the value of Authorization header is formed correctly including the signature.";

fn list(at: &Session) -> Request<'_> {
    at.get("/Tables").query("$top", "1")
}

async fn expect_served(request: Request<'_>) -> Outcome {
    request.send().await?.expect(200)?;
    Ok(())
}

async fn expect_refused(request: Request<'_>) -> Outcome {
    request.send().await?.expect_error(403, "AuthenticationFailed", REFUSED)?;
    Ok(())
}

/// Sends `other` with the authorization of `signed`, both of the same date, so that only what else differs counts.
async fn expect_not_transferable(signed: Request<'_>, other: Request<'_>) -> Outcome {
    let date = clock::rfc1123(clock::now());
    let signed = signed.header("x-ms-date", &date);
    let authorization = signed.signed_authorization().expect("the request is signed");
    expect_refused(other.header("x-ms-date", &date).authorization(&authorization)).await
}

/// A request dated by `Date` only, as Java's client sends it.
fn dated_by_date(request: Request<'_>) -> Request<'_> {
    request.without("x-ms-date").header("Date", &clock::rfc1123(clock::now()))
}

async fn shared_key_is_accepted_with_x_ms_date(at: &Session) -> Outcome {
    expect_served(list(at)).await
}

async fn shared_key_is_accepted_with_date_alone(at: &Session) -> Outcome {
    expect_served(dated_by_date(list(at))).await
}

async fn shared_key_lite_is_accepted_with_x_ms_date(at: &Session) -> Outcome {
    expect_served(list(at).lite()).await
}

async fn shared_key_lite_is_accepted_with_date_alone(at: &Session) -> Outcome {
    expect_served(dated_by_date(list(at)).lite()).await
}

async fn x_ms_date_goes_before_date(at: &Session) -> Outcome {
    let other = clock::rfc1123(clock::now() - clock::minutes(5));
    expect_served(list(at).header("Date", &other)).await?;
    expect_served(list(at).lite().header("Date", &other)).await
}

async fn a_signature_over_date_fails_when_x_ms_date_is_there(at: &Session) -> Outcome {
    let request = dated_by_date(list(at));
    let authorization = request.signed_authorization().expect("the request is signed");
    let other = clock::rfc1123(clock::now() - clock::minutes(5));
    expect_refused(request.header("x-ms-date", &other).authorization(&authorization)).await
}

async fn the_content_type_is_signed_exactly_as_sent(at: &Session) -> Outcome {
    let table = at.table().await?;
    let insert = table.insert(json!({ "PartitionKey": "p", "RowKey": "1" }));
    let odd = insert.clone().header("Content-Type", "application/json;  odata=nometadata ;charset=utf-8");
    odd.send().await?.expect(201)?;
    let changed = insert.clone().header("Content-Type", "application/json;odata=nometadata");
    expect_not_transferable(insert, changed).await
}

async fn content_md5_is_signed(at: &Session) -> Outcome {
    let table = at.table().await?;
    // The digest of an empty body: tables sign the header and do not check it.
    let digest = "1B2M2Y8AsgTpgAmY7PhCfg==";
    let insert = table.insert(json!({ "PartitionKey": "p", "RowKey": "1" }));
    insert.clone().header("Content-MD5", digest).send().await?.expect(201)?;
    expect_not_transferable(insert.clone(), insert.header("Content-MD5", digest)).await
}

async fn the_verb_is_signed(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed_rows(&["r"]).await?;
    expect_not_transferable(table.read("p", "r"), table.delete("p", "r")).await?;
    table.expect_rows(&["r"]).await
}

async fn the_path_is_signed_as_sent(at: &Session) -> Outcome {
    let table = at.table().await?;
    let encoded = at.get(format!("/Tables(%27{}%27)", table.name));
    encoded.clone().send().await?.expect(200)?;
    expect_not_transferable(encoded, at.get(format!("/Tables('{}')", table.name))).await
}

async fn comp_is_signed(at: &Session) -> Outcome {
    let table = at.table().await?;
    expect_not_transferable(at.get(table.path()), table.acl()).await
}

async fn restype_is_not_signed(at: &Session) -> Outcome {
    let date = clock::rfc1123(clock::now());
    let request = at.get_properties().header("x-ms-date", &date);
    let resource = sign::canonical_resource(&at.target().account, &request.raw_path(), Some("properties"));
    let signature = sign::signature(&at.target().key, &sign::shared_key_lite_string(&date, &resource));
    expect_served(request.authorization(&format!("SharedKeyLite {}:{signature}", at.target().account))).await
}

async fn a_tunnelled_request_is_signed_as_post(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed_rows(&["r"]).await?;
    let merge = table.write("POST", "p", "r", json!({ "A": 1 })).header("X-HTTP-Method", "MERGE").if_match("*");
    merge.send().await?.expect(204)?;
    Ok(())
}

fn expect_error_code_header(response: &Response) -> Outcome {
    response.expect_header("x-ms-error-code", "AuthenticationFailed")?;
    Ok(())
}

async fn shared_key_with_a_wrong_key_is_refused(at: &Session) -> Outcome {
    let response = list(at).key(b"not the key of this account").send().await?;
    response.expect_error(403, "AuthenticationFailed", REFUSED)?;
    expect_error_code_header(&response)
}

async fn shared_key_lite_with_a_wrong_key_is_refused(at: &Session) -> Outcome {
    let response = list(at).lite().key(b"not the key of this account").send().await?;
    response.expect_error(403, "AuthenticationFailed", REFUSED)?;
    expect_error_code_header(&response)
}

async fn a_refused_write_changes_nothing(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed(json!({ "PartitionKey": "p", "RowKey": "r", "A": 1 })).await?;
    table.put("p", "r", json!({ "A": 2 })).key(b"wrong").send().await?.expect(403)?;
    table.insert(json!({ "PartitionKey": "p", "RowKey": "s" })).key(b"wrong").send().await?.expect(403)?;
    equal("A", &table.stored("p", "r").await?["A"], &json!(1))?;
    table.expect_rows(&["r"]).await
}

async fn a_date_fourteen_minutes_off_is_accepted(at: &Session) -> Outcome {
    for instant in [clock::now() - clock::minutes(14), clock::now() + clock::minutes(14)] {
        expect_served(list(at).header("x-ms-date", &clock::rfc1123(instant))).await?;
    }
    Ok(())
}

async fn a_date_sixteen_minutes_ago_is_refused(at: &Session) -> Outcome {
    expect_refused(list(at).header("x-ms-date", &clock::rfc1123(clock::now() - clock::minutes(16)))).await
}

async fn a_date_sixteen_minutes_ahead_is_refused(at: &Session) -> Outcome {
    expect_refused(list(at).header("x-ms-date", &clock::rfc1123(clock::now() + clock::minutes(16)))).await
}

async fn a_missing_date_is_refused(at: &Session) -> Outcome {
    expect_refused(list(at).without("x-ms-date")).await?;
    expect_refused(list(at).lite().without("x-ms-date")).await
}

async fn an_unreadable_date_is_refused(at: &Session) -> Outcome {
    expect_refused(list(at).header("x-ms-date", "today")).await
}

async fn a_malformed_authorization_is_refused(at: &Session) -> Outcome {
    let message = "Authentication information is not given in the correct format. \
        Check the value of Authorization header.";
    for value in ["SharedKey", "SharedKey devstoreaccount1", "nonsense"] {
        let response = list(at).authorization(value).send().await?;
        response.expect_error(400, "InvalidAuthenticationInfo", message)?;
    }
    Ok(())
}

async fn an_unknown_scheme_is_refused(at: &Session) -> Outcome {
    list(at).authorization("Basic dXNlcjpwYXNz").send().await?.expect_any_code(&[
        (400, "InvalidAuthenticationInfo"),
        (401, "InvalidAuthenticationInfo"),
        (401, "NoAuthenticationInformation"),
        (403, "AuthenticationFailed"),
    ])?;
    Ok(())
}

async fn a_signature_that_is_not_base64_is_refused(at: &Session) -> Outcome {
    let response = list(at).authorization(&format!("SharedKey {}:!!!", at.target().account)).send().await?;
    response.expect_any_code(&[(403, "AuthenticationFailed"), (400, "InvalidAuthenticationInfo")])?;
    Ok(())
}

async fn the_account_of_the_signature_must_be_the_one_addressed(at: &Session) -> Outcome {
    let request = list(at);
    let date = clock::rfc1123(clock::now());
    let resource = sign::canonical_resource("someoneelse", &request.raw_path(), None);
    let signature = sign::signature(&at.target().key, &sign::shared_key_lite_string(&date, &resource));
    let response = request
        .header("x-ms-date", &date)
        .authorization(&format!("SharedKeyLite someoneelse:{signature}"))
        .send()
        .await?;
    response.expect_any_code(&[(403, "AuthenticationFailed"), (404, "ResourceNotFound")])?;
    Ok(())
}

async fn an_unknown_account_is_not_found(at: &Session) -> Outcome {
    if !at.target().primary.is_path_style() {
        return Err(Failure::skipped("an unknown account has no host name to ask"));
    }
    let mut elsewhere = at.target().clone();
    elsewhere.account = "nosuchaccount".into();
    elsewhere.primary.prefix = "/nosuchaccount".into();
    let response = Request::new(&elsewhere, "GET", "/Tables").send().await?;
    response.expect_code(404, "ResourceNotFound")?;
    Ok(())
}

async fn an_invalid_bearer_token_is_refused_with_a_challenge(at: &Session) -> Outcome {
    let response = list(at).version("2020-12-06").authorization("Bearer abc.def.ghi").send().await?;
    response.expect_code(401, "InvalidAuthenticationInfo")?;
    let challenge = response.header("WWW-Authenticate").unwrap_or_default();
    ensure(challenge.starts_with("Bearer "), || format!("not a bearer challenge: {challenge:?}"))
}

async fn the_secondary_serves_reads(at: &Session) -> Outcome {
    expect_served(list(at).at_secondary()).await?;
    expect_served(list(at).at_secondary().lite()).await
}

async fn the_secondary_refuses_writes(at: &Session) -> Outcome {
    let name = at.unused_name();
    let response = at.create(&name).at_secondary().send().await?;
    response.expect(403)?;
    at.get(format!("/Tables('{name}')")).send().await?.expect(404)?;
    Ok(())
}
