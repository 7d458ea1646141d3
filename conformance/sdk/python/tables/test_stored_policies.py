"""SAS tied to a stored access policy, which can be changed and revoked after the token was handed out."""

import pytest
from azure.core.exceptions import ClientAuthenticationError
from azure.data.tables import TableAccessPolicy

from refusal import refused
from results import operation
from table_sas import from_now, row, with_table_sas

pytestmark = operation("Authentication")


@pytest.fixture
def stocked(table):
    table.create_entity(row("old"))
    return table


@pytest.fixture
def allow(account, stocked):
    """A function that makes `reader` the table's only policy."""

    def set_policy(permission="r", **terms):
        hours = {"start": from_now(hours=-2), "expiry": from_now(hours=1)}
        policy = TableAccessPolicy(permission=permission, **hours | terms)
        stocked.set_table_access_policy({"reader": policy})
        account.settle()

    return set_policy


def test_a_policy_grants_what_it_says(account, stocked, allow):
    allow("r")
    client = with_table_sas(account, stocked.table_name, policy_id="reader")
    assert client.get_entity("p", "old")["A"] == 1
    with refused(403, "AuthorizationPermissionMismatch"):
        client.create_entity(row("new"))


def test_removing_the_policy_revokes_the_sas(account, stocked, allow):
    allow("r")
    client = with_table_sas(account, stocked.table_name, policy_id="reader")
    assert client.get_entity("p", "old")["A"] == 1
    stocked.set_table_access_policy({})
    account.settle()
    with refused(403, "AuthenticationFailed", ClientAuthenticationError):
        client.get_entity("p", "old")


def test_renaming_the_policy_revokes_the_sas(account, stocked, allow):
    allow("r")
    client = with_table_sas(account, stocked.table_name, policy_id="reader")
    policy = stocked.get_table_access_policy()["reader"]
    stocked.set_table_access_policy({"other": policy})
    account.settle()
    with refused(403, "AuthenticationFailed", ClientAuthenticationError):
        client.get_entity("p", "old")


def test_changing_the_policy_changes_the_sas(account, stocked, allow):
    allow("r")
    client = with_table_sas(account, stocked.table_name, policy_id="reader")
    allow("ra")
    client.create_entity(row("new"))
    allow("a")
    with refused(403, "AuthorizationPermissionMismatch"):
        client.get_entity("p", "old")


def test_an_expired_policy_is_refused(account, stocked, allow):
    allow("r", expiry=from_now(hours=-1))
    client = with_table_sas(account, stocked.table_name, policy_id="reader")
    with refused(403, "AuthenticationFailed", ClientAuthenticationError):
        client.get_entity("p", "old")


def test_a_policy_that_has_not_begun_is_refused(account, stocked, allow):
    allow("r", start=from_now(minutes=30))
    client = with_table_sas(account, stocked.table_name, policy_id="reader")
    with refused(403, "AuthenticationFailed", ClientAuthenticationError):
        client.get_entity("p", "old")


def test_a_policy_and_a_token_may_share_the_terms(account, stocked):
    stocked.set_table_access_policy({"half": TableAccessPolicy(expiry=from_now(hours=1))})
    account.settle()
    client = with_table_sas(account, stocked.table_name, policy_id="half", permission="r")
    assert client.get_entity("p", "old")["A"] == 1


def test_a_policy_that_does_not_exist_is_refused(account, stocked):
    client = with_table_sas(account, stocked.table_name, policy_id="nobody")
    with refused(403, "AuthenticationFailed", ClientAuthenticationError):
        client.get_entity("p", "old")
