"""Block blobs made of blocks: staging, committing, listing, and what breaks."""

import base64

import pytest
from azure.core.exceptions import ResourceNotFoundError
from azure.storage.blob import BlobBlock, BlockState, ContentSettings

from blob_contents import KIB, content_of, md5_of, some_bytes
from refusal import Answer, refused
from results import operation


def block_id(text):
    """The SDK encodes once more on the way out, so ids of equal length stay of equal length."""
    return str(text).rjust(6, "0")


def ids_of(blocks):
    return [block.id for block in blocks]


@pytest.fixture
def staged(container):
    """A blob that exists only as three uncommitted blocks: aa, bb, cc."""
    blob = container.get_blob_client("staged")
    for index, content in enumerate([b"aa", b"bb", b"cc"]):
        blob.stage_block(block_id(index), content)
    return blob


@operation("PutBlock")
def test_a_staged_block_is_described(container):
    answer = Answer()
    container.get_blob_client("blob").stage_block(block_id(1), b"text", raw_response_hook=answer)
    assert answer.status == 201
    assert "ETag" not in answer.headers
    assert "Last-Modified" not in answer.headers
    assert "Content-MD5" in answer.headers or "x-ms-content-crc64" in answer.headers
    assert answer.headers["x-ms-request-server-encrypted"] == "true"


@operation("PutBlock")
def test_a_blob_of_uncommitted_blocks_is_not_there_yet(container, staged):
    assert not staged.exists()
    with refused(404, "BlobNotFound", ResourceNotFoundError):
        staged.download_blob()
    assert list(container.list_blobs()) == []
    (listed,) = container.list_blobs(include=["uncommittedblobs"])
    assert (listed.name, listed.size) == ("staged", 0)


@operation("PutBlockList")
def test_blocks_are_put_together_in_the_order_of_the_list(staged):
    answer = Answer()
    order = [BlobBlock(block_id(index)) for index in (2, 0, 1)]
    committed = staged.commit_block_list(order, raw_response_hook=answer)
    assert answer.status == 201
    assert content_of(staged) == b"ccaabb"
    assert staged.get_blob_properties().etag == committed["etag"]


@operation("PutBlockList")
def test_a_block_may_be_used_twice(staged):
    staged.commit_block_list([BlobBlock(block_id(index)) for index in (0, 1, 0)])
    assert content_of(staged) == b"aabbaa"


@operation("PutBlockList")
def test_blocks_left_out_of_the_list_are_gone(staged):
    staged.commit_block_list([BlobBlock(block_id(1))])
    committed, uncommitted = staged.get_block_list("all")
    assert (ids_of(committed), uncommitted) == ([block_id(1)], [])
    with refused(400, "InvalidBlockList"):
        staged.commit_block_list([BlobBlock(block_id(0))])


@operation("PutBlockList")
def test_an_empty_list_makes_an_empty_blob(container):
    blob = container.get_blob_client("blob")
    blob.commit_block_list([])
    assert blob.get_blob_properties().size == 0
    assert content_of(blob) == b""


@operation("PutBlockList")
def test_an_unknown_block_is_refused(staged):
    with refused(400, "InvalidBlockList"):
        staged.commit_block_list([BlobBlock(block_id(0)), BlobBlock(block_id(9))])
    assert not staged.exists()


@operation("PutBlock")
def test_a_block_staged_again_replaces_itself(staged):
    staged.stage_block(block_id(0), b"AAAA")
    staged.commit_block_list([BlobBlock(block_id(0)), BlobBlock(block_id(1))])
    assert content_of(staged) == b"AAAAbb"


@operation("PutBlock")
def test_ids_of_blocks_must_be_of_one_length(staged):
    with refused(400, "InvalidBlobOrBlock"):
        staged.stage_block("a-longer-identifier", b"x")


@operation("PutBlock")
def test_a_block_of_nothing_is_refused(container):
    with refused(400):
        container.get_blob_client("blob").stage_block(block_id(0), b"", length=0)


@operation("PutBlock")
def test_a_checked_block_is_accepted(container):
    blob = container.get_blob_client("blob")
    blob.stage_block(block_id(0), b"text", validate_content=True)
    blob.commit_block_list([BlobBlock(block_id(0))], validate_content=True)
    assert content_of(blob) == b"text"


@operation("PutBlock")
def test_a_block_with_a_wrong_md5_is_refused(container):
    wrong = base64.b64encode(bytes(16)).decode()
    with refused(400, "Md5Mismatch"):
        container.get_blob_client("blob").stage_block(block_id(0), b"text", headers={"Content-MD5": wrong})


@operation("PutBlock")
def test_a_block_for_an_append_blob_is_refused(container):
    blob = container.get_blob_client("log")
    blob.create_append_blob()
    with refused(409, "InvalidBlobType"):
        blob.stage_block(block_id(0), b"x")


@operation("PutBlock")
def test_staging_does_not_touch_the_committed_blob(blob):
    before = blob.get_blob_properties()
    blob.stage_block(block_id(0), b"new")
    after = blob.get_blob_properties()
    assert (after.etag, after.last_modified) == (before.etag, before.last_modified)
    assert content_of(blob) == b"0123456789"


@operation("PutBlob")
def test_a_single_upload_drops_uncommitted_blocks(staged):
    staged.upload_blob(b"whole", overwrite=True)
    committed, uncommitted = staged.get_block_list("all")
    assert (committed, uncommitted) == ([], [])
    with refused(400, "InvalidBlockList"):
        staged.commit_block_list([BlobBlock(block_id(0))])
    assert content_of(staged) == b"whole"


@operation("PutBlockList")
def test_new_blocks_join_committed_ones(staged):
    # Whatever state a block is given, the SDK (12.x) sends it as the latest: it compares the state with "uncommitted"
    # where its own constant says "Uncommitted". Lists of the other kinds are cases of the raw suite.
    staged.commit_block_list([BlobBlock(block_id(index)) for index in range(3)])
    staged.stage_block(block_id(1), b"BB")
    staged.stage_block(block_id(3), b"dd")
    staged.commit_block_list([BlobBlock(block_id(index)) for index in [0, 1, 3, 2]])
    assert content_of(staged) == b"aaBBddcc"


@operation("PutBlockList")
def test_the_latest_block_is_the_uncommitted_one(staged):
    staged.commit_block_list([BlobBlock(block_id(0))])
    staged.stage_block(block_id(0), b"newer")
    staged.commit_block_list([BlobBlock(block_id(0), state=BlockState.LATEST)])
    assert content_of(staged) == b"newer"


@operation("PutBlockList")
def test_a_block_list_carries_properties_and_metadata(staged):
    settings = ContentSettings(content_type="text/plain", content_md5=md5_of(b"aa"), cache_control="no-store")
    staged.commit_block_list([BlobBlock(block_id(0))], content_settings=settings, metadata={"a": "1"})
    properties = staged.get_blob_properties()
    assert (properties.content_settings.content_type, properties.content_settings.cache_control) == (
        "text/plain",
        "no-store",
    )
    assert bytes(properties.content_settings.content_md5) == bytes(md5_of(b"aa"))
    assert properties.metadata == {"a": "1"}


@operation("PutBlockList")
def test_no_md5_is_made_up_for_a_block_list(staged):
    staged.commit_block_list([BlobBlock(block_id(0))])
    assert staged.get_blob_properties().content_settings.content_md5 is None


@operation("PutBlockList")
def test_a_new_block_list_replaces_properties_and_metadata(staged):
    settings = ContentSettings(content_type="text/plain")
    staged.commit_block_list([BlobBlock(block_id(0))], content_settings=settings, metadata={"a": "1"})
    staged.commit_block_list([BlobBlock(block_id(0))])
    properties = staged.get_blob_properties()
    assert (properties.content_settings.content_type, properties.metadata) == ("application/octet-stream", {})


@operation("GetBlockList")
def test_blocks_are_listed_with_their_sizes(staged):
    staged.commit_block_list([BlobBlock(block_id(index)) for index in (2, 0)])
    staged.stage_block(block_id(7), b"1234567")
    staged.stage_block(block_id(5), b"12345")
    committed, uncommitted = staged.get_block_list("all")
    assert [(block.id, block.size) for block in committed] == [(block_id(2), 2), (block_id(0), 2)]
    assert [(block.id, block.size) for block in uncommitted] == [(block_id(5), 5), (block_id(7), 7)]


@operation("GetBlockList")
@pytest.mark.parametrize("kind, expected", [("committed", (1, 0)), ("uncommitted", (0, 1)), ("all", (1, 1))])
def test_one_kind_of_blocks_is_listed(staged, kind, expected):
    staged.commit_block_list([BlobBlock(block_id(0))])
    staged.stage_block(block_id(1), b"x")
    assert tuple(len(blocks) for blocks in staged.get_block_list(kind)) == expected


@operation("GetBlockList")
def test_a_blob_written_at_once_has_no_blocks(blob):
    answer = Answer()
    assert blob.get_block_list("all", raw_response_hook=answer) == ([], [])
    assert answer.headers["x-ms-blob-content-length"] == "10"
    assert answer.headers["ETag"] == blob.get_blob_properties().etag


@operation("GetBlockList")
def test_an_append_blob_has_no_block_list(container):
    blob = container.get_blob_client("log")
    blob.create_append_blob()
    with refused(409, "InvalidBlobType"):
        blob.get_block_list("all")


@operation("PutBlockList")
def test_a_list_of_many_blocks_is_committed(container):
    blob = container.get_blob_client("blob")
    blob.stage_block(block_id(0), b"ab")
    blob.commit_block_list([BlobBlock(block_id(0))] * 5000)
    assert content_of(blob) == b"ab" * 5000
    assert len(blob.get_block_list("committed")[0]) == 5000


@operation("PutBlockList")
def test_more_than_50000_blocks_are_refused(container):
    blob = container.get_blob_client("blob")
    blob.stage_block(block_id(0), b"a")
    with refused(400, "BlockListTooLong"):
        blob.commit_block_list([BlobBlock(block_id(0))] * 50001)


@operation("GetBlob")
@pytest.mark.parametrize("offset, length", [(0, 10), (95 * KIB, 10 * KIB), (99 * KIB, 2 * KIB), (250 * KIB, 50 * KIB)])
def test_a_range_across_blocks_is_read(container, offset, length):
    content = some_bytes(300 * KIB)
    blob = container.get_blob_client("blob")
    for index in range(3):
        blob.stage_block(block_id(index), content[index * 100 * KIB : (index + 1) * 100 * KIB])
    blob.commit_block_list([BlobBlock(block_id(index)) for index in range(3)])
    assert content_of(blob, offset=offset, length=length) == content[offset : offset + length]
