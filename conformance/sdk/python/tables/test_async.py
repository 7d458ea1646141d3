"""The asynchronous client on the main path; it re-quotes addresses, and signs them, in its own way."""

import pytest
from azure.core import MatchConditions
from azure.core.credentials import AzureNamedKeyCredential, AzureSasCredential
from azure.core.exceptions import ClientAuthenticationError, ResourceModifiedError
from azure.data.tables import TableTransactionError, UpdateMode, generate_table_sas
from azure.data.tables.aio import TableClient, TableServiceClient

from account import CLIENT_OPTIONS
from edm_values import VALUES, assert_same
from odd_keys import ODD_KEYS
from refusal import refused
from results import operation
from table_sas import from_now, row


@pytest.fixture
async def async_service(account):
    async with TableServiceClient(account.endpoint, credential=account.credential, **CLIENT_OPTIONS) as client:
        yield client


@pytest.fixture
async def async_table(account, table):
    async with TableClient(
        account.endpoint, table.table_name, credential=account.credential, **CLIENT_OPTIONS
    ) as client:
        yield client


async def collect(pages):
    return [item async for item in pages]


@operation("CreateTable")
async def test_async_tables_come_and_go(async_service, table_names):
    name = table_names()
    await async_service.create_table(name)
    await async_service.create_table_if_not_exists(name)
    found = await collect(async_service.query_tables("TableName eq @name", parameters={"name": name}))
    assert [table.name for table in found] == [name]
    await async_service.delete_table(name)
    assert await collect(async_service.query_tables("TableName eq @name", parameters={"name": name})) == []


@operation("InsertEntity")
async def test_async_values_survive_a_round_trip(async_table):
    await async_table.create_entity(row("r") | VALUES)
    found = await async_table.get_entity("p", "r")
    for name, value in VALUES.items():
        assert_same(found[name], value)


@operation("MergeEntity")
async def test_async_entity_is_changed_in_every_way(async_table):
    keys = {"PartitionKey": "p", "RowKey": "r"}
    await async_table.create_entity(keys | {"A": 1})
    await async_table.update_entity(keys | {"B": 2}, mode=UpdateMode.MERGE)
    await async_table.upsert_entity(keys | {"C": 3}, mode=UpdateMode.MERGE)
    assert dict(await async_table.get_entity("p", "r")) == keys | {"A": 1, "B": 2, "C": 3}
    await async_table.update_entity(keys | {"D": 4}, mode=UpdateMode.REPLACE)
    assert dict(await async_table.get_entity("p", "r")) == keys | {"D": 4}
    await async_table.upsert_entity(keys, mode=UpdateMode.REPLACE)
    assert dict(await async_table.get_entity("p", "r")) == keys
    await async_table.delete_entity("p", "r")
    assert await collect(async_table.list_entities()) == []


@operation("QueryEntity")
@pytest.mark.parametrize("key", [pytest.param(key, id=name) for name, key in ODD_KEYS.items()])
async def test_async_odd_key_is_found_again(async_table, key):
    keys = {"PartitionKey": key, "RowKey": key}
    await async_table.upsert_entity(keys | {"A": 1})
    assert dict(await async_table.get_entity(key, key)) == keys | {"A": 1}
    found = await collect(async_table.query_entities("RowKey eq @key", parameters={"key": key}))
    assert [dict(entity) for entity in found] == [keys | {"A": 1}]
    await async_table.submit_transaction([("update", keys | {"B": 2}), ("create", {"PartitionKey": key, "RowKey": ""})])
    await async_table.delete_entity(key, key)
    assert [entity["RowKey"] async for entity in async_table.list_entities()] == [""]


@operation("MergeEntity")
async def test_async_stale_etag_is_refused(async_table):
    await async_table.create_entity(row("r"))
    found = await async_table.get_entity("p", "r")
    await async_table.update_entity(found, match_condition=MatchConditions.IfNotModified)
    with refused(412, "UpdateConditionNotSatisfied", ResourceModifiedError):
        await async_table.update_entity(found, match_condition=MatchConditions.IfNotModified)


@operation("QueryEntities")
async def test_async_pages_continue(async_table):
    await async_table.submit_transaction([("create", row(f"{index:02}")) for index in range(25)])
    pages = async_table.list_entities(results_per_page=10).by_page()
    assert len([entity async for entity in await pages.__anext__()]) == 10
    rest = async_table.list_entities(results_per_page=10).by_page(pages.continuation_token)
    assert [entity["RowKey"] async for page in rest async for entity in page] == [f"{i:02}" for i in range(10, 25)]
    assert len(await collect(async_table.list_entities(results_per_page=4))) == 25


@operation("EntityGroupTransaction")
async def test_async_failing_operation_is_named(async_table):
    await async_table.create_entity(row("old"))
    with refused(409, "EntityAlreadyExists", TableTransactionError) as caught:
        await async_table.submit_transaction([("create", row("a")), ("create", row("old"))])
    assert caught.value.index == 1
    assert len(await collect(async_table.list_entities())) == 1


@operation("SetTableAcl")
async def test_async_policies_are_set(async_table):
    await async_table.set_table_access_policy({})
    assert await async_table.get_table_access_policy() == {}


@operation("GetTableServiceProperties")
async def test_async_service_properties_are_read(async_service):
    assert (await async_service.get_service_properties())["hour_metrics"].version == "1.0"


@operation("Authentication")
async def test_async_sas_is_accepted(account, table):
    table.create_entity(row("old"))
    token = generate_table_sas(account.credential, table.table_name, permission="r", expiry=from_now(hours=1))
    credential = AzureSasCredential(token)
    async with TableClient(account.endpoint, table.table_name, credential=credential, **CLIENT_OPTIONS) as client:
        assert (await client.get_entity("p", "old"))["A"] == 1
        with refused(403, "AuthorizationPermissionMismatch"):
            await client.delete_entity("p", "old")


@operation("Authentication")
async def test_async_wrong_key_is_refused(account):
    credential = AzureNamedKeyCredential(account.name, "d3Jvbmc=")
    async with TableServiceClient(account.endpoint, credential=credential, **CLIENT_OPTIONS) as client:
        with refused(403, "AuthenticationFailed", ClientAuthenticationError):
            await collect(client.list_tables())
