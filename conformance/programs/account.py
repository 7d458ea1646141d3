"""The account under test, in the forms in which programs want it."""

import datetime
import os
from dataclasses import dataclass

from azure.storage.blob import AccountSasPermissions, ResourceTypes, generate_account_sas

DEVELOPMENT_CONNECTION = (
    "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;"
    "AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;"
    "BlobEndpoint=http://127.0.0.1:10000/devstoreaccount1;"
    "QueueEndpoint=http://127.0.0.1:10001/devstoreaccount1;"
    "TableEndpoint=http://127.0.0.1:10002/devstoreaccount1;"
)


@dataclass(frozen=True)
class Account:
    connection: str
    name: str
    key: str
    blob: str
    queue: str

    @classmethod
    def from_environment(cls):
        connection = os.environ.get("CONFORMANCE_CONNECTION_STRING") or DEVELOPMENT_CONNECTION
        if connection.startswith("UseDevelopmentStorage=true"):
            connection = DEVELOPMENT_CONNECTION
        settings = dict(setting.split("=", 1) for setting in connection.split(";") if setting)
        name, suffix = settings["AccountName"], settings.get("EndpointSuffix", "core.windows.net")
        return cls(
            connection=connection,
            name=name,
            key=settings["AccountKey"],
            blob=settings.get("BlobEndpoint", f"https://{name}.blob.{suffix}"),
            queue=settings.get("QueueEndpoint", f"https://{name}.queue.{suffix}"),
        )

    @property
    def blob_authority(self):
        """Host and port of the blob service."""
        return self.blob.split("//", 1)[1].split("/", 1)[0]

    @property
    def is_plain_http(self):
        return self.blob.startswith("http://")

    def sas(self):
        """A signature that may do everything for an hour."""
        return generate_account_sas(
            self.name,
            self.key,
            ResourceTypes(service=True, container=True, object=True),
            AccountSasPermissions(
                read=True, write=True, delete=True, list=True, add=True, create=True, update=True, tag=True
            ),
            expiry=datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=1),
        )
