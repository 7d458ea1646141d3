"""Entity group transactions that fail: which operation is blamed, with which code, and that nothing is applied."""

from contextlib import contextmanager

import pytest
from azure.core import MatchConditions
from azure.data.tables import RequestTooLargeError, TableTransactionError, UpdateMode

from refusal import refused
from results import operation

pytestmark = operation("EntityGroupTransaction")

UNTOUCHED = {"match_condition": MatchConditions.IfNotModified, "etag": 'W/"stale"'}
BEFORE = {"PartitionKey": "p", "RowKey": "old", "A": 1}


def row(key, **properties):
    return {"PartitionKey": "p", "RowKey": key} | properties


@pytest.fixture
def table_with_old(table):
    """A table with one entity, which is all that it holds after every failure."""
    table.create_entity(BEFORE)
    yield table
    assert [dict(entity) for entity in table.list_entities()] == [BEFORE]


@contextmanager
def blamed(index, status, code):
    with refused(status, code, TableTransactionError) as caught:
        yield
    assert caught.value.index == index


FAILURES = {
    "insert_of_an_existing_entity": ("create", row("old"), {}, 409, "EntityAlreadyExists"),
    "replace_of_a_missing_entity": ("update", row("none"), {"mode": UpdateMode.REPLACE}, 404, "ResourceNotFound"),
    "merge_of_a_missing_entity": ("update", row("none"), {"mode": UpdateMode.MERGE}, 404, "ResourceNotFound"),
    "delete_of_a_missing_entity": ("delete", row("none"), {}, 404, "ResourceNotFound"),
    "replace_with_a_stale_etag": (
        "update",
        row("old"),
        {"mode": UpdateMode.REPLACE} | UNTOUCHED,
        412,
        "UpdateConditionNotSatisfied",
    ),
    "merge_with_a_stale_etag": (
        "update",
        row("old"),
        {"mode": UpdateMode.MERGE} | UNTOUCHED,
        412,
        "UpdateConditionNotSatisfied",
    ),
    "delete_with_a_stale_etag": ("delete", row("old"), UNTOUCHED, 412, "UpdateConditionNotSatisfied"),
    "forbidden_key_character": ("create", row("a/b"), {}, 400, "OutOfRangeInput"),
    "oversized_value": ("create", row("big", A="x" * 32769), {}, 400, "PropertyValueTooLarge"),
}


@pytest.mark.parametrize("failure", [pytest.param(failure, id=name) for name, failure in FAILURES.items()])
def test_failing_operation_is_named_and_nothing_is_applied(table_with_old, failure):
    kind, entity, options, status, code = failure
    with blamed(2, status, code):
        table_with_old.submit_transaction(
            [("create", row("a")), ("upsert", row("b")), (kind, entity, options), ("create", row("c"))]
        )


def test_first_operation_can_be_blamed(table_with_old):
    with blamed(0, 409, "EntityAlreadyExists"):
        table_with_old.submit_transaction([("create", row("old")), ("create", row("a"))])


def test_last_of_a_hundred_operations_can_be_blamed(table_with_old):
    operations = [("create", row(f"{index:03}")) for index in range(99)]
    with blamed(99, 404, "ResourceNotFound"):
        table_with_old.submit_transaction(operations + [("update", row("none"))])


def test_first_of_two_failures_is_blamed(table_with_old):
    with blamed(1, 409, "EntityAlreadyExists"):
        table_with_old.submit_transaction([("create", row("a")), ("create", row("old")), ("delete", row("none"))])


def test_an_applied_delete_is_taken_back(table_with_old):
    with blamed(1, 404, "ResourceNotFound"):
        table_with_old.submit_transaction([("delete", row("old")), ("update", row("none"))])


def test_an_applied_replace_is_taken_back(table_with_old):
    with blamed(1, 404, "ResourceNotFound"):
        table_with_old.submit_transaction([("upsert", row("old", B=2), {"mode": "replace"}), ("delete", row("none"))])


@pytest.mark.parametrize("kind", ["create", "upsert", "delete"])
def test_the_same_row_twice_is_refused(table_with_old, kind):
    with blamed(2, 400, "InvalidDuplicateRow"):
        table_with_old.submit_transaction([("upsert", row("old")), ("upsert", row("a")), (kind, row("old"))])


class Disguised(str):
    """A key that the SDK takes for equal to any other, so that the server is the one to refuse it."""

    def __ne__(self, other):
        return False

    __hash__ = str.__hash__


def test_another_partition_is_refused(table_with_old):
    elsewhere = {"PartitionKey": Disguised("q"), "RowKey": "old"}
    with blamed(1, 400, "CommandsInBatchActOnDifferentPartitions"):
        table_with_old.submit_transaction([("delete", row("old")), ("delete", elsewhere)])


def test_a_hundred_and_one_operations_are_refused(table_with_old):
    with refused(400, "InvalidInput", TableTransactionError) as caught:
        table_with_old.submit_transaction(("create", row(f"{index:03}")) for index in range(101))
    # The live service has been seen to blame either end.
    assert caught.value.index in (0, 99, 100)


def test_a_body_over_four_mebibytes_is_refused(table_with_old):
    text = "x" * 32000
    with refused(413, "RequestBodyTooLarge", RequestTooLargeError):
        table_with_old.submit_transaction(("create", row(f"{index:03}", A=text, B=text)) for index in range(100))


def test_a_missing_table_is_reported_by_a_transaction(missing_table):
    with blamed(0, 404, "TableNotFound"):
        missing_table.submit_transaction([("create", row("a")), ("create", row("b"))])
