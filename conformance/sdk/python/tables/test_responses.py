"""What every response carries, whatever was asked: ids, version, date, and errors that explain themselves."""

import re
from email.utils import parsedate_to_datetime

import pytest
from azure.core.exceptions import HttpResponseError

from refusal import Answer
from results import operation

GUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"


@operation("InsertEntity")
def test_the_asked_version_is_echoed(table, entity):
    assert table.create_entity(entity)["version"] == table.api_version


@operation("InsertEntity")
def test_the_client_request_id_is_echoed(table, entity):
    answer = Answer()
    table.create_entity(entity, request_id="conformance-1", raw_response_hook=answer)
    assert answer.headers["x-ms-client-request-id"] == "conformance-1"


@operation("QueryEntities")
def test_a_response_has_its_own_id_and_date(table):
    answer = Answer()
    list(table.list_entities(raw_response_hook=answer))
    assert re.fullmatch(GUID, answer.headers["x-ms-request-id"])
    assert parsedate_to_datetime(answer.headers["Date"]).tzinfo is not None


@operation("QueryEntities")
def test_json_declares_its_metadata_level(table):
    answer = Answer()
    list(table.list_entities(raw_response_hook=answer))
    declared = answer.headers["Content-Type"].replace(" ", "").split(";")
    assert declared == ["application/json", "odata=minimalmetadata", "streaming=true", "charset=utf-8"]


@operation("QueryEntity")
def test_an_error_names_its_request_and_time(table):
    with pytest.raises(HttpResponseError) as caught:
        table.get_entity("p", "none")
    message = caught.value.message
    assert message.startswith("The specified resource does not exist.\n")
    assert f"\nRequestId:{caught.value.response.headers['x-ms-request-id']}\n" in message
    assert re.search(r"\nTime:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z\n", message)


@operation("InsertEntity")
def test_an_existing_entity_is_explained(table, entity):
    table.create_entity(entity)
    answer = Answer()
    with pytest.raises(HttpResponseError):
        table.create_entity(entity, raw_response_hook=answer)
    assert answer.response.json()["odata.error"]["message"]["value"].startswith(
        "The specified entity already exists.\n"
    )


@operation("CreateTable")
def test_an_existing_table_is_explained(service, table):
    with pytest.raises(HttpResponseError, match="^The table specified already exists."):
        service.create_table(table.table_name)
