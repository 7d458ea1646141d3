"""Table SAS limited to a range of keys: one contiguous stretch in the order of (PartitionKey, RowKey)."""

import pytest

from refusal import refused
from results import operation
from table_sas import with_table_sas

pytestmark = operation("Authentication")

GRID = [(partition, row) for partition in "abcd" for row in "123"]


@pytest.fixture
def grid(table):
    """Partitions a to d, each with the rows 1 to 3."""
    for partition in "abcd":
        table.submit_transaction(("create", {"PartitionKey": partition, "RowKey": row}) for row in "123")
    return table


RANGES = {
    "from_a_partition": ({"start_pk": "c"}, lambda key: key >= ("c", "")),
    "to_a_partition": ({"end_pk": "b"}, lambda key: key[0] <= "b"),
    "between_partitions": ({"start_pk": "b", "end_pk": "c"}, lambda key: "b" <= key[0] <= "c"),
    "one_partition": ({"start_pk": "b", "end_pk": "b"}, lambda key: key[0] == "b"),
    "from_an_entity": ({"start_pk": "b", "start_rk": "2"}, lambda key: key >= ("b", "2")),
    "to_an_entity": ({"end_pk": "c", "end_rk": "2"}, lambda key: key <= ("c", "2")),
    "between_entities": (
        {"start_pk": "b", "start_rk": "3", "end_pk": "c", "end_rk": "1"},
        lambda key: ("b", "3") <= key <= ("c", "1"),
    ),
}


@pytest.mark.parametrize(("claims", "inside"), [pytest.param(*case, id=name) for name, case in RANGES.items()])
def test_a_query_shows_only_the_range(account, grid, claims, inside):
    client = with_table_sas(account, grid.table_name, permission="r", **claims)
    found = [(entity["PartitionKey"], entity["RowKey"]) for entity in client.list_entities()]
    assert found == [key for key in GRID if inside(key)]


def test_an_entity_outside_the_range_is_not_found(account, grid):
    client = with_table_sas(account, grid.table_name, permission="r", start_pk="b", end_pk="c")
    assert client.get_entity("b", "1")["RowKey"] == "1"
    for partition in "ad":
        with refused(404, "ResourceNotFound"):
            client.get_entity(partition, "1")


def test_a_write_outside_the_range_is_refused(account, grid):
    client = with_table_sas(account, grid.table_name, permission="raud", start_pk="b", end_pk="c")
    for attempt in (
        lambda keys: client.create_entity(keys | {"RowKey": "new"}),
        lambda keys: client.update_entity(keys),
        lambda keys: client.upsert_entity(keys),
        lambda keys: client.delete_entity(keys),
    ):
        attempt({"PartitionKey": "b", "RowKey": "1"})
        with refused(403, "AuthorizationFailure"):
            attempt({"PartitionKey": "a", "RowKey": "1"})


def test_a_transaction_outside_the_range_is_refused(account, grid):
    client = with_table_sas(account, grid.table_name, permission="raud", start_pk="b", end_pk="c")
    client.submit_transaction([("upsert", {"PartitionKey": "b", "RowKey": "1"})])
    with refused(403, "AuthorizationFailure"):
        client.submit_transaction([("upsert", {"PartitionKey": "d", "RowKey": "1"})])
