"""Messages in and out: sending, receiving, peeking, and their numbers."""

from datetime import datetime, timedelta, timezone

import pytest

from queue_clients import texts
from refusal import Answer, refused
from results import operation


@operation("PutMessage")
def test_a_sent_message_is_described(queue):
    before = datetime.now(timezone.utc) - timedelta(seconds=5)
    answer = Answer()
    sent = queue.send_message("text", raw_response_hook=answer)
    assert answer.status == 201
    assert sent.id and sent.pop_receipt
    assert before <= sent.inserted_on <= before + timedelta(seconds=65)
    assert sent.expires_on - sent.inserted_on == timedelta(days=7)
    assert sent.next_visible_on == sent.inserted_on


@operation("GetMessages")
def test_a_received_message_is_described(queue):
    sent = queue.send_message("text")
    received = queue.receive_message()
    assert (received.id, received.content, received.dequeue_count) == (sent.id, "text", 1)
    assert (received.inserted_on, received.expires_on) == (sent.inserted_on, sent.expires_on)
    assert received.pop_receipt != sent.pop_receipt


@operation("GetMessages")
def test_a_received_message_is_invisible_for_thirty_seconds(queue):
    queue.send_message("text")
    before = datetime.now(timezone.utc)
    hidden = (queue.receive_message().next_visible_on - before).total_seconds()
    assert 25 <= hidden <= 35
    assert queue.receive_message() is None
    assert queue.peek_messages() == []


@operation("GetMessages")
def test_an_empty_queue_gives_nothing(queue):
    assert queue.receive_message() is None
    assert list(queue.receive_messages()) == []


@operation("GetMessages")
def test_messages_come_in_the_order_of_sending(queue):
    sent = [f"message {index}" for index in range(10)]
    for text in sent:
        queue.send_message(text)
    assert texts(queue.receive_messages(messages_per_page=10, max_messages=10)) == sent


@operation("GetMessages")
@pytest.mark.parametrize("wanted, expected", [(1, 1), (5, 5), (31, 31), (32, 32)])
def test_as_many_messages_come_as_were_asked_for(queue, wanted, expected):
    for index in range(33):
        queue.send_message(str(index))
    page = next(queue.receive_messages(messages_per_page=wanted).by_page())
    assert len(list(page)) == expected


@operation("GetMessages")
def test_fewer_messages_come_when_there_are_fewer(queue):
    for index in range(3):
        queue.send_message(str(index))
    page = next(queue.receive_messages(messages_per_page=32).by_page())
    assert texts(page) == ["0", "1", "2"]


@operation("GetMessages")
def test_a_queue_is_emptied_page_by_page(queue):
    sent = [str(index) for index in range(40)]
    for text in sent:
        queue.send_message(text)
    assert texts(queue.receive_messages(messages_per_page=16)) == sent


@operation("GetMessages")
@pytest.mark.parametrize("wanted", [0, 33, -1])
def test_a_number_of_messages_beyond_1_to_32_is_refused(queue, wanted):
    with refused(400, "OutOfRangeQueryParameterValue") as caught:
        next(queue.receive_messages(messages_per_page=wanted).by_page())
    details = caught.value.additional_info
    assert (details["queryparametername"], details["queryparametervalue"]) == ("numofmessages", str(wanted))
    assert (details["minimumallowed"], details["maximumallowed"]) == ("1", "32")


@operation("PeekMessages")
def test_peeking_changes_nothing(queue):
    sent = queue.send_message("text")
    for _ in range(3):
        (peeked,) = queue.peek_messages()
        assert (peeked.id, peeked.content, peeked.dequeue_count) == (sent.id, "text", 0)
        assert (peeked.pop_receipt, peeked.next_visible_on) == (None, None)
    assert queue.receive_message().dequeue_count == 1


@operation("PeekMessages")
def test_peeking_shows_one_message_unless_asked_for_more(queue):
    for index in range(5):
        queue.send_message(str(index))
    assert texts(queue.peek_messages()) == ["0"]
    assert texts(queue.peek_messages(max_messages=3)) == ["0", "1", "2"]
    assert texts(queue.peek_messages(max_messages=32)) == ["0", "1", "2", "3", "4"]


@operation("PeekMessages")
def test_peeking_into_an_empty_queue_shows_nothing(queue):
    assert queue.peek_messages(max_messages=32) == []


@operation("PeekMessages")
def test_peeking_shows_only_what_is_visible(queue):
    queue.send_message("later", visibility_timeout=600)
    queue.send_message("now")
    assert texts(queue.peek_messages(max_messages=32)) == ["now"]


@operation("PeekMessages")
def test_peeking_shows_how_often_a_message_was_received(queue):
    queue.send_message("text")
    message = queue.receive_message()
    queue.update_message(message, visibility_timeout=0)
    assert queue.peek_messages()[0].dequeue_count == 1


@operation("ClearMessages")
def test_clearing_removes_visible_and_invisible_messages(queue):
    for index in range(40):
        queue.send_message(str(index), visibility_timeout=600 if index % 2 else 0)
    answer = Answer()
    queue.clear_messages(raw_response_hook=answer)
    assert answer.status == 204
    assert queue.peek_messages() == []
    assert queue.get_queue_properties().approximate_message_count == 0


@operation("ClearMessages")
def test_clearing_an_empty_queue_is_no_error(queue):
    queue.clear_messages()
    queue.send_message("text")
    assert queue.receive_message().content == "text"


@operation("ClearMessages")
def test_a_cleared_message_cannot_be_deleted(queue):
    message = queue.send_message("text")
    queue.clear_messages()
    with refused(404, "MessageNotFound"):
        queue.delete_message(message)


@operation("PutMessage")
def test_queues_do_not_share_messages(queues, queue, queue_names):
    other = queues.create_queue(queue_names())
    queue.send_message("here")
    other.send_message("there")
    assert queue.receive_message().content == "here"
    assert other.receive_message().content == "there"
    assert queue.receive_message() is None


@operation("PutMessage")
def test_every_message_has_its_own_id(queue):
    ids = {queue.send_message("same").id for _ in range(20)}
    assert len(ids) == 20
