"""Clients of the blobs of the account under test; none of them retries."""

import uuid

from azure.storage.blob import BlobClient, BlobServiceClient, ContainerClient

from account import CLIENT_OPTIONS


def new_container_name():
    """A legal name that no other test and no other run uses."""
    return f"conformance-{uuid.uuid4().hex}"


def blob_service(account, credential=None, endpoint=None, **options):
    return BlobServiceClient(
        endpoint or account.blob_endpoint, credential=credential or account.credential, **CLIENT_OPTIONS | options
    )


def container_client(account, name, credential=None, endpoint=None, **options):
    return ContainerClient(
        endpoint or account.blob_endpoint,
        name,
        credential=credential or account.credential,
        **CLIENT_OPTIONS | options,
    )


def blob_client(account, container, name, credential=None, endpoint=None, **options):
    return BlobClient(
        endpoint or account.blob_endpoint,
        container,
        name,
        credential=credential or account.credential,
        **CLIENT_OPTIONS | options,
    )


def anonymous_container(account, name):
    return ContainerClient(account.blob_endpoint, name, **CLIENT_OPTIONS)
