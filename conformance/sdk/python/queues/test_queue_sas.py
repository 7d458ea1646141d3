"""A queue's SAS: permissions, time, address and protocol."""

import pytest
from azure.core.credentials import AzureSasCredential
from azure.core.exceptions import ClientAuthenticationError
from azure.storage.queue import QueueClient, QueueSasPermissions

from account import CLIENT_OPTIONS
from queue_clients import queue_client
from queue_sas import NEEDED_PERMISSION, from_now, queue_sas_token, with_queue_sas
from refusal import refused
from results import operation

pytestmark = operation("Authentication")


@pytest.fixture
def message(queue):
    return queue.send_message("text")


@pytest.mark.parametrize("granted", ["r", "a", "u", "p", "rp", "au", "raup"])
@pytest.mark.parametrize("name", NEEDED_PERMISSION)
def test_a_queue_sas_allows_what_its_permission_says(account, queue, message, name, granted):
    needed, call = NEEDED_PERMISSION[name]
    client = with_queue_sas(account, queue.queue_name, permission=QueueSasPermissions.from_string(granted))
    if needed in granted:
        call(client, message)
    else:
        with refused(403, "AuthorizationPermissionMismatch"):
            call(client, message)


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda queue: queue.create_queue(), id="create"),
        pytest.param(lambda queue: queue.delete_queue(), id="delete"),
        pytest.param(lambda queue: queue.set_queue_metadata({"a": "b"}), id="set_metadata"),
        pytest.param(lambda queue: queue.get_queue_access_policy(), id="get_policies"),
        pytest.param(lambda queue: queue.set_queue_access_policy({}), id="set_policies"),
        pytest.param(lambda queue: queue.clear_messages(), id="clear"),
    ],
)
def test_a_queue_sas_cannot_manage_the_queue(account, queue, message, call):
    with refused(403):
        call(with_queue_sas(account, queue.queue_name, permission="raup"))
    assert queue.get_queue_properties().approximate_message_count == 1


def test_an_expired_queue_sas_is_refused(account, queue):
    with refused(403, "AuthenticationFailed", ClientAuthenticationError):
        with_queue_sas(account, queue.queue_name, permission="r", expiry=from_now(hours=-1)).peek_messages()


def test_a_queue_sas_that_has_not_begun_is_refused(account, queue):
    with refused(403, "AuthenticationFailed", ClientAuthenticationError):
        with_queue_sas(account, queue.queue_name, permission="r", start=from_now(minutes=30)).peek_messages()


def test_a_queue_sas_with_a_start_in_the_past_is_accepted(account, queue, message):
    client = with_queue_sas(account, queue.queue_name, permission="r", start=from_now(hours=-1))
    assert client.peek_messages()[0].content == "text"


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%Y-%m-%dT%H:%MZ", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S.0000000Z"])
def test_a_queue_sas_may_write_its_time_in_every_form(account, queue, message, form):
    expiry = from_now(days=2).strftime(form)
    client = with_queue_sas(account, queue.queue_name, permission="r", expiry=expiry)
    assert client.peek_messages()[0].content == "text"


def test_a_changed_claim_breaks_the_signature_of_a_queue_sas(account, queue, message):
    token = queue_sas_token(account, queue.queue_name, permission="r").replace("sp=r", "sp=raup")
    client = queue_client(account, queue.queue_name, credential=AzureSasCredential(token))
    with refused(403, "AuthenticationFailed", ClientAuthenticationError):
        client.peek_messages()


def test_a_queue_sas_is_for_one_queue(account, queues, queue, queue_names):
    other = queues.create_queue(queue_names())
    token = queue_sas_token(account, queue.queue_name, permission="raup")
    with refused(403, "AuthenticationFailed"):
        queue_client(account, other.queue_name, credential=AzureSasCredential(token)).peek_messages()


def test_a_queue_sas_for_https_is_refused_over_http(account, queue):
    if account.scheme != "http":
        pytest.skip("the account is reached over https")
    with refused(403, "AuthorizationProtocolMismatch"):
        with_queue_sas(account, queue.queue_name, permission="r", protocol="https").peek_messages()


def test_a_queue_sas_for_both_protocols_is_accepted(account, queue):
    assert with_queue_sas(account, queue.queue_name, permission="r", protocol="https,http").peek_messages() == []


def test_a_queue_sas_for_another_address_is_refused(account, queue):
    with refused(403, "AuthorizationSourceIPMismatch"):
        with_queue_sas(account, queue.queue_name, permission="r", ip="192.0.2.1-192.0.2.9").peek_messages()


def test_a_queue_sas_for_every_address_is_accepted(account, queue):
    everywhere = "0.0.0.0-255.255.255.255"
    assert with_queue_sas(account, queue.queue_name, permission="r", ip=everywhere).peek_messages() == []


def test_a_queue_sas_in_the_url_is_used(account, queue, message):
    token = queue_sas_token(account, queue.queue_name, permission="r")
    with QueueClient.from_queue_url(f"{account.queue_endpoint}/{queue.queue_name}?{token}", **CLIENT_OPTIONS) as client:
        assert client.peek_messages()[0].content == "text"
