"""Account SAS: permissions and resource types."""

import pytest
from azure.core.exceptions import ClientAuthenticationError, HttpResponseError
from azure.data.tables import AccountSasPermissions, ResourceTypes

from refusal import refused
from results import operation
from table_sas import NEEDED_PERMISSIONS, account_sas, from_now, row

pytestmark = operation("Authentication")

EVERYTHING = ResourceTypes(service=True, container=True, object=True)


@pytest.fixture
def stocked(table):
    for key in ("old", "doomed"):
        table.create_entity(row(key))
    return table


def test_an_account_sas_with_everything_does_everything(account, table_names):
    permission = AccountSasPermissions(
        read=True, write=True, delete=True, list=True, add=True, create=True, update=True, process=True
    )
    with account.service(credential=account_sas(account, EVERYTHING, permission)) as service:
        table = service.create_table(table_names())
        assert table.table_name in [item.name for item in service.list_tables()]
        for key in ("old", "doomed"):
            table.create_entity(row(key))
        for _, call in NEEDED_PERMISSIONS.values():
            call(table)
        table.submit_transaction([("upsert", row("old")), ("delete", row("new"))])
        service.get_service_properties()
        service.delete_table(table.table_name)


@pytest.mark.parametrize("granted", ["r", "a", "u", "d", "w", "au"])
def test_an_account_permission_allows_its_operations_and_no_others(account, stocked, granted):
    credential = account_sas(account, ResourceTypes(object=True), granted)
    client = account.table(stocked.table_name, credential=credential)
    for name, (needed, call) in NEEDED_PERMISSIONS.items():
        if set(needed) <= set(granted):
            call(client)
        else:
            with refused(403, "AuthorizationPermissionMismatch"):
                call(client)
                pytest.fail(f"{name} was allowed")


@pytest.mark.parametrize("granted", ["c", "w"])
def test_tables_are_created_with_create_or_write(account, table_names, granted):
    name = table_names()
    account.service(credential=account_sas(account, ResourceTypes(container=True), granted)).create_table(name)


def test_tables_are_listed_only_with_list(account):
    containers = ResourceTypes(container=True)
    list(account.service(credential=account_sas(account, containers, "l")).list_tables())
    with refused(403, "AuthorizationPermissionMismatch"):
        list(account.service(credential=account_sas(account, containers, "rwdacup")).list_tables())


def test_tables_are_deleted_only_with_delete(account, service, table_names):
    name = table_names()
    service.create_table(name)
    containers = ResourceTypes(container=True)
    with refused(403, "AuthorizationPermissionMismatch"):
        account.service(credential=account_sas(account, containers, "rwlacup")).delete_table(name)
    account.service(credential=account_sas(account, containers, "d")).delete_table(name)


@pytest.mark.parametrize(
    ("types", "attempt"),
    [
        pytest.param("sc", lambda service, name: service.get_table_client(name).get_entity("p", "old"), id="entities"),
        pytest.param("so", lambda service, name: list(service.list_tables()), id="tables"),
        pytest.param("co", lambda service, name: service.get_service_properties(), id="service"),
    ],
)
def test_a_resource_type_that_was_not_granted_is_refused(account, stocked, types, attempt):
    credential = account_sas(account, ResourceTypes.from_string(types), "rwdlacup")
    with refused(403, "AuthorizationResourceTypeMismatch"):
        attempt(account.service(credential=credential), stocked.table_name)


def test_an_expired_account_sas_is_refused(account):
    credential = account_sas(account, EVERYTHING, "rl", expiry=from_now(hours=-1))
    with refused(403, "AuthenticationFailed", ClientAuthenticationError):
        list(account.service(credential=credential).list_tables())


def test_an_account_sas_cannot_set_policies(account, stocked):
    credential = account_sas(account, EVERYTHING, "rwdlacup")
    with pytest.raises(HttpResponseError) as caught:
        account.table(stocked.table_name, credential=credential).set_table_access_policy({})
    assert caught.value.status_code in (403, 404)


def test_a_connection_string_may_hold_a_sas(account, stocked):
    token = account_sas(account, EVERYTHING, "r").signature
    text = account.connection_string(AccountName=None, AccountKey=None, SharedAccessSignature=token)
    client = stocked.from_connection_string(text, stocked.table_name, retry_total=0)
    assert client.get_entity("p", "old")["A"] == 1
