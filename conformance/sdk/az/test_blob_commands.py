"""`az storage blob`."""

import base64
import hashlib

import pytest

from conftest import AzFailed
from results import operation


@pytest.fixture
def where(container):
    return ("--container-name", container.container_name)


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "source.txt"
    path.write_bytes(b"0123456789")
    return path


@operation("PutBlob")
def test_blob_upload_and_download_keep_the_content(az, where, source, tmp_path):
    target = tmp_path / "target.txt"
    az("blob", "upload", *where, "--name", "a/b c.txt", "--file", str(source), "--no-progress")
    az("blob", "download", *where, "--name", "a/b c.txt", "--file", str(target), "--no-progress")
    assert target.read_bytes() == source.read_bytes()


@operation("PutBlob")
def test_blob_upload_does_not_overwrite_unless_told(az, where, source):
    upload = ("blob", "upload", *where, "--name", "b", "--file", str(source), "--no-progress")
    az(*upload)
    with pytest.raises(AzFailed, match="already exists"):
        az(*upload)
    az(*upload, "--overwrite")


@operation("PutBlock")
def test_blob_upload_of_blocks(az, container, where, tmp_path):
    content = hashlib.shake_128(b"seed").digest(6 * 1024 * 1024 + 1)
    path = tmp_path / "large"
    path.write_bytes(content)
    upload = ("blob", "upload", *where, "--name", "b", "--file", str(path), "--no-progress")
    az(*upload, "--type", "block", "--max-connections", "3")
    assert container.download_blob("b").readall() == content


@operation("AppendBlock")
def test_blob_upload_appends(az, container, where, source):
    upload = ("blob", "upload", *where, "--name", "log", "--file", str(source), "--type", "append", "--no-progress")
    az(*upload)
    az(*upload)
    assert container.download_blob("log").readall() == b"01234567890123456789"


@operation("GetBlobProperties")
def test_blob_show_tells_its_properties(az, container, where):
    blob = container.upload_blob("b", b"hello", metadata={"colour": "red"})
    shown = az("blob", "show", *where, "--name", "b")
    assert shown["name"] == "b"
    assert shown["metadata"] == {"colour": "red"}
    assert shown["properties"]["contentLength"] == 5
    assert shown["properties"]["blobType"] == "BlockBlob"
    assert shown["properties"]["etag"] == blob.get_blob_properties().etag
    digest = base64.b64encode(hashlib.md5(b"hello").digest()).decode()
    assert shown["properties"]["contentSettings"]["contentMd5"] == digest


@operation("GetBlobProperties")
def test_blob_exists_tells_which_is_there(az, container, where):
    container.upload_blob("b", b"text")
    assert az("blob", "exists", *where, "--name", "b") == {"exists": True}
    assert az("blob", "exists", *where, "--name", "none") == {"exists": False}


@operation("GetBlob")
def test_blob_download_of_a_range(az, container, where, tmp_path):
    container.upload_blob("b", b"0123456789")
    target = tmp_path / "range"
    part = ("--start-range", "2", "--end-range", "5")
    az("blob", "download", *where, "--name", "b", "--file", str(target), *part, "--no-progress")
    assert target.read_bytes() == b"2345"


@operation("ListBlobs")
def test_blob_list_shows_flat_and_by_hierarchy(az, container, where):
    for name in ("a/1", "a/2", "b"):
        container.upload_blob(name, b"x")
    assert [blob["name"] for blob in az("blob", "list", *where)] == ["a/1", "a/2", "b"]
    assert [blob["name"] for blob in az("blob", "list", *where, "--prefix", "a/")] == ["a/1", "a/2"]
    assert sorted(blob["name"] for blob in az("blob", "list", *where, "--delimiter", "/")) == ["a/", "b"]


@operation("SetBlobMetadata")
def test_blob_metadata_is_updated_and_shown(az, container, where):
    container.upload_blob("b", b"text")
    az("blob", "metadata", "update", *where, "--name", "b", "--metadata", "one=1", "two=2")
    assert az("blob", "metadata", "show", *where, "--name", "b") == {"one": "1", "two": "2"}


@operation("SetBlobProperties")
def test_blob_update_changes_headers(az, container, where):
    blob = container.upload_blob("b", b"text")
    az("blob", "update", *where, "--name", "b", "--content-type", "text/plain", "--content-cache", "max-age=60")
    settings = blob.get_blob_properties().content_settings
    assert (settings.content_type, settings.cache_control) == ("text/plain", "max-age=60")


@operation("SnapshotBlob")
def test_blob_snapshot_keeps_what_was(az, container, where):
    blob = container.upload_blob("b", b"old")
    snapshot = az("blob", "snapshot", *where, "--name", "b")["snapshot"]
    blob.upload_blob(b"new", overwrite=True)
    assert container.get_blob_client("b", snapshot=snapshot).download_blob().readall() == b"old"
    with pytest.raises(AzFailed, match="SnapshotsPresent|snapshots"):
        az("blob", "delete", *where, "--name", "b")
    az("blob", "delete", *where, "--name", "b", "--delete-snapshots", "include")
    assert not blob.exists()


@operation("CopyBlob")
def test_blob_copy_within_the_account(az, container, where):
    container.upload_blob("source", b"text")
    name = container.container_name
    start = ("blob", "copy", "start", "--destination-container", name, "--destination-blob", "target")
    started = az(*start, "--source-container", name, "--source-blob", "source")
    assert started["copy_status"] == "success"
    assert container.download_blob("target").readall() == b"text"


@operation("AcquireBlobLease")
def test_blob_lease_is_acquired_changed_and_released(az, container, where):
    blob = container.upload_blob("b", b"text")
    lease = az("blob", "lease", "acquire", *where, "--blob-name", "b", "--lease-duration", "60")
    assert blob.get_blob_properties().lease.state == "leased"
    with pytest.raises(AzFailed, match="LeaseIdMissing|no lease ID was specified"):
        az("blob", "delete", *where, "--name", "b")
    assert az("blob", "lease", "renew", *where, "--blob-name", "b", "--lease-id", lease) == lease
    az("blob", "lease", "release", *where, "--blob-name", "b", "--lease-id", lease)
    assert blob.get_blob_properties().lease.state == "available"


@operation("BlobBatch")
def test_blob_delete_batch_removes_what_matches(az, container):
    for name in ("a.txt", "b.txt", "c.log"):
        container.upload_blob(name, b"x")
    az("blob", "delete-batch", "--source", container.container_name, "--pattern", "*.txt")
    assert [blob.name for blob in container.list_blobs()] == ["c.log"]


@operation("PutBlob")
def test_blob_upload_batch_and_download_batch_move_a_tree(az, container, tmp_path):
    tree = {"a.txt": b"a", "folder/b.txt": b"b", "folder/deep/c.txt": b"", "ü ö.txt": b"x"}
    for name, content in tree.items():
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (tmp_path / "out").mkdir()
    name = container.container_name
    az("blob", "upload-batch", "--destination", name, "--source", str(tmp_path / "in"), "--no-progress")
    az("blob", "download-batch", "--destination", str(tmp_path / "out"), "--source", name, "--no-progress")
    found = {path.relative_to(tmp_path / "out").as_posix(): path for path in (tmp_path / "out").rglob("*.txt")}
    assert {name: path.read_bytes() for name, path in found.items()} == tree


@operation("Authentication")
def test_blob_generate_sas_makes_a_token_that_works(az, account, container, where, tmp_path):
    container.upload_blob("b", b"text")
    terms = ("--permissions", "r", "--expiry", "2035-01-01T00:00Z")
    token = az("blob", "generate-sas", *where, "--name", "b", *terms)
    bearer = ("--blob-endpoint", account.blob_endpoint, "--sas-token", token, *where, "--name", "b")
    target = tmp_path / "target"
    az.run("blob", "download", *bearer, "--file", str(target), "--no-progress")
    assert target.read_bytes() == b"text"
    with pytest.raises(AzFailed):
        az.run("blob", "delete", *bearer)
