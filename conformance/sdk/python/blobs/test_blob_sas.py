"""Service SAS for containers, blobs and snapshots: permissions, terms, and headers that they put into answers."""

import pytest
from azure.core.credentials import AzureSasCredential
from azure.core.exceptions import ClientAuthenticationError
from azure.storage.blob import (
    AccessPolicy,
    BlobClient,
    BlobSasPermissions,
    ContainerSasPermissions,
    UserDelegationKey,
    generate_blob_sas,
)

from account import CLIENT_OPTIONS
from blob_clients import blob_client, container_client
from blob_contents import content_of
from blob_sas import (
    NEEDED_PERMISSIONS,
    blob_sas_token,
    blob_with_sas,
    container_sas_token,
    container_with_sas,
    from_now,
)
from refusal import Answer, refused
from results import operation

pytestmark = operation("Authentication")


@pytest.fixture
def stocked(container, blob):
    blob.stage_block("AAAA", b"staged")
    container.get_blob_client("log").create_append_blob()
    return container


@pytest.mark.parametrize("granted", ["r", "a", "c", "w", "d", "l", "racwdl"])
@pytest.mark.parametrize("name", NEEDED_PERMISSIONS)
def test_a_container_sas_allows_what_its_permission_says(account, stocked, name, granted):
    enough, call = NEEDED_PERMISSIONS[name]
    permission = ContainerSasPermissions.from_string(granted)
    client = container_with_sas(account, stocked.container_name, permission=permission)
    if set(enough) & set(granted):
        call(client)
    else:
        with refused(403):
            call(client)


@pytest.mark.parametrize("name", ["download", "list", "delete"])
def test_a_missing_permission_of_a_container_sas_has_its_code(account, stocked, name):
    _, call = NEEDED_PERMISSIONS[name]
    with refused(403, "AuthorizationPermissionMismatch"):
        call(container_with_sas(account, stocked.container_name, permission="a"))


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda container: container.create_container(), id="create"),
        pytest.param(lambda container: container.delete_container(), id="delete"),
        pytest.param(lambda container: container.get_container_properties(), id="properties"),
        pytest.param(lambda container: container.set_container_metadata({"a": "b"}), id="metadata"),
        pytest.param(lambda container: container.get_container_access_policy(), id="get_policies"),
        pytest.param(lambda container: container.set_container_access_policy({}), id="set_policies"),
        pytest.param(lambda container: container.acquire_lease(), id="lease"),
    ],
)
def test_a_container_sas_cannot_manage_the_container(account, stocked, call):
    with refused(403):
        call(container_with_sas(account, stocked.container_name, permission="racwdl"))


def test_creating_is_not_overwriting(account, blob):
    client = blob_with_sas(account, blob, permission=BlobSasPermissions(create=True))
    with refused(403, "UnauthorizedBlobOverwrite"):
        client.upload_blob(b"stolen", overwrite=True)
    assert content_of(blob) == b"0123456789"


@pytest.mark.parametrize("granted", ["r", "w", "d", "racwd"])
def test_a_blob_sas_allows_what_its_permission_says(account, blob, granted):
    client = blob_with_sas(account, blob, permission=BlobSasPermissions.from_string(granted))
    for letter, call in (
        ("r", content_of),
        ("w", lambda blob: blob.set_blob_metadata({"a": "1"})),
        ("d", lambda blob: blob.delete_blob()),
    ):
        if letter in granted:
            call(client)
        else:
            with refused(403, "AuthorizationPermissionMismatch"):
                call(client)


def test_a_blob_sas_is_for_one_blob(account, container, blob):
    container.upload_blob("other", b"x")
    credential = AzureSasCredential(blob_sas_token(account, blob, permission="r"))
    with refused(403, "AuthenticationFailed"):
        content_of(blob_client(account, container.container_name, "other", credential=credential))


def test_a_blob_sas_does_not_list_its_container(account, container, blob):
    credential = AzureSasCredential(blob_sas_token(account, blob, permission="racwd"))
    with refused(403):
        list(container_client(account, container.container_name, credential=credential).list_blobs())


def test_a_container_sas_is_for_one_container(account, blobs, container, container_names):
    other = blobs.create_container(container_names())
    credential = AzureSasCredential(container_sas_token(account, container.container_name, permission="rl"))
    with refused(403, "AuthenticationFailed"):
        list(container_client(account, other.container_name, credential=credential).list_blobs())


@pytest.mark.parametrize("name", ["a/b/c", "with space", "Grüße", "100%", "a+b", "what?"])
def test_a_blob_sas_for_an_odd_name_is_accepted(account, container, name):
    blob = container.get_blob_client(name)
    blob.upload_blob(b"odd")
    assert content_of(blob_with_sas(account, blob, permission="r")) == b"odd"


def test_a_snapshot_has_a_sas_of_its_own(account, container, blob):
    time = blob.create_snapshot()["snapshot"]
    blob.upload_blob(b"changed", overwrite=True)
    token = blob_sas_token(account, blob, snapshot=time, permission="r")
    client = BlobClient(
        account.blob_endpoint, container.container_name, "blob", snapshot=time, credential=token, **CLIENT_OPTIONS
    )
    assert content_of(client) == b"0123456789"
    with refused(403):
        content_of(blob_client(account, container.container_name, "blob", credential=AzureSasCredential(token)))


def test_a_sas_puts_headers_into_the_answer(account, blob):
    wanted = {
        "cache_control": "no-cache",
        "content_disposition": 'attachment; filename="x.txt"',
        "content_encoding": "identity",
        "content_language": "fr",
        "content_type": "text/x-wanted",
    }
    answer = Answer()
    content_of(blob_with_sas(account, blob, permission="r", **wanted), raw_response_hook=answer)
    for name, value in wanted.items():
        assert answer.headers[name.replace("_", "-")] == value
    assert blob.get_blob_properties().content_settings.content_type == "application/octet-stream"


TERMS = {
    "expired": ({"expiry": from_now(hours=-1)}, "AuthenticationFailed"),
    "not_begun": ({"start": from_now(hours=1), "expiry": from_now(hours=2)}, "AuthenticationFailed"),
    "another_address": ({"ip": "192.0.2.1-192.0.2.9"}, "AuthorizationSourceIPMismatch"),
}


@pytest.mark.parametrize("terms", TERMS)
def test_a_blob_sas_whose_terms_do_not_hold_is_refused(account, blob, terms):
    claims, code = TERMS[terms]
    with refused(403, code):
        content_of(blob_with_sas(account, blob, permission="r", **claims))


@pytest.mark.parametrize(
    "claims",
    [
        pytest.param({"start": from_now(hours=-1)}, id="begun"),
        pytest.param({"ip": "0.0.0.0-255.255.255.255"}, id="every_address"),
        pytest.param({"protocol": "https,http"}, id="both_protocols"),
        pytest.param({"expiry": from_now(days=3).strftime("%Y-%m-%d")}, id="a_date"),
    ],
)
def test_a_blob_sas_whose_terms_hold_is_accepted(account, blob, claims):
    assert content_of(blob_with_sas(account, blob, permission="r", **claims)) == b"0123456789"


def test_a_blob_sas_for_https_is_refused_over_http(account, blob):
    if account.scheme != "http":
        pytest.skip("the account is reached over https")
    with refused(403, "AuthorizationProtocolMismatch"):
        content_of(blob_with_sas(account, blob, permission="r", protocol="https"))


def test_a_changed_claim_breaks_the_signature_of_a_blob_sas(account, container, blob):
    token = blob_sas_token(account, blob, permission="r").replace("sp=r", "sp=rwd")
    client = blob_client(account, container.container_name, "blob", credential=AzureSasCredential(token))
    with refused(403, "AuthenticationFailed", ClientAuthenticationError):
        content_of(client)


def test_a_blob_sas_in_the_url_is_used(account, blob):
    token = blob_sas_token(account, blob, permission="r")
    with BlobClient.from_blob_url(f"{blob.url}?{token}", **CLIENT_OPTIONS) as client:
        assert content_of(client) == b"0123456789"


@pytest.mark.parametrize("kind", ["blob", "container"])
def test_a_sas_takes_its_terms_from_the_policy_of_a_container(account, container, blob, kind):
    container.set_container_access_policy({"reader": AccessPolicy("r", from_now(hours=1), from_now(hours=-1))})
    account.settle()
    if kind == "blob":
        client = blob_with_sas(account, blob, policy_id="reader")
    else:
        client = container_with_sas(account, container.container_name, policy_id="reader").get_blob_client("blob")
    assert content_of(client) == b"0123456789"
    with refused(403, "AuthorizationPermissionMismatch"):
        client.delete_blob()


def test_a_sas_with_a_policy_that_a_container_lacks_is_refused(account, blob):
    with refused(403, "AuthenticationFailed", ClientAuthenticationError):
        content_of(blob_with_sas(account, blob, policy_id="missing"))


def test_removing_the_policy_of_a_container_ends_its_signatures(account, container, blob):
    container.set_container_access_policy({"reader": AccessPolicy("r", from_now(hours=1), from_now(hours=-1))})
    account.settle()
    client = blob_with_sas(account, blob, policy_id="reader")
    assert content_of(client) == b"0123456789"
    container.set_container_access_policy({})
    account.settle()
    with refused(403, "AuthenticationFailed", ClientAuthenticationError):
        content_of(client)


def test_a_user_delegation_sas_with_an_invented_key_is_refused(account, container, blob):
    key = UserDelegationKey()
    key.signed_oid = key.signed_tid = "11111111-1111-1111-1111-111111111111"
    key.signed_start, key.signed_expiry = "2026-01-01T00:00:00Z", "2099-01-01T00:00:00Z"
    key.signed_service, key.signed_version, key.value = "b", "2020-02-10", account.key
    token = generate_blob_sas(
        account.name,
        container.container_name,
        "blob",
        user_delegation_key=key,
        permission="r",
        expiry=from_now(hours=1),
    )
    with refused(403):
        content_of(blob_client(account, container.container_name, "blob", credential=AzureSasCredential(token)))
