"""Writes or reads one encrypted entity with Microsoft's legacy table library.

The task comes as JSON on standard input, the answer goes as JSON to standard output. The library leaves the wrapping of
keys to its caller: the two classes below are the two algorithms that its documentation names.
"""

import base64
import json
import sys

from azure.cosmosdb.table.models import EdmType, Entity, EntityProperty
from azure.cosmosdb.table.tableservice import TableService
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.keywrap import aes_key_unwrap, aes_key_wrap


class AesKey:
    def __init__(self, key_id, key):
        self.key_id, self.key = key_id, base64.b64decode(key)

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
    def __init__(self, key_id, pem):
        self.key_id = key_id
        self.key = serialization.load_pem_private_key(pem.encode(), password=None)
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


def write(service, task):
    entity = Entity(PartitionKey=task["partition_key"], RowKey=task["row_key"], Plain=41)
    for name, text in task["secrets"].items():
        entity[name] = EntityProperty(EdmType.STRING, text, encrypt=True)
    service.insert_or_replace_entity(task["table"], entity)
    return {}


def read(service, task):
    entity = service.get_entity(task["table"], task["partition_key"], task["row_key"])
    own = ("PartitionKey", "RowKey", "Timestamp", "etag")
    return {name: value for name, value in entity.items() if name not in own}


def main():
    task = json.load(sys.stdin)
    service = TableService(connection_string=task["connection_string"])
    service.require_encryption = True
    keys = {"aes": AesKey, "rsa": RsaKey}
    service.key_encryption_key = keys[task["key"]["kind"]](task["key"]["id"], task["key"]["secret"])
    json.dump({"write": write, "read": read}[task["action"]](service, task), sys.stdout)


main()
