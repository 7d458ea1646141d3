"""Listing tables: filters, order and pages."""

import pytest

from results import operation


@pytest.fixture
def family(service, table_names):
    """Five tables with a common prefix, in the order of their names."""
    stem = table_names()[:40]
    created = [stem + suffix for suffix in ("a", "b", "c", "d", "e")]
    for name in created:
        service.create_table(name)
    yield stem, created
    for name in created:
        service.delete_table(name)


def members(service, stem, **options):
    """The tables of a family; the filter is the usual one for a prefix."""
    return service.query_tables(
        "TableName ge @low and TableName lt @high", parameters={"low": stem, "high": stem + "~"}, **options
    )


@operation("QueryTables")
def test_filter_by_name_finds_one_table(service, family):
    _, created = family
    found = service.query_tables("TableName eq @name", parameters={"name": created[2]})
    assert [table.name for table in found] == [created[2]]


@operation("QueryTables")
def test_filter_by_prefix_finds_the_family_in_order(service, family):
    stem, created = family
    assert [table.name for table in members(service, stem)] == created


@operation("QueryTables")
def test_order_ignores_case_and_spelling_is_kept(service, table_names):
    stem = table_names()[:40]
    created = [stem + suffix for suffix in ("A", "b", "C", "d", "E")]
    try:
        for name in created:
            service.create_table(name)
        assert [table.name for table in members(service, stem)] == created
    finally:
        for name in created:
            service.delete_table(name)


@operation("QueryTables")
def test_filter_without_match_is_an_empty_list(service):
    assert list(service.query_tables("TableName eq 'nosuchtable'")) == []


@operation("QueryTables")
def test_pages_have_the_asked_size_and_continue(service, family):
    stem, created = family
    pages = [[table.name for table in page] for page in members(service, stem, results_per_page=2).by_page()]
    assert pages == [created[:2], created[2:4], created[4:]]


@operation("QueryTables")
def test_listing_resumes_from_a_continuation_token(service, family):
    stem, created = family
    pages = members(service, stem, results_per_page=3).by_page()
    assert [table.name for table in next(pages)] == created[:3]
    rest = members(service, stem, results_per_page=3).by_page(pages.continuation_token)
    assert [table.name for table in next(rest)] == created[3:]
    assert not rest.continuation_token


@operation("QueryTables")
def test_list_tables_follows_pages_to_the_end(service, family):
    _, created = family
    listed = [table.name for table in service.list_tables(results_per_page=2)]
    assert set(created) <= set(listed)
    assert len(listed) == len(set(listed))
