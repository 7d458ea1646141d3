"""Filters: every type with every operator, the words between comparisons, and filters that are refused."""

import operator
import uuid
from datetime import datetime, timezone

import pytest
from azure.data.tables import EdmType, EntityProperty

from account import new_table_name
from refusal import refused
from results import operation

ORDER = {
    "eq": operator.eq,
    "ne": operator.ne,
    "gt": operator.gt,
    "ge": operator.ge,
    "lt": operator.lt,
    "le": operator.le,
}
EQUALITY = ("eq", "ne")


def day(year, microsecond=0):
    return datetime(year, 5, 6, 7, 8, 9, microsecond, tzinfo=timezone.utc)


#: Five values of each type in ascending order. The SDK writes the parameters 0 and 1 as Booleans, so no number
#: here is one of them, and it marks integers as Int64 only beyond 32 bits.
COLUMNS = {
    "Text": ["", "A", "a", "it's", "é"],
    "Number": [-2000000000, -3, 7, 40, 2000000000],
    "Big": [-(2**60), -(2**40), 2**40, 2**53 + 1, 2**62],
    "Real": [-1000.5, -2.25, 0.5, 2.5, 1000.5],
    "When": [day(1700), day(1999), day(2020), day(2020, 1), day(2999)],
    "Raw": [b"\x00", b"\x00\x01", b"\x01", b"\x7f", b"\xff"],
    "Id": [uuid.UUID(int=n << 120) for n in range(5)],
    "Flag": [False, True, False, True, False],
}
UNORDERED = ("Id", "Flag")


def typed(name, value):
    return EntityProperty(value, EdmType.INT64) if name == "Big" else value


@pytest.fixture(scope="module")
def rows(service):
    """A table of five entities, RowKey 0 to 4, that no test here changes; only the last has `Rare`."""
    table = service.create_table(new_table_name())
    for index in range(5):
        entity = {name: typed(name, values[index]) for name, values in COLUMNS.items()}
        if index == 4:
            entity["Rare"] = "x"
        table.create_entity({"PartitionKey": "p", "RowKey": str(index)} | entity)
    yield table
    table.delete_table()


def matching(table, text, **parameters):
    return [int(entity["RowKey"]) for entity in table.query_entities(text, parameters=parameters)]


@operation("QueryEntities")
@pytest.mark.parametrize("column", COLUMNS)
def test_every_operator_compares_values_of_the_type(rows, column):
    for name in EQUALITY if column in UNORDERED else ORDER:
        for value in COLUMNS[column]:
            expected = [index for index, other in enumerate(COLUMNS[column]) if ORDER[name](other, value)]
            assert matching(rows, f"{column} {name} @value", value=value) == expected, f"{name} {value!r}"


@operation("QueryEntities")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Number gt 0 and Flag eq true", [3], id="and"),
        pytest.param("Number lt -5 or Number gt 100", [0, 4], id="or"),
        pytest.param("not (Number gt 0)", [0, 1], id="not"),
        pytest.param("not(Number gt 0)", [0, 1], id="not_without_a_space"),
        pytest.param("Flag eq true or Number eq 7 and Real gt 100.0", [1, 3], id="and_before_or"),
        pytest.param("(Flag eq true or Number eq 7) and Real gt 0.0", [2, 3], id="parentheses"),
        pytest.param("not (Flag eq true or (Number eq 7 and Text eq 'a'))", [0, 4], id="nested"),
        pytest.param("not (Number eq 7) and not (Flag eq true)", [0, 4], id="two_nots"),
        pytest.param("7 lt Number", [3, 4], id="literal_on_the_left"),
    ],
)
def test_comparisons_combine(rows, text, expected):
    assert matching(rows, text) == expected


@operation("QueryEntities")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Text eq 'it''s'", [3], id="string_with_apostrophe"),
        pytest.param("Number eq -3", [1], id="negative_integer"),
        pytest.param(f"Big eq {2**40}L", [2], id="int64"),
        pytest.param("Real eq 2.5", [3], id="double"),
        pytest.param("Real gt 1e2", [4], id="double_with_exponent"),
        pytest.param("Real lt -1.0E+2", [0], id="double_with_signed_exponent"),
        pytest.param("When eq datetime'2020-05-06T07:08:09Z'", [2], id="datetime"),
        pytest.param("When eq datetime'2020-05-06T07:08:09.0000010Z'", [3], id="datetime_of_seven_digits"),
        pytest.param("Id eq guid'01000000-0000-0000-0000-000000000000'", [1], id="guid"),
        pytest.param("Raw eq X'7F'", [3], id="binary_in_upper_case"),
        pytest.param("Raw eq binary'7f'", [3], id="binary_by_its_long_name"),
    ],
)
def test_literals_are_read(rows, text, expected):
    assert matching(rows, text) == expected


@operation("QueryEntities")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("false", [], id="false"),
        pytest.param("true", [0, 1, 2, 3, 4], id="true"),
        pytest.param("1 eq 2", [], id="two_constants"),
        pytest.param("RowKey eq '3' and true", [3], id="among_comparisons"),
    ],
)
def test_constants_are_filters(rows, text, expected):
    assert matching(rows, text) == expected


@operation("QueryEntities")
def test_a_bare_key_is_no_predicate(rows):
    with refused(400, "InvalidInput"):
        matching(rows, "PartitionKey and RowKey ge '0'")


@operation("QueryTables")
def test_no_table_matches_false(service):
    assert list(service.query_tables("false")) == []


@operation("QueryEntities")
def test_guid_literal_may_be_in_upper_case(table):
    guid = uuid.UUID("abcdef01-2345-6789-abcd-ef0123456789")
    table.create_entity({"PartitionKey": "p", "RowKey": "0", "Id": guid})
    assert matching(table, f"Id eq guid'{str(guid).upper()}'") == [0]


@operation("QueryEntities")
def test_a_missing_property_satisfies_no_comparison(rows):
    assert matching(rows, "Rare eq 'x'") == [4]
    assert matching(rows, "Rare ne 'y'") == [4]
    assert matching(rows, "not (Rare eq 'x')") == [0, 1, 2, 3]


@operation("QueryEntities")
def test_a_small_literal_compares_with_larger_number_types(rows):
    assert matching(rows, "Big gt 5") == [2, 3, 4]
    assert matching(rows, "Real gt 2") == [3, 4]


@operation("QueryEntities")
def test_a_value_of_another_type_is_not_equal(rows):
    assert matching(rows, "Text eq 7") == []
    assert matching(rows, "Number eq '7'") == []


@operation("QueryEntities")
def test_property_names_are_case_sensitive(rows):
    assert matching(rows, "number eq 7") == []


@operation("QueryEntities")
def test_timestamp_is_filtered_as_a_datetime(rows):
    assert matching(rows, "Timestamp gt @then", then=day(2001)) == [0, 1, 2, 3, 4]
    assert matching(rows, "Timestamp gt @then", then=day(2999)) == []


@operation("QueryEntities")
def test_a_filter_on_keys_without_match_is_an_empty_list(rows):
    assert matching(rows, "PartitionKey eq 'p' and RowKey eq 'none'") == []


@operation("QueryEntities")
def test_key_ranges_are_ordinal(rows):
    assert matching(rows, "PartitionKey eq 'p' and RowKey ge '1' and RowKey lt '3'") == [1, 2]
    assert matching(rows, "PartitionKey gt 'P' and PartitionKey lt 'pa'") == [0, 1, 2, 3, 4]


@operation("QueryEntities")
def test_twenty_comparisons_are_accepted(rows):
    text = " or ".join(f"Number eq {number}" for number in range(5, 25))
    assert matching(rows, text) == [2]


@operation("QueryEntities")
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Number eq", id="nothing_to_compare_with"),
        pytest.param("Number eq 1'invalid'", id="trailing_text"),
        pytest.param("(Number eq 1", id="open_parenthesis"),
        pytest.param("Text eq 'open", id="open_string"),
        pytest.param("Number equals 1", id="unknown_operator"),
        pytest.param("Number EQ 1", id="operator_in_upper_case"),
        pytest.param("When eq datetime'yesterday'", id="bad_datetime"),
        pytest.param("Id eq guid'nothing'", id="bad_guid"),
        pytest.param("Big eq 5000000000", id="int64_without_its_suffix"),
    ],
)
def test_a_filter_that_cannot_be_read_is_refused(rows, text):
    with refused(400, "InvalidInput"):
        matching(rows, text)


@operation("QueryEntities")
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("startswith(Text,'a')", id="startswith"),
        pytest.param("substringof('a',Text)", id="substringof"),
        pytest.param("tolower(Text) eq 'a'", id="tolower"),
    ],
)
def test_functions_are_not_implemented(rows, text):
    with refused(501, "NotImplemented"):
        matching(rows, text)
