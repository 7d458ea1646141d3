"""Uploads of tens of MiB, as the SDK cuts them up, one after the other and in parallel."""

import hashlib
import io

import pytest

from blob_clients import blob_client
from blob_contents import KIB, MIB, content_of, some_bytes
from refusal import Answer
from results import operation

IN_BLOCKS = {"max_single_put_size": MIB, "max_block_size": MIB}


class Forward(io.RawIOBase):
    """A source that can be read once and does not know its length."""

    def __init__(self, content):
        self._inner = io.BytesIO(content)

    def readable(self):
        return True

    def readinto(self, buffer):
        return self._inner.readinto(buffer)


@operation("PutBlockList")
@pytest.mark.parametrize("concurrency", [1, 4, 8])
def test_24_mib_go_up_in_blocks(account, container, concurrency):
    content = some_bytes(24 * MIB + 321)
    with blob_client(account, container.container_name, "blob", **IN_BLOCKS) as blob:
        blob.upload_blob(content, max_concurrency=concurrency)
        committed, uncommitted = blob.get_block_list("all")
        assert ([block.size for block in committed], uncommitted) == ([MIB] * 24 + [321], [])
        assert hashlib.sha256(content_of(blob, max_concurrency=4)).digest() == hashlib.sha256(content).digest()


@operation("PutBlockList")
@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_stream_of_unknown_length_goes_up_in_blocks(account, container, concurrency):
    content = some_bytes(20 * MIB + 5)
    with blob_client(account, container.container_name, "blob", **IN_BLOCKS) as blob:
        blob.upload_blob(Forward(content), max_concurrency=concurrency)
        assert content_of(blob) == content


@operation("PutBlob")
def test_20_mib_go_up_in_one_request(container):
    content = some_bytes(20 * MIB)
    blob = container.get_blob_client("blob")
    answer = Answer()
    blob.upload_blob(content, raw_response_hook=answer)
    assert answer.response.request.headers["Content-Length"] == str(20 * MIB)
    assert content_of(blob) == content
    assert len(blob.get_block_list("all")[0]) == 0


@operation("PutBlock")
def test_blocks_are_checked_one_by_one(account, container):
    content = some_bytes(5 * MIB)
    with blob_client(account, container.container_name, "blob", **IN_BLOCKS) as blob:
        blob.upload_blob(content, validate_content=True, max_concurrency=2)
        assert content_of(blob, validate_content=True) == content


@operation("PutBlockList")
def test_an_upload_in_blocks_does_not_overwrite_unless_told(account, container):
    container.upload_blob("blob", b"old")
    with blob_client(account, container.container_name, "blob", **IN_BLOCKS) as blob:
        with pytest.raises(Exception, match="BlobAlreadyExists"):
            blob.upload_blob(some_bytes(3 * MIB))
        assert content_of(blob) == b"old"
        blob.upload_blob(some_bytes(3 * MIB), overwrite=True)
        assert blob.get_blob_properties().size == 3 * MIB


@operation("GetBlob")
def test_progress_is_told_on_the_way(account, container):
    content = some_bytes(4 * MIB)
    up, down = [], []
    options = IN_BLOCKS | {"max_chunk_get_size": MIB, "max_single_get_size": MIB}
    with blob_client(account, container.container_name, "blob", **options) as blob:
        blob.upload_blob(content, progress_hook=lambda current, total: up.append((current, total)))
        blob.download_blob(progress_hook=lambda current, total: down.append((current, total))).readall()
    expected = [(count * MIB, 4 * MIB) for count in range(1, 5)]
    assert (up, down) == (expected, expected)


@operation("AppendBlock")
def test_an_append_blob_goes_up_in_blocks(account, container):
    content = some_bytes(10 * MIB + 7)
    with blob_client(account, container.container_name, "log", **IN_BLOCKS) as blob:
        blob.upload_blob(content, blob_type="AppendBlob")
        properties = blob.get_blob_properties()
        assert (properties.size, properties.append_blob_committed_block_count) == (len(content), 11)
        assert content_of(blob) == content


@operation("PutBlob")
@pytest.mark.parametrize("size", [MIB - 1, MIB, MIB + 1, 2 * MIB, 2 * MIB + KIB])
def test_content_around_the_size_of_a_block_comes_back(account, container, size):
    content = some_bytes(size)
    with blob_client(account, container.container_name, "blob", **IN_BLOCKS) as blob:
        blob.upload_blob(content)
        assert content_of(blob) == content
