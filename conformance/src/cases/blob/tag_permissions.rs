//! Tags need a permission of their own, wherever a request reads, writes or compares them.

use crate::container::Container;
use crate::expect::ensure;
use crate::request::Request;
use crate::sas::{AccountSas, BlobSas};
use crate::{Failure, Outcome, Session, cases};

cases! {
    Authentication {
        a_write_with_tags_needs_their_permission,
        a_copy_with_tags_needs_their_permission,
        a_list_with_tags_needs_their_permission,
        a_condition_on_tags_needs_their_permission,
        a_condition_on_tags_of_a_source_needs_their_permission,
        tags_are_not_public,
    }
}

const VERSION: &str = "2026-02-06";
const MISMATCH: &str = "AuthorizationPermissionMismatch";
const RED: &str = "\"color\" = 'red'";

/// A container with a red blob.
async fn red(at: &Session) -> Outcome<Container<'_>> {
    let container = at.container().await?;
    container.put("b", "x")?.version(VERSION).header("x-ms-tags", "color=red").send().await?.expect(201)?;
    Ok(container)
}

/// A request is rejected with the permissions alone, as those of the container and of the account, and accepted with `t`.
async fn needs_tags<'s>(
    at: &Session,
    container: &Container<'_>,
    permissions: &str,
    status: u16,
    request: impl Fn() -> Outcome<Request<'s>>,
) -> Outcome {
    let tokens = |permissions: &str| {
        let of_container = BlobSas { sv: VERSION.into(), ..BlobSas::of_container(&container.name, permissions) };
        let of_account = AccountSas { sv: VERSION.into(), ss: "b".into(), ..AccountSas::new("sco", permissions) };
        [of_container.query(at.target()), of_account.query(at.target())]
    };
    for token in tokens(permissions) {
        request()?.version(VERSION).sas(&token).send().await?.expect_code(403, MISMATCH)?;
    }
    for token in tokens(&format!("{permissions}t")) {
        request()?.version(VERSION).sas(&token).send().await?.expect(status)?;
    }
    Ok(())
}

async fn a_write_with_tags_needs_their_permission(at: &Session) -> Outcome {
    let container = red(at).await?;
    needs_tags(at, &container, "w", 201, || Ok(container.put("b", "x")?.header("x-ms-tags", "a=b"))).await?;
    needs_tags(at, &container, "w", 201, || Ok(container.create_append("log")?.header("x-ms-tags", "a=b"))).await?;
    needs_tags(at, &container, "w", 201, || Ok(container.create_pages("p", 512)?.header("x-ms-tags", "a=b"))).await?;
    needs_tags(at, &container, "w", 201, || Ok(container.put_list("l", "")?.header("x-ms-tags", "a=b"))).await?;
    // Without tags, and with an empty header, the permission to write is enough.
    let sas = BlobSas { sv: VERSION.into(), ..BlobSas::of_container(&container.name, "w") }.query(at.target());
    let put = || Ok::<_, Failure>(container.put("b", "x")?.version(VERSION).sas(&sas));
    put()?.send().await?.expect(201)?;
    put()?.header("x-ms-tags", "").send().await?.expect(201)?;
    Ok(())
}

async fn a_copy_with_tags_needs_their_permission(at: &Session) -> Outcome {
    let container = red(at).await?;
    let readable =
        format!("{}?{}", container.url("b"), BlobSas::of_blob(&container.name, "b", "rt").query(at.target()));
    let copy = || Ok::<_, Failure>(container.blob("PUT", "to")?.header("x-ms-copy-source", &readable));
    let sync = || Ok::<_, Failure>(copy()?.header("x-ms-requires-sync", "true"));
    let put = || Ok::<_, Failure>(container.put("to", "")?.header("x-ms-copy-source", &readable));
    needs_tags(at, &container, "w", 202, || Ok(copy()?.header("x-ms-tags", "a=b"))).await?;
    needs_tags(at, &container, "w", 202, || Ok(sync()?.header("x-ms-tags", "a=b"))).await?;
    needs_tags(at, &container, "w", 201, || Ok(put()?.header("x-ms-tags", "a=b"))).await?;
    needs_tags(at, &container, "w", 202, || Ok(sync()?.header("x-ms-copy-source-tag-option", "COPY"))).await?;
    needs_tags(at, &container, "w", 201, || Ok(put()?.header("x-ms-copy-source-tag-option", "copy"))).await?;
    let sas = BlobSas { sv: VERSION.into(), ..BlobSas::of_container(&container.name, "w") }.query(at.target());
    let replaced = sync()?.version(VERSION).header("x-ms-copy-source-tag-option", "REPLACE").sas(&sas).send().await?;
    replaced.expect(202)?;
    Ok(())
}

async fn a_list_with_tags_needs_their_permission(at: &Session) -> Outcome {
    let container = red(at).await?;
    for include in ["tags", "metadata,Tags"] {
        needs_tags(at, &container, "l", 200, || Ok(container.on("GET", "list")?.query("include", include))).await?;
    }
    let sas = BlobSas { sv: VERSION.into(), ..BlobSas::of_container(&container.name, "l") }.query(at.target());
    let list = container.on("GET", "list")?.version(VERSION).query("include", "metadata").sas(&sas).send().await?;
    ensure(!list.expect(200)?.text().contains("<Tags>"), || "a list without tags has them".to_owned())
}

async fn a_condition_on_tags_needs_their_permission(at: &Session) -> Outcome {
    let container = red(at).await?;
    for verb in ["GET", "HEAD"] {
        let sas = BlobSas { sv: VERSION.into(), ..BlobSas::of_container(&container.name, "r") }.query(at.target());
        let read = container.blob(verb, "b")?.version(VERSION).header("x-ms-if-tags", RED);
        read.sas(&sas).send().await?.expect(403)?.expect_header("x-ms-error-code", MISMATCH)?;
    }
    needs_tags(at, &container, "r", 200, || Ok(container.blob("GET", "b")?.header("x-ms-if-tags", RED))).await?;
    let cool =
        || Ok(container.blob_on("PUT", "b", "tier")?.header("x-ms-access-tier", "Cool").header("x-ms-if-tags", RED));
    needs_tags(at, &container, "w", 200, cool).await?;
    let sas = BlobSas { sv: VERSION.into(), ..BlobSas::of_container(&container.name, "d") }.query(at.target());
    let delete = container.blob("DELETE", "b")?.version(VERSION).header("x-ms-if-tags", RED);
    delete.sas(&sas).send().await?.expect_code(403, MISMATCH)?;
    container.blob("HEAD", "b")?.send().await?.expect(200)?;
    Ok(())
}

async fn a_condition_on_tags_of_a_source_needs_their_permission(at: &Session) -> Outcome {
    let container = red(at).await?;
    for (permissions, status) in [("r", 403), ("rt", 202)] {
        let token = BlobSas::of_blob(&container.name, "b", permissions).query(at.target());
        let copy = container.blob("PUT", "to")?.version(VERSION).header("x-ms-source-if-tags", RED);
        let copy = copy.header("x-ms-copy-source", &format!("{}?{token}", container.url("b")));
        copy.header("x-ms-requires-sync", "true").send().await?.expect(status)?;
    }
    Ok(())
}

async fn tags_are_not_public(at: &Session) -> Outcome {
    let container = red(at).await?;
    container.on("PUT", "acl")?.header("x-ms-blob-public-access", "container").send().await?.expect(200)?;
    let list = || Ok::<_, Failure>(container.on("GET", "list")?.version(VERSION).anonymous());
    list()?.send().await?.expect(200)?;
    list()?.query("include", "tags").send().await?.expect_code(401, "NoAuthenticationInformation")?;
    let read = || Ok::<_, Failure>(container.blob("GET", "b")?.version(VERSION).anonymous());
    read()?.send().await?.expect(200)?;
    read()?.header("x-ms-if-tags", RED).send().await?.expect_code(401, "NoAuthenticationInformation")?;
    Ok(())
}
