"""`az storage cors`: the properties of the service."""

import pytest

from results import operation

TABLES = ("--services", "t")


@pytest.fixture
def without_cors(az):
    """Leaves no rules behind, and does not run where there are rules already."""
    if az("cors", "list", *TABLES):
        pytest.skip("the account has CORS rules of its own")
    yield
    az("cors", "clear", *TABLES)


@operation("SetTableServiceProperties")
def test_cors_rule_is_added_and_listed(az, account, without_cors):
    az(
        *("cors", "add", *TABLES, "--methods", "GET", "MERGE", "--origins", "https://a.example", "--max-age", "100"),
        *("--allowed-headers", "x-ms-*", "--exposed-headers", "x-ms-request-id"),
    )
    account.settle()
    [rule] = az("cors", "list", *TABLES)
    assert rule["AllowedMethods"].replace(" ", "") == "GET,MERGE"
    assert rule["AllowedOrigins"] == "https://a.example"
    assert rule["AllowedHeaders"] == "x-ms-*"
    assert rule["ExposedHeaders"] == "x-ms-request-id"
    assert rule["MaxAgeInSeconds"] == 100
