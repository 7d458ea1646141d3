"""Shared access signatures for queues, and what each lets a client do."""

from datetime import datetime, timedelta, timezone

from azure.core.credentials import AzureSasCredential
from azure.storage.queue import generate_account_sas, generate_queue_sas

from queue_clients import queue_client, queue_service


def _put(queue, _):
    queue.send_message("new")


def _update(queue, message):
    queue.update_message(message.id, message.pop_receipt, visibility_timeout=0)


def _delete(queue, message):
    queue.delete_message(message.id, message.pop_receipt)


#: The letter of a queue's SAS that each operation needs. The queue that is tried on holds one message.
NEEDED_PERMISSION = {
    "metadata": ("r", lambda queue, _: queue.get_queue_properties()),
    "peek": ("r", lambda queue, _: queue.peek_messages()),
    "put": ("a", _put),
    "update": ("u", _update),
    "get": ("p", lambda queue, _: queue.receive_message()),
    "delete": ("p", _delete),
}


def from_now(**delta):
    return datetime.now(timezone.utc) + timedelta(**delta)


def queue_sas_token(account, queue_name, expiry=None, **claims):
    """Without a policy it is good for an hour."""
    if expiry is None and "policy_id" not in claims:
        expiry = from_now(hours=1)
    return generate_queue_sas(account.name, queue_name, account.key, expiry=expiry, **claims)


def with_queue_sas(account, queue_name, **claims):
    """A client that has a queue's SAS and nothing else."""
    token = queue_sas_token(account, queue_name, **claims)
    return queue_client(account, queue_name, credential=AzureSasCredential(token))


def account_sas_token(account, resource_types, permission, expiry=None, **claims):
    return generate_account_sas(
        account.name, account.key, resource_types, permission, expiry or from_now(hours=1), **claims
    )


def queue_with_account_sas(account, queue_name, resource_types, permission, **claims):
    token = account_sas_token(account, resource_types, permission, **claims)
    return queue_client(account, queue_name, credential=AzureSasCredential(token))


def service_with_account_sas(account, resource_types, permission, **claims):
    token = account_sas_token(account, resource_types, permission, **claims)
    return queue_service(account, credential=AzureSasCredential(token))
