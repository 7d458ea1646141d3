"""Metadata of queues, and the number of messages that is told beside it."""

import pytest

from refusal import Answer, refused
from results import operation


@operation("SetQueueMetadata")
def test_queue_metadata_is_read_back(queue):
    metadata = {"colour": "red", "number": "12", "sentence": "two words, and more"}
    answer = Answer()
    queue.set_queue_metadata(metadata, raw_response_hook=answer)
    assert answer.status == 204
    assert queue.get_queue_properties().metadata == metadata


@operation("SetQueueMetadata")
def test_queue_metadata_is_replaced_as_a_whole(queue):
    queue.set_queue_metadata({"a": "1", "b": "2"})
    queue.set_queue_metadata({"b": "3"})
    assert queue.get_queue_properties().metadata == {"b": "3"}


@operation("SetQueueMetadata")
def test_no_queue_metadata_removes_all(queue):
    queue.set_queue_metadata({"a": "1"})
    queue.set_queue_metadata()
    assert queue.get_queue_properties().metadata == {}


@operation("CreateQueue")
def test_queue_metadata_may_come_with_the_queue(queues, queue_names):
    queue = queues.create_queue(queue_names(), metadata={"colour": "red"})
    assert queue.get_queue_properties().metadata == {"colour": "red"}


@operation("GetQueueMetadata")
def test_queue_metadata_keeps_the_case_of_its_names(queue):
    queue.set_queue_metadata({"MixedCase": "Value"})
    assert queue.get_queue_properties().metadata == {"MixedCase": "Value"}


@operation("SetQueueMetadata")
@pytest.mark.parametrize("name", ["with-dash", "1digit", "with.dot"])
def test_queue_metadata_must_be_named_like_an_identifier(queue, name):
    with refused(400, "InvalidMetadata"):
        queue.set_queue_metadata({name: "value"})


@operation("SetQueueMetadata")
@pytest.mark.parametrize("name", ["_", "_underscore", "a1", "Zz_9"])
def test_queue_metadata_may_have_any_identifier(queue, name):
    queue.set_queue_metadata({name: "value"})
    found = queue.get_queue_properties().metadata
    assert {key.lower(): value for key, value in found.items()} == {name.lower(): "value"}


@operation("SetQueueMetadata")
def test_queue_metadata_does_not_touch_messages(queue):
    queue.send_message("text")
    queue.set_queue_metadata({"a": "1"})
    assert queue.receive_message().content == "text"


@operation("GetQueueMetadata")
def test_the_message_count_counts_invisible_messages(queue):
    for index in range(5):
        queue.send_message(str(index))
    queue.send_message("later", visibility_timeout=600)
    queue.receive_message(visibility_timeout=600)
    assert queue.get_queue_properties().approximate_message_count == 6


@operation("GetQueueMetadata")
def test_the_message_count_falls_with_deletion(queue):
    for index in range(3):
        queue.send_message(str(index))
    queue.delete_message(queue.receive_message())
    assert queue.get_queue_properties().approximate_message_count == 2
    queue.clear_messages()
    assert queue.get_queue_properties().approximate_message_count == 0


@operation("GetQueueMetadata")
def test_reads_of_queues_are_not_cached(queue):
    answer = Answer()
    queue.get_queue_properties(raw_response_hook=answer)
    assert answer.status == 200
    assert answer.headers["Cache-Control"] == "no-cache"


@operation("GetQueueMetadata")
def test_every_answer_of_queues_names_its_version_and_request(queue):
    answer = Answer()
    queue.get_queue_properties(raw_response_hook=answer)
    assert answer.headers["x-ms-version"] == queue.api_version
    assert answer.headers["x-ms-request-id"]
    assert answer.headers["Date"].endswith("GMT")
    assert answer.headers["Server"].startswith("Windows-Azure-Queue/1.0")


@operation("GetQueueMetadata")
def test_the_id_of_a_queue_request_is_echoed(queue):
    answer = Answer()
    queue.get_queue_properties(headers={"x-ms-client-request-id": "conformance-1"}, raw_response_hook=answer)
    sent = answer.response.request.headers["x-ms-client-request-id"]
    assert answer.headers["x-ms-client-request-id"] == sent
