"""When a message can be seen: timeouts on sending and receiving, expiry, and the order of those that return."""

import time
from datetime import datetime, timedelta, timezone

import pytest

from queue_clients import texts
from refusal import refused
from results import operation

NEVER = datetime(9999, 12, 31, 23, 59, 59, tzinfo=timezone.utc)


@operation("PutMessage")
def test_a_delayed_message_appears_after_its_delay(queue):
    sent = queue.send_message("text", visibility_timeout=2)
    assert sent.next_visible_on - sent.inserted_on == timedelta(seconds=2)
    assert queue.receive_message() is None
    time.sleep(3)
    assert queue.receive_message().content == "text"


@operation("GetMessages")
def test_a_message_that_is_not_deleted_returns(queue):
    queue.send_message("text")
    first = queue.receive_message(visibility_timeout=1)
    time.sleep(2)
    second = queue.receive_message()
    assert (second.id, second.dequeue_count) == (first.id, 2)
    assert second.pop_receipt != first.pop_receipt


@operation("GetMessages")
def test_a_message_that_returns_comes_behind_those_visible_before(queue):
    queue.send_message("first")
    queue.receive_message(visibility_timeout=1)
    queue.send_message("second")
    time.sleep(2)
    assert texts(queue.receive_messages(messages_per_page=2, max_messages=2)) == ["second", "first"]


@operation("GetMessages")
@pytest.mark.parametrize("seconds", [1, 30, 604800])
def test_a_visibility_timeout_is_accepted_when_receiving(queue, seconds):
    queue.send_message("text")
    before = datetime.now(timezone.utc)
    hidden = queue.receive_message(visibility_timeout=seconds).next_visible_on - before
    assert abs(hidden.total_seconds() - seconds) <= 5


@operation("GetMessages")
@pytest.mark.parametrize("seconds", [-1, 0, 604801])
def test_a_visibility_timeout_out_of_range_is_refused_when_receiving(queue, seconds):
    queue.send_message("text")
    with refused(400, "OutOfRangeQueryParameterValue"):
        next(queue.receive_messages(visibility_timeout=seconds, messages_per_page=1).by_page())


@operation("PutMessage")
@pytest.mark.parametrize("seconds", [0, 1, 604799])
def test_a_visibility_timeout_is_accepted_when_sending(queue, seconds):
    sent = queue.send_message("text", visibility_timeout=seconds)
    assert sent.next_visible_on - sent.inserted_on == timedelta(seconds=seconds)


@operation("PutMessage")
@pytest.mark.parametrize("seconds", [-1, 604801])
def test_a_visibility_timeout_out_of_range_is_refused_when_sending(queue, seconds):
    with refused(400, "OutOfRangeQueryParameterValue"):
        queue.send_message("text", visibility_timeout=seconds, time_to_live=-1)


@operation("PutMessage")
def test_a_week_of_delay_is_accepted_for_a_message_that_never_expires(queue):
    sent = queue.send_message("text", visibility_timeout=604800, time_to_live=-1)
    assert sent.next_visible_on - sent.inserted_on == timedelta(days=7)
    assert sent.expires_on == NEVER


@operation("PutMessage")
@pytest.mark.parametrize("seconds", [1, 3600, 604800, 604801, 86400 * 365])
def test_a_time_to_live_is_accepted(queue, seconds):
    sent = queue.send_message("text", time_to_live=seconds)
    assert sent.expires_on - sent.inserted_on == timedelta(seconds=seconds)


@operation("PutMessage")
def test_a_message_may_live_for_ever(queue):
    assert queue.send_message("text", time_to_live=-1).expires_on == NEVER
    assert queue.receive_message().expires_on == NEVER


@operation("PutMessage")
@pytest.mark.parametrize("seconds", [0, -2, -604800])
def test_a_time_to_live_out_of_range_is_refused(queue, seconds):
    with refused(400, "InvalidQueryParameterValue"):
        queue.send_message("text", time_to_live=seconds)


@operation("PutMessage")
@pytest.mark.parametrize("delay, life", [(60, 60), (61, 60), (604800, 604800)])
def test_a_message_must_be_visible_before_it_expires(queue, delay, life):
    with refused(400, "InvalidQueryParameterValue"):
        queue.send_message("text", visibility_timeout=delay, time_to_live=life)


@operation("GetMessages")
def test_an_expired_message_is_gone(queue):
    message = queue.send_message("short", time_to_live=1)
    queue.send_message("long")
    time.sleep(2.5)
    assert texts(queue.peek_messages(max_messages=32)) == ["long"]
    assert queue.receive_message().content == "long"
    with refused(404, "MessageNotFound"):
        queue.delete_message(message)


@operation("UpdateMessage")
def test_a_message_expires_while_it_is_invisible(queue):
    queue.send_message("short", time_to_live=2)
    message = queue.receive_message(visibility_timeout=600)
    assert message.next_visible_on > message.expires_on
    time.sleep(3.5)
    with refused(404, "MessageNotFound"):
        queue.update_message(message, visibility_timeout=0)
