"""One entity: writing it the first time, reading it, deleting it, and what is said when it is not there."""

from datetime import datetime, timedelta, timezone
from urllib.parse import quote

import pytest
from azure.core.exceptions import ResourceExistsError, ResourceNotFoundError
from azure.data.tables import UpdateMode

from refusal import Answer, refused
from results import operation

FULL_METADATA = "application/json;odata=fullmetadata"
NO_METADATA = "application/json;odata=nometadata"


@operation("InsertEntity")
def test_inserted_entity_is_read_back(table, entity):
    table.create_entity(entity)
    assert dict(table.get_entity("p", "r")) == entity


@operation("InsertEntity")
def test_insert_returns_the_etag_a_read_shows(table, entity):
    inserted = table.create_entity(entity)
    assert inserted["etag"] == table.get_entity("p", "r").metadata["etag"]


@operation("InsertEntity")
def test_insert_answers_201_with_the_entity_by_default(table, entity):
    answer = Answer()
    table.create_entity(entity, raw_response_hook=answer)
    assert answer.status == 201
    body = answer.response.json()
    assert (body["PartitionKey"], body["RowKey"], body["Colour"]) == ("p", "r", "red")
    assert body["odata.etag"] == answer.headers["ETag"]


@operation("InsertEntity")
def test_insert_without_content_answers_204(table, entity):
    answer = Answer()
    inserted = table.create_entity(entity, response_preference="return-no-content", raw_response_hook=answer)
    assert answer.status == 204
    assert inserted["preference_applied"] == "return-no-content"
    assert inserted["content"] is None
    assert inserted["etag"] == table.get_entity("p", "r").metadata["etag"]


@operation("InsertEntity")
def test_insert_with_content_says_so(table, entity):
    inserted = table.create_entity(entity, response_preference="return-content")
    assert inserted["preference_applied"] == "return-content"
    assert inserted["content"]["Colour"] == "red"


@operation("InsertEntity")
def test_insert_of_an_existing_entity_is_refused(table, entity):
    table.create_entity(entity)
    with refused(409, "EntityAlreadyExists", ResourceExistsError):
        table.create_entity(entity | {"Colour": "blue"})
    assert table.get_entity("p", "r")["Colour"] == "red"


@operation("InsertEntity")
@pytest.mark.parametrize("key", ["PartitionKey", "RowKey"])
def test_insert_without_a_key_is_refused(table, entity, key):
    del entity[key]
    answer = Answer()
    # The SDK explains the refusal with a ValueError of its own.
    with pytest.raises(ValueError, match=f"{key} must be present"):
        table.create_entity(entity, raw_response_hook=answer)
    assert (answer.status, answer.code) == (400, "PropertiesNeedValue")


@operation("InsertEntity")
def test_timestamp_is_the_servers_own(table, entity):
    table.create_entity(entity | {"Timestamp": datetime(2001, 1, 1, tzinfo=timezone.utc)})
    timestamp = table.get_entity("p", "r").metadata["timestamp"]
    assert abs(datetime.now(timezone.utc) - timestamp) < timedelta(minutes=5)


@operation("QueryEntity")
def test_etag_is_the_timestamp(table, entity):
    table.create_entity(entity)
    metadata = table.get_entity("p", "r").metadata
    assert metadata["etag"] == f"W/\"datetime'{quote(metadata['timestamp'].tables_service_value)}'\""


@operation("QueryEntity")
def test_full_metadata_names_the_entity(account, table, entity):
    table.create_entity(entity)
    metadata = table.get_entity("p", "r", format=FULL_METADATA).metadata
    link = f"{table.table_name}(PartitionKey='p',RowKey='r')"
    assert metadata["type"] == f"{account.name}.{table.table_name}"
    assert metadata["editLink"] == link
    assert metadata["id"] == f"{account.endpoint}/{link}"


@operation("QueryEntity")
def test_no_metadata_still_has_the_etag_header(table, entity):
    inserted = table.create_entity(entity)
    answer = Answer()
    found = table.get_entity("p", "r", format=NO_METADATA, raw_response_hook=answer)
    assert found["Colour"] == "red"
    assert not any(name.startswith("odata.") for name in answer.response.json())
    assert answer.headers["ETag"] == inserted["etag"]


@operation("QueryEntity")
def test_get_of_a_missing_entity_is_refused(table):
    with refused(404, "ResourceNotFound", ResourceNotFoundError):
        table.get_entity("p", "r")


@operation("DeleteEntity")
def test_deleted_entity_is_gone(table, entity):
    table.create_entity(entity)
    answer = Answer()
    table.delete_entity("p", "r", raw_response_hook=answer)
    assert answer.status == 204
    with refused(404, "ResourceNotFound", ResourceNotFoundError):
        table.get_entity("p", "r")


@operation("DeleteEntity")
def test_delete_takes_the_entity_itself(table, entity):
    table.create_entity(entity)
    table.delete_entity(table.get_entity("p", "r"))
    assert list(table.list_entities()) == []


@operation("DeleteEntity")
def test_deleting_a_missing_entity_answers_resource_not_found(table):
    answer = Answer()
    # The SDK swallows the 404, so the wire is looked at.
    table.delete_entity("p", "r", raw_response_hook=answer)
    assert (answer.status, answer.code) == (404, "ResourceNotFound")


MISSING_TABLE_CALLS = {
    "InsertEntity": lambda table, entity: table.create_entity(entity),
    "QueryEntity": lambda table, entity: table.get_entity("p", "r"),
    "QueryEntities": lambda table, entity: list(table.list_entities()),
    "UpdateEntity": lambda table, entity: table.update_entity(entity, mode=UpdateMode.REPLACE),
    "MergeEntity": lambda table, entity: table.update_entity(entity, mode=UpdateMode.MERGE),
    "InsertOrReplaceEntity": lambda table, entity: table.upsert_entity(entity, mode=UpdateMode.REPLACE),
    "InsertOrMergeEntity": lambda table, entity: table.upsert_entity(entity, mode=UpdateMode.MERGE),
}


@pytest.mark.parametrize(
    "call", [pytest.param(call, id=name, marks=operation(name)) for name, call in MISSING_TABLE_CALLS.items()]
)
def test_a_missing_table_is_reported(missing_table, entity, call):
    with refused(404, "TableNotFound", ResourceNotFoundError):
        call(missing_table, entity)


@operation("DeleteEntity")
def test_delete_in_a_missing_table_is_reported(missing_table):
    answer = Answer()
    missing_table.delete_entity("p", "r", raw_response_hook=answer)
    assert (answer.status, answer.code) == (404, "TableNotFound")
