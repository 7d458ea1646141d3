"""Fixtures for pytest, which finds them once the package is installed."""

from typing import Iterator

import pytest

from tablerock import Account, Server


@pytest.fixture(scope="session")
def tablerock_server() -> Iterator[Server]:
    """One server in memory for the whole run."""
    with Server() as server:
        yield server


@pytest.fixture
def tablerock_account(tablerock_server: Server) -> Account:
    """A fresh account for each test, so that no test sees the data of another."""
    return tablerock_server.account()
