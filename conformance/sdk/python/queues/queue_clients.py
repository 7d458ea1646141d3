"""Clients of the queues of the account under test; none of them retries."""

import uuid

from azure.storage.queue import QueueClient, QueueServiceClient

from account import CLIENT_OPTIONS


def new_queue_name():
    """A legal name that no other test and no other run uses."""
    return f"conformance-{uuid.uuid4().hex}"


def queue_service(account, credential=None, endpoint=None, **options):
    return QueueServiceClient(
        endpoint or account.queue_endpoint, credential=credential or account.credential, **CLIENT_OPTIONS | options
    )


def queue_client(account, name, credential=None, endpoint=None, **options):
    return QueueClient(
        endpoint or account.queue_endpoint,
        name,
        credential=credential or account.credential,
        **CLIENT_OPTIONS | options,
    )


def texts(messages):
    return [message.content for message in messages]
