"""Listing containers: prefixes, pages, markers and what is told of each."""

import pytest

from refusal import refused
from results import operation

pytestmark = operation("ListContainers")


@pytest.fixture
def prefix(blobs, container_names):
    """Seven containers whose names begin alike, each with its number as metadata."""
    common = container_names()
    made = [f"{common}-{index}" for index in range(7)]
    for index, name in enumerate(made):
        blobs.create_container(name, metadata={"number": str(index)})
    yield common
    for name in made:
        blobs.delete_container(name)


def names_of(listed):
    return [container.name for container in listed]


def test_containers_with_a_prefix_come_in_order(blobs, prefix):
    assert names_of(blobs.list_containers(name_starts_with=prefix)) == [f"{prefix}-{index}" for index in range(7)]


def test_a_prefix_that_no_container_has_finds_none(blobs):
    assert names_of(blobs.list_containers(name_starts_with="no-such-container-anywhere")) == []


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8])
def test_pages_of_containers_cover_all_without_repetition(blobs, prefix, size):
    pages = blobs.list_containers(name_starts_with=prefix, results_per_page=size).by_page()
    pages = [names_of(page) for page in pages]
    assert [name for page in pages for name in page] == [f"{prefix}-{index}" for index in range(7)]
    assert max(len(page) for page in pages) <= size


def test_a_listing_of_containers_can_be_taken_up_again(blobs, prefix):
    pages = blobs.list_containers(name_starts_with=prefix, results_per_page=3).by_page()
    first = names_of(next(pages))
    rest = blobs.list_containers(name_starts_with=prefix, results_per_page=3).by_page(pages.continuation_token)
    assert first + [name for page in rest for name in names_of(page)] == [f"{prefix}-{index}" for index in range(7)]


def test_container_metadata_is_listed_only_when_asked_for(blobs, prefix):
    listed = blobs.list_containers(name_starts_with=prefix, include_metadata=True)
    assert [container.metadata for container in listed] == [{"number": str(index)} for index in range(7)]
    assert all(not container.metadata for container in blobs.list_containers(name_starts_with=prefix))


def test_a_listed_container_has_its_properties(blobs, container):
    container.set_container_access_policy({}, public_access="container")
    (listed,) = blobs.list_containers(name_starts_with=container.container_name)
    properties = container.get_container_properties()
    assert listed.etag == properties.etag
    assert listed.last_modified == properties.last_modified
    assert listed.public_access == "container"
    assert (listed.lease.status, listed.lease.state) == ("unlocked", "available")


def test_a_listed_container_shows_its_lease(blobs, container):
    lease = container.acquire_lease(lease_duration=-1)
    (listed,) = blobs.list_containers(name_starts_with=container.container_name)
    assert (listed.lease.status, listed.lease.state, listed.lease.duration) == ("locked", "leased", "infinite")
    lease.release()


def test_a_deleted_container_is_listed_no_more(blobs, container):
    container.delete_container()
    assert names_of(blobs.list_containers(name_starts_with=container.container_name)) == []


def test_system_containers_are_not_listed(blobs):
    assert not [name for name in names_of(blobs.list_containers()) if name.startswith("$logs")]


def test_a_page_of_no_containers_is_refused(blobs):
    with refused(400, "OutOfRangeQueryParameterValue"):
        list(blobs.list_containers(results_per_page=-1))
