"""Page blobs: pages in place, ranges and differences, lengths, sequence numbers and incremental copies."""

import pytest
from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError, ResourceModifiedError
from azure.storage.blob import BlobType, SequenceNumberAction

from blob_contents import content_of
from refusal import Answer, refused
from results import operation

PAGE = 512


@pytest.fixture
def disk(container):
    """A page blob of eight pages."""
    blob = container.get_blob_client("disk")
    blob.create_page_blob(8 * PAGE)
    return blob


def ranges_of(blob, **options):
    """What the blob has, or what was written and cleared since a snapshot, each as pairs of first and last byte."""
    written, cleared = blob.get_page_ranges(**options)
    return [[(found["start"], found["end"]) for found in ranges] for ranges in (written, cleared)]


@operation("PutBlob")
def test_a_new_page_blob_is_zeros(container):
    answer = Answer()
    blob = container.get_blob_client("disk")
    blob.create_page_blob(2 * PAGE, sequence_number=7, metadata={"a": "1"}, raw_response_hook=answer)
    assert answer.status == 201
    properties = blob.get_blob_properties()
    assert (properties.blob_type, properties.size) == (BlobType.PAGEBLOB, 2 * PAGE)
    assert (properties.page_blob_sequence_number, properties.metadata) == (7, {"a": "1"})
    assert content_of(blob) == bytes(2 * PAGE)


@operation("PutPage")
def test_pages_are_written_in_place(disk):
    disk.upload_page(b"a" * 2 * PAGE, offset=PAGE, length=2 * PAGE)
    written = disk.upload_page(b"b" * PAGE, offset=2 * PAGE, length=PAGE, validate_content=True)
    assert written["blob_sequence_number"] == 0
    assert content_of(disk) == bytes(PAGE) + b"a" * PAGE + b"b" * PAGE + bytes(5 * PAGE)
    assert ranges_of(disk) == [[(512, 1535)], []]


@operation("PutPage")
def test_a_whole_blob_is_uploaded_as_pages(container):
    blob = container.get_blob_client("image")
    content = b"x" * PAGE + bytes(PAGE) + b"y" * 3 * PAGE
    blob.upload_blob(content, blob_type=BlobType.PAGEBLOB)
    assert content_of(blob) == content


@operation("PutPage")
def test_pages_are_written_under_conditions(disk):
    disk.set_sequence_number(SequenceNumberAction.Update, 5)
    with refused(412, "SequenceNumberConditionNotMet"):
        disk.upload_page(b"a" * PAGE, offset=0, length=PAGE, if_sequence_number_lt=5)
    disk.upload_page(b"a" * PAGE, offset=0, length=PAGE, if_sequence_number_lte=5)
    disk.acquire_lease()
    with refused(412, "LeaseIdMissing", HttpResponseError):
        disk.upload_page(b"b" * PAGE, offset=0, length=PAGE)


@operation("PutPage")
def test_pages_beyond_the_end_are_refused(disk):
    with refused(416, "InvalidPageRange"):
        disk.upload_page(b"a" * PAGE, offset=8 * PAGE, length=PAGE)


@operation("ClearPage")
def test_cleared_pages_are_zeros(disk):
    disk.upload_page(b"a" * 4 * PAGE, offset=0, length=4 * PAGE)
    disk.clear_page(offset=PAGE, length=PAGE)
    assert content_of(disk)[: 4 * PAGE] == b"a" * PAGE + bytes(PAGE) + b"a" * 2 * PAGE
    assert ranges_of(disk) == [[(0, 511), (1024, 2047)], []]


@operation("GetPageRanges")
def test_a_difference_has_written_and_cleared_pages(disk):
    first = disk.create_snapshot()
    disk.upload_page(b"a" * 3 * PAGE, offset=0, length=3 * PAGE)
    second = disk.create_snapshot()
    disk.clear_page(offset=PAGE, length=PAGE)
    assert ranges_of(disk, previous_snapshot_diff=first) == [[(0, 511), (1024, 1535)], [(512, 1023)]]
    assert ranges_of(disk, previous_snapshot_diff=second) == [[], [(512, 1023)]]


@operation("GetPageRanges")
def test_ranges_come_in_pages(disk):
    for page in (0, 2, 4, 6):
        disk.upload_page(b"a" * PAGE, offset=page * PAGE, length=PAGE)
    pages = [list(page) for page in disk.list_page_ranges(results_per_page=3).by_page()]
    assert [len(page) for page in pages] == [3, 1]
    assert [(found.start, found.end) for found in pages[0]] == [(0, 511), (1024, 1535), (2048, 2559)]


@operation("SetBlobProperties")
def test_a_page_blob_is_resized(disk):
    disk.upload_page(b"a" * 8 * PAGE, offset=0, length=8 * PAGE)
    disk.resize_blob(PAGE)
    disk.resize_blob(2 * PAGE)
    assert content_of(disk) == b"a" * PAGE + bytes(PAGE)
    assert disk.get_blob_properties().size == 2 * PAGE


@operation("SetBlobProperties")
def test_a_sequence_number_is_set_raised_and_counted(disk):
    for action, number, expected in (
        (SequenceNumberAction.Update, 6, 6),
        (SequenceNumberAction.Max, 4, 6),
        (SequenceNumberAction.Increment, None, 7),
    ):
        assert disk.set_sequence_number(action, number)["blob_sequence_number"] == expected


@operation("PutPageFromURL")
def test_pages_come_from_another_blob(container, disk):
    disk.upload_page(b"a" * PAGE + b"b" * PAGE, offset=0, length=2 * PAGE)
    source = container.get_blob_client("copy")
    source.create_page_blob(PAGE)
    container.set_container_access_policy({}, public_access="blob")
    source.upload_pages_from_url(disk.url, offset=0, length=PAGE, source_offset=PAGE)
    assert content_of(source) == b"b" * PAGE


@operation("IncrementalCopyBlob")
def test_an_incremental_copy_takes_snapshots(container, disk):
    container.set_container_access_policy({}, public_access="blob")
    backup = container.get_blob_client("backup")
    contents = []
    for page, byte in ((0, b"a"), (1, b"b")):
        disk.upload_page(byte * PAGE, offset=page * PAGE, length=PAGE)
        contents.append(content_of(disk))
        snapshot = disk.create_snapshot()["snapshot"]
        backup.start_copy_from_url(f"{disk.url}?snapshot={snapshot}", incremental_copy=True)
        copy = backup.get_blob_properties().copy
        assert (copy.status, copy.incremental_copy) == ("success", True)
    snapshots = [found.snapshot for found in container.list_blobs("backup", include=["snapshots"]) if found.snapshot]
    found = [content_of(container.get_blob_client("backup", snapshot=snapshot)) for snapshot in snapshots]
    assert found == contents


@operation("PutPage")
def test_a_stale_etag_is_refused(disk):
    etag = disk.get_blob_properties().etag
    disk.upload_page(b"a" * PAGE, offset=0, length=PAGE)
    with refused(412, "ConditionNotMet", ResourceModifiedError):
        disk.clear_page(offset=0, length=PAGE, etag=etag, match_condition=MatchConditions.IfNotModified)
