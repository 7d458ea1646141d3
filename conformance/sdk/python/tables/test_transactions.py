"""Entity group transactions that succeed: every kind of operation, up to the limits."""

import pytest
from azure.core import MatchConditions
from azure.data.tables import TransactionOperation, UpdateMode

from edm_values import VALUES, assert_same
from odd_keys import ODD_KEYS
from results import operation

pytestmark = operation("EntityGroupTransaction")

CREATE, UPSERT, UPDATE, DELETE = (
    TransactionOperation.CREATE,
    TransactionOperation.UPSERT,
    TransactionOperation.UPDATE,
    TransactionOperation.DELETE,
)
MERGE = {"mode": UpdateMode.MERGE}
REPLACE = {"mode": UpdateMode.REPLACE}


def row(key, **properties):
    return {"PartitionKey": "p", "RowKey": key} | properties


def contents(table):
    return {entity["RowKey"]: {k: v for k, v in entity.items() if k[-3:] != "Key"} for entity in table.list_entities()}


def test_every_kind_of_operation_in_one_transaction(table):
    for key in ("merged", "replaced", "upsert-merged", "upsert-replaced", "deleted"):
        table.create_entity(row(key, Old=1))
    table.submit_transaction(
        [
            (CREATE, row("created", New=2)),
            (UPDATE, row("merged", New=2), MERGE),
            (UPDATE, row("replaced", New=2), REPLACE),
            (UPSERT, row("upsert-merged", New=2), MERGE),
            (UPSERT, row("upsert-replaced", New=2), REPLACE),
            (UPSERT, row("upsert-inserted", New=2), MERGE),
            (DELETE, row("deleted")),
        ]
    )
    assert contents(table) == {
        "created": {"New": 2},
        "merged": {"Old": 1, "New": 2},
        "replaced": {"New": 2},
        "upsert-inserted": {"New": 2},
        "upsert-merged": {"Old": 1, "New": 2},
        "upsert-replaced": {"New": 2},
    }


def test_results_come_in_order_with_etags(table):
    table.create_entity(row("b"))
    results = table.submit_transaction([(CREATE, row("a")), (DELETE, row("b")), (UPSERT, row("c"))])
    assert [result.get("etag") for result in results] == [
        table.get_entity("p", "a").metadata["etag"],
        None,
        table.get_entity("p", "c").metadata["etag"],
    ]


def test_operations_may_be_named_by_text(table):
    table.submit_transaction([("create", row("a")), ("upsert", row("b", A=1), {"mode": "replace"})])
    assert contents(table) == {"a": {}, "b": {"A": 1}}


def test_a_transaction_of_one(table):
    table.submit_transaction([(CREATE, row("a", A=1))])
    assert contents(table) == {"a": {"A": 1}}


def test_a_transaction_of_a_hundred(table):
    results = table.submit_transaction((CREATE, row(f"{index:03}", A=index)) for index in range(100))
    assert len(results) == 100
    assert contents(table) == {f"{index:03}": {"A": index} for index in range(100)}


def test_an_empty_transaction_does_nothing(table):
    assert table.submit_transaction([]) == []
    assert contents(table) == {}


def test_a_transaction_of_nearly_four_mebibytes(table):
    text = "x" * 32000
    table.submit_transaction((UPSERT, row(f"{index:03}", A=text)) for index in range(100))
    assert {len(properties["A"]) for properties in contents(table).values()} == {32000}


def test_conditions_hold_within_a_transaction(table):
    etag = table.create_entity(row("a", A=1))["etag"]
    other = table.create_entity(row("b", A=1))["etag"]
    unchanged = {"match_condition": MatchConditions.IfNotModified}
    table.submit_transaction(
        [(UPDATE, row("a", A=2), unchanged | {"etag": etag}), (DELETE, row("b"), unchanged | {"etag": other})]
    )
    assert contents(table) == {"a": {"A": 2}}


@pytest.mark.parametrize("key", [pytest.param(key, id=name) for name, key in ODD_KEYS.items()])
def test_odd_key_in_a_transaction(table, key):
    keys = {"PartitionKey": key, "RowKey": key}
    other = {"PartitionKey": key, "RowKey": f"other {key}"}
    table.submit_transaction([(CREATE, keys | {"A": 1}), (CREATE, other)])
    table.submit_transaction([(UPDATE, keys | {"B": 2}, MERGE), (DELETE, other)])
    assert [dict(entity) for entity in table.list_entities()] == [keys | {"A": 1, "B": 2}]


def test_empty_keys_in_a_transaction(table):
    keys = {"PartitionKey": "", "RowKey": ""}
    table.submit_transaction([(CREATE, keys), (CREATE, keys | {"RowKey": "r"})])
    table.submit_transaction([(UPDATE, keys | {"A": 1}, REPLACE), (DELETE, keys | {"RowKey": "r"})])
    assert [dict(entity) for entity in table.list_entities()] == [keys | {"A": 1}]


def test_all_types_survive_a_transaction(table):
    table.submit_transaction([(CREATE, row("created") | VALUES), (UPSERT, row("upserted") | VALUES)])
    for key in ("created", "upserted"):
        found = table.get_entity("p", key)
        for name, value in VALUES.items():
            assert_same(found[name], value)


def test_text_that_looks_like_a_boundary_survives(table):
    text = "\r\n--changeset_1--\r\n--batch_1--\r\nHTTP/1.1 500 Oops\r\n\r\n{}"
    table.submit_transaction([(CREATE, row("a", Text=text)), (CREATE, row("b"))])
    assert contents(table) == {"a": {"Text": text}, "b": {}}


def test_entities_whose_joined_keys_are_alike_are_distinct(table):
    table.submit_transaction([(CREATE, row("1")), (CREATE, row("11")), (CREATE, row(""))])
    assert sorted(contents(table)) == ["", "1", "11"]
