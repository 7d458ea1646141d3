"""Deleting and updating messages: which pop receipt is good, and for how long."""

import base64
import time
import uuid
from datetime import datetime, timezone

import pytest
from azure.core.exceptions import ResourceNotFoundError

from queue_clients import texts
from refusal import Answer, refused
from results import operation


@operation("DeleteMessage")
def test_a_received_message_is_deleted(queue):
    queue.send_message("text")
    answer = Answer()
    queue.delete_message(queue.receive_message(), raw_response_hook=answer)
    assert answer.status == 204
    assert queue.get_queue_properties().approximate_message_count == 0


@operation("DeleteMessage")
def test_a_message_is_deleted_by_id_and_receipt(queue):
    sent = queue.send_message("text")
    queue.delete_message(sent.id, sent.pop_receipt)
    assert queue.peek_messages() == []


@operation("DeleteMessage")
def test_the_sender_may_delete_at_once(queue):
    queue.delete_message(queue.send_message("text"))
    assert queue.receive_message() is None


@operation("DeleteMessage")
def test_deleting_one_message_leaves_the_others(queue):
    for index in range(3):
        queue.send_message(str(index))
    received = list(queue.receive_messages(messages_per_page=3, max_messages=3))
    queue.delete_message(received[1])
    for message in (received[0], received[2]):
        queue.update_message(message, visibility_timeout=0)
    assert sorted(texts(queue.peek_messages(max_messages=3))) == ["0", "2"]


@operation("DeleteMessage")
def test_a_message_cannot_be_deleted_twice(queue):
    message = queue.send_message("text")
    queue.delete_message(message)
    with refused(404, "MessageNotFound", ResourceNotFoundError):
        queue.delete_message(message)


@operation("DeleteMessage")
def test_receiving_again_ends_the_first_receipt(queue):
    queue.send_message("text")
    first = queue.receive_message(visibility_timeout=1)
    time.sleep(2)
    second = queue.receive_message()
    with refused(404, "MessageNotFound"):
        queue.delete_message(first)
    queue.delete_message(second)


@operation("DeleteMessage")
def test_receiving_ends_the_receipt_of_the_sender(queue):
    sent = queue.send_message("text")
    queue.receive_message()
    with refused(404, "MessageNotFound"):
        queue.delete_message(sent)


@operation("DeleteMessage")
def test_a_receipt_outlives_its_visibility_timeout(queue):
    queue.send_message("text")
    message = queue.receive_message(visibility_timeout=1)
    time.sleep(2)
    assert texts(queue.peek_messages()) == ["text"]
    queue.delete_message(message)
    assert queue.peek_messages() == []


@operation("DeleteMessage")
def test_peeking_does_not_end_a_receipt(queue):
    sent = queue.send_message("text")
    queue.peek_messages()
    queue.delete_message(sent)


@operation("DeleteMessage")
def test_the_receipt_of_another_message_is_refused(queue):
    first, second = queue.send_message("first"), queue.send_message("second")
    queue.update_message(second, visibility_timeout=5)
    with refused(404, "MessageNotFound"):
        queue.delete_message(second.id, first.pop_receipt)
    assert queue.get_queue_properties().approximate_message_count == 2


@operation("DeleteMessage")
def test_an_unknown_message_answers_message_not_found(queue):
    sent = queue.send_message("text")
    with refused(404, "MessageNotFound"):
        queue.delete_message(str(uuid.uuid4()), sent.pop_receipt)


@operation("DeleteMessage")
@pytest.mark.parametrize("receipt", ["not base64!", "AAAA"], ids=["no_base64", "too_short"])
def test_a_malformed_receipt_is_refused(queue, receipt):
    sent = queue.send_message("text")
    with refused(400):
        queue.delete_message(sent.id, receipt)


@operation("PutMessage")
def test_a_receipt_is_base64(queue):
    for message in (queue.send_message("text"), queue.receive_message()):
        assert base64.b64decode(message.pop_receipt, validate=True)


@operation("UpdateMessage")
def test_an_update_gives_a_new_receipt(queue):
    queue.send_message("text")
    message = queue.receive_message()
    answer = Answer()
    updated = queue.update_message(message, visibility_timeout=5, raw_response_hook=answer)
    assert answer.status == 204
    assert updated.pop_receipt == answer.headers["x-ms-popreceipt"] != message.pop_receipt
    assert answer.headers["x-ms-time-next-visible"].endswith("GMT")
    with refused(404, "MessageNotFound"):
        queue.delete_message(message.id, message.pop_receipt)
    queue.delete_message(updated)


@operation("UpdateMessage")
def test_an_update_can_be_repeated_with_each_new_receipt(queue):
    message = queue.send_message("0")
    for index in range(5):
        message = queue.update_message(message, content=str(index), visibility_timeout=1)
    queue.update_message(message, visibility_timeout=0)
    assert queue.receive_message().content == "4"


@operation("UpdateMessage")
def test_an_update_without_text_keeps_the_text(queue):
    queue.send_message("kept")
    queue.update_message(queue.receive_message(), visibility_timeout=0)
    assert queue.receive_message().content == "kept"


@operation("UpdateMessage")
def test_an_update_keeps_everything_else(queue):
    sent = queue.send_message("old", time_to_live=3600)
    queue.update_message(queue.receive_message(), content="new", visibility_timeout=0)
    received = queue.receive_message()
    assert (received.id, received.content, received.dequeue_count) == (sent.id, "new", 2)
    assert (received.inserted_on, received.expires_on) == (sent.inserted_on, sent.expires_on)


@operation("UpdateMessage")
def test_an_update_makes_a_message_visible_at_once(queue):
    queue.send_message("text")
    message = queue.receive_message(visibility_timeout=600)
    queue.update_message(message, visibility_timeout=0)
    assert queue.receive_message().content == "text"


@operation("UpdateMessage")
def test_an_update_hides_a_message_for_longer(queue):
    queue.send_message("text")
    before = datetime.now(timezone.utc)
    updated = queue.update_message(queue.receive_message(visibility_timeout=1), visibility_timeout=300)
    assert 290 <= (updated.next_visible_on - before).total_seconds() <= 310
    time.sleep(2)
    assert queue.receive_message() is None


@operation("UpdateMessage")
def test_the_sender_may_update_at_once(queue):
    sent = queue.send_message("old")
    queue.update_message(sent, content="new", visibility_timeout=0)
    received = queue.receive_message()
    assert (received.content, received.dequeue_count) == ("new", 1)


@operation("UpdateMessage")
@pytest.mark.parametrize("seconds", [-1, 604801])
def test_an_update_with_a_timeout_out_of_range_is_refused(queue, seconds):
    message = queue.send_message("text", time_to_live=-1)
    with refused(400, "OutOfRangeQueryParameterValue"):
        queue.update_message(message, visibility_timeout=seconds)


@operation("UpdateMessage")
def test_an_update_cannot_hide_a_message_beyond_its_expiry(queue):
    message = queue.send_message("text", time_to_live=60)
    with refused(400):
        queue.update_message(message, visibility_timeout=3600)


@operation("UpdateMessage")
def test_an_update_of_a_deleted_message_answers_message_not_found(queue):
    message = queue.send_message("text")
    queue.delete_message(message)
    with refused(404, "MessageNotFound"):
        queue.update_message(message, visibility_timeout=0)


@operation("UpdateMessage")
def test_an_update_with_an_old_receipt_answers_message_not_found(queue):
    sent = queue.send_message("text")
    queue.receive_message()
    with refused(404, "MessageNotFound"):
        queue.update_message(sent, content="stolen", visibility_timeout=0)
