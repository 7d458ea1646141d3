"""Ways to say which account and how to prove it: connection strings, endpoints, keys, versions."""

import pytest
from azure.core.credentials import AzureNamedKeyCredential
from azure.core.exceptions import ClientAuthenticationError
from azure.data.tables import TableClient, TableServiceClient

from account import CLIENT_OPTIONS, DEVELOPMENT_ACCOUNT, DEVELOPMENT_PORT
from refusal import refused
from results import operation

pytestmark = operation("Authentication")

WRONG_KEY = "d3JvbmcgYnV0IHdlbGwgZm9ybWVkIGtleQ=="


def assert_works(service, name):
    """A table can be made, found and removed."""
    with service:
        service.create_table(name)
        assert [table.name for table in service.query_tables(f"TableName eq '{name}'")] == [name]
        service.delete_table(name)


def test_a_full_connection_string(account, table_names):
    text = account.connection_string()
    assert_works(TableServiceClient.from_connection_string(text, **CLIENT_OPTIONS), table_names())


def test_a_connection_string_without_protocol(account, table_names):
    text = account.connection_string(DefaultEndpointsProtocol=None)
    assert_works(TableServiceClient.from_connection_string(text, **CLIENT_OPTIONS), table_names())


def test_a_connection_string_with_a_trailing_slash(account, table_names):
    text = account.connection_string(TableEndpoint=account.endpoint + "/")
    assert_works(TableServiceClient.from_connection_string(text, **CLIENT_OPTIONS), table_names())


def test_a_connection_string_for_one_table(account, table, entity):
    client = TableClient.from_connection_string(account.connection_string(), table.table_name, **CLIENT_OPTIONS)
    with client:
        client.create_entity(entity)
        assert client.get_entity("p", "r")["Colour"] == "red"


def test_use_development_storage_true_needs_no_other_setting(account, table_names):
    development = ("127.0.0.1", DEVELOPMENT_PORT, DEVELOPMENT_ACCOUNT)
    if (account.host, account.port, account.name) != development:
        pytest.skip("the target is not the development account on 127.0.0.1:10002")
    service = TableServiceClient.from_connection_string("UseDevelopmentStorage=true", **CLIENT_OPTIONS)
    assert_works(service, table_names())


def test_an_endpoint_and_a_named_key(account, table_names):
    credential = AzureNamedKeyCredential(account.name, account.key)
    assert_works(TableServiceClient(account.endpoint, credential=credential, **CLIENT_OPTIONS), table_names())


def test_the_url_of_a_table_and_a_named_key(account, table, entity):
    url = f"{account.endpoint}/{table.table_name}"
    with TableClient.from_table_url(url, credential=account.credential, **CLIENT_OPTIONS) as client:
        client.create_entity(entity)
        assert client.get_entity("p", "r")["Colour"] == "red"


@pytest.mark.parametrize("version", ["2019-02-02", "2019-07-07", "2020-12-06"])
def test_every_version_the_sdk_knows(account, table_names, version):
    assert_works(account.service(api_version=version), table_names())


def test_a_wrong_key_is_refused(account):
    with account.service(credential=AzureNamedKeyCredential(account.name, WRONG_KEY)) as service:
        with refused(403, "AuthenticationFailed", ClientAuthenticationError):
            list(service.list_tables())


def test_a_wrong_key_is_refused_for_xml_operations(account):
    with account.service(credential=AzureNamedKeyCredential(account.name, WRONG_KEY)) as service:
        with refused(403, "AuthenticationFailed", ClientAuthenticationError):
            service.get_service_properties()


def test_a_wrong_key_is_refused_for_transactions(account, table, entity):
    with account.table(table.table_name, credential=AzureNamedKeyCredential(account.name, WRONG_KEY)) as client:
        with refused(403, "AuthenticationFailed", ClientAuthenticationError):
            client.submit_transaction([("create", entity)])
    assert list(table.list_entities()) == []


def test_a_key_can_be_rotated_in_a_living_client(account, table):
    credential = AzureNamedKeyCredential(account.name, WRONG_KEY)
    with account.table(table.table_name, credential=credential) as client:
        with refused(403):
            list(client.list_entities())
        credential.update(account.name, account.key)
        assert list(client.list_entities()) == []
