"""Fixtures of the table cases: a client of the service, and a fresh table for every test."""

import pytest

from account import new_table_name


@pytest.fixture(scope="session")
def service(account):
    with account.service() as client:
        yield client


@pytest.fixture
def table(service):
    """A client for a table that is empty and goes away with the test."""
    client = service.create_table(new_table_name())
    yield client
    client.delete_table()


@pytest.fixture
def missing_table(service):
    """A client for a table that does not exist."""
    return service.get_table_client(new_table_name())


@pytest.fixture
def table_names(service):
    """A function that yields unused table names; whatever was created under them is deleted."""
    given = []

    def name(suffix=""):
        given.append(new_table_name()[: 63 - len(suffix)] + suffix)
        return given[-1]

    yield name
    for used in given:
        service.delete_table(used)


@pytest.fixture
def entity():
    """The smallest entity worth writing."""
    return {"PartitionKey": "p", "RowKey": "r", "Colour": "red"}
