"""A to-do service: tables with an index entity, and a queue worker. See ../README.md."""

import json
import os
import sys
import uuid

from azure.core import MatchConditions
from azure.core.exceptions import ResourceExistsError, ResourceNotFoundError
from azure.data.tables import TableServiceClient, TransactionOperation, UpdateMode
from azure.storage.queue import QueueClient

USAGE = "use: add LIST DATE TITLE | list LIST | done LIST ID | work | archive LIST"


class Todo:
    def __init__(self, connection_string):
        tables = TableServiceClient.from_connection_string(connection_string)
        self.todos = tables.create_table_if_not_exists("Todos")
        self.archive = tables.create_table_if_not_exists("Archive")
        self.queue = QueueClient.from_connection_string(connection_string, "todo-done")
        try:
            self.queue.create_queue()
        except ResourceExistsError:
            pass

    def add(self, todo_list, due, title):
        todo_id = uuid.uuid4().hex[:6]
        item = {"PartitionKey": todo_list, "RowKey": f"item_{todo_id}", "Title": title, "Due": due, "Done": False}
        index = {"PartitionKey": todo_list, "RowKey": f"due_{due}_{todo_id}", "Title": title}
        self.todos.submit_transaction([(TransactionOperation.CREATE, item), (TransactionOperation.CREATE, index)])
        return [todo_id]

    def list(self, todo_list):
        # The character after the underscore ends the range of rows that begin with "due_".
        rows = "PartitionKey eq @list and RowKey ge 'due_' and RowKey lt 'due`'"
        found = self.todos.query_entities(rows, parameters={"list": todo_list})
        keys = [(entity["RowKey"].split("_"), entity["Title"]) for entity in found]
        return [f"{due} {todo_id} {title}" for (_, due, todo_id), title in keys]

    def done(self, todo_list, todo_id):
        try:
            item = self.todos.get_entity(todo_list, f"item_{todo_id}")
        except ResourceNotFoundError:
            return [f"no item {todo_id} in {todo_list}"]
        if not item["Done"]:
            item["Done"] = True
            read = {"mode": UpdateMode.MERGE, "etag": item.metadata["etag"], "match_condition": MatchConditions.IfNotModified}
            index = {"PartitionKey": todo_list, "RowKey": f"due_{item['Due']}_{todo_id}"}
            self.todos.submit_transaction(
                [(TransactionOperation.UPDATE, item, read), (TransactionOperation.DELETE, index)]
            )
        # After the transaction: a message about an item that is not done would be lost work. A repeated one is harmless.
        self.queue.send_message(json.dumps({"list": todo_list, "id": todo_id}))
        return [f"done {todo_id}"]

    def work(self):
        archived = 0
        # A worker that ends before the delete loses nothing: the message is visible again after 30 seconds.
        for message in self.queue.receive_messages(visibility_timeout=30):
            job = json.loads(message.content)
            try:
                item = self.todos.get_entity(job["list"], f"item_{job['id']}")
            except ResourceNotFoundError:
                pass  # An earlier delivery of this message archived it.
            else:
                copy = {"PartitionKey": job["list"], "RowKey": job["id"], "Title": item["Title"]}
                self.archive.upsert_entity(copy, mode=UpdateMode.REPLACE)
                self.todos.delete_entity(item)
                archived += 1
            self.queue.delete_message(message)
        return [f"archived {archived}"]

    def archived(self, todo_list):
        found = self.archive.query_entities("PartitionKey eq @list", parameters={"list": todo_list})
        return [entity["Title"] for entity in found]


def run(connection_string, *arguments):
    """Runs one command and returns the lines that it prints."""
    todo = Todo(connection_string)
    match arguments:
        case ("add", todo_list, due, title):
            return todo.add(todo_list, due, title)
        case ("list", todo_list):
            return todo.list(todo_list)
        case ("done", todo_list, todo_id):
            return todo.done(todo_list, todo_id)
        case ("work",):
            return todo.work()
        case ("archive", todo_list):
            return todo.archived(todo_list)
    return [USAGE]


if __name__ == "__main__":
    connection = os.environ.get("AZURE_STORAGE_CONNECTION_STRING", "UseDevelopmentStorage=true")
    print("\n".join(run(connection, *sys.argv[1:])))
