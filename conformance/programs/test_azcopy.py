"""AzCopy with a SAS: trees up, down, across and synchronised."""

import pytest

from conftest import contents, installed, noise, program, run

@pytest.fixture(scope="session")
def azcopy(account, tmp_path_factory):
    """A function that runs AzCopy, with folders of its own and nothing sent elsewhere."""
    executable = installed("AZCOPY")
    executable.chmod(0o755)  # The package leaves that to whoever runs it.
    home = tmp_path_factory.mktemp("azcopy")
    environment = {
        "HOME": str(home),
        "AZCOPY_LOG_LOCATION": str(home),
        "AZCOPY_JOB_PLAN_LOCATION": str(home),
        "AZCOPY_DISABLE_SYSLOG": "true",
    }
    words = ("--output-level", "essential", "--skip-version-check")
    return lambda *command: run(executable, *command, *words, environment=environment)


@pytest.fixture
def address(account, container):
    """A function that returns the signed address of a path in the container."""
    sas = account.sas()
    return lambda path="": f"{account.blob}/{container}{path}?{sas}"


@program("AzCopy")
def test_azcopy_copies_a_tree_up_and_down(azcopy, address, tree, tmp_path):
    azcopy("copy", f"{tree}/*", address(), "--from-to", "LocalBlob", "--recursive", "--put-md5", "--block-size-mb", "4")
    azcopy("copy", address("/*"), tmp_path / "out", "--from-to", "BlobLocal", "--recursive", "--check-md5", "FailIfDifferent")
    assert contents(tmp_path / "out") == contents(tree)


@program("AzCopy")
def test_azcopy_synchronises_and_removes(azcopy, address, service, container, tree):
    azcopy("sync", tree, address(), "--from-to", "LocalBlob", "--delete-destination", "true")
    (tree / "a.txt").unlink()
    (tree / "new.txt").write_bytes(b"new")
    azcopy("sync", tree, address(), "--from-to", "LocalBlob", "--delete-destination", "true")
    names = lambda: set(service.get_container_client(container).list_blob_names())
    assert names() == set(contents(tree))
    azcopy("remove", address("/folder"), "--from-to", "BlobTrash", "--recursive")
    assert names() == {name for name in contents(tree) if not name.startswith("folder/")}


@program("AzCopy")
def test_azcopy_copies_between_containers_and_sets_tiers(azcopy, account, address, service, container, tree):
    azcopy("copy", f"{tree}/*", address(), "--from-to", "LocalBlob", "--recursive")
    azcopy("copy", address("/*"), address("/copied"), "--from-to", "BlobBlob", "--recursive")
    blobs = service.get_container_client(container)
    assert blobs.download_blob("copied/folder/deep/er/d.bin").readall() == noise(9 << 20)
    azcopy("set-properties", address("/a.txt"), "--from-to", "BlobNone", "--block-blob-tier", "cool")
    assert blobs.get_blob_client("a.txt").get_blob_properties().blob_tier == "Cool"


@program("AzCopy")
def test_azcopy_uploads_append_blobs(azcopy, address, service, container, tmp_path):
    (tmp_path / "log").write_bytes(noise(9 << 20))
    azcopy("copy", tmp_path / "log", address("/log"), "--from-to", "LocalBlob", "--blob-type", "AppendBlob", "--block-size-mb", "4")
    blob = service.get_blob_client(container, "log")
    assert blob.get_blob_properties().blob_type == "AppendBlob"
    assert blob.download_blob().readall() == noise(9 << 20)
