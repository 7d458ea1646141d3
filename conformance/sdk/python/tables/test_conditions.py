"""Optimistic concurrency: writes that hold only if the entity is the one that was read."""

import pytest
from azure.core import MatchConditions
from azure.core.exceptions import ResourceModifiedError, ResourceNotFoundError
from azure.data.tables import UpdateMode

from refusal import Answer, refused
from results import operation

UNTOUCHED = MatchConditions.IfNotModified
ALWAYS = MatchConditions.Unconditionally

both_updates = pytest.mark.parametrize(
    "mode",
    [
        pytest.param(UpdateMode.REPLACE, id="replace", marks=operation("UpdateEntity")),
        pytest.param(UpdateMode.MERGE, id="merge", marks=operation("MergeEntity")),
    ],
)


@pytest.fixture
def stale(table, entity):
    """The etag of an entity as it was before its last change."""
    etag = table.create_entity(entity)["etag"]
    table.update_entity(entity | {"Colour": "blue"})
    return etag


@both_updates
def test_update_with_the_current_etag_succeeds(table, entity, mode):
    etag = table.create_entity(entity)["etag"]
    table.update_entity(entity | {"Colour": "blue"}, mode=mode, etag=etag, match_condition=UNTOUCHED)
    assert table.get_entity("p", "r")["Colour"] == "blue"


@both_updates
def test_update_with_a_stale_etag_is_refused(table, entity, stale, mode):
    with refused(412, "UpdateConditionNotSatisfied", ResourceModifiedError):
        table.update_entity(entity | {"Colour": "green"}, mode=mode, etag=stale, match_condition=UNTOUCHED)
    assert table.get_entity("p", "r")["Colour"] == "blue"


@both_updates
def test_update_without_condition_ignores_other_writers(table, entity, stale, mode):
    table.update_entity(entity | {"Colour": "green"}, mode=mode, match_condition=ALWAYS)
    assert table.get_entity("p", "r")["Colour"] == "green"


@both_updates
def test_the_etag_of_a_read_entity_is_used(table, entity, mode):
    table.create_entity(entity)
    mine, theirs = table.get_entity("p", "r"), table.get_entity("p", "r")
    table.update_entity(theirs, mode=mode, match_condition=UNTOUCHED)
    with refused(412, "UpdateConditionNotSatisfied", ResourceModifiedError):
        table.update_entity(mine, mode=mode, match_condition=UNTOUCHED)


@both_updates
def test_the_etag_of_a_queried_entity_is_used(table, entity, mode):
    table.create_entity(entity)
    [found] = table.list_entities()
    table.update_entity(found, mode=mode, match_condition=UNTOUCHED)
    with refused(412, "UpdateConditionNotSatisfied", ResourceModifiedError):
        table.update_entity(found, mode=mode, match_condition=UNTOUCHED)


@both_updates
def test_a_missing_entity_wins_over_its_etag(table, entity, mode):
    etag = table.create_entity(entity)["etag"]
    table.delete_entity(entity)
    with refused(404, "ResourceNotFound", ResourceNotFoundError):
        table.update_entity(entity, mode=mode, etag=etag, match_condition=UNTOUCHED)


@both_updates
def test_an_etag_of_the_right_form_that_never_was_is_refused(table, entity, mode):
    table.create_entity(entity)
    with refused(412, "UpdateConditionNotSatisfied", ResourceModifiedError):
        table.update_entity(entity, mode=mode, etag='W/"wrong"', match_condition=UNTOUCHED)


@both_updates
def test_an_etag_of_the_wrong_form_is_refused(table, entity, mode):
    table.create_entity(entity)
    with refused(400, "InvalidInput"):
        table.update_entity(entity, mode=mode, etag="wrong", match_condition=UNTOUCHED)


@operation("DeleteEntity")
def test_delete_with_the_current_etag_succeeds(table, entity):
    etag = table.create_entity(entity)["etag"]
    table.delete_entity("p", "r", etag=etag, match_condition=UNTOUCHED)
    assert list(table.list_entities()) == []


@operation("DeleteEntity")
def test_delete_with_a_stale_etag_is_refused(table, stale):
    with refused(412, "UpdateConditionNotSatisfied", ResourceModifiedError):
        table.delete_entity("p", "r", etag=stale, match_condition=UNTOUCHED)
    assert table.get_entity("p", "r")["Colour"] == "blue"


@operation("DeleteEntity")
def test_delete_without_condition_ignores_other_writers(table, stale):
    table.delete_entity("p", "r", match_condition=ALWAYS)
    assert list(table.list_entities()) == []


@operation("DeleteEntity")
def test_delete_of_a_missing_entity_with_an_etag_answers_resource_not_found(table, entity):
    etag = table.create_entity(entity)["etag"]
    table.delete_entity(entity)
    answer = Answer()
    table.delete_entity("p", "r", etag=etag, match_condition=UNTOUCHED, raw_response_hook=answer)
    assert (answer.status, answer.code) == (404, "ResourceNotFound")


@operation("MergeEntity")
def test_every_write_has_a_later_timestamp(table, entity):
    table.create_entity(entity)
    stamps = []
    for _ in range(30):
        table.update_entity(entity)
        stamps.append(ticks(table.get_entity("p", "r").metadata["timestamp"].tables_service_value))
    assert stamps == sorted(set(stamps))


def ticks(timestamp):
    """Text that sorts as the time does: fractions padded to seven digits."""
    seconds, _, fraction = timestamp.rstrip("Z").partition(".")
    return f"{seconds}.{fraction:0<7}"


@operation("InsertEntity")
def test_a_deleted_and_recreated_entity_has_another_etag(table, entity):
    first = table.create_entity(entity)["etag"]
    table.delete_entity(entity)
    assert table.create_entity(entity)["etag"] != first
    with refused(412, "UpdateConditionNotSatisfied", ResourceModifiedError):
        table.update_entity(entity, etag=first, match_condition=UNTOUCHED)
