"""Reading blobs: whole, in ranges, in chunks, as text; and blobs that are empty or missing."""

import io

import pytest
from azure.core.exceptions import ResourceNotFoundError
from azure.storage.blob import BlobType, ContentSettings

from blob_clients import blob_client
from blob_contents import KIB, MIB, content_of, md5_of, some_bytes
from refusal import Answer, refused
from results import operation


@operation("GetBlob")
@pytest.mark.parametrize(
    "offset, length, expected",
    [
        pytest.param(0, 1, b"0", id="the_first_byte"),
        pytest.param(0, 10, b"0123456789", id="all"),
        pytest.param(3, 4, b"3456", id="the_middle"),
        pytest.param(9, 1, b"9", id="the_last_byte"),
        pytest.param(5, None, b"56789", id="to_the_end"),
        pytest.param(0, 100, b"0123456789", id="beyond_the_end"),
        pytest.param(8, 100, b"89", id="across_the_end"),
    ],
)
def test_a_range_is_read(blob, offset, length, expected):
    answer = Answer()
    assert content_of(blob, offset=offset, length=length, raw_response_hook=answer) == expected
    assert answer.status == 206
    assert answer.headers["Content-Range"] == f"bytes {offset}-{offset + len(expected) - 1}/10"
    assert answer.headers["Accept-Ranges"] == "bytes"


@operation("GetBlob")
@pytest.mark.parametrize("offset", [10, 11, 1000])
def test_a_range_behind_the_end_is_refused(blob, offset):
    with refused(416, "InvalidRange") as caught:
        content_of(blob, offset=offset, length=5)
    assert caught.value.response.headers["Content-Range"] == "bytes */10"


@operation("GetBlob")
def test_an_empty_blob_is_read(container):
    blob = container.get_blob_client("empty")
    blob.upload_blob(b"")
    downloader = blob.download_blob()
    assert (downloader.readall(), downloader.size) == (b"", 0)
    assert bytes(blob.get_blob_properties().content_settings.content_md5) == bytes(md5_of(b""))


@operation("GetBlob")
def test_any_range_of_an_empty_blob_is_refused(container):
    blob = container.get_blob_client("empty")
    blob.upload_blob(b"")
    with refused(416, "InvalidRange"):
        content_of(blob, offset=0, length=1)


@operation("GetBlob")
def test_an_empty_blob_has_no_chunks(container):
    blob = container.get_blob_client("empty")
    blob.upload_blob(b"")
    assert b"".join(blob.download_blob().chunks()) == b""


@operation("GetBlob")
@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_blob_is_read_in_parallel_ranges(account, container, concurrency):
    content = some_bytes(9 * MIB + 17)
    container.upload_blob("blob", content)
    options = {"max_single_get_size": MIB, "max_chunk_get_size": MIB}
    with blob_client(account, container.container_name, "blob", **options) as blob:
        assert content_of(blob, max_concurrency=concurrency) == content
        stream = io.BytesIO()
        assert blob.download_blob(max_concurrency=concurrency).readinto(stream) == len(content)
        assert stream.getvalue() == content


@operation("GetBlob")
def test_a_blob_is_read_in_chunks(account, container):
    content = some_bytes(700 * KIB)
    container.upload_blob("blob", content)
    options = {"max_single_get_size": 100 * KIB, "max_chunk_get_size": 100 * KIB}
    with blob_client(account, container.container_name, "blob", **options) as blob:
        assert [len(chunk) for chunk in blob.download_blob().chunks()] == [100 * KIB] * 7
        assert b"".join(blob.download_blob().chunks()) == content
        downloader = blob.download_blob()
        assert downloader.read(10) + downloader.read(20) == content[:30]


@operation("GetBlob")
def test_ranges_are_checked_by_md5(account, container):
    content = some_bytes(6 * MIB)
    container.upload_blob("blob", content)
    options = {"max_single_get_size": 4 * MIB, "max_chunk_get_size": 4 * MIB}
    with blob_client(account, container.container_name, "blob", **options) as blob:
        assert content_of(blob, validate_content=True) == content


@operation("GetBlob")
def test_the_md5_of_a_range_is_told_only_when_asked_for(blob):
    plain, checked = Answer(), Answer()
    content_of(blob, offset=2, length=3, raw_response_hook=plain)
    content_of(blob, offset=2, length=3, validate_content=True, raw_response_hook=checked)
    whole = blob.get_blob_properties().content_settings.content_md5
    assert "Content-MD5" not in plain.headers
    assert plain.headers["x-ms-blob-content-md5"]
    assert checked.headers["Content-MD5"]
    assert checked.headers["Content-MD5"] != checked.headers["x-ms-blob-content-md5"]
    assert bytes(whole) == bytes(md5_of(b"0123456789"))


@operation("GetBlob")
def test_a_blob_that_changes_while_it_is_read_is_noticed(account, container):
    container.upload_blob("blob", some_bytes(3 * MIB))
    options = {"max_single_get_size": MIB, "max_chunk_get_size": MIB}
    with blob_client(account, container.container_name, "blob", **options) as blob:
        downloader = blob.download_blob()
        container.upload_blob("blob", some_bytes(3 * MIB, seed=2), overwrite=True)
        with refused(412, "ConditionNotMet"):
            downloader.readall()


@operation("GetBlob")
def test_text_is_decoded(container):
    blob = container.get_blob_client("blob")
    blob.upload_blob("Grüße 🐘")
    assert blob.download_blob(encoding="utf-8").readall() == "Grüße 🐘"


@operation("GetBlob")
def test_content_that_calls_itself_compressed_is_left_alone(container):
    """The encoding is the owner's word about the bytes; the server neither packs nor unpacks them."""
    blob = container.get_blob_client("blob")
    blob.upload_blob(b"not compressed at all", content_settings=ContentSettings(content_encoding="br"))
    answer = Answer()
    downloader = blob.download_blob(decompress=False, raw_response_hook=answer)
    assert downloader.readall() == b"not compressed at all"
    assert answer.headers["Content-Encoding"] == "br"


@operation("GetBlob")
def test_a_download_tells_the_properties(blob):
    blob.set_blob_metadata({"colour": "red"})
    told = blob.download_blob().properties
    asked = blob.get_blob_properties()
    for name in ("name", "container", "etag", "last_modified", "size", "metadata", "blob_type", "creation_time"):
        assert getattr(told, name) == getattr(asked, name), name
    assert told.blob_type == BlobType.BLOCKBLOB
    assert (told.lease.status, told.lease.state) == ("unlocked", "available")
    assert told.server_encrypted is True


MISSING = {
    "download": ("GetBlob", lambda blob: blob.download_blob()),
    "properties": ("GetBlobProperties", lambda blob: blob.get_blob_properties()),
    "delete": ("DeleteBlob", lambda blob: blob.delete_blob()),
    "metadata": ("SetBlobMetadata", lambda blob: blob.set_blob_metadata({"a": "b"})),
    "headers": ("SetBlobProperties", lambda blob: blob.set_http_headers(ContentSettings(content_type="a/b"))),
    "snapshot": ("SnapshotBlob", lambda blob: blob.create_snapshot()),
    "lease": ("AcquireBlobLease", lambda blob: blob.acquire_lease()),
    "append": ("AppendBlock", lambda blob: blob.append_block(b"x")),
    "block_list": ("GetBlockList", lambda blob: blob.get_block_list("all")),
    "get_tags": ("GetBlobTags", lambda blob: blob.get_blob_tags()),
    "set_tags": ("SetBlobTags", lambda blob: blob.set_blob_tags({"a": "b"})),
    "tier": ("SetBlobTier", lambda blob: blob.set_standard_blob_tier("Cool")),
}


@pytest.mark.parametrize(
    "call", [pytest.param(call, id=name, marks=operation(about)) for name, (about, call) in MISSING.items()]
)
def test_a_missing_blob_answers_blob_not_found(missing_blob, call):
    with refused(404, "BlobNotFound", ResourceNotFoundError):
        call(missing_blob)


@operation("GetBlobProperties")
def test_a_blob_that_is_there_exists(blob, missing_blob, missing_container):
    assert blob.exists() is True
    assert missing_blob.exists() is False
    assert missing_container.get_blob_client("blob").exists() is False
