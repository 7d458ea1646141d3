//! Requests without credentials: tables have no public access.

use crate::expect::ensure;
use crate::{Outcome, Session, cases};

cases! {
    Authentication {
        an_anonymous_request_is_challenged_from_2020_on,
        the_challenge_names_authority_and_resource,
        an_anonymous_request_of_an_older_version_is_refused,
        an_anonymous_write_changes_nothing,
        service_properties_are_not_public,
    }
}

const CHALLENGED: &str =
    "Server failed to authenticate the request. Please refer to the information in the www-authenticate header.";

async fn an_anonymous_request_is_challenged_from_2020_on(at: &Session) -> Outcome {
    let response = at.get("/Tables").version("2020-12-06").anonymous().send().await?;
    response.expect_error(401, "NoAuthenticationInformation", CHALLENGED)?;
    response.expect_header("x-ms-error-code", "NoAuthenticationInformation")?;
    response.expect_header("Content-Type", "application/json")?;
    Ok(())
}

async fn the_challenge_names_authority_and_resource(at: &Session) -> Outcome {
    let response = at.get("/Tables").version("2020-12-06").anonymous().send().await?;
    let challenge = response.expect(401)?.header("WWW-Authenticate").unwrap_or_default();
    let authority = "Bearer authorization_uri=https://login.microsoftonline.com/";
    let resource = "/oauth2/authorize resource_id=https://storage.azure.com";
    ensure(challenge.starts_with(authority) && challenge.ends_with(resource), || format!("challenge: {challenge:?}"))
}

async fn an_anonymous_request_of_an_older_version_is_refused(at: &Session) -> Outcome {
    let response = at.get("/Tables").anonymous().send().await?;
    response.expect_any_code(&[(403, "AuthenticationFailed"), (404, "ResourceNotFound")])?;
    Ok(())
}

async fn an_anonymous_write_changes_nothing(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed_rows(&["r"]).await?;
    let entity = serde_json::json!({ "PartitionKey": "p", "RowKey": "s" });
    table.insert(entity).anonymous().send().await?.expect_refusal()?;
    table.delete("p", "r").anonymous().send().await?.expect_refusal()?;
    at.delete(format!("/Tables('{}')", table.name)).anonymous().send().await?.expect_refusal()?;
    table.expect_rows(&["r"]).await
}

async fn service_properties_are_not_public(at: &Session) -> Outcome {
    at.get_properties().anonymous().send().await?.expect_refusal()?;
    Ok(())
}
