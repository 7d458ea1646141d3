"""Fixtures of the suite: the account, a fresh container for every job, a tree of files, and a way to run programs."""

import hashlib
import os
import subprocess
import uuid
from pathlib import Path

import pytest
from azure.storage.blob import BlobServiceClient

from account import Account

pytest_plugins = ["results"]

COMMAND_SECONDS_MAX = 60


class ProgramFailed(Exception):
    """A command that ended with an error; its message is what the program wrote about it."""


def run(*words, environment=None, stdin=None):
    """Runs a command and returns what it printed."""
    done = subprocess.run(
        [str(word) for word in words],
        env=os.environ | (environment or {}),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=COMMAND_SECONDS_MAX,
        check=False,
    )
    if done.returncode != 0:
        raise ProgramFailed(f"{words[0]} ended with {done.returncode}: {done.stderr[-2000:]}{done.stdout[-2000:]}")
    return done.stdout


def installed(program):
    """Where the program is; skips the case if it could not be installed."""
    if missing := os.environ.get(f"CONFORMANCE_MISSING_{program}"):
        pytest.skip(missing)
    return Path(os.environ[f"CONFORMANCE_{program}"])


@pytest.fixture(scope="session")
def account():
    return Account.from_environment()


@pytest.fixture(scope="session")
def service(account):
    """The SDK, for what a job needs around the program."""
    with BlobServiceClient.from_connection_string(account.connection) as client:
        yield client


@pytest.fixture
def container(service):
    """The name of a container that is empty and goes away with the test."""
    name = f"programs-{uuid.uuid4().hex}"
    service.create_container(name)
    yield name
    service.delete_container(name)


@pytest.fixture
def tree(tmp_path):
    """A folder of files whose names and contents are not all plain."""
    root = tmp_path / "tree"
    contents = {
        "a.txt": b"a",
        "empty": b"",
        "folder/b c.txt": b"b" * 1000,
        "folder/deep/er/d.bin": noise(9 << 20),
        "Grüße/世界.txt": "世界".encode(),
    }
    for name, content in contents.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return root


def noise(size):
    """Bytes that do not compress, the same ones in every run."""
    return hashlib.shake_128(b"seed").digest(size)


def contents(root):
    """The files below a folder, by name."""
    files = (path for path in root.rglob("*") if path.is_file())
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}


def program(name):
    """Marks a case as a job of the named program, which takes the place of the operation in its result line."""
    return pytest.mark.operation(name)
