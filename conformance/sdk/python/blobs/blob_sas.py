"""Shared access signatures for containers and blobs, and what each lets a client do."""

from datetime import datetime, timedelta, timezone

from azure.core.credentials import AzureSasCredential
from azure.storage.blob import (
    BlobBlock,
    ContentSettings,
    generate_account_sas,
    generate_blob_sas,
    generate_container_sas,
)

from blob_clients import blob_client, blob_service, container_client


def _commit(container):
    container.get_blob_client("blob").commit_block_list([BlobBlock("AAAA")])


#: The letters of which one is enough, for each operation on the blobs of a container. The container that is tried on
#: holds the block blob `blob` with a staged block, and the append blob `log`.
NEEDED_PERMISSIONS = {
    "download": ("r", lambda c: c.download_blob("blob").readall()),
    "properties": ("r", lambda c: c.get_blob_client("blob").get_blob_properties()),
    "block_list": ("r", lambda c: c.get_blob_client("blob").get_block_list("all")),
    "create": ("cw", lambda c: c.upload_blob("new", b"x")),
    "overwrite": ("w", lambda c: c.upload_blob("blob", b"x", overwrite=True)),
    "stage": ("w", lambda c: c.get_blob_client("blob").stage_block("BBBB", b"x")),
    "commit": ("w", _commit),
    "append": ("aw", lambda c: c.get_blob_client("log").append_block(b"x")),
    "metadata": ("w", lambda c: c.get_blob_client("blob").set_blob_metadata({"a": "1"})),
    "headers": ("w", lambda c: c.get_blob_client("blob").set_http_headers(ContentSettings(content_type="a/b"))),
    "snapshot": ("cw", lambda c: c.get_blob_client("blob").create_snapshot()),
    "lease": ("w", lambda c: c.get_blob_client("blob").acquire_lease()),
    "delete": ("d", lambda c: c.delete_blob("log")),
    "list": ("l", lambda c: list(c.list_blobs())),
}


def from_now(**delta):
    return datetime.now(timezone.utc) + timedelta(**delta)


def container_sas_token(account, container_name, expiry=None, **claims):
    """Without a policy it is good for an hour."""
    if expiry is None and "policy_id" not in claims:
        expiry = from_now(hours=1)
    return generate_container_sas(account.name, container_name, account.key, expiry=expiry, **claims)


def container_with_sas(account, container_name, **claims):
    token = container_sas_token(account, container_name, **claims)
    return container_client(account, container_name, credential=AzureSasCredential(token))


def blob_sas_token(account, blob, expiry=None, **claims):
    if expiry is None and "policy_id" not in claims:
        expiry = from_now(hours=1)
    return generate_blob_sas(
        account.name, blob.container_name, blob.blob_name, account_key=account.key, expiry=expiry, **claims
    )


def blob_with_sas(account, blob, **claims):
    token = blob_sas_token(account, blob, **claims)
    return blob_client(account, blob.container_name, blob.blob_name, credential=AzureSasCredential(token))


def account_sas_token(account, resource_types, permission, expiry=None, **claims):
    return generate_account_sas(
        account.name, account.key, resource_types, permission, expiry or from_now(hours=1), **claims
    )


def container_with_account_sas(account, container_name, resource_types, permission, **claims):
    token = account_sas_token(account, resource_types, permission, **claims)
    return container_client(account, container_name, credential=AzureSasCredential(token))


def service_with_account_sas(account, resource_types, permission, **claims):
    token = account_sas_token(account, resource_types, permission, **claims)
    return blob_service(account, credential=AzureSasCredential(token))
