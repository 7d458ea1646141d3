"""Writes and reads encrypted entities with Microsoft's legacy table library.

A task comes as JSON on standard input, the entities read go as JSON to standard output. The library leaves the wrapping
of keys to its caller: the two classes below are the two algorithms that its documentation names.
"""

import base64
import datetime
import json
import sys

from azure.cosmosdb.table.models import EdmType, Entity, EntityProperty
from azure.cosmosdb.table.tableservice import TableService
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.keywrap import aes_key_unwrap, aes_key_wrap


class AesKey:
    def __init__(self, key_id, secret):
        self.key_id, self.key = key_id, base64.b64decode(secret)

    def wrap_key(self, key):
        return aes_key_wrap(self.key, key)

    def unwrap_key(self, key, algorithm):
        assert algorithm == self.get_key_wrap_algorithm(), algorithm
        return aes_key_unwrap(self.key, key)

    def get_key_wrap_algorithm(self):
        return "A256KW"

    def get_kid(self):
        return self.key_id


class RsaKey:
    def __init__(self, key_id, secret):
        self.key_id = key_id
        self.key = serialization.load_der_private_key(base64.b64decode(secret), password=None)
        self.padding = padding.OAEP(padding.MGF1(hashes.SHA1()), hashes.SHA1(), None)

    def wrap_key(self, key):
        return self.key.public_key().encrypt(key, self.padding)

    def unwrap_key(self, key, algorithm):
        assert algorithm == self.get_key_wrap_algorithm(), algorithm
        return self.key.decrypt(key, self.padding)

    def get_key_wrap_algorithm(self):
        return "RSA-OAEP"

    def get_kid(self):
        return self.key_id


# A property of a task is the name of its type and its text. The values below are what the library wants and gives.
PARSERS = {
    EdmType.STRING: str,
    EdmType.INT32: int,
    EdmType.INT64: int,
    EdmType.DOUBLE: float,
    EdmType.BOOLEAN: lambda text: text == "true",
    EdmType.DATETIME: datetime.datetime.fromisoformat,
    EdmType.GUID: str,
    EdmType.BINARY: base64.b64decode,
}


def parse(task_entity):
    entity = Entity(PartitionKey=task_entity["PartitionKey"], RowKey=task_entity["RowKey"])
    for name, (edm_type, text) in task_entity["properties"].items():
        value = PARSERS[edm_type](text)
        # Text must be plain for the resolver to choose it.
        entity[name] = value if edm_type == EdmType.STRING else EntityProperty(edm_type, value)
    return entity


def tell_property(value):
    edm_type, value = (value.type, value.value) if isinstance(value, EntityProperty) else (None, value)
    match value:
        case bool():
            return EdmType.BOOLEAN, str(value).lower()
        case int():
            return edm_type or EdmType.INT64, str(value)
        case float():
            return EdmType.DOUBLE, str(value)
        case datetime.datetime():
            return EdmType.DATETIME, value.isoformat().replace("+00:00", "Z")
        case bytes():
            return EdmType.BINARY, base64.b64encode(value).decode()
        case _:
            return edm_type or EdmType.STRING, value


def tell(entity):
    own = ("PartitionKey", "RowKey", "Timestamp", "etag")
    properties = {name: tell_property(value) for name, value in entity.items() if name not in own}
    return {"PartitionKey": entity["PartitionKey"], "RowKey": entity["RowKey"], "properties": properties}


def run(service, table, step):
    """Does a step and yields what it read."""
    match step["action"]:
        case "insert":
            for entity in step["entities"]:
                service.insert_entity(table, parse(entity))
        case "transaction":
            with service.batch(table) as batch:
                for entity in step["entities"]:
                    batch.insert_or_replace_entity(parse(entity))
        case "get":
            yield tell(service.get_entity(table, step["PartitionKey"], step["RowKey"]))
        case "query":
            for entity in service.query_entities(table, filter=step["filter"], select=",".join(step["select"])):
                yield tell(entity)
        case other:
            raise ValueError(f"no action is called {other}")


def main():
    task = json.load(sys.stdin)
    service = TableService(connection_string=sys.argv[1])
    service.require_encryption = True
    key = {"aes": AesKey, "rsa": RsaKey}[task["key"]["kind"]](task["key"]["id"], task["key"]["secret"])
    service.key_encryption_key = key
    service.key_resolver_function = {key.get_kid(): key}.get
    encrypted = task["encrypted"]
    service.encryption_resolver_function = lambda _, row, name: name in encrypted.get(row, [])
    json.dump([entity for step in task["steps"] for entity in run(service, task["table"], step)], sys.stdout)


main()
