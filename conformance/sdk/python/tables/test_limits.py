"""Limits of an entity: properties, their names and values, and the whole."""

import pytest
from azure.data.tables import TableErrorCode

from refusal import refused
from results import operation

pytestmark = operation("InsertEntity")

PROPERTIES_MAX = 252
NAME_CHARACTERS_MAX = 255
STRING_UNITS_MAX = 32 * 1024
BINARY_BYTES_MAX = 64 * 1024
ENTITY_BYTES_MAX = 1024 * 1024


def test_252_properties_are_accepted(table, entity):
    del entity["Colour"]
    properties = {f"P{number}": number for number in range(PROPERTIES_MAX)}
    table.create_entity(entity | properties)
    assert dict(table.get_entity("p", "r")) == entity | properties


def test_253_properties_are_refused(table, entity):
    del entity["Colour"]
    with refused(400, TableErrorCode.TOO_MANY_PROPERTIES):
        table.create_entity(entity | {f"P{number}": number for number in range(PROPERTIES_MAX + 1)})


@operation("MergeEntity")
def test_merging_past_252_properties_is_refused(table, entity):
    del entity["Colour"]
    table.create_entity(entity | {f"P{number}": number for number in range(200)})
    with refused(400, TableErrorCode.TOO_MANY_PROPERTIES):
        table.update_entity(entity | {f"Q{number}": number for number in range(100)}, mode="merge")


@pytest.mark.parametrize(
    ("text", "count"),
    [pytest.param("x", STRING_UNITS_MAX, id="ascii"), pytest.param("😀", STRING_UNITS_MAX // 2, id="emoji")],
)
def test_strings_hold_64_kib_of_utf16(table, entity, text, count):
    table.create_entity(entity | {"Text": text * count})
    assert table.get_entity("p", "r")["Text"] == text * count


@pytest.mark.parametrize(
    ("text", "count"),
    [pytest.param("x", STRING_UNITS_MAX + 1, id="ascii"), pytest.param("😀", STRING_UNITS_MAX // 2 + 1, id="emoji")],
)
def test_longer_strings_are_refused(table, entity, text, count):
    with refused(400, TableErrorCode.PROPERTY_VALUE_TOO_LARGE):
        table.create_entity(entity | {"Text": text * count})


def test_binary_holds_64_kib(table, entity):
    table.create_entity(entity | {"Raw": b"\xa5" * BINARY_BYTES_MAX})
    assert table.get_entity("p", "r")["Raw"] == b"\xa5" * BINARY_BYTES_MAX


def test_longer_binary_is_refused(table, entity):
    with refused(400, TableErrorCode.PROPERTY_VALUE_TOO_LARGE):
        table.create_entity(entity | {"Raw": b"\xa5" * (BINARY_BYTES_MAX + 1)})


@pytest.mark.parametrize(
    "name",
    ["_", "a1_b", "größe", "日本", "N" * NAME_CHARACTERS_MAX],
    ids=["underscore", "mixed", "accents", "cjk", "longest"],
)
def test_legal_property_names_are_accepted(table, entity, name):
    table.create_entity(entity | {name: 7})
    assert table.get_entity("p", "r")[name] == 7


def test_a_property_name_of_256_characters_is_refused(table, entity):
    with refused(400, TableErrorCode.PROPERTY_NAME_TOO_LONG):
        table.create_entity(entity | {"N" * (NAME_CHARACTERS_MAX + 1): 7})


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("a-b", id="hyphen"),
        pytest.param("a b", id="space"),
        pytest.param("1a", id="leading_digit"),
    ],
)
def test_illegal_property_names_are_refused(table, entity, name):
    with refused(400, TableErrorCode.PROPERTY_NAME_INVALID):
        table.create_entity(entity | {name: 7})


def test_property_names_differing_in_case_are_two(table, entity):
    table.create_entity(entity | {"colour": "blue"})
    found = table.get_entity("p", "r")
    assert (found["Colour"], found["colour"]) == ("red", "blue")


def filled(size):
    """An entity that counts as `size` bytes by the published formula; its values are binary, one byte for one."""
    entity = {"PartitionKey": "p", "RowKey": "r"}
    left = size - 4 - 2 * 2
    for number in range(17):
        name = f"P{number:02}"
        overhead = 8 + 2 * len(name) + 4
        length = min(left - overhead, BINARY_BYTES_MAX)
        if length <= 0:
            break
        entity[name] = bytes(length)
        left -= overhead + length
    return entity


# The formula does not say whether Timestamp counts, so neither case comes closer to the limit than that.
CLEARANCE = 64


def test_an_entity_of_nearly_one_mebibyte_is_accepted(table):
    entity = filled(ENTITY_BYTES_MAX - CLEARANCE)
    table.create_entity(entity)
    assert dict(table.get_entity("p", "r")) == entity


def test_an_entity_of_more_than_one_mebibyte_is_refused(table):
    with refused(400, TableErrorCode.ENTITY_TOO_LARGE):
        table.create_entity(filled(ENTITY_BYTES_MAX + CLEARANCE))


@operation("MergeEntity")
def test_merging_past_one_mebibyte_is_refused(table):
    table.create_entity(filled(ENTITY_BYTES_MAX - CLEARANCE))
    with refused(400, TableErrorCode.ENTITY_TOO_LARGE):
        table.update_entity({"PartitionKey": "p", "RowKey": "r", "More": bytes(1024)}, mode="merge")


def test_a_body_of_more_than_four_mebibytes_is_refused(table, entity):
    with refused(413, TableErrorCode.REQUEST_BODY_TOO_LARGE):
        table.create_entity(entity | {f"P{number}": "x" * STRING_UNITS_MAX for number in range(160)})
