"""The account under test: where its services are, how to sign for it, and clients of its tables.

Everything comes from CONFORMANCE_CONNECTION_STRING. Clients never retry, because a case is about one answer. Clients of
queues and blobs are in those folders, for the `az` suite uses this file without their packages.
"""

import os
import time
import uuid
from dataclasses import dataclass
from urllib.parse import urlsplit

from azure.core.credentials import AzureNamedKeyCredential
from azure.core.utils import parse_connection_string
from azure.data.tables import TableClient, TableServiceClient

DEVELOPMENT_ACCOUNT = "devstoreaccount1"
DEVELOPMENT_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
DEVELOPMENT_PORT = 10002
DEVELOPMENT_PORTS = {"blob": 10000, "queue": 10001, "table": DEVELOPMENT_PORT}

#: How every client behaves: one attempt, and no patience with a server that hangs.
CLIENT_OPTIONS = {"retry_total": 0, "connection_timeout": 5, "read_timeout": 30}

#: How long the live service may take before a changed policy or property is effective.
AZURE_SETTLE_SECONDS = 30


def new_table_name():
    """A legal name that no other test and no other run uses."""
    return f"conformance{uuid.uuid4().hex}"


@dataclass(frozen=True)
class Account:
    name: str
    key: str
    endpoint: str
    queue_endpoint: str
    blob_endpoint: str
    target: str

    @classmethod
    def from_environment(cls):
        text = os.environ.get("CONFORMANCE_CONNECTION_STRING") or "UseDevelopmentStorage=true"
        settings = parse_connection_string(text)
        if settings.get("usedevelopmentstorage", "").lower() == "true":
            endpoints = {
                f"{service}endpoint": f"http://127.0.0.1:{port}/{DEVELOPMENT_ACCOUNT}"
                for service, port in DEVELOPMENT_PORTS.items()
            }
            settings = {"accountname": DEVELOPMENT_ACCOUNT, "accountkey": DEVELOPMENT_KEY} | endpoints
        name = settings["accountname"]
        scheme = settings.get("defaultendpointsprotocol", "https")
        suffix = settings.get("endpointsuffix", "core.windows.net")

        def endpoint(service):
            return settings.get(f"{service}endpoint", f"{scheme}://{name}.{service}.{suffix}").rstrip("/")

        target = os.environ.get("CONFORMANCE_TARGET", "tablerock")
        return cls(name, settings["accountkey"], endpoint("table"), endpoint("queue"), endpoint("blob"), target)

    @property
    def credential(self):
        return AzureNamedKeyCredential(self.name, self.key)

    @property
    def scheme(self):
        return urlsplit(self.endpoint).scheme

    @property
    def host(self):
        return urlsplit(self.endpoint).hostname

    @property
    def port(self):
        return urlsplit(self.endpoint).port

    @property
    def authority(self):
        return urlsplit(self.endpoint).netloc

    @property
    def is_path_style(self):
        return urlsplit(self.endpoint).path.strip("/") == self.name

    @property
    def is_loopback(self):
        return self.host in ("127.0.0.1", "localhost")

    @property
    def secondary_endpoint(self):
        return self.secondary_of(self.endpoint)

    def secondary_of(self, endpoint):
        """The read-only copy of a service."""
        if self.is_path_style:
            return f"{endpoint}-secondary"
        return endpoint.replace(self.name, f"{self.name}-secondary", 1)

    def connection_string(self, **settings):
        """The full form, every setting spelled out; `settings` replaces some and, with None, removes others."""
        parts = {
            "DefaultEndpointsProtocol": self.scheme,
            "AccountName": self.name,
            "AccountKey": self.key,
            "BlobEndpoint": self.blob_endpoint,
            "QueueEndpoint": self.queue_endpoint,
            "TableEndpoint": self.endpoint,
        } | settings
        return ";".join(f"{name}={value}" for name, value in parts.items() if value is not None)

    def service(self, credential=None, endpoint=None, **options):
        return TableServiceClient(
            endpoint or self.endpoint, credential=credential or self.credential, **CLIENT_OPTIONS | options
        )

    def table(self, name, credential=None, endpoint=None, **options):
        return TableClient(
            endpoint or self.endpoint, name, credential=credential or self.credential, **CLIENT_OPTIONS | options
        )

    def settle(self):
        """Waits until a policy or property just set is in force, which only the live service needs."""
        if self.target == "azure":
            time.sleep(AZURE_SETTLE_SECONDS)
