"""An account SAS at the queues: services, resource types and permissions."""

import pytest
from azure.storage.queue import Services

from queue_sas import from_now, queue_with_account_sas, service_with_account_sas
from refusal import refused
from results import operation

pytestmark = operation("Authentication")


@pytest.fixture
def message(queue):
    return queue.send_message("text")


ON_THE_SERVICE = {
    "list": ("l", lambda service: list(service.list_queues())),
    "properties": ("r", lambda service: service.get_service_properties()),
}

ON_A_QUEUE = {
    "metadata": ("r", lambda queue: queue.get_queue_properties()),
    "set_metadata": ("w", lambda queue: queue.set_queue_metadata({"a": "b"})),
    "delete": ("d", lambda queue: queue.delete_queue()),
}

ON_MESSAGES = {
    "put": ("a", lambda queue, _: queue.send_message("more")),
    "get": ("p", lambda queue, _: queue.receive_message()),
    "peek": ("r", lambda queue, _: queue.peek_messages()),
    "update": ("u", lambda queue, message: queue.update_message(message.id, message.pop_receipt, visibility_timeout=0)),
    "delete_message": ("p", lambda queue, message: queue.delete_message(message.id, message.pop_receipt)),
    "clear": ("d", lambda queue, _: queue.clear_messages()),
}

ALL_LETTERS = "rwdlacup"


@pytest.mark.parametrize("name", ON_THE_SERVICE)
def test_an_account_sas_for_the_queue_service(account, name):
    letter, call = ON_THE_SERVICE[name]
    call(service_with_account_sas(account, "s", letter))
    with refused(403, "AuthorizationPermissionMismatch"):
        call(service_with_account_sas(account, "s", ALL_LETTERS.replace(letter, "")))
    with refused(403, "AuthorizationResourceTypeMismatch"):
        call(service_with_account_sas(account, "co", letter))


@pytest.mark.parametrize("name", ON_A_QUEUE)
def test_an_account_sas_for_a_queue(account, queue, name):
    letter, call = ON_A_QUEUE[name]
    with refused(403, "AuthorizationPermissionMismatch"):
        call(queue_with_account_sas(account, queue.queue_name, "c", ALL_LETTERS.replace(letter, "")))
    with refused(403, "AuthorizationResourceTypeMismatch"):
        call(queue_with_account_sas(account, queue.queue_name, "so", letter))
    call(queue_with_account_sas(account, queue.queue_name, "c", letter))


@pytest.mark.parametrize("letter", ["c", "w"])
def test_an_account_sas_creates_queues(account, queues, queue_names, letter):
    name = queue_names()
    queue_with_account_sas(account, name, "c", letter).create_queue()
    assert queues.get_queue_client(name).get_queue_properties().approximate_message_count == 0


@pytest.mark.parametrize("name", ON_MESSAGES)
def test_an_account_sas_for_messages(account, queue, message, name):
    letter, call = ON_MESSAGES[name]
    with refused(403, "AuthorizationPermissionMismatch"):
        call(queue_with_account_sas(account, queue.queue_name, "o", ALL_LETTERS.replace(letter, "")), message)
    with refused(403, "AuthorizationResourceTypeMismatch"):
        call(queue_with_account_sas(account, queue.queue_name, "sc", letter), message)
    call(queue_with_account_sas(account, queue.queue_name, "o", letter), message)


def test_an_account_sas_for_other_services_is_refused_at_queues(account):
    with refused(403, "AuthorizationServiceMismatch"):
        list(service_with_account_sas(account, "sco", "rl", services=Services(blob=True)).list_queues())


def test_an_account_sas_for_all_services_is_accepted_at_queues(account):
    everything = Services(blob=True, queue=True, fileshare=True)
    list(service_with_account_sas(account, "sco", "rl", services=everything).list_queues(results_per_page=1))


def test_an_account_sas_cannot_read_policies_of_queues(account, queue):
    with refused(403):
        queue_with_account_sas(account, queue.queue_name, "sco", ALL_LETTERS).get_queue_access_policy()


def test_an_expired_account_sas_is_refused_at_queues(account):
    with refused(403, "AuthenticationFailed"):
        list(service_with_account_sas(account, "s", "l", expiry=from_now(hours=-1)).list_queues())


def test_an_account_sas_for_another_address_is_refused_at_queues(account):
    with refused(403, "AuthorizationSourceIPMismatch"):
        list(service_with_account_sas(account, "s", "l", ip="192.0.2.1").list_queues())
