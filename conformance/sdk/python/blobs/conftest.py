"""Fixtures of the blob cases: a client of the service, a fresh container for every test, and a blob in it."""

import pytest
from azure.core.exceptions import HttpResponseError
from azure.storage.blob import BlobLeaseClient

from blob_clients import blob_service, new_container_name


@pytest.fixture(scope="session")
def blobs(account):
    with blob_service(account) as client:
        yield client


@pytest.fixture
def container(blobs, container_names):
    """A client for a container that is empty and goes away with the test."""
    return blobs.create_container(container_names())


@pytest.fixture
def missing_container(blobs):
    """A client for a container that does not exist."""
    return blobs.get_container_client(new_container_name())


@pytest.fixture
def blob(container):
    """A client for a block blob that holds the ten digits."""
    client = container.get_blob_client("blob")
    client.upload_blob(b"0123456789")
    return client


@pytest.fixture
def missing_blob(container):
    """A client for a blob that does not exist, in a container that does."""
    return container.get_blob_client("missing")


@pytest.fixture
def container_names(blobs):
    """A function that yields unused container names; whatever was created under them is deleted, leased or not."""
    given = []

    def name(suffix=""):
        given.append(new_container_name()[: 63 - len(suffix)] + suffix)
        return given[-1]

    yield name
    for used in given:
        client = blobs.get_container_client(used)
        for attempt in (lambda: BlobLeaseClient(client).break_lease(0), client.delete_container):
            try:
                attempt()
            except HttpResponseError:
                pass
