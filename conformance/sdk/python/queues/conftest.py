"""Fixtures of the queue cases: a client of the service, and a fresh queue for every test."""

import pytest
from azure.core.exceptions import ResourceNotFoundError

from queue_clients import new_queue_name, queue_service


@pytest.fixture(scope="session")
def queues(account):
    with queue_service(account) as client:
        yield client


@pytest.fixture
def queue(queues, queue_names):
    """A client for a queue that is empty and goes away with the test."""
    return queues.create_queue(queue_names())


@pytest.fixture
def missing_queue(queues):
    """A client for a queue that does not exist."""
    return queues.get_queue_client(new_queue_name())


@pytest.fixture
def queue_names(queues):
    """A function that yields unused queue names; whatever was created under them is deleted."""
    given = []

    def name(suffix=""):
        given.append(new_queue_name()[: 63 - len(suffix)] + suffix)
        return given[-1]

    yield name
    for used in given:
        try:
            queues.delete_queue(used)
        except ResourceNotFoundError:
            pass
