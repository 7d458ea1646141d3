//! Leases, snapshots, copies, batches, and who may read.

use crate::expect::{ensure, equal};
use crate::sas::BlobSas;
use crate::{Failure, Outcome, Session, cases};

cases! {
    AcquireBlobLease {
        a_leased_blob_is_written_with_its_lease_only,
        a_lease_of_another_duration_is_refused,
        a_lease_is_no_change,
    }
    RenewBlobLease {
        a_lease_is_renewed_by_its_id,
    }
    ChangeBlobLease {
        a_lease_changes_its_id,
    }
    ReleaseBlobLease {
        a_released_blob_is_free,
    }
    BreakBlobLease {
        a_breaking_lease_runs_out,
        a_blob_without_a_lease_has_none_to_break,
    }
    SnapshotBlob {
        a_snapshot_keeps_what_was,
        a_snapshot_has_metadata_of_its_own,
        a_snapshot_cannot_be_written,
        a_blob_with_snapshots_is_deleted_with_them_only,
    }
    CopyBlob {
        a_copy_is_done_when_it_is_answered,
        a_copy_has_other_metadata_if_any_is_given,
        the_conditions_of_a_copy_are_checked_on_both_sides,
        a_copy_of_nothing_is_not_found,
        a_copy_onto_another_type_is_refused,
        a_snapshot_is_promoted_by_a_copy,
    }
    CopyBlobFromURL {
        a_synchronous_copy_is_a_copy,
    }
    PutBlockFromURL {
        a_block_is_a_part_of_another_blob,
    }
    AbortCopyBlob {
        there_is_no_copy_to_abort,
    }
    BlobBatch {
        a_batch_deletes_blobs_each_for_itself,
        a_batch_that_is_none_is_refused,
    }
    Authentication {
        blobs_of_a_public_container_are_read_by_strangers,
        a_private_container_is_closed_to_strangers,
        a_blob_sas_allows_what_it_says,
        a_sas_that_only_creates_does_not_overwrite,
        a_container_sas_lists_and_its_headers_win,
        blobs_are_signed_in_the_lite_form_too,
        a_wrong_key_for_blobs_is_refused,
    }
}

const LEASE: &str = "1f812371-a41d-49e6-b123-f4b542e851c5";
const OTHER: &str = "2f812371-a41d-49e6-b123-f4b542e851c5";

/// A blob with a lease on it.
async fn leased<'s>(at: &'s Session, duration: &str) -> Outcome<crate::container::Container<'s>> {
    let container = at.container().await?;
    container.seed("b", "x").await?;
    let acquire = container.lease("b", "acquire")?.header("x-ms-lease-duration", duration);
    let taken = acquire.header("x-ms-proposed-lease-id", LEASE).send().await?;
    taken.expect(201)?.expect_header("x-ms-lease-id", LEASE)?;
    Ok(container)
}

async fn a_leased_blob_is_written_with_its_lease_only(at: &Session) -> Outcome {
    let container = leased(at, "-1").await?;
    let message = "There is currently a lease on the blob and no lease ID was specified in the request.";
    container.put("b", "y")?.send().await?.expect_error(412, "LeaseIdMissing", message)?;
    container.blob("DELETE", "b")?.send().await?.expect_code(412, "LeaseIdMissing")?;
    let other = container.put("b", "y")?.header("x-ms-lease-id", OTHER).send().await?;
    other.expect_code(412, "LeaseIdMismatchWithBlobOperation")?;
    container.blob("GET", "b")?.send().await?.expect(200)?.expect_header("x-ms-lease-duration", "infinite")?;
    container.put("b", "y")?.header("x-ms-lease-id", &LEASE.to_uppercase()).send().await?.expect(201)?;
    container.seed("free", "x").await?;
    let none = container.put("free", "y")?.header("x-ms-lease-id", LEASE).send().await?;
    none.expect_code(412, "LeaseNotPresentWithBlobOperation")?;
    Ok(())
}

async fn a_lease_of_another_duration_is_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "x").await?;
    for duration in ["14", "61", "0", "-2"] {
        let acquire = container.lease("b", "acquire")?.header("x-ms-lease-duration", duration).send().await?;
        acquire.expect_code(400, "InvalidHeaderValue")?;
    }
    Ok(())
}

async fn a_lease_is_no_change(at: &Session) -> Outcome {
    let container = at.container().await?;
    let etag = container.seed("b", "x").await?;
    let acquire = container.lease("b", "acquire")?.header("x-ms-lease-duration", "15").send().await?;
    acquire.expect(201)?.expect_header("ETag", &etag)?;
    container.blob("HEAD", "b")?.send().await?.expect_header("ETag", &etag)?;
    Ok(())
}

async fn a_lease_is_renewed_by_its_id(at: &Session) -> Outcome {
    let container = leased(at, "15").await?;
    let renew = container.lease("b", "renew")?.header("x-ms-lease-id", LEASE).send().await?;
    renew.expect(200)?.expect_header("x-ms-lease-id", LEASE)?;
    let other = container.lease("b", "renew")?.header("x-ms-lease-id", OTHER).send().await?;
    other.expect_code(409, "LeaseIdMismatchWithLeaseOperation")?;
    Ok(())
}

async fn a_lease_changes_its_id(at: &Session) -> Outcome {
    let container = leased(at, "15").await?;
    let change = || Ok::<_, Failure>(container.lease("b", "change")?.header("x-ms-proposed-lease-id", OTHER));
    let changed = change()?.header("x-ms-lease-id", LEASE).send().await?;
    changed.expect(200)?.expect_header("x-ms-lease-id", OTHER)?;
    container.put("b", "y")?.header("x-ms-lease-id", OTHER).send().await?.expect(201)?;
    container.seed("free", "x").await?;
    let none = container.lease("free", "change")?.header("x-ms-proposed-lease-id", OTHER);
    none.header("x-ms-lease-id", LEASE).send().await?.expect_code(409, "LeaseNotPresentWithLeaseOperation")?;
    Ok(())
}

async fn a_released_blob_is_free(at: &Session) -> Outcome {
    let container = leased(at, "-1").await?;
    let release = |id: &str| Ok::<_, Failure>(container.lease("b", "release")?.header("x-ms-lease-id", id));
    release(OTHER)?.send().await?.expect_code(409, "LeaseIdMismatchWithLeaseOperation")?;
    release(LEASE)?.send().await?.expect(200)?;
    container.blob("HEAD", "b")?.send().await?.expect_header("x-ms-lease-state", "available")?;
    container.put("b", "y")?.send().await?.expect(201)?;
    Ok(())
}

async fn a_breaking_lease_runs_out(at: &Session) -> Outcome {
    let container = leased(at, "-1").await?;
    let breaking = container.lease("b", "break")?.header("x-ms-lease-break-period", "60").send().await?;
    breaking.expect(202)?.expect_header("x-ms-lease-time", "60")?;
    container.blob("HEAD", "b")?.send().await?.expect_header("x-ms-lease-state", "breaking")?;
    let acquire = container.lease("b", "acquire")?.header("x-ms-lease-duration", "15");
    let same = acquire.clone().header("x-ms-proposed-lease-id", LEASE).send().await?;
    same.expect_code(409, "LeaseIsBreakingAndCannotBeAcquired")?;
    acquire.send().await?.expect_code(409, "LeaseAlreadyPresent")?;
    let renew = container.lease("b", "renew")?.header("x-ms-lease-id", LEASE).send().await?;
    renew.expect_code(409, "LeaseIsBrokenAndCannotBeRenewed")?;
    let change = container.lease("b", "change")?.header("x-ms-lease-id", LEASE);
    let change = change.header("x-ms-proposed-lease-id", OTHER).send().await?;
    change.expect_code(409, "LeaseIsBreakingAndCannotBeChanged")?;
    let now = container.lease("b", "break")?.header("x-ms-lease-break-period", "0").send().await?;
    now.expect(202)?.expect_header("x-ms-lease-time", "0")?;
    container.blob("HEAD", "b")?.send().await?.expect_header("x-ms-lease-state", "broken")?;
    let lost = container.put("b", "y")?.header("x-ms-lease-id", LEASE).send().await?;
    lost.expect_code(412, "LeaseLost")?;
    container.put("b", "y")?.send().await?.expect(201)?;
    Ok(())
}

async fn a_blob_without_a_lease_has_none_to_break(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "x").await?;
    container.lease("b", "break")?.send().await?.expect_code(409, "LeaseNotPresentWithLeaseOperation")?;
    container.lease("absent", "break")?.send().await?.expect_code(404, "BlobNotFound")?;
    Ok(())
}

async fn snapshot(container: &crate::container::Container<'_>) -> Outcome<String> {
    let response = container.blob_on("PUT", "b", "snapshot")?.send().await?;
    let taken = response.expect(201)?.header("x-ms-snapshot").unwrap_or_default().to_owned();
    ensure(taken.len() == "2019-05-09T00:48:31.3653282Z".len(), || format!("the snapshot {taken}"))?;
    Ok(taken)
}

async fn a_snapshot_keeps_what_was(at: &Session) -> Outcome {
    let container = at.container().await?;
    let etag = container.seed("b", "old").await?;
    let taken = snapshot(&container).await?;
    container.seed("b", "new").await?;
    let read = container.blob("GET", "b")?.query("snapshot", &taken).send().await?;
    read.expect(200)?.expect_body("old")?.expect_header("ETag", &etag)?;
    let read = container.blob("HEAD", "b")?.query("snapshot", &taken).send().await?;
    read.expect(200)?.expect_header("x-ms-snapshot", &taken)?;
    let missing = container.blob("GET", "b")?.query("snapshot", "2019-05-09T00:48:31.3653282Z").send().await?;
    missing.expect_code(404, "BlobNotFound")?;
    Ok(())
}

async fn a_snapshot_has_metadata_of_its_own(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.put("b", "x")?.header("x-ms-meta-color", "red").send().await?.expect(201)?;
    let taken = container.blob_on("PUT", "b", "snapshot")?.header("x-ms-meta-size", "5").send().await?;
    let taken = taken.expect(201)?.header("x-ms-snapshot").unwrap_or_default().to_owned();
    let read = container.blob("HEAD", "b")?.query("snapshot", &taken).send().await?;
    read.expect_header("x-ms-meta-size", "5")?.expect_no_header("x-ms-meta-color")?;
    container.blob("HEAD", "b")?.send().await?.expect_header("x-ms-meta-color", "red")?;
    Ok(())
}

async fn a_snapshot_cannot_be_written(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "x").await?;
    let taken = snapshot(&container).await?;
    let put = container.put("b", "y")?.query("snapshot", &taken).send().await?;
    put.expect_any_code(&[(400, "InvalidOperation"), (400, "InvalidQueryParameterValue")])?;
    Ok(())
}

async fn a_blob_with_snapshots_is_deleted_with_them_only(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "x").await?;
    let (first, _second) = (snapshot(&container).await?, snapshot(&container).await?);
    container.blob("DELETE", "b")?.send().await?.expect_code(409, "SnapshotsPresent")?;
    container.blob("DELETE", "b")?.query("snapshot", &first).send().await?.expect(202)?;
    container.blob("GET", "b")?.query("snapshot", &first).send().await?.expect_code(404, "BlobNotFound")?;
    let only = container.blob("DELETE", "b")?.header("x-ms-delete-snapshots", "only").send().await?;
    only.expect(202)?;
    equal("what is left", container.names("include=snapshots").await?, ["b"])?;
    snapshot(&container).await?;
    let both = container.blob("DELETE", "b")?.header("x-ms-delete-snapshots", "include").send().await?;
    both.expect(202)?;
    equal("what is left", container.names("include=snapshots").await?, [""; 0])
}

async fn a_copy_is_done_when_it_is_answered(at: &Session) -> Outcome {
    let container = at.container().await?;
    let put = container.put("from", "hello")?.header("x-ms-meta-color", "red").header("Content-Type", "text/plain");
    put.send().await?.expect(201)?;
    let url = container.url("from");
    let copy = container.blob("PUT", "to")?.header("x-ms-copy-source", &url).send().await?;
    copy.expect(202)?.expect_header("x-ms-copy-status", "success")?.etag()?;
    let id = copy.header("x-ms-copy-id").unwrap_or_default().to_owned();
    let read = container.blob("GET", "to")?.send().await?;
    read.expect_body("hello")?
        .expect_header("x-ms-meta-color", "red")?
        .expect_header("Content-Type", "text/plain")?
        .expect_header("Content-MD5", "XUFAKrxLKna5cZ2REBfFkg==")?
        .expect_header("x-ms-copy-id", &id)?
        .expect_header("x-ms-copy-status", "success")?
        .expect_header("x-ms-copy-source", &url)?
        .expect_header("x-ms-copy-progress", "5/5")?;
    container.seed("to", "written").await?;
    container.blob("HEAD", "to")?.send().await?.expect_no_header("x-ms-copy-id")?;
    Ok(())
}

async fn a_copy_has_other_metadata_if_any_is_given(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.put("from", "x")?.header("x-ms-meta-color", "red").send().await?.expect(201)?;
    let copy = container.blob("PUT", "to")?.header("x-ms-copy-source", &container.url("from"));
    copy.header("x-ms-meta-size", "5").send().await?.expect(202)?;
    let read = container.blob("HEAD", "to")?.send().await?;
    read.expect_header("x-ms-meta-size", "5")?.expect_no_header("x-ms-meta-color")?;
    Ok(())
}

async fn the_conditions_of_a_copy_are_checked_on_both_sides(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("from", "x").await?;
    container.seed("to", "y").await?;
    let copy = || Ok::<_, Failure>(container.blob("PUT", "to")?.header("x-ms-copy-source", &container.url("from")));
    let source = copy()?.header("x-ms-source-if-match", "\"0x1\"").send().await?;
    source.expect_code(412, "SourceConditionNotMet")?;
    let target = copy()?.if_match("\"0x1\"").send().await?;
    target.expect_any_code(&[(412, "TargetConditionNotMet"), (412, "ConditionNotMet")])?;
    copy()?.header("If-None-Match", "*").send().await?.expect_code(409, "BlobAlreadyExists")?;
    Ok(())
}

async fn a_copy_of_nothing_is_not_found(at: &Session) -> Outcome {
    let container = at.container().await?;
    let copy = container.blob("PUT", "to")?.header("x-ms-copy-source", &container.url("absent")).send().await?;
    copy.expect_any_code(&[(404, "BlobNotFound"), (404, "CannotVerifyCopySource")])?;
    Ok(())
}

async fn a_copy_onto_another_type_is_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("from", "x").await?;
    container.create_append("to")?.send().await?.expect(201)?;
    let copy = container.blob("PUT", "to")?.header("x-ms-copy-source", &container.url("from")).send().await?;
    copy.expect_code(409, "InvalidBlobType")?;
    Ok(())
}

async fn a_snapshot_is_promoted_by_a_copy(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "old").await?;
    let taken = snapshot(&container).await?;
    container.seed("b", "new").await?;
    let source = format!("{}?snapshot={taken}", container.url("b"));
    container.blob("PUT", "b")?.header("x-ms-copy-source", &source).send().await?.expect(202)?;
    equal("content", container.content("b").await?, "old")
}

async fn a_synchronous_copy_is_a_copy(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("from", "hello").await?;
    let sas = BlobSas::of_blob(&container.name, "from", "r").query(at.target());
    let copy = container.blob("PUT", "to")?.header("x-ms-copy-source", &format!("{}?{sas}", container.url("from")));
    let copy = copy.header("x-ms-requires-sync", "true").send().await?;
    copy.expect(202)?.expect_header("x-ms-copy-status", "success")?;
    equal("content", container.content("to").await?, "hello")
}

async fn a_block_is_a_part_of_another_blob(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("from", "[hello]").await?;
    let sas = BlobSas::of_blob(&container.name, "from", "r").query(at.target());
    let block = container.blob_on("PUT", "to", "block")?.query("blockid", "MDAx");
    let block = block.header("x-ms-copy-source", &format!("{}?{sas}", container.url("from")));
    block.header("x-ms-source-range", "bytes=1-5").send().await?.expect(201)?;
    container.put_list("to", "<Latest>MDAx</Latest>")?.send().await?.expect(201)?;
    equal("content", container.content("to").await?, "hello")
}

async fn there_is_no_copy_to_abort(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "x").await?;
    let abort = container.blob_on("PUT", "b", "copy")?.query("copyid", LEASE).header("x-ms-copy-action", "abort");
    abort.send().await?.expect_code(409, "NoPendingCopyOperation")?;
    Ok(())
}

async fn a_batch_deletes_blobs_each_for_itself(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("a", "x").await?;
    let mut body = String::new();
    for (id, name) in ["a", "absent"].iter().enumerate() {
        let delete = container.blob("DELETE", name)?.without("x-ms-version").header("Content-Length", "0");
        let head = String::from_utf8_lossy(&delete.head_with("")).into_owned();
        body.push_str(&format!(
            "--batch_b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\nContent-ID: {id}\r\n\r\n\
             {head}\r\n"
        ));
    }
    body.push_str("--batch_b--\r\n");
    let batch =
        at.to_blobs("POST", "/")?.raw_query("comp=batch").header("Content-Type", "multipart/mixed; boundary=batch_b");
    let answer = batch.body(body).send().await?;
    answer
        .expect(202)?
        .expect_body_contains("Content-ID: 0\r\n\r\nHTTP/1.1 202 Accepted")?
        .expect_body_contains("Content-ID: 1\r\n\r\nHTTP/1.1 404")?
        .expect_body_contains("x-ms-error-code: BlobNotFound")?;
    container.blob("GET", "a")?.send().await?.expect_code(404, "BlobNotFound")?;
    Ok(())
}

async fn a_batch_that_is_none_is_refused(at: &Session) -> Outcome {
    let batch = at.to_blobs("POST", "/")?.raw_query("comp=batch").header("Content-Type", "text/plain");
    batch.body("x").send().await?.expect_refusal()?;
    Ok(())
}

/// Opens a container to strangers.
async fn open(container: &crate::container::Container<'_>, access: &str) -> Outcome {
    let set = container.on("PUT", "acl")?.header("x-ms-blob-public-access", access).send().await?;
    match set.status() {
        409 => Err(Failure::skipped("the account does not allow public access")),
        _ => set.expect(200).map(drop),
    }
}

async fn blobs_of_a_public_container_are_read_by_strangers(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "x").await?;
    open(&container, "blob").await?;
    container.blob("GET", "b")?.anonymous().send().await?.expect(200)?.expect_body("x")?;
    ensure(container.on("GET", "list")?.anonymous().send().await?.status() >= 400, || "a stranger lists".to_owned())?;
    ensure(container.put("b", "y")?.anonymous().send().await?.status() >= 400, || "a stranger writes".to_owned())?;
    open(&container, "container").await?;
    container.on("GET", "list")?.anonymous().send().await?.expect(200)?;
    container.request("GET")?.anonymous().send().await?.expect(200)?;
    Ok(())
}

async fn a_private_container_is_closed_to_strangers(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "x").await?;
    let read = container.blob("GET", "b")?.anonymous().send().await?;
    let accepted = [(401, "NoAuthenticationInformation"), (404, "ResourceNotFound"), (409, "PublicAccessNotPermitted")];
    read.expect_any_code(&accepted)?;
    Ok(())
}

async fn a_blob_sas_allows_what_it_says(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "x").await?;
    container.seed("other", "x").await?;
    let read = BlobSas::of_blob(&container.name, "b", "r").query(at.target());
    container.blob("GET", "b")?.sas(&read).send().await?.expect(200)?;
    container.blob("GET", "other")?.sas(&read).send().await?.expect_code(403, "AuthenticationFailed")?;
    let delete = container.blob("DELETE", "b")?.sas(&read).send().await?;
    delete.expect_code(403, "AuthorizationPermissionMismatch")?;
    Ok(())
}

async fn a_sas_that_only_creates_does_not_overwrite(at: &Session) -> Outcome {
    let container = at.container().await?;
    let create = BlobSas::of_blob(&container.name, "b", "c").query(at.target());
    container.put("b", "x")?.sas(&create).send().await?.expect(201)?;
    container.put("b", "y")?.sas(&create).send().await?.expect_code(403, "UnauthorizedBlobOverwrite")?;
    Ok(())
}

async fn a_container_sas_lists_and_its_headers_win(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.put("b", "x")?.header("Content-Type", "text/plain").send().await?.expect(201)?;
    let mut sas = BlobSas::of_container(&container.name, "rl");
    sas.content_type = "text/html".to_owned();
    let query = sas.query(at.target());
    container.on("GET", "list")?.sas(&query).send().await?.expect(200)?;
    let read = container.blob("GET", "b")?.sas(&query).send().await?;
    read.expect(200)?.expect_header("Content-Type", "text/html")?;
    Ok(())
}

async fn blobs_are_signed_in_the_lite_form_too(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.put("b", "x")?.lite().send().await?.expect(201)?;
    container.blob("GET", "b")?.lite().send().await?.expect(200)?;
    Ok(())
}

async fn a_wrong_key_for_blobs_is_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    let read = container.blob("GET", "b")?.key(b"not the key").send().await?;
    read.expect_code(403, "AuthenticationFailed")?;
    Ok(())
}
