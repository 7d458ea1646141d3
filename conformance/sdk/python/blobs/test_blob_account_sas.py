"""An account SAS at the blobs: services, resource types and permissions."""

import pytest
from azure.storage.blob import Services

from blob_sas import container_with_account_sas, from_now, service_with_account_sas
from refusal import refused
from results import operation

pytestmark = operation("Authentication")

ALL_LETTERS = "rwdlac"

ON_THE_SERVICE = {
    "list": ("l", lambda service: list(service.list_containers())),
    "properties": ("r", lambda service: service.get_service_properties()),
}

ON_A_CONTAINER = {
    "properties": ("r", lambda container: container.get_container_properties()),
    "metadata": ("w", lambda container: container.set_container_metadata({"a": "b"})),
    "list": ("l", lambda container: list(container.list_blobs())),
    "delete": ("d", lambda container: container.delete_container()),
}

ON_BLOBS = {
    "download": ("r", lambda container: container.download_blob("blob").readall()),
    "metadata": ("w", lambda container: container.get_blob_client("blob").set_blob_metadata({"a": "1"})),
    "delete": ("d", lambda container: container.delete_blob("blob")),
}


@pytest.mark.parametrize("name", ON_THE_SERVICE)
def test_an_account_sas_for_the_blob_service(account, name):
    letter, call = ON_THE_SERVICE[name]
    call(service_with_account_sas(account, "s", letter))
    with refused(403, "AuthorizationPermissionMismatch"):
        call(service_with_account_sas(account, "s", ALL_LETTERS.replace(letter, "")))
    with refused(403, "AuthorizationResourceTypeMismatch"):
        call(service_with_account_sas(account, "co", letter))


@pytest.mark.parametrize("name", ON_A_CONTAINER)
def test_an_account_sas_for_a_container(account, container, name):
    letter, call = ON_A_CONTAINER[name]
    with refused(403, "AuthorizationPermissionMismatch"):
        call(container_with_account_sas(account, container.container_name, "c", ALL_LETTERS.replace(letter, "")))
    with refused(403, "AuthorizationResourceTypeMismatch"):
        call(container_with_account_sas(account, container.container_name, "so", letter))
    call(container_with_account_sas(account, container.container_name, "c", letter))


@pytest.mark.parametrize("letter", ["c", "w"])
def test_an_account_sas_creates_containers(account, blobs, container_names, letter):
    name = container_names()
    container_with_account_sas(account, name, "c", letter).create_container()
    assert blobs.get_container_client(name).exists()


@pytest.mark.parametrize("name", ON_BLOBS)
def test_an_account_sas_for_blobs(account, container, blob, name):
    letter, call = ON_BLOBS[name]
    with refused(403, "AuthorizationPermissionMismatch"):
        call(container_with_account_sas(account, container.container_name, "o", ALL_LETTERS.replace(letter, "")))
    with refused(403, "AuthorizationResourceTypeMismatch"):
        call(container_with_account_sas(account, container.container_name, "sc", letter))
    call(container_with_account_sas(account, container.container_name, "o", letter))


@pytest.mark.parametrize("letter", ["c", "w"])
def test_an_account_sas_creates_blobs(account, container, letter):
    container_with_account_sas(account, container.container_name, "o", letter).upload_blob("new", b"x")
    assert container.get_blob_client("new").exists()


def test_an_account_sas_overwrites_blobs(account, container, blob):
    def overwrite(letters):
        client = container_with_account_sas(account, container.container_name, "o", letters)
        client.upload_blob("blob", b"x", overwrite=True)

    with refused(403, "AuthorizationPermissionMismatch"):
        overwrite(ALL_LETTERS.replace("w", "").replace("c", ""))
    overwrite("w")


def test_an_account_sas_that_may_only_create_does_not_overwrite(account, container, blob):
    client = container_with_account_sas(account, container.container_name, "o", "c")
    with refused(403, "UnauthorizedBlobOverwrite"):
        client.upload_blob("blob", b"stolen", overwrite=True)


def test_an_account_sas_for_other_services_is_refused_at_blobs(account):
    with refused(403, "AuthorizationServiceMismatch"):
        list(service_with_account_sas(account, "sco", "rl", services=Services(queue=True)).list_containers())


def test_an_account_sas_for_all_services_is_accepted_at_blobs(account):
    everything = Services(blob=True, queue=True, fileshare=True)
    list(service_with_account_sas(account, "sco", "rl", services=everything).list_containers(results_per_page=1))


def test_an_expired_account_sas_is_refused_at_blobs(account):
    with refused(403, "AuthenticationFailed"):
        list(service_with_account_sas(account, "s", "l", expiry=from_now(hours=-1)).list_containers())


def test_an_account_sas_for_another_address_is_refused_at_blobs(account):
    with refused(403, "AuthorizationSourceIPMismatch"):
        list(service_with_account_sas(account, "s", "l", ip="192.0.2.1").list_containers())


def test_an_account_sas_cannot_read_policies_of_containers(account, container):
    with refused(403):
        container_with_account_sas(account, container.container_name, "sco", ALL_LETTERS).get_container_access_policy()
