"""Conditional headers: every condition against every kind of read and write."""

from datetime import timedelta

import pytest
from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceModifiedError
from azure.storage.blob import BlobBlock, ContentSettings

from blob_contents import content_of
from refusal import code_of, refused
from results import operation

OTHER_ETAG = '"0x8D4BCC2E4835CD0"'
HOUR = timedelta(hours=1)

#: For each condition: the SDK's way to say it, and whether it holds for a blob that has not been touched since.
CONDITIONS = {
    "match_current": (lambda p: {"etag": p.etag, "match_condition": MatchConditions.IfNotModified}, True),
    "match_other": (lambda p: {"etag": OTHER_ETAG, "match_condition": MatchConditions.IfNotModified}, False),
    "match_any": (lambda p: {"match_condition": MatchConditions.IfPresent}, True),
    "none_match_current": (lambda p: {"etag": p.etag, "match_condition": MatchConditions.IfModified}, False),
    "none_match_other": (lambda p: {"etag": OTHER_ETAG, "match_condition": MatchConditions.IfModified}, True),
    "modified_since_before": (lambda p: {"if_modified_since": p.last_modified - HOUR}, True),
    "modified_since_then": (lambda p: {"if_modified_since": p.last_modified}, False),
    "unmodified_since_then": (lambda p: {"if_unmodified_since": p.last_modified}, True),
    "unmodified_since_before": (lambda p: {"if_unmodified_since": p.last_modified - HOUR}, False),
}

READS = {
    "download": ("GetBlob", lambda blob, **condition: blob.download_blob(**condition).readall()),
    "properties": ("GetBlobProperties", lambda blob, **condition: blob.get_blob_properties(**condition)),
}

#: A condition that a read fails in this way means that the client's copy is fresh, not that something is wrong.
NOT_MODIFIED = {"none_match_current", "modified_since_then"}

WRITES = {
    "upload": ("PutBlob", lambda blob, **condition: blob.upload_blob(b"new", overwrite=True, **condition)),
    "commit": ("PutBlockList", lambda blob, **condition: blob.commit_block_list([BlobBlock("AAAA")], **condition)),
    "metadata": ("SetBlobMetadata", lambda blob, **condition: blob.set_blob_metadata({"a": "1"}, **condition)),
    "headers": (
        "SetBlobProperties",
        lambda blob, **condition: blob.set_http_headers(ContentSettings(content_type="a/b"), **condition),
    ),
    "snapshot": ("SnapshotBlob", lambda blob, **condition: blob.create_snapshot(**condition)),
    "lease": ("AcquireBlobLease", lambda blob, **condition: blob.acquire_lease(**condition).release()),
    "delete": ("DeleteBlob", lambda blob, **condition: blob.delete_blob(**condition)),
}


def each(calls, conditions=CONDITIONS):
    return [
        pytest.param(call, condition, id=f"{name}_{condition}", marks=operation(about))
        for name, (about, call) in calls.items()
        for condition in conditions
    ]


@pytest.mark.parametrize("call, condition", each(READS))
def test_a_conditional_read(blob, call, condition):
    describe, holds = CONDITIONS[condition]
    headers = describe(blob.get_blob_properties())
    if holds:
        call(blob, **headers)
    else:
        with refused(304 if condition in NOT_MODIFIED else 412, "ConditionNotMet"):
            call(blob, **headers)


@pytest.mark.parametrize("call, condition", each(WRITES))
def test_a_conditional_write(blob, call, condition):
    blob.stage_block("AAAA", b"staged")
    before = blob.get_blob_properties()
    describe, holds = CONDITIONS[condition]
    if holds:
        call(blob, **describe(before))
    else:
        with refused(412, "ConditionNotMet", ResourceModifiedError):
            call(blob, **describe(before))
        after = blob.get_blob_properties()
        assert (after.etag, after.metadata, after.size) == (before.etag, {}, 10)


@pytest.mark.parametrize("call, condition", each({"metadata": WRITES["metadata"]}, ["match_current"]))
def test_an_etag_need_not_be_quoted(blob, call, condition):
    bare = blob.get_blob_properties().etag.strip('"')
    call(blob, etag=bare, match_condition=MatchConditions.IfNotModified)


@pytest.mark.parametrize("condition", [name for name in CONDITIONS if name != "match_any"])
@operation("AppendBlock")
def test_a_conditional_append(container, condition):
    blob = container.get_blob_client("log")
    blob.create_append_blob()
    describe, holds = CONDITIONS[condition]
    headers = describe(blob.get_blob_properties())
    if holds:
        blob.append_block(b"line", **headers)
        assert content_of(blob) == b"line"
    else:
        with refused(412, "ConditionNotMet", ResourceModifiedError):
            blob.append_block(b"line", **headers)
        assert blob.get_blob_properties().size == 0


@operation("PutBlob")
def test_only_one_of_two_writers_with_the_same_etag_wins(blob):
    """The compare-and-swap that index blobs are built on."""
    etag = blob.get_blob_properties().etag
    condition = {"etag": etag, "match_condition": MatchConditions.IfNotModified, "overwrite": True}
    blob.upload_blob(b"first", **condition)
    with refused(412, "ConditionNotMet", ResourceModifiedError):
        blob.upload_blob(b"second", **condition)
    assert content_of(blob) == b"first"


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda blob, **c: blob.upload_blob(b"new", **c), id="upload", marks=operation("PutBlob")),
        pytest.param(lambda blob, **c: blob.commit_block_list([], **c), id="commit", marks=operation("PutBlockList")),
        pytest.param(
            lambda blob, **c: blob.start_copy_from_url(blob.url, **c), id="copy", marks=operation("CopyBlob")
        ),
        pytest.param(
            lambda blob, **c: blob.create_append_blob(**c), id="create_append", marks=operation("PutBlob")
        ),
    ],
)
def test_creating_only_what_is_missing_answers_blob_already_exists(blob, call):
    with refused(409, "BlobAlreadyExists", ResourceExistsError):
        call(blob, match_condition=MatchConditions.IfMissing)
    assert content_of(blob) == b"0123456789"


@operation("PutBlob")
def test_a_missing_blob_matches_no_etag(missing_blob):
    with refused(412, "ConditionNotMet"):
        missing_blob.upload_blob(
            b"new", overwrite=True, etag=OTHER_ETAG, match_condition=MatchConditions.IfNotModified
        )
    assert not missing_blob.exists()


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda blob, **c: blob.delete_blob(**c), id="delete", marks=operation("DeleteBlob")),
        pytest.param(
            lambda blob, **c: blob.set_blob_metadata({}, **c), id="metadata", marks=operation("SetBlobMetadata")
        ),
    ],
)
def test_a_missing_blob_is_refused_under_a_condition_too(missing_blob, call):
    """What the live service looks at first is not known; clients take either answer for "not there"."""
    with pytest.raises(HttpResponseError) as caught:
        call(missing_blob, etag=OTHER_ETAG, match_condition=MatchConditions.IfNotModified)
    assert (caught.value.status_code, code_of(caught.value)) in ((404, "BlobNotFound"), (412, "ConditionNotMet"))


@operation("GetBlob")
def test_of_two_read_conditions_one_success_is_enough(blob):
    properties = blob.get_blob_properties()
    passes = {"etag": OTHER_ETAG, "match_condition": MatchConditions.IfModified}
    assert content_of(blob, if_modified_since=properties.last_modified, **passes) == b"0123456789"


@operation("GetBlob")
def test_a_failed_precondition_outweighs_freshness(blob):
    properties = blob.get_blob_properties()
    with refused(412, "ConditionNotMet"):
        content_of(
            blob,
            etag=properties.etag,
            match_condition=MatchConditions.IfModified,
            if_unmodified_since=properties.last_modified - HOUR,
        )


@operation("SetBlobMetadata")
def test_conditions_that_do_not_go_together_are_refused_for_writes(blob):
    properties = blob.get_blob_properties()
    with pytest.raises(HttpResponseError) as caught:
        blob.set_blob_metadata(
            {"a": "1"},
            etag=properties.etag,
            match_condition=MatchConditions.IfNotModified,
            if_modified_since=properties.last_modified - HOUR,
        )
    assert (caught.value.status_code, code_of(caught.value)) == (400, "MultipleConditionHeadersNotSupported")
