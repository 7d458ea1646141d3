"""Snapshots: what they keep, how they are read, listed and deleted; and deleting blobs that have some."""

from azure.core.exceptions import ResourceNotFoundError

from blob_contents import content_of
from refusal import Answer, refused
from results import operation


def at(container, blob, snapshot):
    return container.get_blob_client(blob.blob_name, snapshot=snapshot["snapshot"])


@operation("SnapshotBlob")
def test_a_snapshot_keeps_content_and_metadata(container, blob):
    blob.set_blob_metadata({"version": "1"})
    answer = Answer()
    snapshot = at(container, blob, blob.create_snapshot(raw_response_hook=answer))
    assert answer.status == 201
    blob.upload_blob(b"changed", overwrite=True, metadata={"version": "2"})
    assert content_of(snapshot) == b"0123456789"
    assert snapshot.get_blob_properties().metadata == {"version": "1"}
    assert content_of(blob) == b"changed"


@operation("SnapshotBlob")
def test_a_snapshot_has_the_etag_of_its_base(container, blob):
    before = blob.get_blob_properties()
    created = blob.create_snapshot()
    assert (created["etag"], created["last_modified"]) == (before.etag, before.last_modified)
    assert blob.get_blob_properties().etag == before.etag
    assert at(container, blob, created).get_blob_properties().etag == before.etag


@operation("SnapshotBlob")
def test_the_time_of_a_snapshot_has_seven_decimals(blob):
    time = blob.create_snapshot()["snapshot"]
    assert len(time) == len("2019-05-09T00:48:31.3653282Z")
    assert time.endswith("Z")


@operation("SnapshotBlob")
def test_a_snapshot_may_have_metadata_of_its_own(container, blob):
    blob.set_blob_metadata({"a": "1"})
    snapshot = at(container, blob, blob.create_snapshot(metadata={"b": "2"}))
    assert snapshot.get_blob_properties().metadata == {"b": "2"}
    assert blob.get_blob_properties().metadata == {"a": "1"}


@operation("SnapshotBlob")
def test_snapshots_in_quick_succession_are_different(container, blob):
    times = [blob.create_snapshot()["snapshot"] for _ in range(5)]
    assert sorted(set(times)) == times
    listed = list(container.list_blobs(include=["snapshots"]))
    assert [found.snapshot for found in listed] == [*times, None]


@operation("ListBlobs")
def test_snapshots_are_listed_only_when_asked_for(container, blob):
    blob.create_snapshot()
    assert [(found.name, found.snapshot) for found in container.list_blobs()] == [("blob", None)]
    assert len(list(container.list_blobs(include=["snapshots"]))) == 2


@operation("GetBlobProperties")
def test_the_properties_of_a_snapshot_name_it(container, blob):
    created = blob.create_snapshot()
    properties = at(container, blob, created).get_blob_properties()
    assert properties.snapshot == created["snapshot"]
    assert properties.size == 10


@operation("GetBlob")
def test_a_range_of_a_snapshot_is_read(container, blob):
    snapshot = at(container, blob, blob.create_snapshot())
    assert content_of(snapshot, offset=3, length=3) == b"345"


@operation("GetBlob")
def test_a_snapshot_that_is_not_there_answers_blob_not_found(container, blob):
    missing = container.get_blob_client("blob", snapshot="2019-05-09T00:48:31.3653282Z")
    assert not missing.exists()
    with refused(404, "BlobNotFound", ResourceNotFoundError):
        missing.download_blob()


@operation("DeleteBlob")
def test_one_snapshot_is_deleted(container, blob):
    first, second = (at(container, blob, blob.create_snapshot()) for _ in range(2))
    first.delete_blob()
    assert not first.exists()
    assert content_of(second) == content_of(blob) == b"0123456789"


@operation("DeleteBlob")
def test_a_blob_with_snapshots_is_not_deleted_unless_told(container, blob):
    snapshot = at(container, blob, blob.create_snapshot())
    with refused(409, "SnapshotsPresent"):
        blob.delete_blob()
    assert blob.exists() and snapshot.exists()


@operation("DeleteBlob")
def test_a_blob_is_deleted_with_its_snapshots(container, blob):
    snapshot = at(container, blob, blob.create_snapshot())
    blob.delete_blob(delete_snapshots="include")
    assert not blob.exists() and not snapshot.exists()
    assert list(container.list_blobs(include=["snapshots"])) == []


@operation("DeleteBlob")
def test_only_the_snapshots_are_deleted(container, blob):
    snapshot = at(container, blob, blob.create_snapshot())
    blob.delete_blob(delete_snapshots="only")
    assert blob.exists() and not snapshot.exists()


@operation("DeleteBlob")
def test_a_deleted_blob_is_gone(container, blob):
    answer = Answer()
    blob.delete_blob(raw_response_hook=answer)
    assert answer.status == 202
    assert not blob.exists()
    assert list(container.list_blobs()) == []
    with refused(404, "BlobNotFound", ResourceNotFoundError):
        blob.delete_blob()


@operation("DeleteBlob")
def test_a_blob_made_again_has_nothing_of_the_old_one(blob):
    blob.set_blob_metadata({"a": "1"})
    blob.delete_blob()
    blob.upload_blob(b"new")
    assert (content_of(blob), blob.get_blob_properties().metadata) == (b"new", {})


@operation("PutBlob")
def test_overwriting_leaves_the_snapshots(container, blob):
    snapshot = at(container, blob, blob.create_snapshot())
    for index in range(3):
        blob.upload_blob(str(index), overwrite=True)
    assert content_of(snapshot) == b"0123456789"


@operation("SnapshotBlob")
def test_a_snapshot_of_an_append_blob_does_not_grow(container):
    log = container.get_blob_client("log")
    log.create_append_blob()
    log.append_block(b"one")
    snapshot = at(container, log, log.create_snapshot())
    log.append_block(b"two")
    assert (content_of(snapshot), content_of(log)) == (b"one", b"onetwo")


@operation("SnapshotBlob")
def test_a_leased_blob_can_be_snapshot_by_anyone(container, blob):
    blob.acquire_lease(lease_duration=-1)
    snapshot = at(container, blob, blob.create_snapshot())
    assert content_of(snapshot) == b"0123456789"
    assert snapshot.get_blob_properties().lease.state in (None, "available")


@operation("CopyBlob")
def test_a_snapshot_is_promoted_by_copying_it_over_its_base(container, blob):
    snapshot = at(container, blob, blob.create_snapshot())
    blob.upload_blob(b"changed", overwrite=True)
    assert blob.start_copy_from_url(snapshot.url)["copy_status"] == "success"
    assert content_of(blob) == b"0123456789"
