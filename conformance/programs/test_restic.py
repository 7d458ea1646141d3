"""restic: backups in a container. It speaks HTTPS only, and to names like Azure's."""

import json

import pytest

from conftest import contents, installed, program, run
from tls_front import tls_front

@pytest.fixture
def restic(account, container, tmp_path):
    """A function that runs restic on a repository in the container."""
    executable = installed("RESTIC")
    suffix = "core.test"
    host, port = account.blob_authority.split(":")
    with tls_front(f"{account.name}.blob.{suffix}", (host, int(port)), tmp_path) as (proxy, certificate):
        environment = {
            "AZURE_ACCOUNT_NAME": account.name,
            "AZURE_ACCOUNT_KEY": account.key,
            "AZURE_ENDPOINT_SUFFIX": suffix,
            "HTTPS_PROXY": proxy,
            "NO_PROXY": "",
            "no_proxy": "",
            "RESTIC_CACERT": str(certificate),
            "RESTIC_CACHE_DIR": str(tmp_path / "cache"),
            "RESTIC_PASSWORD": "no secret",
            "RESTIC_REPOSITORY": f"azure:{container}:/backups",
        }
        yield lambda *words: run(executable, "--quiet", *words, environment=environment)


@program("restic")
def test_restic_backs_up_restores_forgets_and_prunes(restic, tree, tmp_path):
    restic("init")
    restic("backup", tree)
    restic("restore", "latest", "--target", tmp_path / "out")
    assert contents(tmp_path / "out" / tree.relative_to("/")) == contents(tree)
    (tree / "a.txt").write_bytes(b"changed")
    (tree / "folder/deep/er/d.bin").unlink()
    restic("backup", tree)
    restic("forget", "--keep-last", "1", "--prune")
    assert len(json.loads(restic("snapshots", "--json"))) == 1
    restic("check", "--read-data")
