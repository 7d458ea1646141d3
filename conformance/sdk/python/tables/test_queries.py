"""Queries: projection and order."""

import pytest

from refusal import refused
from results import operation


@pytest.fixture
def sofa(table):
    table.create_entity({"PartitionKey": "p", "RowKey": "r", "Colour": "red", "Legs": 4, "Weight": 20.5})
    return table


@operation("QueryEntities")
def test_select_returns_exactly_what_was_named(sofa):
    [found] = sofa.list_entities(select=["RowKey", "Legs"])
    assert dict(found) == {"RowKey": "r", "Legs": 4}


@operation("QueryEntities")
def test_select_may_be_text_with_spaces(sofa):
    [found] = sofa.list_entities(select="Colour, Weight")
    assert dict(found) == {"Colour": "red", "Weight": 20.5}


@operation("QueryEntities")
def test_select_keeps_the_etag(sofa):
    [found] = sofa.list_entities(select="Colour")
    assert found.metadata["etag"] == sofa.get_entity("p", "r").metadata["etag"]


@operation("QueryEntities")
def test_select_of_everything(sofa):
    [found] = sofa.list_entities(select="*")
    assert dict(found) == dict(sofa.get_entity("p", "r"))


@operation("QueryEntities")
def test_select_of_a_missing_property_is_null(sofa):
    [found] = sofa.list_entities(select=["Colour", "Missing"])
    assert dict(found) == {"Colour": "red", "Missing": None}


@operation("QueryEntities")
def test_select_does_not_limit_what_the_filter_sees(sofa):
    [found] = sofa.query_entities("Legs eq 4", select="Colour")
    assert dict(found) == {"Colour": "red"}


@operation("QueryEntities")
def test_select_is_case_sensitive(sofa):
    [found] = sofa.list_entities(select="colour,Legs")
    assert found.get("colour") is None
    assert "Colour" not in found


@operation("QueryEntity")
def test_select_on_one_entity(sofa):
    found = sofa.get_entity("p", "r", select=["PartitionKey", "Legs"])
    assert dict(found) == {"PartitionKey": "p", "Legs": 4}


@operation("QueryEntity")
def test_select_on_one_entity_keeps_timestamp_out(sofa):
    assert sofa.get_entity("p", "r", select="Legs").metadata["timestamp"] is None
    assert sofa.get_entity("p", "r", select="Legs,Timestamp").metadata["timestamp"] is not None


@operation("QueryEntities")
def test_entities_come_in_order_of_partition_then_row(table):
    ordered = [
        ("Partition", "b"),
        ("partition-1", "1"),
        ("partition-1", "10"),
        ("partition-1", "2"),
        ("partition-10", "A"),
        ("partition-10", "Z"),
        ("partition-10", "a"),
        ("partition-2", ""),
        ("partition-2", " "),
        ("é", "e"),
        ("日本", "a"),
    ]
    for partition, row in reversed(ordered):
        table.create_entity({"PartitionKey": partition, "RowKey": row})
    assert [(found["PartitionKey"], found["RowKey"]) for found in table.list_entities()] == ordered


@operation("QueryEntities")
def test_an_empty_table_lists_nothing(table):
    assert list(table.list_entities()) == []


@operation("QueryEntities")
def test_a_filter_in_a_missing_table_is_refused(missing_table):
    with refused(404, "TableNotFound"):
        list(missing_table.query_entities("PartitionKey eq 'p'"))
