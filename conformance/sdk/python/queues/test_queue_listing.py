"""Listing queues: prefixes, pages, markers and metadata."""

import pytest

from refusal import Answer, refused
from results import operation

pytestmark = operation("ListQueues")


@pytest.fixture
def prefix(queues, queue_names):
    """Seven queues whose names begin alike, each with its number as metadata."""
    common = queue_names()
    made = [f"{common}-{index}" for index in range(7)]
    for index, name in enumerate(made):
        queues.create_queue(name, metadata={"number": str(index)})
    yield common
    for name in made:
        queues.delete_queue(name)


def names_of(listed):
    return [queue.name for queue in listed]


def test_queues_with_a_prefix_come_in_order(queues, prefix):
    assert names_of(queues.list_queues(name_starts_with=prefix)) == [f"{prefix}-{index}" for index in range(7)]


def test_a_prefix_that_no_queue_has_finds_none(queues):
    assert names_of(queues.list_queues(name_starts_with="no-such-queue-anywhere")) == []


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8])
def test_pages_of_queues_cover_all_without_repetition(queues, prefix, size):
    pages = queues.list_queues(name_starts_with=prefix, results_per_page=size).by_page()
    sizes, found = [], []
    for page in pages:
        names = names_of(page)
        sizes.append(len(names))
        found += names
    assert found == [f"{prefix}-{index}" for index in range(7)]
    assert max(sizes) <= size


def test_a_listing_of_queues_can_be_taken_up_again(queues, prefix):
    pages = queues.list_queues(name_starts_with=prefix, results_per_page=3).by_page()
    first = names_of(next(pages))
    rest = queues.list_queues(name_starts_with=prefix, results_per_page=3).by_page(pages.continuation_token)
    assert first + [name for page in rest for name in names_of(page)] == [f"{prefix}-{index}" for index in range(7)]


def test_queue_metadata_is_listed_only_when_asked_for(queues, prefix):
    with_metadata = queues.list_queues(name_starts_with=prefix, include_metadata=True)
    assert [queue.metadata for queue in with_metadata] == [{"number": str(index)} for index in range(7)]
    assert all(not queue.metadata for queue in queues.list_queues(name_starts_with=prefix))


def test_a_listed_queue_without_metadata_has_none(queues, queue):
    (listed,) = queues.list_queues(name_starts_with=queue.queue_name, include_metadata=True)
    assert not listed.metadata


def test_a_page_of_no_queues_is_refused(queues):
    with refused(400, "OutOfRangeQueryParameterValue"):
        list(queues.list_queues(results_per_page=-1))


def test_a_listing_of_queues_is_xml(queues):
    answer = Answer()
    next(queues.list_queues(results_per_page=1, raw_response_hook=answer).by_page())
    assert answer.status == 200
    assert answer.headers["Content-Type"].startswith("application/xml")


def test_a_deleted_queue_is_listed_no_more(queues, queue_names):
    name = queue_names()
    queues.create_queue(name)
    assert names_of(queues.list_queues(name_starts_with=name)) == [name]
    queues.delete_queue(name)
    assert names_of(queues.list_queues(name_starts_with=name)) == []
