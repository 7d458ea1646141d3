"""Ways to say which account and how to prove it, at the queues."""

import pytest
from azure.core.credentials import AzureNamedKeyCredential
from azure.core.exceptions import ClientAuthenticationError
from azure.storage.queue import QueueClient, QueueServiceClient

from account import CLIENT_OPTIONS, DEVELOPMENT_ACCOUNT, DEVELOPMENT_PORTS
from queue_clients import queue_client, queue_service
from refusal import refused
from results import operation

pytestmark = operation("Authentication")

WRONG_KEY = "d3JvbmcgYnV0IHdlbGwgZm9ybWVkIGtleQ=="


def assert_works(service, name):
    """A queue can be made, found and removed, and carries a message."""
    with service:
        queue = service.create_queue(name, metadata={"colour": "red"})
        queue.send_message("text")
        assert [queue.name for queue in service.list_queues(name_starts_with=name)] == [name]
        assert queue.receive_message().content == "text"
        service.delete_queue(name)


def test_a_connection_string_for_queues(account, queue_names):
    text = account.connection_string()
    assert_works(QueueServiceClient.from_connection_string(text, **CLIENT_OPTIONS), queue_names())


def test_a_connection_string_for_one_queue(account, queue):
    text = account.connection_string()
    with QueueClient.from_connection_string(text, queue.queue_name, **CLIENT_OPTIONS) as client:
        client.send_message("text")
        assert client.receive_message().content == "text"


def test_use_development_storage_true_stands_for_queues(account, queue_names):
    if account.queue_endpoint != f"http://127.0.0.1:{DEVELOPMENT_PORTS['queue']}/{DEVELOPMENT_ACCOUNT}":
        pytest.skip("the target is not the development account on 127.0.0.1:10001")
    service = QueueServiceClient.from_connection_string("UseDevelopmentStorage=true", **CLIENT_OPTIONS)
    assert_works(service, queue_names())


def test_a_bare_key_for_queues(account, queue_names):
    assert_works(queue_service(account, credential=account.key), queue_names())


def test_a_named_key_for_queues(account, queue_names):
    assert_works(queue_service(account, credential=AzureNamedKeyCredential(account.name, account.key)), queue_names())


@pytest.mark.parametrize("version", ["2019-02-02", "2019-12-12", "2020-10-02", "2021-12-02", "2025-05-05"])
def test_versions_of_the_queue_service(account, queue_names, version):
    assert_works(queue_service(account, api_version=version), queue_names())


def test_a_wrong_key_is_refused_at_queues(account):
    with queue_service(account, credential=AzureNamedKeyCredential(account.name, WRONG_KEY)) as service:
        with refused(403, "AuthenticationFailed", ClientAuthenticationError):
            list(service.list_queues())


def test_a_wrong_key_changes_nothing_in_a_queue(account, queue):
    with queue_client(account, queue.queue_name, AzureNamedKeyCredential(account.name, WRONG_KEY)) as client:
        with refused(403, "AuthenticationFailed", ClientAuthenticationError):
            client.send_message("text")
    assert queue.peek_messages() == []


@pytest.mark.parametrize(
    "metadata",
    [
        pytest.param({"aa": "1", "a_b": "2", "a1": "3"}, id="underscore_before_digit"),
        pytest.param({"ab": "1", "aB2": "2", "A": "3"}, id="mixed_case"),
        pytest.param({"a": "  padded   value  "}, id="inner_space"),
        pytest.param({"a": "x", "b": "y" * 200, "_": "z"}, id="long_value"),
    ],
)
def test_odd_headers_are_signed_alike_at_queues(queues, queue_names, metadata):
    queue = queues.create_queue(queue_names(), metadata=metadata)
    found = {name.lower(): value.split() for name, value in queue.get_queue_properties().metadata.items()}
    assert found == {name.lower(): value.split() for name, value in metadata.items()}
