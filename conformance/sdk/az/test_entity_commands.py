"""`az storage entity`: one entity at a time, and queries."""

import pytest

from conftest import AzFailed
from results import operation

KEYS = ("--partition-key", "p", "--row-key", "r")
BEFORE = {"PartitionKey": "p", "RowKey": "r", "Kept": "old"}


@pytest.fixture
def where(table):
    return ("--table-name", table.table_name)


@operation("InsertEntity")
def test_entity_insert_stores_typed_values(az, table, where):
    typed = ("Count=5", "Count@odata.type=Edm.Int32", "Big=6", "Big@odata.type=Edm.Int64", "Name=it's")
    inserted = az("entity", "insert", *where, "--entity", "PartitionKey=p", "RowKey=r", *typed)
    found = table.get_entity("p", "r")
    assert inserted["etag"] == found.metadata["etag"]
    assert (found["Count"], found["Big"].value, found["Name"]) == (5, 6, "it's")


@operation("InsertEntity")
def test_entity_insert_of_an_existing_entity_fails(az, table, where):
    table.create_entity(BEFORE)
    with pytest.raises(AzFailed, match="The specified entity already exists"):
        az("entity", "insert", *where, "--entity", "PartitionKey=p", "RowKey=r")


@operation("InsertOrReplaceEntity")
def test_entity_insert_may_replace(az, table, where):
    table.create_entity(BEFORE)
    az("entity", "insert", *where, "--if-exists", "replace", "--entity", "PartitionKey=p", "RowKey=r", "Added=new")
    assert dict(table.get_entity("p", "r")) == {"PartitionKey": "p", "RowKey": "r", "Added": "new"}


@operation("QueryEntity")
def test_entity_show_prints_the_entity(az, table, where):
    etag = table.create_entity(BEFORE)["etag"]
    shown = az("entity", "show", *where, *KEYS)
    del shown["Timestamp"]
    assert shown == BEFORE | {"etag": etag}


@operation("QueryEntities")
def test_entity_query_filters_and_selects(az, table, where):
    for row in range(5):
        table.create_entity({"PartitionKey": "p", "RowKey": str(row), "Number": row, "Other": "x"})
    printed = az("entity", "query", *where, "--filter", "Number ge 2 and Number lt 4", "--select", "RowKey", "Number")
    assert [(item["RowKey"], item["Number"]) for item in printed["items"]] == [("2", 2), ("3", 3)]
    assert not any("Other" in item for item in printed["items"])


@operation("QueryEntities")
def test_entity_query_continues_from_its_marker(az, table, where):
    for row in range(3):
        table.create_entity({"PartitionKey": "p", "RowKey": str(row)})
    first = az("entity", "query", *where, "--num-results", "2")
    assert [item["RowKey"] for item in first["items"]] == ["0", "1"]
    marker = [f"{name}={value}" for name, value in first["nextMarker"].items()]
    rest = az("entity", "query", *where, "--num-results", "2", "--marker", *marker)
    assert [item["RowKey"] for item in rest["items"]] == ["2"]


@operation("MergeEntity")
def test_entity_merge_keeps_what_was_not_given(az, table, where):
    table.create_entity(BEFORE)
    az("entity", "merge", *where, "--entity", "PartitionKey=p", "RowKey=r", "Added=new")
    assert dict(table.get_entity("p", "r")) == BEFORE | {"Added": "new"}


@operation("UpdateEntity")
def test_entity_replace_obeys_if_match(az, table, where):
    etag = table.create_entity(BEFORE)["etag"]
    entity = ("--entity", "PartitionKey=p", "RowKey=r", "Added=new")
    az("entity", "replace", *where, *entity, "--if-match", etag)
    assert dict(table.get_entity("p", "r")) == {"PartitionKey": "p", "RowKey": "r", "Added": "new"}
    with pytest.raises(AzFailed, match="UpdateConditionNotSatisfied"):
        az("entity", "replace", *where, *entity, "--if-match", etag)


@operation("DeleteEntity")
def test_entity_delete_removes_the_entity(az, table, where):
    table.create_entity(BEFORE)
    az("entity", "delete", *where, *KEYS)
    assert list(table.list_entities()) == []
