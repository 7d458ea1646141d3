"""Shared access signatures of the account under test, and what each lets a client do."""

from datetime import datetime, timedelta, timezone

from azure.core.credentials import AzureSasCredential
from azure.data.tables import UpdateMode, generate_account_sas, generate_table_sas

#: What every entity operation needs of a SAS. The table that is tried on holds the entities `old` and `doomed`.
NEEDED_PERMISSIONS = {
    "query": ("r", lambda table: list(table.list_entities())),
    "get": ("r", lambda table: table.get_entity("p", "old")),
    "insert": ("a", lambda table: table.create_entity(row("new"))),
    "replace": ("u", lambda table: table.update_entity(row("old"), mode=UpdateMode.REPLACE)),
    "merge": ("u", lambda table: table.update_entity(row("old"), mode=UpdateMode.MERGE)),
    "upsert_replace": ("au", lambda table: table.upsert_entity(row("old"), mode=UpdateMode.REPLACE)),
    "upsert_merge": ("au", lambda table: table.upsert_entity(row("old"), mode=UpdateMode.MERGE)),
    "delete": ("d", lambda table: table.delete_entity("p", "doomed")),
}


def row(key):
    return {"PartitionKey": "p", "RowKey": key, "A": 1}


def from_now(**delta):
    return datetime.now(timezone.utc) + timedelta(**delta)


def with_table_sas(account, table_name, expiry=None, **claims):
    """A table client that has a table SAS and nothing else; without a policy it is good for an hour."""
    if expiry is None and "policy_id" not in claims:
        expiry = from_now(hours=1)
    token = generate_table_sas(account.credential, table_name, expiry=expiry, **claims)
    return account.table(table_name, credential=AzureSasCredential(token))


def account_sas(account, resource_types, permission, expiry=None, **claims):
    token = generate_account_sas(account.credential, resource_types, permission, expiry or from_now(hours=1), **claims)
    return AzureSasCredential(token)
