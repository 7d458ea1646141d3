"""`az storage container`."""

import pytest

from conftest import AzFailed, new_name
from results import operation


@operation("CreateContainer")
def test_container_is_created_listed_and_deleted(az):
    name = new_name()
    create = ("container", "create", "--name", name, "--metadata", "colour=red")
    assert az(*create) == {"created": True}
    assert az(*create) == {"created": False}
    with pytest.raises(AzFailed, match="ContainerAlreadyExists"):
        az(*create, "--fail-on-exist")
    [listed] = az("container", "list", "--prefix", name, "--include-metadata")
    assert listed["name"] == name
    assert listed["metadata"] == {"colour": "red"}
    assert az("container", "delete", "--name", name) == {"deleted": True}
    assert az("container", "exists", "--name", name) == {"exists": False}


@operation("GetContainerProperties")
def test_container_show_tells_its_properties(az, container):
    shown = az("container", "show", "--name", container.container_name)
    assert shown["name"] == container.container_name
    assert shown["properties"]["lease"]["state"] == "available"
    assert shown["properties"]["etag"] == container.get_container_properties().etag


@operation("SetContainerMetadata")
def test_container_metadata_is_updated_and_shown(az, container):
    where = ("--name", container.container_name)
    az("container", "metadata", "update", *where, "--metadata", "one=1", "two=2")
    assert az("container", "metadata", "show", *where) == {"one": "1", "two": "2"}


@operation("SetContainerACL")
def test_container_is_opened_to_the_public(az, container):
    where = ("--name", container.container_name)
    az("container", "set-permission", *where, "--public-access", "blob")
    assert az("container", "show-permission", *where) == {"publicAccess": "blob"}
    az("container", "set-permission", *where, "--public-access", "off")
    assert az("container", "show-permission", *where) == {"publicAccess": "off"}


@operation("SetContainerACL")
def test_container_policy_is_created_shown_and_deleted(az, container):
    where = ("--container-name", container.container_name)
    terms = ("--permissions", "rl", "--expiry", "2035-01-02T03:04Z")
    az("container", "policy", "create", *where, "--name", "reader", *terms)
    shown = az("container", "policy", "show", *where, "--name", "reader")
    assert shown["permission"] == "rl"
    assert shown["expiry"].startswith("2035-01-02T03:04:00")
    az("container", "policy", "delete", *where, "--name", "reader")
    assert az("container", "policy", "list", *where) == {}


@operation("AcquireContainerLease")
def test_container_lease_is_acquired_and_broken(az, container):
    where = ("--container-name", container.container_name)
    lease = az("container", "lease", "acquire", *where, "--lease-duration", "60")
    with pytest.raises(AzFailed, match="LeaseIdMissing|no lease ID was specified"):
        az("container", "delete", "--name", container.container_name)
    assert az("container", "lease", "renew", *where, "--lease-id", lease) == lease
    assert az("container", "lease", "break", *where, "--lease-break-period", "0") == 0


@operation("Authentication")
def test_container_generate_sas_makes_a_token_that_works(az, account, container):
    container.upload_blob("b", b"text")
    name = container.container_name
    token = az("container", "generate-sas", "--name", name, "--permissions", "l", "--expiry", "2035-01-01T00:00Z")
    bearer = ("--blob-endpoint", account.blob_endpoint, "--sas-token", token, "--container-name", name)
    assert [blob["name"] for blob in az.run("blob", "list", *bearer)] == ["b"]
    with pytest.raises(AzFailed):
        az.run("blob", "delete", *bearer, "--name", "b")
