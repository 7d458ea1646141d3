"""Fixtures of the suite: `az` as a function, and a fresh table, queue or container for every test that wants one.

`az` runs as its users run it, one process for each command. It finds no configuration but its own empty one, sends
no telemetry, and for anything that is not the account under test it is given a proxy that does not exist.
"""

import json
import os
import subprocess
import sys
import uuid

import pytest
from azure.storage.blob import BlobServiceClient
from azure.storage.queue import QueueServiceClient

from account import Account, new_table_name

pytest_plugins = ["results"]

COMMAND_SECONDS_MAX = 60


class AzFailed(Exception):
    """A command that ended with an error; its message is what az wrote about it."""


class Az:
    def __init__(self, account, environment):
        self.account = account
        self.environment = environment

    def __call__(self, *words):
        """Runs `az storage ...` against the account and returns the JSON it printed, None if it printed none."""
        return self.run(*words, "--connection-string", self.account.connection_string())

    def run(self, *words):
        """Runs `az storage ...` with nothing added."""
        command = [sys.executable, "-m", "azure.cli", "storage", *words, "--output", "json"]
        done = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=COMMAND_SECONDS_MAX, check=False
        )
        if done.returncode != 0:
            raise AzFailed(done.stderr)
        return json.loads(done.stdout) if done.stdout.strip() else None


@pytest.fixture(scope="session")
def account():
    return Account.from_environment()


@pytest.fixture(scope="session")
def service(account):
    """The SDK, for what a test needs around the commands that it is about."""
    with account.service() as client:
        yield client


@pytest.fixture(scope="session")
def az(account, tmp_path_factory):
    home = tmp_path_factory.mktemp("az")
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith("AZURE_")}
    environment = kept | {
        "HOME": str(home),
        "AZURE_CONFIG_DIR": str(home / "config"),
        "AZURE_CORE_COLLECT_TELEMETRY": "no",
        "AZURE_CORE_SURVEY_MESSAGE": "no",
        "AZURE_CORE_NO_COLOR": "yes",
        "AZURE_EXTENSION_USE_DYNAMIC_INSTALL": "no",
        "PYTHONWARNINGS": "ignore",
        "http_proxy": "http://127.0.0.1:9",
        "https_proxy": "http://127.0.0.1:9",
        "no_proxy": account.host,
    }
    return Az(account, environment)


@pytest.fixture
def table(service):
    """A client for a table that is empty and goes away with the test."""
    client = service.create_table(new_table_name())
    yield client
    client.delete_table()


@pytest.fixture
def unused_table_name(service):
    name = new_table_name()
    yield name
    service.delete_table(name)


@pytest.fixture(scope="session")
def queues(account):
    with QueueServiceClient(account.queue_endpoint, credential=account.credential, retry_total=0) as client:
        yield client


@pytest.fixture(scope="session")
def blobs(account):
    with BlobServiceClient(account.blob_endpoint, credential=account.credential, retry_total=0) as client:
        yield client


def new_name():
    """A legal name for a queue or a container that no other test and no other run uses."""
    return f"az-{uuid.uuid4().hex}"


@pytest.fixture
def queue(queues):
    """A client for a queue that is empty and goes away with the test."""
    client = queues.create_queue(new_name())
    yield client
    client.delete_queue()


@pytest.fixture
def container(blobs):
    """A client for a container that is empty and goes away with the test."""
    client = blobs.create_container(new_name())
    yield client
    client.delete_container()
