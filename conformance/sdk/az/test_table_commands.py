"""`az storage table`: tables, their policies, and signatures for them."""

from datetime import datetime, timezone

import pytest

from conftest import AzFailed
from results import operation


@operation("CreateTable")
def test_table_create_fails_on_an_existing_table_only_when_asked(az, unused_table_name):
    create = ("table", "create", "--name", unused_table_name)
    assert az(*create) == {"created": True}
    # az prints the same when the table was there before.
    assert az(*create) == {"created": True}
    with pytest.raises(AzFailed, match="The table specified already exists"):
        az(*create, "--fail-on-exist")


@operation("QueryTables")
def test_table_list_shows_the_table(az, table):
    assert {"name": table.table_name} in az("table", "list")


@operation("QueryTables")
def test_table_exists_tells_which_is_there(az, table, unused_table_name):
    assert az("table", "exists", "--name", table.table_name) == {"exists": True}
    assert az("table", "exists", "--name", unused_table_name) == {"exists": False}


@operation("DeleteTable")
def test_table_delete_removes_the_table(az, service, unused_table_name):
    service.create_table(unused_table_name)
    assert az("table", "delete", "--name", unused_table_name) == {"deleted": True}
    assert list(service.query_tables(f"TableName eq '{unused_table_name}'")) == []


@operation("SetTableAcl")
def test_table_policy_is_created_shown_and_deleted(az, table):
    where = ("--table-name", table.table_name)
    terms = ("--start", "2020-01-01T00:00Z", "--expiry", "2030-01-02T03:04Z", "--permissions", "ra")
    az("table", "policy", "create", *where, "--name", "reader", *terms)
    shown = az("table", "policy", "show", *where, "--name", "reader")
    assert shown["permission"] == "ra"
    assert datetime.fromisoformat(shown["start"]) == datetime(2020, 1, 1, tzinfo=timezone.utc)
    assert datetime.fromisoformat(shown["expiry"]) == datetime(2030, 1, 2, 3, 4, tzinfo=timezone.utc)
    az("table", "policy", "delete", *where, "--name", "reader")
    assert az("table", "policy", "list", *where) == {}


@operation("Authentication")
def test_table_generate_sas_makes_a_token_that_works(az, account, table):
    table.create_entity({"PartitionKey": "p", "RowKey": "r", "Colour": "red"})
    token = az(
        "table", "generate-sas", "--name", table.table_name, "--permissions", "r", "--expiry", "2035-01-01T00:00Z"
    )
    bearer = ("--table-endpoint", account.endpoint, "--sas-token", token, "--table-name", table.table_name)
    keys = ("--partition-key", "p", "--row-key", "r")
    assert az.run("entity", "show", *bearer, *keys)["Colour"] == "red"
    with pytest.raises(AzFailed):
        az.run("entity", "delete", *bearer, *keys)
    assert table.get_entity("p", "r")["Colour"] == "red"


@operation("GetTableServiceStats")
def test_table_stats_reports_replication(az):
    assert az("table", "stats")["geoReplication"]["status"] in ("live", "bootstrap", "unavailable")
