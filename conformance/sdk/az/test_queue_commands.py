"""`az storage queue` and `az storage message`."""

import pytest

from conftest import AzFailed, new_name
from results import operation


@operation("CreateQueue")
def test_queue_is_created_listed_and_deleted(az):
    name = new_name()
    assert az("queue", "create", "--name", name, "--metadata", "colour=red") == {"created": True}
    assert az("queue", "exists", "--name", name) == {"exists": True}
    [listed] = az("queue", "list", "--prefix", name, "--include-metadata")
    assert listed["name"] == name
    assert listed["metadata"] == {"colour": "red"}
    assert az("queue", "delete", "--name", name) == {"deleted": True}
    assert az("queue", "exists", "--name", name) == {"exists": False}


@operation("SetQueueMetadata")
def test_queue_metadata_is_updated_and_shown(az, queue):
    where = ("--name", queue.queue_name)
    az("queue", "metadata", "update", *where, "--metadata", "one=1", "two=2")
    assert az("queue", "metadata", "show", *where) == {"one": "1", "two": "2"}


@operation("SetQueueACL")
def test_queue_policy_is_created_shown_and_deleted(az, queue):
    where = ("--queue-name", queue.queue_name)
    az("queue", "policy", "create", *where, "--name", "reader", "--permissions", "rp", "--expiry", "2035-01-02T03:04Z")
    shown = az("queue", "policy", "show", *where, "--name", "reader")
    assert shown["permission"] == "rp"
    assert shown["expiry"].startswith("2035-01-02T03:04:00")
    az("queue", "policy", "delete", *where, "--name", "reader")
    assert az("queue", "policy", "list", *where) == {}


@operation("PutMessage")
def test_message_is_put_peeked_got_updated_and_deleted(az, queue):
    where = ("--queue-name", queue.queue_name)
    put = az("message", "put", *where, "--content", "a <b> & c", "--time-to-live", "600")
    assert put["content"] == "a <b> & c"
    [peeked] = az("message", "peek", *where)
    assert (peeked["id"], peeked["content"], peeked["dequeueCount"]) == (put["id"], "a <b> & c", 0)
    [got] = az("message", "get", *where, "--visibility-timeout", "60")
    assert (got["id"], got["dequeueCount"]) == (put["id"], 1)
    changed = ("--id", got["id"], "--pop-receipt", got["popReceipt"], "--content", "new", "--visibility-timeout", "0")
    updated = az("message", "update", *where, *changed)
    [peeked] = az("message", "peek", *where)
    assert peeked["content"] == "new"
    az("message", "delete", *where, "--id", got["id"], "--pop-receipt", updated["popReceipt"])
    assert az("message", "peek", *where) == []


@operation("ClearMessages")
def test_messages_are_cleared(az, queue):
    queue.send_message("one")
    queue.send_message("two")
    az("message", "clear", "--queue-name", queue.queue_name)
    assert queue.get_queue_properties().approximate_message_count == 0


@operation("Authentication")
def test_queue_generate_sas_makes_a_token_that_works(az, account, queue):
    queue.send_message("text")
    token = az(
        "queue", "generate-sas", "--name", queue.queue_name, "--permissions", "r", "--expiry", "2035-01-01T00:00Z"
    )
    bearer = ("--queue-endpoint", account.queue_endpoint, "--sas-token", token, "--queue-name", queue.queue_name)
    assert az.run("message", "peek", *bearer)[0]["content"] == "text"
    with pytest.raises(AzFailed):
        az.run("message", "get", *bearer)
