"""Fixtures of the suite: `rclone` as a function, and a fresh container for every test."""

import os
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

pytest_plugins = ["results"]

COMMAND_SECONDS_MAX = 120

DEVELOPMENT_CONNECTION = (
    "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;"
    "AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;"
    "BlobEndpoint=http://127.0.0.1:10000/devstoreaccount1;"
)


class RcloneFailed(Exception):
    """A command that ended with an error; its message is what rclone wrote about it."""


class Rclone:
    def __init__(self, environment):
        self.environment = environment

    def __call__(self, *words, stdin=None):
        """Runs a command and returns the bytes it printed."""
        command = [Path(sys.executable).with_name("rclone"), *map(str, words)]
        done = subprocess.run(
            command, env=self.environment, input=stdin, capture_output=True, timeout=COMMAND_SECONDS_MAX, check=False
        )
        if done.returncode != 0:
            raise RcloneFailed(done.stderr.decode())
        return done.stdout

    def lines(self, *words):
        return self(*words).decode().splitlines()


def account():
    """The settings of the account under test, with the endpoint of its blobs."""
    connection = os.environ.get("CONFORMANCE_CONNECTION_STRING") or DEVELOPMENT_CONNECTION
    if connection.startswith("UseDevelopmentStorage=true"):
        connection = DEVELOPMENT_CONNECTION
    settings = dict(setting.split("=", 1) for setting in connection.split(";") if setting)
    suffix = settings.get("EndpointSuffix", "core.windows.net")
    settings.setdefault("BlobEndpoint", f"https://{settings['AccountName']}.blob.{suffix}")
    return settings


@pytest.fixture(scope="session")
def rclone(tmp_path_factory):
    settings = account()
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith(("RCLONE_", "AZURE_"))}
    home = tmp_path_factory.mktemp("rclone")
    return Rclone(
        kept
        | {
            "HOME": str(home),
            "RCLONE_CONFIG": str(home / "none.conf"),
            "RCLONE_CONFIG_SERVER_TYPE": "azureblob",
            # With a connection string instead, rclone cannot sign the source of a copy.
            "RCLONE_CONFIG_SERVER_ACCOUNT": settings["AccountName"],
            "RCLONE_CONFIG_SERVER_KEY": settings["AccountKey"],
            "RCLONE_CONFIG_SERVER_ENDPOINT": settings["BlobEndpoint"],
            "RCLONE_LOW_LEVEL_RETRIES": "1",
            "RCLONE_RETRIES": "1",
            "RCLONE_LOG_LEVEL": "ERROR",
        }
    )


@pytest.fixture
def remote(rclone):
    """The address of a container that is empty and goes away with the test."""
    address = f"server:rclone-{uuid.uuid4().hex}"
    rclone("mkdir", address)
    yield address
    try:
        rclone("purge", address)
    except RcloneFailed as failure:
        assert "not found" in str(failure), "the container could not be removed"


@pytest.fixture
def tree(tmp_path):
    """A folder of files whose names and contents are not all plain."""
    root = tmp_path / "tree"
    contents = {
        "a.txt": b"a",
        "empty": b"",
        "folder/b c.txt": b"b" * 1000,
        "folder/deep/er/d.bin": bytes(range(256)) * 64,
        "Grüße/世界.txt": "世界".encode(),
        "odd/a+b&c=d%20e#f?.txt": b"odd",
    }
    for name, content in contents.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return root
