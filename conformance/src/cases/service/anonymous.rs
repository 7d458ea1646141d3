//! Requests without credentials: tables have no public access.

use crate::expect::ensure;
use crate::pattern::is_guid;
use crate::request::Request;
use crate::{Outcome, Session, cases};

cases! {
    Authentication {
        an_anonymous_request_is_challenged_from_2020_on,
        the_challenge_names_authority_and_resource,
        the_challenge_names_a_tenant_by_its_id,
        an_anonymous_request_of_an_older_version_is_refused,
        an_anonymous_write_changes_nothing,
        service_properties_are_not_public,
        a_private_queue_does_not_exist_for_strangers_of_older_versions,
        a_private_blob_does_not_exist_for_strangers_of_older_versions,
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

/// The JavaScript SDK asks for a token only if the first segment of the path is a UUID.
async fn the_challenge_names_a_tenant_by_its_id(at: &Session) -> Outcome {
    let response = at.get("/Tables").version("2020-12-06").anonymous().send().await?;
    let challenge = response.expect(401)?.header("WWW-Authenticate").unwrap_or_default();
    let path = challenge.split_once("https://login.microsoftonline.com/").unwrap_or_default().1;
    let tenant = path.split('/').next().unwrap_or_default();
    ensure(is_guid(tenant), || format!("challenge: {challenge:?}"))
}

const NOT_FOUND: &str = "The specified resource does not exist.";

async fn an_anonymous_request_of_an_older_version_is_refused(at: &Session) -> Outcome {
    for request in [at.get("/Tables").version("2019-07-07"), at.get("/Tables").without("x-ms-version")] {
        request.anonymous().send().await?.expect_error(404, "ResourceNotFound", NOT_FOUND)?;
    }
    Ok(())
}

/// Old versions get 404, as do requests without a version, such as a browser's. Newer ones are asked for a token.
async fn expect_hidden(request: Request<'_>) -> Outcome {
    let request = request.anonymous();
    for older in ["2012-02-12", "2017-11-09", "2018-11-09", "2019-07-07"] {
        let response = request.clone().version(older).send().await?;
        response.expect_error(404, "ResourceNotFound", NOT_FOUND)?;
    }
    let response = request.clone().without("x-ms-version").send().await?;
    response.expect_error(404, "ResourceNotFound", NOT_FOUND)?;
    for newer in ["2020-10-02", "2021-12-02"] {
        let response = request.clone().version(newer).send().await?;
        response.expect_code(401, "NoAuthenticationInformation")?;
    }
    Ok(())
}

async fn a_private_queue_does_not_exist_for_strangers_of_older_versions(at: &Session) -> Outcome {
    expect_hidden(at.queue().await?.metadata()?).await
}

async fn a_private_blob_does_not_exist_for_strangers_of_older_versions(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "x").await?;
    for request in [container.blob("GET", "b")?, container.on("GET", "list")?, at.missing_container().request("GET")?] {
        expect_hidden(request).await?;
    }
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
