"""Block blobs written in one request: content, properties, checks, overwriting."""

import base64
import io
import os
import tempfile

import pytest
from azure.core.exceptions import ResourceExistsError
from azure.storage.blob import BlobType, ContentSettings

from blob_contents import KIB, MIB, content_of, md5_of, some_bytes
from refusal import Answer, refused
from results import operation

ALL_SETTINGS = {
    "content_type": "text/plain; charset=utf-8",
    "content_encoding": "identity",
    "content_language": "de-CH",
    "content_disposition": 'attachment; filename="a b.txt"',
    "cache_control": "max-age=60, public",
}


@operation("PutBlob")
def test_an_uploaded_blob_is_described(container):
    answer = Answer()
    blob = container.get_blob_client("blob")
    uploaded = blob.upload_blob(b"hello", raw_response_hook=answer)
    assert answer.status == 201
    assert bytes(uploaded["content_md5"]) == bytes(md5_of(b"hello"))
    assert uploaded["request_server_encrypted"] is True
    properties = blob.get_blob_properties()
    assert (properties.etag, properties.last_modified) == (uploaded["etag"], uploaded["last_modified"])
    assert properties.etag.startswith('"0x')


@operation("PutBlob")
@pytest.mark.parametrize("size", [0, 1, 511, 4 * KIB, 64 * KIB, 64 * KIB + 1, 256 * KIB, MIB, MIB + 1, 5 * MIB])
def test_content_of_every_size_comes_back(container, size):
    content = some_bytes(size)
    blob = container.get_blob_client("blob")
    blob.upload_blob(content)
    assert content_of(blob) == content
    properties = blob.get_blob_properties()
    assert properties.size == size
    assert bytes(properties.content_settings.content_md5) == bytes(md5_of(content))


@operation("PutBlob")
@pytest.mark.parametrize(
    "data",
    [
        pytest.param(lambda: "Grüße", id="text"),
        pytest.param(lambda: io.BytesIO("Grüße".encode()), id="stream"),
        pytest.param(lambda: iter(["Grü".encode(), "ße".encode()]), id="iterator"),
        pytest.param(lambda: (part for part in ["Grü", "ße"]), id="generator_of_text"),
    ],
)
def test_content_may_come_from_every_kind_of_source(container, data):
    blob = container.get_blob_client("blob")
    blob.upload_blob(data())
    assert content_of(blob) == "Grüße".encode()


@operation("PutBlob")
def test_a_file_is_uploaded_and_downloaded(container):
    content = some_bytes(300 * KIB)
    blob = container.get_blob_client("blob")
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "in"), "wb") as file:
            file.write(content)
        with open(os.path.join(folder, "in"), "rb") as file:
            blob.upload_blob(file)
        with open(os.path.join(folder, "out"), "wb") as file:
            blob.download_blob().readinto(file)
        with open(os.path.join(folder, "out"), "rb") as file:
            assert file.read() == content


@operation("PutBlob")
def test_every_content_setting_is_read_back(container):
    blob = container.get_blob_client("blob")
    blob.upload_blob(b"hello", content_settings=ContentSettings(**ALL_SETTINGS))
    for settings in (blob.get_blob_properties().content_settings, blob.download_blob().properties.content_settings):
        assert {name: getattr(settings, name) for name in ALL_SETTINGS} == ALL_SETTINGS


@operation("PutBlob")
def test_the_content_type_is_octets_unless_given(container):
    blob = container.get_blob_client("blob")
    blob.upload_blob(b"hello")
    settings = blob.get_blob_properties().content_settings
    assert settings.content_type == "application/octet-stream"
    assert (settings.content_encoding, settings.content_language, settings.cache_control) == (None, None, None)


@operation("PutBlob")
def test_a_given_md5_is_compared_with_the_content(container):
    blob = container.get_blob_client("blob")
    with refused(400, "Md5Mismatch"):
        blob.upload_blob(b"hello", content_settings=ContentSettings(content_md5=bytearray(16)))
    blob.upload_blob(b"hello", content_settings=ContentSettings(content_md5=bytearray(md5_of(b"hello"))))
    assert bytes(blob.get_blob_properties().content_settings.content_md5) == bytes(md5_of(b"hello"))


@operation("PutBlob")
def test_a_checked_upload_is_accepted(container):
    blob = container.get_blob_client("blob")
    blob.upload_blob(b"hello", validate_content=True)
    assert content_of(blob, validate_content=True) == b"hello"


@operation("PutBlob")
def test_a_wrong_md5_is_refused(container):
    blob = container.get_blob_client("blob")
    wrong = base64.b64encode(bytes(16)).decode()
    with refused(400, "Md5Mismatch"):
        blob.upload_blob(b"hello", headers={"Content-MD5": wrong})
    assert not blob.exists()


@operation("PutBlob")
def test_blob_metadata_comes_with_the_blob(container):
    blob = container.get_blob_client("blob")
    blob.upload_blob(b"hello", metadata={"colour": "red", "sentence": "two words"})
    assert blob.get_blob_properties().metadata == {"colour": "red", "sentence": "two words"}
    assert blob.download_blob().properties.metadata == {"colour": "red", "sentence": "two words"}


@operation("PutBlob")
def test_an_upload_does_not_overwrite_unless_told(blob):
    with refused(409, "BlobAlreadyExists", ResourceExistsError):
        blob.upload_blob(b"other")
    assert content_of(blob) == b"0123456789"


@operation("PutBlob")
def test_overwriting_replaces_everything(container):
    blob = container.get_blob_client("blob")
    blob.upload_blob(b"old", metadata={"a": "1"}, content_settings=ContentSettings(**ALL_SETTINGS))
    before = blob.get_blob_properties()
    blob.upload_blob(b"new content", overwrite=True)
    after = blob.get_blob_properties()
    assert content_of(blob) == b"new content"
    assert after.etag != before.etag
    assert after.metadata == {}
    assert after.content_settings.content_type == "application/octet-stream"
    assert after.content_settings.cache_control is None


@operation("PutBlob")
def test_the_etag_changes_within_a_second(container):
    blob = container.get_blob_client("blob")
    etags = {blob.upload_blob(b"same", overwrite=True)["etag"] for _ in range(10)}
    assert len(etags) == 10


@operation("PutBlob")
@pytest.mark.parametrize("first, second", [("BlockBlob", "AppendBlob"), ("AppendBlob", "BlockBlob")])
def test_overwriting_may_change_the_type(container, first, second):
    blob = container.get_blob_client("blob")
    blob.upload_blob(b"first", blob_type=first)
    blob.upload_blob(b"second", blob_type=second, overwrite=True)
    assert blob.get_blob_properties().blob_type == BlobType(second)
    assert content_of(blob) == b"second"


@operation("PutBlob")
@pytest.mark.parametrize("name", ["with-dash", "1digit"])
def test_blob_metadata_must_be_named_like_an_identifier(container, name):
    with refused(400, "InvalidMetadata"):
        container.upload_blob("blob", b"x", metadata={name: "value"})


@operation("PutBlob")
def test_the_root_container_holds_blobs_too(account, blobs):
    blobs.create_container("$root")
    try:
        blobs.get_blob_client("$root", "blob").upload_blob(b"root", overwrite=True)
        assert content_of(blobs.get_blob_client("$root", "blob")) == b"root"
    finally:
        blobs.delete_container("$root")
