"""The secondary location of a geo-replicated account: statistics, and reads."""

from datetime import datetime

import pytest

from refusal import refused
from results import operation


def at(account, endpoint):
    """A client that sends statistics requests to `endpoint` as it stands.

    For path-style addresses the SDK would append the path a second time; it leaves the address alone when it takes
    the authority for that of the secondary.
    """
    return account.service(endpoint=endpoint, secondary_hostname=account.authority)


@operation("GetTableServiceStats")
def test_the_secondary_reports_replication(account):
    service = at(account, account.secondary_endpoint) if account.is_path_style else account.service()
    replication = service.get_service_stats()["geo_replication"]
    assert replication["status"] in ("live", "bootstrap", "unavailable")
    if replication["status"] == "live":
        assert isinstance(replication["last_sync_time"], datetime)


@operation("GetTableServiceStats")
def test_a_plain_client_reads_statistics(account):
    """Of a path-style account the SDK asks at `/acct-secondary/acct`, and signs the primary's path."""
    assert account.service().get_service_stats()["geo_replication"]["status"] in ("live", "bootstrap", "unavailable")


@operation("GetTableServiceStats")
def test_the_primary_has_no_statistics(account):
    with refused(400, "InvalidQueryParameterValue"):
        at(account, account.endpoint).get_service_stats()


@operation("QueryEntity")
def test_the_secondary_serves_reads(account, table, entity):
    if account.target == "azure":
        pytest.skip("replication to a live secondary takes its time")
    table.create_entity(entity)
    with account.table(table.table_name, endpoint=account.secondary_endpoint) as secondary:
        assert secondary.get_entity("p", "r")["Colour"] == "red"
