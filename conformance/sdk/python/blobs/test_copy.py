"""Copying blobs within the account: what goes along, under which conditions, and what is told of it."""

from datetime import timedelta

import pytest
from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError
from azure.storage.blob import BlobBlock, BlobType, ContentSettings

from blob_contents import MIB, content_of, md5_of, some_bytes
from blob_sas import blob_sas_token
from refusal import Answer, code_of, refused
from results import operation

OTHER_ETAG = '"0x8D4BCC2E4835CD0"'
HOUR = timedelta(hours=1)


@pytest.fixture
def copy(container):
    return container.get_blob_client("copy")


@operation("CopyBlob")
def test_a_copy_has_everything_of_its_source(container, copy):
    source = container.get_blob_client("source")
    settings = ContentSettings(content_type="text/plain", cache_control="no-store", content_language="de")
    source.upload_blob(b"hello", content_settings=settings, metadata={"colour": "red"})
    answer = Answer()
    copied = copy.start_copy_from_url(source.url, raw_response_hook=answer)
    assert (answer.status, copied["copy_status"]) == (202, "success")
    assert content_of(copy) == b"hello"
    properties = copy.get_blob_properties()
    assert properties.metadata == {"colour": "red"}
    assert (properties.content_settings.content_type, properties.content_settings.cache_control) == (
        "text/plain",
        "no-store",
    )
    assert bytes(properties.content_settings.content_md5) == bytes(md5_of(b"hello"))
    assert properties.etag == copied["etag"] != source.get_blob_properties().etag


@operation("CopyBlob")
def test_a_copy_tells_where_it_comes_from(blob, copy):
    copied = copy.start_copy_from_url(blob.url)
    told = copy.get_blob_properties().copy
    assert (told.id, told.status, told.progress) == (copied["copy_id"], "success", "10/10")
    assert told.source.split("?")[0].endswith(f"/{blob.container_name}/blob")
    assert told.completion_time


@operation("ListBlobs")
def test_copies_are_listed_when_asked_for(container, blob, copy):
    copied = copy.start_copy_from_url(blob.url)
    listed = {found.name: found for found in container.list_blobs(include=["copy"])}
    assert (listed["copy"].copy.id, listed["copy"].copy.status) == (copied["copy_id"], "success")
    assert listed["blob"].copy.id is None


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda blob: blob.upload_blob(b"x", overwrite=True), id="upload", marks=operation("PutBlob")),
        pytest.param(lambda blob: blob.commit_block_list([]), id="commit", marks=operation("PutBlockList")),
        pytest.param(lambda blob: blob.set_blob_metadata({}), id="metadata", marks=operation("SetBlobMetadata")),
        pytest.param(
            lambda blob: blob.set_http_headers(ContentSettings(content_type="a/b")),
            id="headers",
            marks=operation("SetBlobProperties"),
        ),
    ],
)
def test_a_change_forgets_where_a_copy_came_from(blob, copy, change):
    copy.start_copy_from_url(blob.url)
    change(copy)
    assert copy.get_blob_properties().copy.id is None


@operation("CopyBlob")
def test_given_metadata_replaces_that_of_the_source(blob, copy):
    blob.set_blob_metadata({"a": "1", "b": "2"})
    copy.start_copy_from_url(blob.url, metadata={"c": "3"})
    assert copy.get_blob_properties().metadata == {"c": "3"}


@operation("CopyBlob")
def test_a_copy_replaces_what_was_there(blob, copy):
    copy.upload_blob(b"old", metadata={"old": "1"})
    copy.start_copy_from_url(blob.url)
    assert (content_of(copy), copy.get_blob_properties().metadata) == (b"0123456789", {})


@operation("CopyBlob")
def test_a_copy_is_independent_of_its_source(blob, copy):
    copy.start_copy_from_url(blob.url)
    blob.delete_blob()
    assert content_of(copy) == b"0123456789"


@operation("CopyBlob")
def test_a_blob_is_copied_onto_itself(blob):
    before = blob.get_blob_properties().etag
    blob.start_copy_from_url(blob.url, metadata={"a": "1"})
    properties = blob.get_blob_properties()
    assert (content_of(blob), properties.metadata) == (b"0123456789", {"a": "1"})
    assert properties.etag != before


@operation("CopyBlob")
def test_a_copy_goes_to_another_container(blobs, blob, container_names):
    other = blobs.create_container(container_names()).get_blob_client("a/b copy")
    other.start_copy_from_url(blob.url)
    assert content_of(other) == b"0123456789"


@operation("CopyBlob")
@pytest.mark.parametrize("name", ["with space", "Grüße", "a+b%20c", "what?#1"])
def test_a_source_with_an_odd_name_is_copied(container, copy, name):
    source = container.get_blob_client(name)
    source.upload_blob(b"odd")
    copy.start_copy_from_url(source.url)
    assert content_of(copy) == b"odd"


@operation("CopyBlob")
def test_a_copy_of_blocks_keeps_the_blocks(container, copy):
    source = container.get_blob_client("source")
    for index in range(3):
        source.stage_block(f"{index:06}", bytes([65 + index]) * 5)
    source.commit_block_list([BlobBlock(f"{index:06}") for index in range(3)])
    copy.start_copy_from_url(source.url)
    assert content_of(copy) == b"AAAAABBBBBCCCCC"
    assert [block.size for block in copy.get_block_list("committed")[0]] == [5, 5, 5]


@operation("CopyBlob")
def test_an_append_blob_is_copied(container, copy):
    source = container.get_blob_client("log")
    source.create_append_blob()
    source.append_block(b"line")
    copy.start_copy_from_url(source.url)
    assert copy.get_blob_properties().blob_type == BlobType.APPENDBLOB
    copy.append_block(b" more")
    assert (content_of(copy), content_of(source)) == (b"line more", b"line")


@operation("CopyBlob")
def test_ten_mib_are_copied_at_once(container, copy):
    content = some_bytes(10 * MIB)
    container.upload_blob("source", content)
    assert copy.start_copy_from_url(container.get_blob_client("source").url)["copy_status"] == "success"
    assert content_of(copy) == content


@operation("CopyBlob")
def test_a_missing_source_is_not_found(missing_blob, copy):
    with pytest.raises(ResourceNotFoundError) as caught:
        copy.start_copy_from_url(missing_blob.url)
    assert code_of(caught.value) in ("BlobNotFound", "CannotVerifyCopySource")
    assert not copy.exists()


SOURCE_CONDITIONS = {
    "match_current": (lambda p: {"source_etag": p.etag, "source_match_condition": MatchConditions.IfNotModified}, True),
    "match_other": (
        lambda p: {"source_etag": OTHER_ETAG, "source_match_condition": MatchConditions.IfNotModified},
        False,
    ),
    "none_match_current": (
        lambda p: {"source_etag": p.etag, "source_match_condition": MatchConditions.IfModified},
        False,
    ),
    "none_match_other": (
        lambda p: {"source_etag": OTHER_ETAG, "source_match_condition": MatchConditions.IfModified},
        True,
    ),
    "modified_since_before": (lambda p: {"source_if_modified_since": p.last_modified - HOUR}, True),
    "modified_since_then": (lambda p: {"source_if_modified_since": p.last_modified}, False),
    "unmodified_since_then": (lambda p: {"source_if_unmodified_since": p.last_modified}, True),
    "unmodified_since_before": (lambda p: {"source_if_unmodified_since": p.last_modified - HOUR}, False),
}


@operation("CopyBlob")
@pytest.mark.parametrize("condition", SOURCE_CONDITIONS)
def test_a_copy_under_a_condition_of_its_source(blob, copy, condition):
    describe, holds = SOURCE_CONDITIONS[condition]
    headers = describe(blob.get_blob_properties())
    if holds:
        copy.start_copy_from_url(blob.url, **headers)
        assert content_of(copy) == b"0123456789"
    else:
        with refused(412, "SourceConditionNotMet"):
            copy.start_copy_from_url(blob.url, **headers)
        assert not copy.exists()


@operation("CopyBlob")
def test_a_copy_under_a_condition_of_its_destination(blob, copy):
    copy.upload_blob(b"old")
    with pytest.raises(HttpResponseError) as caught:
        copy.start_copy_from_url(blob.url, etag=OTHER_ETAG, match_condition=MatchConditions.IfNotModified)
    assert caught.value.status_code == 412
    assert code_of(caught.value) in ("ConditionNotMet", "TargetConditionNotMet")
    etag = copy.get_blob_properties().etag
    copy.start_copy_from_url(blob.url, etag=etag, match_condition=MatchConditions.IfNotModified)
    assert content_of(copy) == b"0123456789"


@operation("CopyBlob")
def test_a_copy_onto_a_leased_blob_needs_the_lease(blob, copy):
    copy.upload_blob(b"old")
    lease = copy.acquire_lease(lease_duration=-1)
    with refused(412, "LeaseIdMissing"):
        copy.start_copy_from_url(blob.url)
    copy.start_copy_from_url(blob.url, destination_lease=lease)
    assert content_of(copy) == b"0123456789"


@operation("CopyBlobFromURL")
def test_a_synchronous_copy_needs_no_poll(account, blob, copy):
    source = f"{blob.url}?{blob_sas_token(account, blob, permission='r')}"
    answer = Answer()
    copied = copy.start_copy_from_url(source, requires_sync=True, raw_response_hook=answer)
    assert (answer.status, copied["copy_status"]) == (202, "success")
    assert content_of(copy) == b"0123456789"


@operation("PutBlockFromURL")
def test_blocks_are_taken_from_another_blob(account, blob, copy):
    source = f"{blob.url}?{blob_sas_token(account, blob, permission='r')}"
    copy.stage_block_from_url("000001", source, source_offset=2, source_length=3)
    copy.stage_block_from_url("000002", source)
    copy.commit_block_list([BlobBlock("000001"), BlobBlock("000002")])
    assert content_of(copy) == b"2340123456789"


@operation("AbortCopyBlob")
def test_a_copy_that_is_done_cannot_be_aborted(blob, copy):
    copied = copy.start_copy_from_url(blob.url)
    with refused(409, "NoPendingCopyOperation"):
        copy.abort_copy(copied["copy_id"])
