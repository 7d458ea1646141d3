"""Keys: odd but legal ones, empty ones, long ones, and characters that are forbidden."""

import pytest
from azure.data.tables import UpdateMode

from odd_keys import ODD_KEYS
from refusal import refused
from results import operation

KEY_CHARACTERS = 512

odd_keys = pytest.mark.parametrize("key", [pytest.param(key, id=name) for name, key in ODD_KEYS.items()])


@operation("QueryEntity")
@odd_keys
def test_odd_key_is_found_again(table, key):
    table.create_entity({"PartitionKey": key, "RowKey": key, "Colour": "red"})
    found = table.get_entity(key, key)
    assert dict(found) == {"PartitionKey": key, "RowKey": key, "Colour": "red"}


@operation("QueryEntities")
@odd_keys
def test_odd_key_is_found_by_a_filter(table, key):
    table.create_entity({"PartitionKey": key, "RowKey": key, "Colour": "red"})
    table.create_entity({"PartitionKey": "other", "RowKey": key, "Colour": "blue"})
    found = table.query_entities("PartitionKey eq @key and RowKey eq @key", parameters={"key": key})
    assert [entity["Colour"] for entity in found] == ["red"]


@operation("MergeEntity")
@odd_keys
def test_odd_key_is_changed_in_every_way(table, key):
    keys = {"PartitionKey": key, "RowKey": key}
    table.upsert_entity(keys | {"A": 1}, mode=UpdateMode.REPLACE)
    table.upsert_entity(keys | {"B": 2}, mode=UpdateMode.MERGE)
    table.update_entity(keys | {"C": 3}, mode=UpdateMode.MERGE)
    assert dict(table.get_entity(key, key)) == keys | {"A": 1, "B": 2, "C": 3}
    table.update_entity(keys | {"D": 4}, mode=UpdateMode.REPLACE)
    assert dict(table.get_entity(key, key)) == keys | {"D": 4}
    table.delete_entity(key, key)
    assert list(table.list_entities()) == []


@operation("InsertEntity")
@pytest.mark.parametrize(
    ("partition", "row"),
    [
        pytest.param("", "r", id="partition_key"),
        pytest.param("p", "", id="row_key"),
        pytest.param("", "", id="both_keys"),
    ],
)
def test_keys_may_be_empty(table, partition, row):
    keys = {"PartitionKey": partition, "RowKey": row}
    table.create_entity(keys | {"A": 1})
    table.update_entity(keys | {"B": 2}, mode=UpdateMode.MERGE)
    assert dict(table.get_entity(partition, row)) == keys | {"A": 1, "B": 2}
    assert [dict(entity) for entity in table.list_entities()] == [keys | {"A": 1, "B": 2}]
    table.delete_entity(partition, row)
    assert list(table.list_entities()) == []


@operation("QueryEntity")
def test_keys_are_case_sensitive(table):
    table.create_entity({"PartitionKey": "p", "RowKey": "r", "A": 1})
    for partition, row in (("P", "r"), ("p", "R")):
        with refused(404, "ResourceNotFound"):
            table.get_entity(partition, row)


@operation("QueryEntity")
def test_keys_are_not_joined_into_one(table):
    table.create_entity({"PartitionKey": "ab", "RowKey": "c", "A": 1})
    table.create_entity({"PartitionKey": "a", "RowKey": "bc", "A": 2})
    assert table.get_entity("ab", "c")["A"] == 1
    assert table.get_entity("a", "bc")["A"] == 2


@operation("InsertEntity")
def test_keys_of_512_characters_are_accepted(table):
    partition, row = "p" * KEY_CHARACTERS, "r" * KEY_CHARACTERS
    table.create_entity({"PartitionKey": partition, "RowKey": row, "A": 1})
    assert table.get_entity(partition, row)["A"] == 1


@operation("InsertEntity")
@pytest.mark.parametrize("key", ["PartitionKey", "RowKey"])
def test_a_key_of_2048_characters_is_refused(table, entity, key):
    with refused(400):
        table.create_entity(entity | {key: "k" * 2048})


FORBIDDEN = {
    "slash": "/",
    "backslash": "\\",
    "number_sign": "#",
    "question_mark": "?",
    "tab": "\t",
    "line_feed": "\n",
    "carriage_return": "\r",
    "unit_separator": "\x1f",
    "delete": "\x7f",
    "first_c1_control": "\x80",
    "last_c1_control": "\x9f",
}


@operation("InsertEntity")
@pytest.mark.parametrize("character", [pytest.param(character, id=name) for name, character in FORBIDDEN.items()])
def test_forbidden_character_in_a_key_is_refused_on_insert(table, entity, character):
    for key in ("PartitionKey", "RowKey"):
        with refused(400, "OutOfRangeInput"):
            table.create_entity(entity | {key: f"a{character}b"})


@operation("InsertOrReplaceEntity")
@pytest.mark.parametrize("character", [pytest.param(FORBIDDEN[name], id=name) for name in list(FORBIDDEN)[:4]])
def test_forbidden_character_in_a_key_is_refused_on_upsert(table, entity, character):
    for key in ("PartitionKey", "RowKey"):
        with refused(400):
            table.upsert_entity(entity | {key: f"a{character}b"}, mode=UpdateMode.REPLACE)
    assert list(table.list_entities()) == []
