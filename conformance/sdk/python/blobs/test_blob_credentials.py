"""Ways to say which account and how to prove it, at the blobs."""

import pytest
from azure.core.credentials import AzureNamedKeyCredential
from azure.core.exceptions import ClientAuthenticationError
from azure.storage.blob import BlobClient, BlobServiceClient, ContainerClient

from account import CLIENT_OPTIONS, DEVELOPMENT_ACCOUNT, DEVELOPMENT_PORTS
from blob_clients import blob_client, blob_service
from blob_contents import content_of
from refusal import refused
from results import operation

pytestmark = operation("Authentication")

WRONG_KEY = "d3JvbmcgYnV0IHdlbGwgZm9ybWVkIGtleQ=="


def assert_works(service, name):
    """A container can be made, holds a blob, is found and removed."""
    with service:
        container = service.create_container(name, metadata={"colour": "red"})
        container.upload_blob("a/b c", b"text")
        assert container.download_blob("a/b c").readall() == b"text"
        assert [found.name for found in service.list_containers(name_starts_with=name)] == [name]
        service.delete_container(name)


def test_a_connection_string_for_blobs(account, container_names):
    text = account.connection_string()
    assert_works(BlobServiceClient.from_connection_string(text, **CLIENT_OPTIONS), container_names())


def test_a_connection_string_for_one_blob(account, container, blob):
    text, name = account.connection_string(), container.container_name
    with BlobClient.from_connection_string(text, name, "blob", **CLIENT_OPTIONS) as client:
        assert content_of(client) == b"0123456789"
    with ContainerClient.from_connection_string(text, name, **CLIENT_OPTIONS) as client:
        assert [found.name for found in client.list_blobs()] == ["blob"]


def test_use_development_storage_true_stands_for_blobs(account, container_names):
    if account.blob_endpoint != f"http://127.0.0.1:{DEVELOPMENT_PORTS['blob']}/{DEVELOPMENT_ACCOUNT}":
        pytest.skip("the target is not the development account on 127.0.0.1:10000")
    service = BlobServiceClient.from_connection_string("UseDevelopmentStorage=true", **CLIENT_OPTIONS)
    assert_works(service, container_names())


def test_a_bare_key_for_blobs(account, container_names):
    assert_works(blob_service(account, credential=account.key), container_names())


@pytest.mark.parametrize("version", ["2019-02-02", "2019-12-12", "2020-10-02", "2021-12-02", "2025-05-05"])
def test_versions_of_the_blob_service(account, container_names, version):
    assert_works(blob_service(account, api_version=version), container_names())


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda blob: blob.download_blob(), id="download"),
        pytest.param(lambda blob: blob.get_blob_properties(), id="properties"),
        pytest.param(lambda blob: blob.upload_blob(b"stolen", overwrite=True), id="upload"),
        pytest.param(lambda blob: blob.delete_blob(), id="delete"),
    ],
)
def test_a_wrong_key_is_refused_at_blobs(account, container, blob, call):
    credential = AzureNamedKeyCredential(account.name, WRONG_KEY)
    with blob_client(account, container.container_name, "blob", credential) as client:
        with refused(403, "AuthenticationFailed", ClientAuthenticationError):
            call(client)
    assert content_of(blob) == b"0123456789"


@pytest.mark.parametrize(
    "metadata",
    [
        pytest.param({"aa": "1", "a_b": "2", "a1": "3"}, id="underscore_before_digit"),
        pytest.param({"ab": "1", "aB2": "2", "A": "3"}, id="mixed_case"),
        pytest.param({"a": "  padded   value  "}, id="inner_space"),
        pytest.param({"a": "x", "b": "y" * 200, "_": "z"}, id="long_value"),
    ],
)
def test_odd_headers_are_signed_alike_at_blobs(container, metadata):
    blob = container.get_blob_client("blob")
    blob.upload_blob(b"x", metadata=metadata)
    found = {name.lower(): value.split() for name, value in blob.get_blob_properties().metadata.items()}
    assert found == {name.lower(): value.split() for name, value in metadata.items()}
