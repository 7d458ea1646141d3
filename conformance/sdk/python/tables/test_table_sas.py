"""Table SAS: permissions, time, address, protocol and key range."""

import pytest
from azure.core.credentials import AzureSasCredential
from azure.core.exceptions import ClientAuthenticationError, HttpResponseError
from azure.data.tables import TableSasPermissions, generate_table_sas

from refusal import refused
from results import operation
from table_sas import NEEDED_PERMISSIONS, from_now, row, with_table_sas

pytestmark = operation("Authentication")


@pytest.fixture
def stocked(table):
    for key in ("old", "doomed"):
        table.create_entity(row(key))
    return table


@pytest.mark.parametrize("granted", ["r", "a", "u", "d", "au", "raud"])
def test_a_permission_allows_its_operations_and_no_others(account, stocked, granted):
    client = with_table_sas(account, stocked.table_name, permission=TableSasPermissions.from_string(granted))
    for name, (needed, call) in NEEDED_PERMISSIONS.items():
        if set(needed) <= set(granted):
            call(client)
        else:
            with refused(403, "AuthorizationPermissionMismatch"):
                call(client)
                pytest.fail(f"{name} was allowed")


def test_a_transaction_needs_the_permission_of_each_operation(account, stocked):
    client = with_table_sas(account, stocked.table_name, permission="ra")
    client.submit_transaction([("create", row("x")), ("create", row("y"))])
    with refused(403, "AuthorizationPermissionMismatch"):
        client.submit_transaction([("create", row("z")), ("delete", row("doomed"))])
    assert {entity["RowKey"] for entity in client.list_entities()} == {"old", "doomed", "x", "y"}


def test_an_expired_sas_is_refused(account, stocked):
    client = with_table_sas(account, stocked.table_name, permission="r", expiry=from_now(hours=-1))
    with refused(403, "AuthenticationFailed", ClientAuthenticationError):
        client.get_entity("p", "old")


def test_a_sas_that_has_not_begun_is_refused(account, stocked):
    client = with_table_sas(account, stocked.table_name, permission="r", start=from_now(minutes=30))
    with refused(403, "AuthenticationFailed", ClientAuthenticationError):
        client.get_entity("p", "old")


def test_a_sas_with_a_start_in_the_past_is_accepted(account, stocked):
    client = with_table_sas(account, stocked.table_name, permission="r", start=from_now(hours=-1))
    assert client.get_entity("p", "old")["A"] == 1


def test_a_changed_claim_breaks_the_signature(account, stocked):
    token = generate_table_sas(account.credential, stocked.table_name, permission="r", expiry=from_now(hours=1))
    forged = AzureSasCredential(token.replace("sp=r", "sp=raud"))
    with refused(403, "AuthenticationFailed", ClientAuthenticationError):
        account.table(stocked.table_name, credential=forged).get_entity("p", "old")


def test_a_sas_is_for_one_table(account, stocked, service, table_names):
    other = service.create_table(table_names())
    token = generate_table_sas(account.credential, stocked.table_name, permission="r", expiry=from_now(hours=1))
    with refused(403):
        list(account.table(other.table_name, credential=AzureSasCredential(token)).list_entities())


def test_a_sas_ignores_the_case_of_the_table_name(account, stocked):
    client = with_table_sas(account, stocked.table_name.upper(), permission="r")
    assert client.get_entity("p", "old")["A"] == 1


def test_a_table_sas_cannot_manage_tables(account, stocked, table_names):
    token = generate_table_sas(account.credential, stocked.table_name, permission="raud", expiry=from_now(hours=1))
    service = account.service(credential=AzureSasCredential(token))
    for attempt in (
        lambda: list(service.list_tables()),
        lambda: service.create_table(table_names()),
        lambda: service.delete_table(stocked.table_name),
    ):
        with refused(403):
            attempt()


def test_a_table_sas_cannot_read_policies(account, stocked):
    client = with_table_sas(account, stocked.table_name, permission="raud")
    with pytest.raises(HttpResponseError) as caught:
        client.get_table_access_policy()
    assert caught.value.status_code in (403, 404)


def test_a_sas_for_https_is_refused_over_http(account, stocked):
    if account.scheme != "http":
        pytest.skip("the account is reached over https")
    client = with_table_sas(account, stocked.table_name, permission="r", protocol="https")
    with refused(403, "AuthorizationProtocolMismatch"):
        client.get_entity("p", "old")


def test_a_sas_for_both_protocols_is_accepted(account, stocked):
    client = with_table_sas(account, stocked.table_name, permission="r", protocol="https,http")
    assert client.get_entity("p", "old")["A"] == 1


def test_a_sas_for_another_address_is_refused(account, stocked):
    client = with_table_sas(account, stocked.table_name, permission="r", ip_address_or_range="192.0.2.1-192.0.2.9")
    with refused(403, "AuthorizationSourceIPMismatch"):
        client.get_entity("p", "old")


def test_a_sas_for_every_address_is_accepted(account, stocked):
    everywhere = "0.0.0.0-255.255.255.255"
    client = with_table_sas(account, stocked.table_name, permission="r", ip_address_or_range=everywhere)
    assert client.get_entity("p", "old")["A"] == 1


def test_a_sas_in_the_url_is_used(account, stocked):
    token = generate_table_sas(account.credential, stocked.table_name, permission="r", expiry=from_now(hours=1))
    client = stocked.from_table_url(f"{account.endpoint}/{stocked.table_name}?{token}", retry_total=0)
    assert client.get_entity("p", "old")["A"] == 1
