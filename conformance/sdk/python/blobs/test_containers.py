"""Containers come and go: creating, looking, deleting, and what a missing container answers."""

from datetime import datetime, timedelta, timezone

import pytest
from azure.core.exceptions import ResourceExistsError, ResourceNotFoundError

from refusal import Answer, refused
from results import operation


@operation("CreateContainer")
def test_a_new_container_is_created(blobs, container_names):
    answer = Answer()
    container = blobs.get_container_client(container_names())
    container.create_container(raw_response_hook=answer)
    assert answer.status == 201
    properties = container.get_container_properties()
    assert properties.etag == answer.headers["ETag"]
    assert abs(properties.last_modified - datetime.now(timezone.utc)) < timedelta(minutes=1)


@operation("CreateContainer")
def test_creating_a_container_again_is_refused(container):
    with refused(409, "ContainerAlreadyExists", ResourceExistsError):
        container.create_container()


@operation("CreateContainer")
def test_a_container_is_created_with_metadata_and_access(blobs, container_names):
    container = blobs.create_container(container_names(), metadata={"colour": "red"}, public_access="blob")
    properties = container.get_container_properties()
    assert (properties.metadata, properties.public_access) == ({"colour": "red"}, "blob")


@operation("CreateContainer")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("xyz", id="three_characters"),
        pytest.param("c" + "0123456789" * 6 + "ab", id="63_characters"),
        pytest.param("0-1-2", id="digits_and_dashes"),
        pytest.param("$root", id="root"),
    ],
)
def test_a_container_name_is_accepted(blobs, name):
    try:
        blobs.create_container(name)
        assert blobs.get_container_client(name).exists()
    finally:
        blobs.delete_container(name)


@operation("CreateContainer")
@pytest.mark.parametrize(
    "name, code",
    [
        pytest.param("ab", "OutOfRangeInput", id="two_characters"),
        pytest.param("c" * 64, "OutOfRangeInput", id="64_characters"),
        pytest.param("Upper", "InvalidResourceName", id="upper_case"),
        pytest.param("with_underscore", "InvalidResourceName", id="underscore"),
        pytest.param("two--dashes", "InvalidResourceName", id="two_dashes"),
        pytest.param("-leading", "InvalidResourceName", id="leading_dash"),
        pytest.param("trailing-", "InvalidResourceName", id="trailing_dash"),
        pytest.param("with.dot", "InvalidResourceName", id="dot"),
    ],
)
def test_a_bad_container_name_is_refused(blobs, name, code):
    with refused(400, code):
        blobs.create_container(name)


@operation("GetContainerProperties")
def test_a_plain_container_has_plain_properties(container):
    properties = container.get_container_properties()
    assert (properties.metadata, properties.public_access) == ({}, None)
    assert (properties.has_immutability_policy, properties.has_legal_hold) == (False, False)
    assert (properties.lease.status, properties.lease.state, properties.lease.duration) == (
        "unlocked",
        "available",
        None,
    )


@operation("GetContainerProperties")
def test_a_container_that_is_there_exists(container, missing_container):
    assert container.exists() is True
    assert missing_container.exists() is False


@operation("DeleteContainer")
def test_a_deleted_container_is_gone_with_its_blobs(container):
    container.upload_blob("blob", b"text")
    answer = Answer()
    container.delete_container(raw_response_hook=answer)
    assert answer.status == 202
    assert not container.exists()
    with refused(404, "ContainerNotFound", ResourceNotFoundError):
        container.download_blob("blob")


@operation("DeleteContainer")
def test_a_container_made_again_after_its_deletion_is_empty(account, blobs, container):
    if account.target == "azure":
        pytest.skip("the live service holds the name of a deleted container for half a minute")
    container.upload_blob("blob", b"text")
    container.delete_container()
    container.create_container()
    assert list(container.list_blobs()) == []
    assert not container.get_blob_client("blob").exists()


@operation("DeleteContainer")
def test_a_container_is_deleted_only_if_unmodified(container):
    modified = container.get_container_properties().last_modified
    with refused(412, "ConditionNotMet"):
        container.delete_container(if_unmodified_since=modified - timedelta(hours=1))
    with refused(412, "ConditionNotMet"):
        container.delete_container(if_modified_since=modified + timedelta(hours=1))
    container.delete_container(if_unmodified_since=modified)


MISSING = {
    "delete": ("DeleteContainer", lambda container: container.delete_container()),
    "properties": ("GetContainerProperties", lambda container: container.get_container_properties()),
    "metadata": ("SetContainerMetadata", lambda container: container.set_container_metadata({"a": "b"})),
    "get_access": ("GetContainerACL", lambda container: container.get_container_access_policy()),
    "set_access": ("SetContainerACL", lambda container: container.set_container_access_policy({})),
    "lease": ("AcquireContainerLease", lambda container: container.acquire_lease()),
    "list": ("ListBlobs", lambda container: list(container.list_blobs())),
    "upload": ("PutBlob", lambda container: container.upload_blob("b", b"x")),
    "download": ("GetBlob", lambda container: container.download_blob("b")),
    "blob_properties": ("GetBlobProperties", lambda container: container.get_blob_client("b").get_blob_properties()),
    "delete_blob": ("DeleteBlob", lambda container: container.delete_blob("b")),
    "stage": ("PutBlock", lambda container: container.get_blob_client("b").stage_block("AAAA", b"x")),
    "commit": ("PutBlockList", lambda container: container.get_blob_client("b").commit_block_list([])),
    "append": ("AppendBlock", lambda container: container.get_blob_client("b").append_block(b"x")),
}


@pytest.mark.parametrize(
    "call", [pytest.param(call, id=name, marks=operation(about)) for name, (about, call) in MISSING.items()]
)
def test_a_missing_container_answers_container_not_found(missing_container, call):
    with refused(404, "ContainerNotFound", ResourceNotFoundError):
        call(missing_container)


@operation("SetContainerMetadata")
def test_container_metadata_is_read_back_and_changes_the_etag(container):
    before = container.get_container_properties().etag
    answer = Answer()
    container.set_container_metadata({"colour": "red", "size": "9"}, raw_response_hook=answer)
    assert answer.status == 200
    properties = container.get_container_properties()
    assert properties.metadata == {"colour": "red", "size": "9"}
    assert properties.etag == answer.headers["ETag"] != before


@operation("SetContainerMetadata")
def test_container_metadata_is_replaced_as_a_whole(container):
    container.set_container_metadata({"a": "1", "b": "2"})
    container.set_container_metadata({"b": "3"})
    assert container.get_container_properties().metadata == {"b": "3"}
    container.set_container_metadata({})
    assert container.get_container_properties().metadata == {}


@operation("SetContainerMetadata")
def test_container_metadata_is_set_only_if_modified_since(container):
    modified = container.get_container_properties().last_modified
    with refused(412, "ConditionNotMet"):
        container.set_container_metadata({"a": "1"}, if_modified_since=modified + timedelta(hours=1))
    container.set_container_metadata({"a": "1"}, if_modified_since=modified - timedelta(hours=1))
    assert container.get_container_properties().metadata == {"a": "1"}


@operation("SetContainerMetadata")
@pytest.mark.parametrize("name", ["with-dash", "1digit"])
def test_container_metadata_must_be_named_like_an_identifier(container, name):
    with refused(400, "InvalidMetadata"):
        container.set_container_metadata({name: "value"})


@operation("GetContainerProperties")
def test_every_answer_of_blobs_names_its_version_and_request(container):
    answer = Answer()
    container.get_container_properties(raw_response_hook=answer)
    assert answer.headers["x-ms-version"] == container.api_version
    assert answer.headers["x-ms-request-id"]
    assert answer.headers["Date"].endswith("GMT")
    assert answer.headers["Server"].startswith("Windows-Azure-Blob/1.0")
    assert answer.headers["x-ms-client-request-id"] == answer.response.request.headers["x-ms-client-request-id"]
