"""A server as a process, and accounts on it."""

import atexit
import json
import os
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Optional, Sequence

from tablerock._binary import find_binary

_POLL_SECONDS = 0.005


class StartError(RuntimeError):
    """The server did not start; the message has what it printed."""


@dataclass(frozen=True)
class Account:
    """An account of a server, with the endpoints of its services."""

    name: str
    key: str
    blob_endpoint: str
    queue_endpoint: str
    table_endpoint: str

    @property
    def connection_string(self) -> str:
        """The connection string for every SDK."""
        protocol = self.table_endpoint.split(":", 1)[0]
        return (
            f"DefaultEndpointsProtocol={protocol};AccountName={self.name};AccountKey={self.key};"
            f"BlobEndpoint={self.blob_endpoint};QueueEndpoint={self.queue_endpoint};"
            f"TableEndpoint={self.table_endpoint};"
        )


class Server:
    """A server on free ports of this machine.

    It keeps data in memory, or in the folder ``location``. ``arguments`` are further flags of ``tablerock serve``.
    """

    def __init__(
        self,
        location: Optional[str] = None,
        arguments: Sequence[str] = (),
        start_seconds: float = 60.0,
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="tablerock-", ignore_cleanup_errors=True)
        self._admin_file = os.path.join(self._folder.name, "admin.json")
        log = os.path.join(self._folder.name, "server.log")
        store = ["--in-memory"] if location is None else ["--location", os.fspath(location)]
        ports = [f"--{service}-port=0" for service in ("blob", "queue", "table")]
        command = [find_binary(), "serve", *store, *ports, "--admin-file", self._admin_file, *arguments]
        # Settings of the machine do not reach the tests.
        variables = {name: value for name, value in os.environ.items() if not name.startswith(("TABLEROCK_", "AZURITE_"))}
        with open(log, "wb") as output:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, env=variables
            )
        atexit.register(self.stop)
        self._addresses = self._wait(log, time.monotonic() + start_seconds)

    def _wait(self, log: str, end: float) -> dict:
        while True:
            try:
                with open(self._admin_file, encoding="utf-8") as file:
                    return json.load(file)
            except FileNotFoundError:
                pass
            code = self._process.poll()
            if code is not None or time.monotonic() > end:
                with open(log, encoding="utf-8", errors="replace") as file:
                    printed = file.read()
                self.stop()
                reason = "is not ready in time" if code is None else f"ended with exit code {code}"
                raise StartError(f"tablerock {reason}; it printed:\n{printed}")
            time.sleep(_POLL_SECONDS)

    def account(self, name: Optional[str] = None) -> Account:
        """Adds an account with a new key, and with a new name unless one is given."""
        query = "" if name is None else f"?name={name}"
        request = urllib.request.Request(
            f"http://{self._addresses['admin']}/accounts{query}",
            method="POST",
            headers={"Authorization": f"Bearer {self._addresses['token']}"},
        )
        # A proxy of the machine has no way to its loopback.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=10) as response:
                added = json.load(response)
        except urllib.error.HTTPError as error:
            raise ValueError(error.read().decode().strip()) from None
        endpoints = {f"{service}_endpoint": f"{self._addresses[service]}/{added['name']}" for service in ("blob", "queue", "table")}
        return Account(name=added["name"], key=added["key"], **endpoints)

    def stop(self) -> None:
        """Stops the server. A second call does nothing."""
        atexit.unregister(self.stop)
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(timeout=40)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._folder.cleanup()

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
