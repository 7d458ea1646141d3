//! Containers: create, read, change, list, lease and delete.

use crate::expect::{ensure, equal};
use crate::{Outcome, Session, cases};

cases! {
    CreateContainer {
        a_new_container_has_an_etag_and_a_date,
        an_existing_container_is_not_created_again,
        container_names_of_another_form_are_refused,
    }
    GetContainerProperties {
        the_properties_of_a_container_are_headers,
        a_missing_container_has_no_properties,
    }
    SetContainerMetadata {
        metadata_of_a_container_is_replaced_as_a_whole,
        metadata_of_a_container_is_set_only_if_it_was_modified_since,
    }
    GetContainerMetadata {
        metadata_of_a_container_is_read_alone,
    }
    SetContainerACL {
        policies_and_public_access_are_set_together,
        more_than_five_policies_of_a_container_are_refused,
    }
    GetContainerACL {
        a_new_container_has_no_policies,
    }
    DeleteContainer {
        a_deleted_container_is_gone_with_its_blobs,
        a_missing_container_cannot_be_deleted,
        a_leased_container_is_deleted_with_its_lease_only,
    }
    AcquireContainerLease {
        the_lease_of_a_container_is_taken_once,
    }
    BreakContainerLease {
        a_broken_lease_of_a_container_is_lost,
    }
    ListContainers {
        containers_are_listed_by_prefix_with_properties,
        a_page_of_containers_says_where_the_next_one_starts,
        a_page_of_no_containers_is_refused,
        a_container_marker_of_another_form_is_refused,
    }
    GetAccountInformation {
        account_information_is_headers,
    }
}

const DATE_FORM: usize = "Thu, 09 May 2019 00:58:02 GMT".len();

async fn a_new_container_has_an_etag_and_a_date(at: &Session) -> Outcome {
    let response = at.missing_container().create()?.send().await?;
    let etag = response.expect(201)?.expect_no_body()?.etag()?;
    ensure(etag.starts_with("\"0x8D") && etag.ends_with('"'), || format!("the ETag {etag}"))?;
    equal("the length of the date", response.header("Last-Modified").unwrap_or_default().len(), DATE_FORM)
}

async fn an_existing_container_is_not_created_again(at: &Session) -> Outcome {
    let container = at.container().await?;
    let message = "The specified container already exists.";
    container.create()?.send().await?.expect_error(409, "ContainerAlreadyExists", message)?;
    Ok(())
}

async fn container_names_of_another_form_are_refused(at: &Session) -> Outcome {
    for name in ["Upper", "two--hyphens", "under_score"] {
        let create = at.to_blobs("PUT", format!("/{name}"))?.raw_query("restype=container");
        create.send().await?.expect_code(400, "InvalidResourceName")?;
    }
    for name in ["ab", &"a".repeat(64)] {
        let create = at.to_blobs("PUT", format!("/{name}"))?.raw_query("restype=container");
        create.send().await?.expect_code(400, "OutOfRangeInput")?;
    }
    Ok(())
}

async fn the_properties_of_a_container_are_headers(at: &Session) -> Outcome {
    let container = at.missing_container();
    container.create()?.header("x-ms-meta-color", "red").send().await?.expect(201)?;
    for verb in ["GET", "HEAD"] {
        let response = container.request(verb)?.send().await?;
        response
            .expect(200)?
            .expect_no_body()?
            .expect_header("x-ms-meta-color", "red")?
            .expect_header("x-ms-lease-status", "unlocked")?
            .expect_header("x-ms-lease-state", "available")?
            .expect_no_header("x-ms-lease-duration")?
            .expect_no_header("x-ms-blob-public-access")?
            .expect_header("x-ms-has-immutability-policy", "false")?
            .expect_header("x-ms-has-legal-hold", "false")?
            .etag()?;
    }
    Ok(())
}

async fn a_missing_container_has_no_properties(at: &Session) -> Outcome {
    let container = at.missing_container();
    let message = "The specified container does not exist.";
    container.request("GET")?.send().await?.expect_error(404, "ContainerNotFound", message)?;
    let head = container.request("HEAD")?.send().await?;
    head.expect(404)?.expect_header("x-ms-error-code", "ContainerNotFound")?;
    container.put("b", "x")?.send().await?.expect_code(404, "ContainerNotFound")?;
    Ok(())
}

async fn metadata_of_a_container_is_replaced_as_a_whole(at: &Session) -> Outcome {
    let container = at.missing_container();
    let created = container.create()?.header("x-ms-meta-color", "red").send().await?.etag()?;
    let set = container.on("PUT", "metadata")?.header("x-ms-meta-size", "5").send().await?;
    ensure(set.expect(200)?.etag()? != created, || "the ETag did not change".to_owned())?;
    let read = container.request("HEAD")?.send().await?;
    read.expect(200)?.expect_header("x-ms-meta-size", "5")?.expect_no_header("x-ms-meta-color")?;
    Ok(())
}

async fn metadata_of_a_container_is_set_only_if_it_was_modified_since(at: &Session) -> Outcome {
    let container = at.container().await?;
    let set = container.on("PUT", "metadata")?.header("If-Modified-Since", "Fri, 31 Dec 2100 23:59:59 GMT");
    set.send().await?.expect_code(412, "ConditionNotMet")?;
    Ok(())
}

async fn metadata_of_a_container_is_read_alone(at: &Session) -> Outcome {
    let container = at.missing_container();
    container.create()?.header("x-ms-meta-color", "red").send().await?.expect(201)?;
    let read = container.on("GET", "metadata")?.send().await?;
    read.expect(200)?.expect_header("x-ms-meta-color", "red")?.expect_no_body()?;
    Ok(())
}

fn policy(id: &str) -> String {
    format!(
        "<SignedIdentifier><Id>{id}</Id><AccessPolicy><Start>2020-01-01T00:00:00.0000000Z</Start>\
         <Permission>rl</Permission></AccessPolicy></SignedIdentifier>"
    )
}

async fn policies_and_public_access_are_set_together(at: &Session) -> Outcome {
    let container = at.container().await?;
    let body = format!("<SignedIdentifiers>{}</SignedIdentifiers>", policy("readers"));
    let set = container.on("PUT", "acl")?.header("x-ms-blob-public-access", "blob").xml(body);
    set.send().await?.expect(200)?.etag()?;
    let read = container.on("GET", "acl")?.send().await?;
    read.expect(200)?.expect_header("x-ms-blob-public-access", "blob")?.expect_body_contains(&policy("readers"))?;
    container.on("PUT", "acl")?.send().await?.expect(200)?;
    let read = container.on("GET", "acl")?.send().await?;
    read.expect(200)?.expect_no_header("x-ms-blob-public-access")?.expect_body_contains("<SignedIdentifiers />")?;
    Ok(())
}

async fn more_than_five_policies_of_a_container_are_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    let policies: String = (0..6).map(|number| policy(&number.to_string())).collect();
    let body = format!("<SignedIdentifiers>{policies}</SignedIdentifiers>");
    container.on("PUT", "acl")?.xml(body).send().await?.expect_code(400, "InvalidXmlDocument")?;
    Ok(())
}

async fn a_new_container_has_no_policies(at: &Session) -> Outcome {
    let container = at.container().await?;
    let read = container.on("GET", "acl")?.send().await?;
    read.expect(200)?
        .expect_header("Content-Type", "application/xml")?
        .expect_body_contains("<SignedIdentifiers />")?;
    Ok(())
}

async fn a_deleted_container_is_gone_with_its_blobs(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "x").await?;
    container.request("DELETE")?.send().await?.expect(202)?.expect_no_body()?;
    container.blob("GET", "b")?.send().await?.expect_code(404, "ContainerNotFound")?;
    // Azure keeps the name for a while.
    let again = container.create()?.send().await?;
    if again.status() == 409 {
        again.expect_code(409, "ContainerBeingDeleted")?;
        return Ok(());
    }
    again.expect(201)?;
    container.blob("GET", "b")?.send().await?.expect_code(404, "BlobNotFound")?;
    Ok(())
}

async fn a_missing_container_cannot_be_deleted(at: &Session) -> Outcome {
    at.missing_container().request("DELETE")?.send().await?.expect_code(404, "ContainerNotFound")?;
    Ok(())
}

const LEASE: &str = "1f812371-a41d-49e6-b123-f4b542e851c5";
const OTHER: &str = "2f812371-a41d-49e6-b123-f4b542e851c5";

async fn a_leased_container_is_deleted_with_its_lease_only(at: &Session) -> Outcome {
    let container = at.container().await?;
    let acquire = container.own_lease("acquire")?.header("x-ms-lease-duration", "-1");
    acquire.header("x-ms-proposed-lease-id", LEASE).send().await?.expect(201)?;
    container.seed("b", "blobs inside are not protected").await?;
    let message = "There is currently a lease on the container and no lease ID was specified in the request.";
    container.request("DELETE")?.send().await?.expect_error(412, "LeaseIdMissing", message)?;
    let other = container.request("DELETE")?.header("x-ms-lease-id", OTHER).send().await?;
    other.expect_code(412, "LeaseIdMismatchWithContainerOperation")?;
    container.request("DELETE")?.header("x-ms-lease-id", LEASE).send().await?.expect(202)?;
    Ok(())
}

async fn the_lease_of_a_container_is_taken_once(at: &Session) -> Outcome {
    let container = at.container().await?;
    let acquire = || Ok::<_, crate::Failure>(container.own_lease("acquire")?.header("x-ms-lease-duration", "15"));
    let taken = acquire()?.send().await?;
    ensure(taken.expect(201)?.header("x-ms-lease-id").is_some(), || "no lease id".to_owned())?;
    acquire()?.send().await?.expect_error(409, "LeaseAlreadyPresent", "There is already a lease present.")?;
    let read = container.request("HEAD")?.send().await?;
    read.expect_header("x-ms-lease-state", "leased")?.expect_header("x-ms-lease-duration", "fixed")?;
    Ok(())
}

async fn a_broken_lease_of_a_container_is_lost(at: &Session) -> Outcome {
    let container = at.container().await?;
    let acquire = container.own_lease("acquire")?.header("x-ms-lease-duration", "-1");
    acquire.header("x-ms-proposed-lease-id", LEASE).send().await?.expect(201)?;
    container.own_lease("break")?.send().await?.expect(202)?.expect_header("x-ms-lease-time", "0")?;
    let delete = container.request("DELETE")?.header("x-ms-lease-id", LEASE).send().await?;
    delete.expect_code(412, "LeaseLost")?;
    Ok(())
}

/// Three containers with a prefix that no other case has.
async fn three_containers(at: &Session) -> Outcome<String> {
    let prefix = at.unused_name();
    for suffix in ["c", "a", "b"] {
        let name = format!("{prefix}-{suffix}");
        at.delete_container_afterwards(&name);
        let create = at.to_blobs("PUT", format!("/{name}"))?.raw_query("restype=container");
        create.header("x-ms-meta-suffix", suffix).send().await?.expect(201)?;
    }
    Ok(prefix)
}

async fn containers_are_listed_by_prefix_with_properties(at: &Session) -> Outcome {
    let prefix = three_containers(at).await?;
    let list = at.to_blobs("GET", "/")?.raw_query("comp=list&include=metadata").query("prefix", &prefix);
    let listing = list.send().await?;
    ensure(listing.expect(200)?.text().starts_with('\u{feff}'), || "no byte order mark".to_owned())?;
    let root = listing.xml()?;
    equal("elements", root.names(), ["Prefix", "Containers", "NextMarker"])?;
    let containers = root.child("Containers").map(|list| list.children.as_slice()).unwrap_or_default();
    let names: Vec<_> = containers.iter().map(|entry| entry.at("Name").unwrap_or_default().to_owned()).collect();
    equal("names", names, ["a", "b", "c"].map(|suffix| format!("{prefix}-{suffix}")))?;
    let first = &containers[0];
    ensure(first.at("Properties/Etag").is_some_and(|etag| etag.starts_with("\"0x")), || "no quoted Etag".to_owned())?;
    equal("lease", first.at("Properties/LeaseState"), Some("available"))?;
    equal("metadata", first.at("Metadata/suffix"), Some("a"))
}

async fn a_page_of_containers_says_where_the_next_one_starts(at: &Session) -> Outcome {
    let prefix = three_containers(at).await?;
    let list = || {
        let list = at.to_blobs("GET", "/")?.raw_query("comp=list&maxresults=2").query("prefix", &prefix);
        Ok::<_, crate::Failure>(list)
    };
    let first = list()?.send().await?.expect(200)?.xml()?;
    equal("the first page", first.child("Containers").map_or(0, |list| list.children.len()), 2)?;
    let marker = first.at("NextMarker").unwrap_or_default().to_owned();
    let second = list()?.query("marker", &marker).send().await?.expect(200)?.xml()?;
    equal("the second page", second.child("Containers").map_or(0, |list| list.children.len()), 1)?;
    equal("its marker", second.at("NextMarker"), Some(""))
}

async fn a_container_marker_of_another_form_is_refused(at: &Session) -> Outcome {
    for marker in ["garbage", "%2Fno%2Fmarker"] {
        let listing = at.to_blobs("GET", "/")?.raw_query(&format!("comp=list&marker={marker}"));
        listing.send().await?.expect_code(400, "OutOfRangeInput")?;
    }
    Ok(())
}

async fn a_page_of_no_containers_is_refused(at: &Session) -> Outcome {
    let list = at.to_blobs("GET", "/")?.raw_query("comp=list&maxresults=0");
    list.send().await?.expect_code(400, "OutOfRangeQueryParameterValue")?;
    Ok(())
}

async fn account_information_is_headers(at: &Session) -> Outcome {
    let response = at.to_blobs("GET", "/")?.raw_query("restype=account&comp=properties").send().await?;
    response.expect(200)?.expect_header("x-ms-account-kind", "StorageV2")?;
    ensure(response.header("x-ms-sku-name").is_some(), || "no SKU".to_owned())
}
