"""Pages of a query, and the continuation tokens that join them."""

import pytest

from account import new_table_name
from odd_keys import ODD_KEYS
from refusal import refused
from results import operation

PAGE_ENTITIES_MAX = 1000
MANY = 1100
TRANSACTION_OPERATIONS_MAX = 100


@pytest.fixture(scope="module")
def many(service):
    """A table of 1100 entities in one partition, that no test here changes."""
    table = service.create_table(new_table_name())
    for start in range(0, MANY, TRANSACTION_OPERATIONS_MAX):
        table.submit_transaction(
            ("create", {"PartitionKey": "p", "RowKey": f"{index:05}", "Even": index % 2 == 0})
            for index in range(start, start + TRANSACTION_OPERATIONS_MAX)
        )
    yield table
    table.delete_table()


def rows(page):
    return [int(entity["RowKey"]) for entity in page]


@operation("QueryEntities")
def test_more_than_a_thousand_entities_are_followed_to_the_end(many):
    assert rows(many.list_entities()) == list(range(MANY))


@operation("QueryEntities")
def test_a_page_holds_at_most_a_thousand_entities(many):
    sizes = [len(list(page)) for page in many.list_entities().by_page()]
    assert sizes == [PAGE_ENTITIES_MAX, MANY - PAGE_ENTITIES_MAX]


@operation("QueryEntities")
def test_pages_have_the_asked_number_of_entities(many):
    pages = many.list_entities(results_per_page=300).by_page()
    assert [len(list(page)) for page in pages] == [300, 300, 300, 200]


@operation("QueryEntities")
def test_a_page_of_a_thousand_may_be_asked_for(many):
    assert len(list(next(many.list_entities(results_per_page=PAGE_ENTITIES_MAX).by_page()))) == PAGE_ENTITIES_MAX


@operation("QueryEntities")
def test_a_page_of_more_than_a_thousand_is_refused(many):
    with refused(400, "InvalidInput"):
        next(many.list_entities(results_per_page=PAGE_ENTITIES_MAX + 1).by_page())


@operation("QueryEntities")
def test_a_query_resumes_from_a_continuation_token(account, many):
    pages = many.list_entities(results_per_page=400).by_page()
    assert rows(next(pages)) == list(range(400))
    # A token is all that a new client needs.
    with account.table(many.table_name) as another:
        rest = another.list_entities(results_per_page=400).by_page(pages.continuation_token)
        assert rows(next(rest)) == list(range(400, 800))
        assert rows(next(rest)) == list(range(800, MANY))
        assert not rest.continuation_token


@operation("QueryEntities")
def test_a_filter_holds_on_every_page(many):
    pages = many.query_entities("Even eq true and RowKey lt '00020'", results_per_page=3).by_page()
    assert [row for page in pages for row in rows(page)] == list(range(0, 20, 2))


@operation("QueryEntities")
def test_a_filter_that_matches_late_is_found(many):
    assert rows(many.query_entities("RowKey eq '01099' and Even eq false")) == [1099]
    assert rows(many.query_entities("RowKey ge '01098'", results_per_page=1)) == [1098, 1099]


@operation("QueryEntities")
def test_select_holds_on_every_page(many):
    found = list(many.query_entities("RowKey lt '00005'", select="RowKey", results_per_page=2))
    assert [dict(entity) for entity in found] == [{"RowKey": f"{index:05}"} for index in range(5)]


@operation("QueryEntities")
def test_pages_cross_partitions(table):
    expected = [(partition, row) for partition in "abc" for row in "123"]
    for partition, row in expected:
        table.create_entity({"PartitionKey": partition, "RowKey": row})
    pages = [list(page) for page in table.list_entities(results_per_page=2).by_page()]
    found = [(entity["PartitionKey"], entity["RowKey"]) for page in pages for entity in page]
    assert found == expected
    assert all(len(page) <= 2 for page in pages)


@operation("QueryEntities")
def test_tokens_carry_odd_keys(table):
    for key in ODD_KEYS.values():
        table.create_entity({"PartitionKey": key, "RowKey": key})
    pages = [[entity["RowKey"] for entity in page] for page in table.list_entities(results_per_page=1).by_page()]
    found = [key for page in pages for key in page]
    assert sorted(found) == sorted(ODD_KEYS.values())


@operation("QueryEntities")
def test_a_token_points_past_an_entity_that_was_deleted(table):
    for row in "abcd":
        table.create_entity({"PartitionKey": "p", "RowKey": row})
    pages = table.list_entities(results_per_page=2).by_page()
    next(pages)
    table.delete_entity("p", "c")
    rest = table.list_entities(results_per_page=2).by_page(pages.continuation_token)
    assert [entity["RowKey"] for page in rest for entity in page] == ["d"]


@operation("QueryEntities")
def test_a_token_that_is_none_is_refused(table):
    with refused(400, "InvalidInput"):
        next(table.list_entities().by_page({"PartitionKey": "no token", "RowKey": "no token"}))
