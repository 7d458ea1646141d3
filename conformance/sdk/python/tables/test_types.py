"""Every EDM type comes back as the same type with the same value."""

import math

import pytest
from azure.data.tables import EdmType, EntityProperty

from edm_values import GUID, VALUES, assert_same
from refusal import refused
from results import operation


@operation("InsertEntity")
@pytest.mark.parametrize("value", [pytest.param(value, id=name) for name, value in VALUES.items()])
def test_value_survives_a_round_trip(table, entity, value):
    table.create_entity(entity | {"Value": value})
    assert_same(table.get_entity("p", "r")["Value"], value)


@operation("InsertEntity")
def test_nan_survives_a_round_trip(table, entity):
    table.create_entity(entity | {"Value": math.nan})
    found = table.get_entity("p", "r")["Value"]
    assert isinstance(found, float)
    assert math.isnan(found)


@operation("InsertEntity")
def test_null_is_not_stored(table, entity):
    table.create_entity(entity | {"Value": None})
    assert "Value" not in table.get_entity("p", "r")


@operation("MergeEntity")
def test_merge_with_null_changes_nothing(table, entity):
    table.create_entity(entity)
    table.update_entity(entity | {"Colour": None}, mode="merge")
    assert table.get_entity("p", "r")["Colour"] == "red"


@operation("InsertEntity")
def test_all_types_together_survive_a_round_trip(table, entity):
    table.create_entity(entity | VALUES)
    found = table.get_entity("p", "r")
    for name, value in VALUES.items():
        assert_same(found[name], value)


@operation("QueryEntities")
def test_all_types_together_survive_a_query(table, entity):
    table.create_entity(entity | VALUES)
    [found] = table.query_entities("PartitionKey eq 'p'")
    for name, value in VALUES.items():
        assert_same(found[name], value)


@operation("InsertOrReplaceEntity")
def test_all_types_together_survive_an_upsert(table, entity):
    table.upsert_entity(entity | VALUES, mode="replace")
    found = table.get_entity("p", "r")
    for name, value in VALUES.items():
        assert_same(found[name], value)


@operation("InsertEntity")
def test_types_may_be_annotated_even_where_they_need_not_be(table, entity):
    annotated = {
        "Text": EntityProperty("text", EdmType.STRING),
        "Flag": EntityProperty(True, EdmType.BOOLEAN),
        "Number": EntityProperty(7, EdmType.INT32),
        "Whole": EntityProperty(3.0, EdmType.DOUBLE),
        "DoubleAsText": EntityProperty("1.25", EdmType.DOUBLE),
        "GuidAsText": EntityProperty(str(GUID).upper(), EdmType.GUID),
    }
    table.create_entity(entity | annotated)
    found = table.get_entity("p", "r")
    expected = {"Text": "text", "Flag": True, "Number": 7, "Whole": 3.0, "DoubleAsText": 1.25, "GuidAsText": GUID}
    for name, value in expected.items():
        assert_same(found[name], value)


@operation("InsertEntity")
def test_seventh_digit_of_a_datetime_is_kept(table, entity):
    ticks = "2012-01-02T03:04:05.1234567Z"
    table.create_entity(entity | {"When": EntityProperty(ticks, EdmType.DATETIME)})
    found = table.get_entity("p", "r")
    assert found["When"].tables_service_value == ticks
    # Python's own datetime cannot hold it, yet what was read can be written back without loss.
    table.update_entity(found, mode="replace")
    assert table.get_entity("p", "r")["When"].tables_service_value == ticks


@operation("InsertEntity")
@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        pytest.param("2012-01-01T01:02:00.0000000Z", "2012-01-01T01:02:00Z", id="whole_second"),
        pytest.param("2012-01-01T01:02:03.1200000Z", "2012-01-01T01:02:03.12Z", id="fraction"),
    ],
)
def test_trailing_zeros_of_a_datetime_are_trimmed(table, entity, sent, stored):
    table.create_entity(entity | {"When": EntityProperty(sent, EdmType.DATETIME)})
    assert table.get_entity("p", "r")["When"].tables_service_value == stored


@operation("InsertEntity")
@pytest.mark.parametrize(
    "when",
    [pytest.param("0001-01-01T00:00:00Z", id="year_1"), pytest.param("1600-12-31T23:59:59Z", id="year_1600")],
)
def test_datetime_before_1601_is_refused(table, entity, when):
    with refused(400, "OutOfRangeInput"):
        table.create_entity(entity | {"When": EntityProperty(when, EdmType.DATETIME)})


@operation("InsertEntity")
@pytest.mark.parametrize(
    "value",
    [
        pytest.param(EntityProperty("yesterday", EdmType.DATETIME), id="datetime"),
        pytest.param(EntityProperty("not-a-guid", EdmType.GUID), id="guid"),
        pytest.param(EntityProperty("one and a half", EdmType.DOUBLE), id="double"),
        pytest.param(EntityProperty("13e7705", EdmType.DOUBLE), id="double_overflow"),
        pytest.param(EntityProperty("maybe", EdmType.BOOLEAN), id="boolean"),
    ],
)
def test_text_that_is_not_of_its_type_is_refused(table, entity, value):
    with refused(400, "InvalidInput"):
        table.create_entity(entity | {"Value": value})
