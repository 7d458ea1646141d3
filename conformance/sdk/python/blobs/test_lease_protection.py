"""What a lease protects: writes and deletions need its id, reads do not, and an id that is not in force is refused."""

import pytest
from azure.storage.blob import ContentSettings

from blob_contents import content_of
from refusal import refused
from results import operation

ID = "11111111-1111-1111-1111-111111111111"
OTHER = "22222222-2222-2222-2222-222222222222"

WRITES = {
    "upload": ("PutBlob", lambda blob, **lease: blob.upload_blob(b"new", overwrite=True, **lease)),
    "stage": ("PutBlock", lambda blob, **lease: blob.stage_block("AAAA", b"x", **lease)),
    "commit": ("PutBlockList", lambda blob, **lease: blob.commit_block_list([], **lease)),
    "metadata": ("SetBlobMetadata", lambda blob, **lease: blob.set_blob_metadata({"a": "1"}, **lease)),
    "headers": (
        "SetBlobProperties",
        lambda blob, **lease: blob.set_http_headers(ContentSettings(content_type="a/b"), **lease),
    ),
    "delete": ("DeleteBlob", lambda blob, **lease: blob.delete_blob(**lease)),
}

READS = {
    "download": ("GetBlob", lambda blob, **lease: blob.download_blob(**lease).readall()),
    "properties": ("GetBlobProperties", lambda blob, **lease: blob.get_blob_properties(**lease)),
    "block_list": ("GetBlockList", lambda blob, **lease: blob.get_block_list("all", **lease)),
}


def each(calls):
    return [pytest.param(call, id=name, marks=operation(about)) for name, (about, call) in calls.items()]


@pytest.mark.parametrize("call", each(WRITES))
def test_a_write_to_a_leased_blob_needs_the_lease(blob, call):
    blob.acquire_lease(lease_duration=-1, lease_id=ID)
    with refused(412, "LeaseIdMissing"):
        call(blob)
    with refused(412, "LeaseIdMismatchWithBlobOperation"):
        call(blob, lease=OTHER)
    assert content_of(blob) == b"0123456789"
    call(blob, lease=ID)


@operation("PutBlob")
def test_the_holder_of_a_lease_overwrites_without_saying_so(blob):
    blob.acquire_lease(lease_duration=-1, lease_id=ID)
    blob.upload_blob(b"new", lease=ID)
    assert content_of(blob) == b"new"


@operation("SetBlobTags")
def test_tags_of_a_leased_blob_need_its_lease(blob):
    blob.acquire_lease(lease_duration=-1, lease_id=ID)
    with refused(412, "LeaseIdMissing"):
        blob.set_blob_tags({"a": "1"})
    blob.set_blob_tags({"a": "1"}, lease=ID)
    assert blob.get_blob_tags() == {"a": "1"}


@pytest.mark.parametrize("call", each(READS))
def test_a_read_of_a_leased_blob_needs_no_lease(blob, call):
    blob.acquire_lease(lease_duration=-1, lease_id=ID)
    call(blob)
    call(blob, lease=ID)
    with refused(412, "LeaseIdMismatchWithBlobOperation"):
        call(blob, lease=OTHER)


@pytest.mark.parametrize("call", each(WRITES | READS))
def test_a_lease_that_never_was_is_refused(blob, call):
    with refused(412, "LeaseNotPresentWithBlobOperation"):
        call(blob, lease=ID)


@pytest.mark.parametrize("call", each(WRITES))
def test_a_lease_that_was_broken_is_lost(blob, call):
    blob.acquire_lease(lease_duration=-1, lease_id=ID).break_lease(0)
    with refused(412, "LeaseLost"):
        call(blob, lease=ID)
    call(blob)


@operation("DeleteContainer")
def test_a_leased_container_needs_the_lease_to_go(container):
    container.acquire_lease(lease_duration=-1, lease_id=ID)
    with refused(412, "LeaseIdMissing"):
        container.delete_container()
    with refused(412, "LeaseIdMismatchWithContainerOperation"):
        container.delete_container(lease=OTHER)
    container.delete_container(lease=ID)
    assert not container.exists()


@operation("DeleteContainer")
def test_a_container_whose_lease_was_broken_answers_lease_lost(container):
    container.acquire_lease(lease_duration=-1, lease_id=ID).break_lease(0)
    with refused(412, "LeaseLost"):
        container.delete_container(lease=ID)
    container.delete_container()


@operation("PutBlob")
def test_the_lease_of_a_container_does_not_protect_its_blobs(container, blob):
    container.acquire_lease(lease_duration=-1, lease_id=ID)
    blob.upload_blob(b"new", overwrite=True)
    blob.delete_blob()


@operation("AppendBlock")
def test_an_append_to_a_leased_blob_needs_the_lease(container):
    log = container.get_blob_client("log")
    log.create_append_blob()
    log.acquire_lease(lease_duration=-1, lease_id=ID)
    with refused(412, "LeaseIdMissing"):
        log.append_block(b"x")
    log.append_block(b"x", lease=ID)
    assert content_of(log) == b"x"


@operation("AcquireBlobLease")
def test_the_case_of_a_lease_id_does_not_matter(blob):
    blob.acquire_lease(lease_duration=-1, lease_id="abcdefab-cdef-abcd-efab-cdefabcdefab")
    blob.set_blob_metadata({"a": "1"}, lease="ABCDEFAB-CDEF-ABCD-EFAB-CDEFABCDEFAB")
    assert blob.get_blob_properties().metadata == {"a": "1"}
