"""Tables: creating, listing, deleting, and which names are legal."""

import pytest
from azure.core.exceptions import HttpResponseError, ResourceExistsError

from refusal import Answer, refused
from results import operation


def names(tables):
    return [table.name for table in tables]


@operation("CreateTable")
def test_created_table_is_listed(service, table_names):
    name = table_names()
    service.create_table(name)
    assert name in names(service.list_tables())


@operation("CreateTable")
def test_table_client_creates_its_own_table(service, table_names):
    name = table_names()
    assert service.get_table_client(name).create_table().name == name
    assert names(service.query_tables(f"TableName eq '{name}'")) == [name]


@operation("CreateTable")
def test_creating_an_existing_table_is_refused(service, table):
    with refused(409, "TableAlreadyExists", ResourceExistsError):
        service.create_table(table.table_name)


@operation("CreateTable")
def test_names_differing_in_case_are_the_same_table(service, table):
    with refused(409, "TableAlreadyExists", ResourceExistsError):
        service.create_table(table.table_name.upper())


@operation("CreateTable")
def test_create_if_not_exists_keeps_what_is_there(service, table, entity):
    table.create_entity(entity)
    again = service.create_table_if_not_exists(table.table_name)
    assert again.get_entity("p", "r")["Colour"] == "red"


@operation("CreateTable")
def test_create_without_content_answers_204(service, table_names):
    answer = Answer()
    service.create_table(table_names(), response_preference="return-no-content", raw_response_hook=answer)
    assert answer.status == 204
    assert answer.headers["Preference-Applied"] == "return-no-content"


@operation("CreateTable")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("bad-name", id="hyphen"),
        pytest.param("bad_name", id="underscore"),
        pytest.param("bad name", id="space"),
        pytest.param("bad.name", id="dot"),
        pytest.param("1name", id="leading_digit"),
        pytest.param("námé", id="accents"),
    ],
)
def test_illegal_characters_in_a_name_are_refused(service, name):
    answer = Answer()
    # The SDK recognises the refusal and raises ValueError with its own explanation.
    with pytest.raises(ValueError, match="Storage table names must be alphanumeric"):
        service.create_table(name, raw_response_hook=answer)
    assert (answer.status, answer.code) == (400, "InvalidResourceName")


@operation("CreateTable")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("a", id="one_character"),
        pytest.param("ab", id="two_characters"),
        pytest.param("a" * 64, id="sixty_four_characters"),
    ],
)
def test_names_of_illegal_length_are_refused(service, name):
    answer = Answer()
    with pytest.raises(ValueError, match="between 3-63 characters"):
        service.create_table(name, raw_response_hook=answer)
    assert (answer.status, answer.code) == (400, "OutOfRangeInput")


@operation("CreateTable")
def test_names_of_extreme_legal_length_are_accepted(service, table_names):
    longest, shortest = table_names("x" * 20), "qzx"
    assert len(longest) == 63
    service.create_table(longest)
    service.create_table(shortest)
    service.delete_table(shortest)


@operation("CreateTable")
def test_the_name_tables_is_reserved(service):
    with pytest.raises(HttpResponseError) as caught:
        service.create_table("Tables")
    # Documentation says 404, observers of the live service say 400.
    assert caught.value.status_code in (400, 404)


@operation("DeleteTable")
def test_deleted_table_is_gone(service, table_names, entity):
    table = service.create_table(table_names())
    table.create_entity(entity)
    answer = Answer()
    service.delete_table(table.table_name, raw_response_hook=answer)
    assert answer.status == 204
    assert names(service.query_tables(f"TableName eq '{table.table_name}'")) == []
    with refused(404, "TableNotFound"):
        table.get_entity("p", "r")


@operation("DeleteTable")
def test_deleting_a_missing_table_answers_resource_not_found(missing_table):
    answer = Answer()
    # The SDK swallows the 404, so the wire is looked at.
    missing_table.delete_table(raw_response_hook=answer)
    assert (answer.status, answer.code) == (404, "ResourceNotFound")


@operation("DeleteTable")
def test_delete_ignores_the_case_of_the_name(service, table_names):
    name = table_names()
    service.create_table(name)
    service.delete_table(name.upper())
    assert names(service.query_tables(f"TableName eq '{name}'")) == []


@operation("InsertEntity")
def test_entity_operations_ignore_the_case_of_the_table_name(service, table, entity):
    service.get_table_client(table.table_name.upper()).create_entity(entity)
    assert table.get_entity("p", "r")["Colour"] == "red"
