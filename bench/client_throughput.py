"""Bulk inserts and point reads per second with Microsoft's Python library, the same work as client_throughput.rs, which runs this.

Prints three rates as JSON: of inserts, of reads one at once, and of reads as many at once as the argument says.
"""

import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from azure.data.tables import EdmType, EntityProperty, TableServiceClient

DEVELOPMENT = (
    "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6"
    "IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;TableEndpoint=http://127.0.0.1:10002/devstoreaccount1"
)
ENTITIES = 2_000
PARTITIONS = 20
GROUP = 100
MEASURED_SECONDS = 2


def employee(number):
    return {
        "PartitionKey": f"department-{number % PARTITIONS}",
        "RowKey": f"{number:06}",
        "FirstName": "Ann",
        "LastName": f"Ash{number}",
        "Age": 20 + number % 50,
        "Salary": number / 3,
        "Visits": EntityProperty(number << 32, EdmType.INT64),
        "About": "x" * 500,
    }


def insert_all(table):
    groups = [
        [("create", employee(number)) for number in range(partition + start * PARTITIONS, ENTITIES, PARTITIONS)][:GROUP]
        for partition in range(PARTITIONS)
        for start in range(0, ENTITIES // PARTITIONS, GROUP)
    ]
    assert sum(len(group) for group in groups) == ENTITIES
    started = time.monotonic()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(table.submit_transaction, groups))
    return ENTITIES / (time.monotonic() - started)


def point_reads(table, side_by_side):
    started = time.monotonic()

    def loop(place):
        count = 0
        while time.monotonic() - started < MEASURED_SECONDS:
            entity = employee((place + count * side_by_side) * 7919 % ENTITIES)
            table.get_entity(entity["PartitionKey"], entity["RowKey"])
            count += 1
        return count

    with ThreadPoolExecutor(side_by_side) as pool:
        total = sum(pool.map(loop, range(side_by_side)))
    return total / (time.monotonic() - started)


def main():
    connection = os.environ.get("CLIENT_CONNECTION_STRING", DEVELOPMENT)
    service = TableServiceClient.from_connection_string(connection)
    table = service.create_table_if_not_exists("ThroughputPython")
    rates = [insert_all(table)] + [point_reads(table, side_by_side) for side_by_side in (1, int(sys.argv[1]))]
    table.delete_table()
    print(json.dumps(rates))


if __name__ == "__main__":
    main()
