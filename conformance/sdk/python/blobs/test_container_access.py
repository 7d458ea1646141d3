"""Who may use a container: stored policies and public access."""

from datetime import datetime, timezone

import pytest
from azure.core.exceptions import HttpResponseError
from azure.storage.blob import AccessPolicy, ContainerSasPermissions

from blob_clients import anonymous_container
from refusal import Answer, refused
from results import operation

START = datetime(2031, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
EXPIRY = datetime(2032, 1, 2, 3, 4, 5, tzinfo=timezone.utc)


def policies_of(container):
    return {policy.id: policy.access_policy for policy in container.get_container_access_policy()["signed_identifiers"]}


@operation("GetContainerACL")
def test_a_new_container_has_no_policies(container):
    access = container.get_container_access_policy()
    assert (access["public_access"], access["signed_identifiers"]) == (None, [])


@operation("SetContainerACL")
def test_a_policy_of_a_container_is_read_back(container):
    permission = ContainerSasPermissions(read=True, write=True, list=True)
    answer = Answer()
    container.set_container_access_policy(
        {"policy": AccessPolicy(permission, EXPIRY, START)}, raw_response_hook=answer
    )
    assert answer.status == 200
    assert container.get_container_properties().etag == answer.headers["ETag"]
    policy = policies_of(container)["policy"]
    assert policy.permission == "rwl"
    assert policy.start == "2031-01-02T03:04:05.0000000Z"
    assert policy.expiry == "2032-01-02T03:04:05.0000000Z"


@operation("SetContainerACL")
def test_five_policies_of_a_container_are_kept_in_order(container):
    letters = {f"policy-{index}": letter for index, letter in enumerate(["r", "a", "c", "w", "racwdl"])}
    container.set_container_access_policy({name: AccessPolicy(value, EXPIRY, START) for name, value in letters.items()})
    assert {name: policy.permission for name, policy in policies_of(container).items()} == letters


@operation("SetContainerACL")
def test_a_policy_of_a_container_may_be_only_a_name(container):
    container.set_container_access_policy({"empty": AccessPolicy()})
    assert list(policies_of(container)) == ["empty"]


@operation("SetContainerACL")
def test_policies_of_a_container_are_replaced_as_a_whole(container):
    container.set_container_access_policy({"old": AccessPolicy("r", EXPIRY, START)})
    container.set_container_access_policy({"new": AccessPolicy("w", EXPIRY, START)})
    assert list(policies_of(container)) == ["new"]
    container.set_container_access_policy({})
    assert policies_of(container) == {}


@operation("SetContainerACL")
def test_setting_policies_changes_the_etag_of_a_container(container):
    before = container.get_container_properties().etag
    container.set_container_access_policy({})
    assert container.get_container_properties().etag != before


@operation("SetContainerACL")
@pytest.mark.parametrize("access", ["blob", "container"])
def test_public_access_is_read_back(container, access):
    container.set_container_access_policy({}, public_access=access)
    assert container.get_container_access_policy()["public_access"] == access
    assert container.get_container_properties().public_access == access


@operation("SetContainerACL")
def test_public_access_left_out_is_taken_away(container):
    container.set_container_access_policy({}, public_access="blob")
    container.set_container_access_policy({})
    assert container.get_container_access_policy()["public_access"] is None


ANONYMOUS = {
    "download": ("blob", lambda container: container.download_blob("blob").readall()),
    "blob_properties": ("blob", lambda container: container.get_blob_client("blob").get_blob_properties()),
    "list": ("container", lambda container: list(container.list_blobs())),
    "container_properties": ("container", lambda container: container.get_container_properties()),
}


@operation("Authentication")
@pytest.mark.parametrize("access", ["blob", "container"])
@pytest.mark.parametrize("name", ANONYMOUS)
def test_anyone_may_read_what_is_public(account, container, blob, name, access):
    container.set_container_access_policy({}, public_access=access)
    account.settle()
    needed, call = ANONYMOUS[name]
    anonymous = anonymous_container(account, container.container_name)
    if needed in ("blob", access):
        call(anonymous)
    else:
        with pytest.raises(HttpResponseError) as caught:
            call(anonymous)
        assert caught.value.status_code in (401, 403, 404, 409)


@operation("Authentication")
@pytest.mark.parametrize("name", ANONYMOUS)
def test_nobody_may_read_what_is_private(account, container, blob, name):
    _, call = ANONYMOUS[name]
    with pytest.raises(HttpResponseError) as caught:
        call(anonymous_container(account, container.container_name))
    assert caught.value.status_code in (401, 403, 404, 409)


@operation("Authentication")
@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda container: container.upload_blob("new", b"x"), id="upload"),
        pytest.param(lambda container: container.delete_blob("blob"), id="delete"),
        pytest.param(lambda container: container.delete_container(), id="delete_container"),
        pytest.param(lambda container: container.get_container_access_policy(), id="policies"),
    ],
)
def test_public_access_does_not_let_anyone_write(account, container, blob, call):
    container.set_container_access_policy({}, public_access="container")
    account.settle()
    with pytest.raises(HttpResponseError) as caught:
        call(anonymous_container(account, container.container_name))
    assert caught.value.status_code in (401, 403, 404, 409)
    assert [found.name for found in container.list_blobs()] == ["blob"]


@operation("SetContainerACL")
def test_a_policy_with_a_letter_that_containers_do_not_know_is_refused(container):
    with refused(400, "InvalidXmlDocument"):
        container.set_container_access_policy({"policy": AccessPolicy("q", EXPIRY, START)})
