"""Append blobs: offsets, block counts, and the conditions of log writers."""

import base64
from concurrent.futures import ThreadPoolExecutor

import pytest
from azure.core import MatchConditions
from azure.core.exceptions import ResourceExistsError
from azure.storage.blob import BlobType, ContentSettings

from blob_contents import content_of
from refusal import Answer, refused
from results import operation


@pytest.fixture
def log(container):
    """An empty append blob."""
    blob = container.get_blob_client("log")
    blob.create_append_blob()
    return blob


@operation("PutBlob")
def test_a_new_append_blob_is_empty(container):
    answer = Answer()
    blob = container.get_blob_client("log")
    settings = ContentSettings(content_type="text/plain")
    blob.create_append_blob(content_settings=settings, metadata={"a": "1"}, raw_response_hook=answer)
    assert answer.status == 201
    assert "Content-MD5" not in answer.headers
    properties = blob.get_blob_properties()
    assert (properties.blob_type, properties.size) == (BlobType.APPENDBLOB, 0)
    assert properties.append_blob_committed_block_count == 0
    assert (properties.content_settings.content_type, properties.metadata) == ("text/plain", {"a": "1"})


@operation("PutBlob")
def test_creating_an_append_blob_again_empties_it(log):
    log.append_block(b"line")
    log.create_append_blob()
    assert log.get_blob_properties().size == 0


@operation("PutBlob")
def test_an_append_blob_is_created_only_if_missing(log):
    with refused(409, "BlobAlreadyExists", ResourceExistsError):
        log.create_append_blob(match_condition=MatchConditions.IfMissing)


@operation("AppendBlock")
def test_an_append_tells_offset_and_count(log):
    answer = Answer()
    first = log.append_block(b"first,", raw_response_hook=answer)
    second = log.append_block(b"second")
    assert answer.status == 201
    assert (first["blob_append_offset"], first["blob_committed_block_count"]) == ("0", 1)
    assert (second["blob_append_offset"], second["blob_committed_block_count"]) == ("6", 2)
    assert first["etag"] != second["etag"] == log.get_blob_properties().etag
    assert content_of(log) == b"first,second"


@operation("AppendBlock")
def test_an_append_at_the_expected_position_is_accepted(log):
    log.append_block(b"0123", appendpos_condition=0)
    log.append_block(b"4567", appendpos_condition=4)
    assert content_of(log) == b"01234567"


@operation("AppendBlock")
@pytest.mark.parametrize("position", [0, 3, 5])
def test_an_append_at_another_position_is_refused(log, position):
    log.append_block(b"0123")
    with refused(412, "AppendPositionConditionNotMet"):
        log.append_block(b"4567", appendpos_condition=position)
    assert content_of(log) == b"0123"


@operation("AppendBlock")
def test_an_append_within_the_largest_size_is_accepted(log):
    log.append_block(b"0123", maxsize_condition=4)
    log.append_block(b"4567", maxsize_condition=8)
    assert log.get_blob_properties().size == 8


@operation("AppendBlock")
@pytest.mark.parametrize("largest", [1, 4, 7])
def test_an_append_beyond_the_largest_size_is_refused(log, largest):
    log.append_block(b"0123")
    with refused(412, "MaxBlobSizeConditionNotMet"):
        log.append_block(b"4567", maxsize_condition=largest)
    assert content_of(log) == b"0123"


@operation("AppendBlock")
def test_appending_to_a_block_blob_is_refused(blob):
    with refused(409, "InvalidBlobType"):
        blob.append_block(b"x")


@operation("AppendBlock")
def test_a_checked_append_is_accepted(log):
    log.append_block(b"line", validate_content=True)
    assert content_of(log) == b"line"


@operation("AppendBlock")
def test_an_append_with_a_wrong_md5_is_refused(log):
    with refused(400, "Md5Mismatch"):
        log.append_block(b"line", headers={"Content-MD5": base64.b64encode(bytes(16)).decode()})
    assert log.get_blob_properties().size == 0


@operation("AppendBlock")
def test_no_md5_is_kept_for_an_append_blob(log):
    log.append_block(b"line")
    assert log.get_blob_properties().content_settings.content_md5 is None


@operation("AppendBlock")
def test_uploading_to_an_append_blob_appends(log):
    log.upload_blob(b"one,", blob_type=BlobType.APPENDBLOB, overwrite=False)
    log.upload_blob(b"two", blob_type=BlobType.APPENDBLOB, overwrite=False)
    assert content_of(log) == b"one,two"


@operation("AppendBlock")
def test_uploading_with_overwrite_begins_anew(log):
    log.append_block(b"old")
    log.upload_blob(b"new", blob_type=BlobType.APPENDBLOB, overwrite=True)
    assert content_of(log) == b"new"


@operation("AppendBlock")
def test_concurrent_appends_all_arrive_whole(log):
    lines = [f"line {index:04}\n".encode() for index in range(60)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(log.append_block, lines))
    content = content_of(log)
    assert sorted(content.splitlines(keepends=True)) == lines
    for line, answer in zip(lines, answers):
        offset = int(answer["blob_append_offset"])
        assert content[offset : offset + len(line)] == line
    assert log.get_blob_properties().append_blob_committed_block_count == 60


@operation("AppendBlock")
def test_a_range_across_appended_blocks_is_read(log):
    for index in range(10):
        log.append_block(f"{index}" * 10)
    assert content_of(log, offset=15, length=20) == b"11111222222222233333"


@operation("SetBlobMetadata")
def test_metadata_of_an_append_blob_keeps_its_blocks(log):
    log.append_block(b"line")
    log.set_blob_metadata({"a": "1"})
    log.append_block(b"more")
    properties = log.get_blob_properties()
    assert (properties.metadata, properties.append_blob_committed_block_count) == ({"a": "1"}, 2)
    assert content_of(log) == b"linemore"
