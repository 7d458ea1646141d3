"""Queues come and go: creating, creating again, deleting, and what a missing queue answers."""

import pytest
from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceNotFoundError

from refusal import Answer, refused
from results import operation


@operation("CreateQueue")
def test_a_new_queue_is_created(queues, queue_names):
    answer = Answer()
    queue = queues.get_queue_client(queue_names())
    queue.create_queue(raw_response_hook=answer)
    assert answer.status == 201
    properties = queue.get_queue_properties()
    assert (properties.approximate_message_count, properties.metadata) == (0, {})


def assert_is_there_already(queue, **creation):
    """The SDK raises for the answer 204 too, but names no code for it: the service has not refused."""
    answer = Answer()
    with pytest.raises(ResourceExistsError):
        queue.create_queue(raw_response_hook=answer, **creation)
    assert answer.status == 204


@operation("CreateQueue")
def test_creating_a_queue_again_answers_204(queue):
    assert_is_there_already(queue)


@operation("CreateQueue")
def test_creating_a_queue_again_with_the_same_metadata_answers_204(queues, queue_names):
    queue = queues.create_queue(queue_names(), metadata={"colour": "red", "size": "9"})
    assert_is_there_already(queue, metadata={"size": "9", "colour": "red"})


@operation("CreateQueue")
@pytest.mark.parametrize(
    "metadata",
    [
        pytest.param({"colour": "blue"}, id="another_value"),
        pytest.param({"colour": "RED"}, id="a_value_in_another_case"),
        pytest.param({"size": "red"}, id="another_name"),
        pytest.param({"colour": "red", "size": "9"}, id="one_more"),
        pytest.param({}, id="none"),
    ],
)
def test_creating_a_queue_again_with_other_metadata_is_refused(queues, queue_names, metadata):
    queue = queues.create_queue(queue_names(), metadata={"colour": "red"})
    with refused(409, "QueueAlreadyExists", ResourceExistsError):
        queue.create_queue(metadata=metadata)
    assert queue.get_queue_properties().metadata == {"colour": "red"}


@operation("CreateQueue")
def test_names_of_queue_metadata_are_compared_without_case(queues, queue_names):
    queue = queues.create_queue(queue_names(), metadata={"colour": "red"})
    assert_is_there_already(queue, metadata={"COLOUR": "red"})


@operation("CreateQueue")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("abc", id="three_characters"),
        pytest.param("q" + "0123456789" * 6 + "ab", id="63_characters"),
        pytest.param("0-1-2", id="digits_and_dashes"),
        pytest.param("messages", id="a_word_of_the_protocol"),
    ],
)
def test_a_queue_name_is_accepted(queues, name):
    try:
        queues.create_queue(name)
        assert queues.get_queue_client(name).get_queue_properties().name == name
    finally:
        queues.delete_queue(name)


@operation("CreateQueue")
@pytest.mark.parametrize(
    "name, code",
    [
        pytest.param("ab", "OutOfRangeInput", id="two_characters"),
        pytest.param("q" * 64, "OutOfRangeInput", id="64_characters"),
        pytest.param("Upper", "InvalidResourceName", id="upper_case"),
        pytest.param("with_underscore", "InvalidResourceName", id="underscore"),
        pytest.param("two--dashes", "InvalidResourceName", id="two_dashes"),
        pytest.param("-leading", "InvalidResourceName", id="leading_dash"),
        pytest.param("trailing-", "InvalidResourceName", id="trailing_dash"),
        pytest.param("with.dot", "InvalidResourceName", id="dot"),
        pytest.param("ünicode", "InvalidResourceName", id="beyond_ascii"),
    ],
)
def test_a_bad_queue_name_is_refused(queues, name, code):
    with refused(400, code):
        queues.create_queue(name)


@operation("DeleteQueue")
def test_a_deleted_queue_is_gone(queues, queue_names):
    queue = queues.create_queue(queue_names())
    queue.send_message("lost")
    answer = Answer()
    queue.delete_queue(raw_response_hook=answer)
    assert answer.status == 204
    with refused(404, "QueueNotFound", ResourceNotFoundError):
        queue.get_queue_properties()


@operation("DeleteQueue")
def test_a_queue_made_again_after_its_deletion_is_empty(account, queues, queue_names):
    if account.target == "azure":
        pytest.skip("the live service holds the name of a deleted queue for half a minute")
    queue = queues.create_queue(queue_names(), metadata={"colour": "red"})
    queue.send_message("lost")
    queue.delete_queue()
    queue.create_queue()
    assert queue.receive_message() is None
    assert queue.get_queue_properties().metadata == {}


MISSING = {
    "delete": ("DeleteQueue", lambda queue: queue.delete_queue()),
    "properties": ("GetQueueMetadata", lambda queue: queue.get_queue_properties()),
    "metadata": ("SetQueueMetadata", lambda queue: queue.set_queue_metadata({"a": "b"})),
    "get_policies": ("GetQueueACL", lambda queue: queue.get_queue_access_policy()),
    "set_policies": ("SetQueueACL", lambda queue: queue.set_queue_access_policy({})),
    "send": ("PutMessage", lambda queue: queue.send_message("text")),
    "receive": ("GetMessages", lambda queue: queue.receive_message()),
    "peek": ("PeekMessages", lambda queue: queue.peek_messages()),
    "clear": ("ClearMessages", lambda queue: queue.clear_messages()),
}


@pytest.mark.parametrize(
    "call", [pytest.param(call, id=name, marks=operation(about)) for name, (about, call) in MISSING.items()]
)
def test_a_missing_queue_answers_queue_not_found(missing_queue, call):
    with refused(404, "QueueNotFound", ResourceNotFoundError) as caught:
        call(missing_queue)
    assert "The specified queue does not exist." in caught.value.message


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(
            lambda queue, id, receipt: queue.delete_message(id, receipt), id="delete", marks=operation("DeleteMessage")
        ),
        pytest.param(
            lambda queue, id, receipt: queue.update_message(id, receipt, visibility_timeout=1),
            id="update",
            marks=operation("UpdateMessage"),
        ),
    ],
)
def test_a_message_of_a_missing_queue_answers_queue_not_found(queue, missing_queue, call):
    message = queue.send_message("elsewhere")
    with refused(404, "QueueNotFound", ResourceNotFoundError):
        call(missing_queue, message.id, message.pop_receipt)


@operation("GetQueueMetadata")
def test_an_error_carries_the_request_id_and_the_code_in_headers(missing_queue):
    with pytest.raises(HttpResponseError) as caught:
        missing_queue.get_queue_properties()
    headers = caught.value.response.headers
    assert headers["x-ms-error-code"] == "QueueNotFound"
    assert headers["x-ms-request-id"] in caught.value.message
