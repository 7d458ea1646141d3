"""Changing an entity: replace and merge, of what must exist and of what may."""

import pytest
from azure.core.exceptions import ResourceNotFoundError
from azure.data.tables import EdmType, EntityProperty, UpdateMode

from refusal import Answer, refused
from results import operation

BEFORE = {"PartitionKey": "p", "RowKey": "r", "Kept": "old", "Changed": 1}
CHANGE = {"PartitionKey": "p", "RowKey": "r", "Changed": 2, "Added": True}

both_updates = pytest.mark.parametrize(
    "mode",
    [
        pytest.param(UpdateMode.REPLACE, id="replace", marks=operation("UpdateEntity")),
        pytest.param(UpdateMode.MERGE, id="merge", marks=operation("MergeEntity")),
    ],
)
both_upserts = pytest.mark.parametrize(
    "mode",
    [
        pytest.param(UpdateMode.REPLACE, id="replace", marks=operation("InsertOrReplaceEntity")),
        pytest.param(UpdateMode.MERGE, id="merge", marks=operation("InsertOrMergeEntity")),
    ],
)


def read(table):
    return dict(table.get_entity("p", "r"))


@operation("UpdateEntity")
def test_update_replace_discards_what_was_not_sent(table):
    table.create_entity(BEFORE)
    table.update_entity(CHANGE, mode=UpdateMode.REPLACE)
    assert read(table) == CHANGE


@operation("MergeEntity")
def test_update_merge_keeps_what_was_not_sent(table):
    table.create_entity(BEFORE)
    table.update_entity(CHANGE, mode=UpdateMode.MERGE)
    assert read(table) == BEFORE | CHANGE


@operation("InsertOrReplaceEntity")
def test_upsert_replace_discards_what_was_not_sent(table):
    table.create_entity(BEFORE)
    table.upsert_entity(CHANGE, mode=UpdateMode.REPLACE)
    assert read(table) == CHANGE


@operation("InsertOrMergeEntity")
def test_upsert_merge_keeps_what_was_not_sent(table):
    table.create_entity(BEFORE)
    table.upsert_entity(CHANGE, mode=UpdateMode.MERGE)
    assert read(table) == BEFORE | CHANGE


@both_upserts
def test_upsert_inserts_what_is_missing(table, mode):
    table.upsert_entity(CHANGE, mode=mode)
    assert read(table) == CHANGE


@both_updates
def test_update_of_a_missing_entity_is_refused(table, mode):
    with refused(404, "ResourceNotFound", ResourceNotFoundError):
        table.update_entity(CHANGE, mode=mode)
    assert list(table.list_entities()) == []


@both_updates
def test_update_answers_204_with_the_new_etag(table, mode):
    first = table.create_entity(BEFORE)["etag"]
    answer = Answer()
    second = table.update_entity(CHANGE, mode=mode, raw_response_hook=answer)["etag"]
    assert answer.status == 204
    assert second != first
    assert second == table.get_entity("p", "r").metadata["etag"]


@both_upserts
def test_upsert_answers_204_with_the_new_etag(table, mode):
    first = table.upsert_entity(BEFORE, mode=mode)["etag"]
    answer = Answer()
    second = table.upsert_entity(CHANGE, mode=mode, raw_response_hook=answer)["etag"]
    assert answer.status == 204
    assert second != first
    assert second == table.get_entity("p", "r").metadata["etag"]


@operation("MergeEntity")
def test_merge_with_nothing_but_keys_changes_only_the_etag(table):
    first = table.create_entity(BEFORE)["etag"]
    table.update_entity({"PartitionKey": "p", "RowKey": "r"}, mode=UpdateMode.MERGE)
    found = table.get_entity("p", "r")
    assert dict(found) == BEFORE
    assert found.metadata["etag"] != first


@operation("UpdateEntity")
def test_replace_with_nothing_but_keys_empties_the_entity(table):
    table.create_entity(BEFORE)
    table.update_entity({"PartitionKey": "p", "RowKey": "r"}, mode=UpdateMode.REPLACE)
    assert read(table) == {"PartitionKey": "p", "RowKey": "r"}


@both_updates
def test_a_property_may_change_its_type(table, mode):
    table.create_entity(BEFORE)
    table.update_entity({"PartitionKey": "p", "RowKey": "r", "Changed": "text", "Kept": 1.5}, mode=mode)
    found = read(table)
    assert (found["Changed"], found["Kept"]) == ("text", 1.5)


@operation("MergeEntity")
def test_merge_leaves_the_types_of_others_alone(table):
    typed = BEFORE | {"Big": EntityProperty(7, EdmType.INT64), "Whole": 3.0, "Raw": b"\x00"}
    table.create_entity(typed)
    table.update_entity(CHANGE, mode=UpdateMode.MERGE)
    found = read(table)
    assert found == typed | CHANGE
    assert isinstance(found["Whole"], float)


@both_updates
def test_an_entity_just_read_can_be_written_back(table, mode):
    table.create_entity(BEFORE)
    found = table.get_entity("p", "r")
    found["Changed"] = 5
    table.update_entity(found, mode=mode)
    assert read(table) == BEFORE | {"Changed": 5}
