"""The route the SDK takes when it believes to speak to Cosmos DB.

It believes so for any endpoint on `localhost` with a port other than 10002: merges then travel as POST with
`X-HTTP-Method: MERGE` in place of PATCH, alone and within transactions.
"""

import pytest
from azure.data.tables import UpdateMode

from account import DEVELOPMENT_PORT
from refusal import refused
from results import operation


class Sent:
    """Keeps the request that was sent, passed as `raw_request_hook=sent`."""

    def __call__(self, pipeline_request):
        self.request = pipeline_request.http_request


@pytest.fixture
def tunnelled(account, table):
    """A client for the test's table, addressed as `localhost`."""
    if not account.is_loopback or account.port in (None, DEVELOPMENT_PORT):
        pytest.skip("the SDK takes only localhost with a port other than 10002 for Cosmos DB")
    endpoint = account.endpoint.replace(account.host, "localhost", 1)
    with account.table(table.table_name, endpoint=endpoint) as client:
        client.create_entity({"PartitionKey": "p", "RowKey": "r", "Kept": 1})
        yield client


@operation("MergeEntity")
def test_merge_is_tunnelled_through_post(tunnelled):
    sent = Sent()
    tunnelled.update_entity(
        {"PartitionKey": "p", "RowKey": "r", "Added": 2}, mode=UpdateMode.MERGE, raw_request_hook=sent
    )
    assert (sent.request.method, sent.request.headers["X-HTTP-Method"]) == ("POST", "MERGE")
    assert dict(tunnelled.get_entity("p", "r")) == {"PartitionKey": "p", "RowKey": "r", "Kept": 1, "Added": 2}


@operation("MergeEntity")
def test_tunnelled_merge_of_a_missing_entity_is_refused(tunnelled):
    with refused(404, "ResourceNotFound"):
        tunnelled.update_entity({"PartitionKey": "p", "RowKey": "none"}, mode=UpdateMode.MERGE)


@operation("InsertOrMergeEntity")
def test_insert_or_merge_is_tunnelled_through_post(tunnelled):
    tunnelled.upsert_entity({"PartitionKey": "p", "RowKey": "r", "Added": 2}, mode=UpdateMode.MERGE)
    tunnelled.upsert_entity({"PartitionKey": "p", "RowKey": "new", "Added": 2}, mode=UpdateMode.MERGE)
    assert [(found["RowKey"], found.get("Kept"), found["Added"]) for found in tunnelled.list_entities()] == [
        ("new", None, 2),
        ("r", 1, 2),
    ]


@operation("EntityGroupTransaction")
def test_merges_in_a_transaction_are_tunnelled_through_post(tunnelled):
    tunnelled.submit_transaction(
        [
            ("update", {"PartitionKey": "p", "RowKey": "r", "Added": 2}, {"mode": UpdateMode.MERGE}),
            ("upsert", {"PartitionKey": "p", "RowKey": "new", "Added": 2}, {"mode": UpdateMode.MERGE}),
        ]
    )
    assert [(found["RowKey"], found.get("Kept"), found["Added"]) for found in tunnelled.list_entities()] == [
        ("new", None, 2),
        ("r", 1, 2),
    ]


@operation("UpdateEntity")
def test_other_operations_work_on_that_route(tunnelled):
    tunnelled.update_entity({"PartitionKey": "p", "RowKey": "r", "Added": 2}, mode=UpdateMode.REPLACE)
    assert dict(tunnelled.get_entity("p", "r")) == {"PartitionKey": "p", "RowKey": "r", "Added": 2}
    tunnelled.delete_entity("p", "r")
    assert list(tunnelled.query_entities("PartitionKey eq 'p'")) == []
