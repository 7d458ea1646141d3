"""The Rust client of this repository and the SDK continue each other's work: its filters as text, and its pages."""

import json
import os
import subprocess

import pytest

from odd_keys import ODD_KEYS
from results import operation

SECONDS_MAX = 60


def rust_client(*words):
    """What the client prints; CONFORMANCE_RUST_CLIENT names it as a program."""
    program = os.environ.get("CONFORMANCE_RUST_CLIENT") or pytest.skip("CONFORMANCE_RUST_CLIENT is not set")
    done = subprocess.run([program, *words], capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def keys(entities):
    return [[entity["PartitionKey"], entity["RowKey"]] for entity in entities]


@operation("QueryEntities")
@pytest.mark.parametrize("group", ["operators", "literals", "extremes", "keys", "nesting"])
def test_filters_of_the_rust_client_find_the_same(table, group):
    filters = rust_client("filters", table.table_name, group)
    assert filters
    for told in filters:
        assert keys(table.query_entities(told["filter"])) == told["keys"], told["filter"]


@operation("QueryEntities")
def test_the_rust_client_and_the_sdk_page_in_turn(table):
    for key in ODD_KEYS.values():
        table.create_entity({"PartitionKey": key, "RowKey": key})
    found, token = [], None
    while True:
        theirs = rust_client("page", table.table_name, "2", *([token["PartitionKey"], token["RowKey"]] if token else []))
        found += theirs["keys"]
        if not theirs["next"]:
            break
        token = {"PartitionKey": theirs["next"]["partition"], "RowKey": theirs["next"]["row"]}
        pages = table.list_entities(results_per_page=2).by_page(token)
        found += keys(next(pages))
        token = pages.continuation_token
        if not token:
            break
    assert found == keys(table.list_entities())
    assert len(found) == len(ODD_KEYS)
