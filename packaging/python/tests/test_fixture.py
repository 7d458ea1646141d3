"""The fixture as a project uses it, with Microsoft's SDK."""

import subprocess
import sys
import time

import pytest
import tablerock
from azure.core.exceptions import ClientAuthenticationError
from azure.data.tables import TableServiceClient
from azure.storage.blob import BlobServiceClient
from azure.storage.queue import QueueClient


def tables_of(account):
    return TableServiceClient.from_connection_string(account.connection_string)


@pytest.mark.parametrize("run", [1, 2])
def test_each_test_has_an_account_of_its_own(tablerock_account, run):
    people = tables_of(tablerock_account).create_table("People")
    people.create_entity({"PartitionKey": "a", "RowKey": "1", "run": run})
    assert people.get_entity("a", "1")["run"] == run


def test_all_services_share_the_account(tablerock_account):
    blobs = BlobServiceClient.from_connection_string(tablerock_account.connection_string)
    blobs.create_container("photos").upload_blob("a.txt", b"hello")
    queue = QueueClient.from_connection_string(tablerock_account.connection_string, "jobs")
    queue.create_queue()
    queue.send_message("go")
    assert queue.receive_message().content == "go"


def test_accounts_are_apart(tablerock_server):
    one, other = tablerock_server.account(), tablerock_server.account("another")
    assert one.name != other.name == "another"
    stolen = tablerock.Account(one.name, other.key, one.blob_endpoint, one.queue_endpoint, one.table_endpoint)
    with pytest.raises(ClientAuthenticationError):
        list(tables_of(stolen).list_tables())
    with pytest.raises(ValueError, match="exists"):
        tablerock_server.account("another")


def test_a_server_starts_in_less_than_a_second_and_keeps_a_folder(tmp_path):
    begin = time.monotonic()
    with tablerock.Server() as server:
        assert server.account().name
    assert time.monotonic() - begin < 5
    with tablerock.Server(location=tmp_path) as server:
        tables_of(server.account("mine")).create_table("People")
    assert (tmp_path / "tablerock-data").is_dir()


def test_a_start_that_fails_says_why():
    with pytest.raises(tablerock.StartError, match="--admin-port"):
        tablerock.Server(arguments=["--admin-port", "0"])


def test_the_program_runs_by_its_name_and_as_a_module():
    for command in (["tablerock"], [sys.executable, "-m", "tablerock"]):
        printed = subprocess.run([*command, "--version"], check=True, capture_output=True, text=True).stdout
        assert printed.startswith("tablerock ")
