"""What a message may say: every text comes back as it was, within its limit."""

import base64

import pytest
from azure.storage.queue import (
    BinaryBase64DecodePolicy,
    BinaryBase64EncodePolicy,
    TextBase64DecodePolicy,
    TextBase64EncodePolicy,
)

from queue_clients import queue_client
from refusal import refused
from results import operation

TEXTS = {
    "a_word": "word",
    "one_character": "x",
    "markup": "<QueueMessage><MessageText>inside</MessageText></QueueMessage>",
    "an_entity": "&amp;lt;x&gt; & more",
    "quotes": "\"double\" and 'single'",
    "leading_and_trailing_space": "  both ends  ",
    "only_space": "   ",
    "tabs_and_newlines": "\tone\n\ttwo\n",
    "cdata_end": "a ]]> b",
    "json": '{"id": 1, "names": ["a", "b"]}',
    "german": "Grüße aus Zürich",
    "chinese": "你好，世界",
    "arabic": "مرحبا",
    "emoji": "🐘🪨",
    "percent_signs": "100%25 %41 +",
    "base64": "SGVsbG8=",
    "backslashes": "C:\\temp\\\\x",
    "a_long_line": "0123456789" * 1000,
}


@operation("PutMessage")
@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in TEXTS.items()])
def test_a_text_comes_back_as_it_was(queue, text):
    queue.send_message(text)
    assert queue.peek_messages()[0].content == text
    assert queue.receive_message().content == text


@operation("UpdateMessage")
@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in TEXTS.items()])
def test_a_new_text_comes_back_as_it_was(queue, text):
    queue.update_message(queue.send_message("old"), content=text, visibility_timeout=0)
    assert queue.receive_message().content == text


@operation("PutMessage")
def test_an_empty_message_is_legal(queue):
    queue.send_message("")
    # The SDK's XML reader gives None for an element without text.
    assert queue.receive_message().content in ("", None)


@operation("PutMessage")
@pytest.mark.parametrize("size", [49152, 65535, 65536])
def test_a_message_of_up_to_64_kib_is_accepted(queue, size):
    queue.send_message("x" * size)
    assert len(queue.receive_message().content) == size


@operation("PutMessage")
def test_the_size_of_a_message_is_that_of_its_utf8(queue):
    # The SDK escapes what is beyond ASCII; with more of it the request itself would be too large.
    text = "é" * 16384 + "x" * 32768
    queue.send_message(text)
    assert queue.receive_message().content == text
    with refused(413, "RequestBodyTooLarge"):
        queue.send_message(text + "x")


@operation("PutMessage")
def test_escaping_does_not_count_for_the_size_of_a_message(queue):
    text = "<" * 30000
    queue.send_message(text)
    assert queue.receive_message().content == text


@operation("PutMessage")
@pytest.mark.parametrize("size", [65537, 100000, 200000])
def test_a_message_of_more_than_64_kib_is_refused(queue, size):
    with refused(413, "RequestBodyTooLarge"):
        queue.send_message("x" * size)
    assert queue.peek_messages() == []


@operation("UpdateMessage")
def test_an_update_to_more_than_64_kib_is_refused(queue):
    message = queue.send_message("old")
    with refused(413, "RequestBodyTooLarge"):
        queue.update_message(message, content="x" * 65537, visibility_timeout=0)
    assert queue.receive_message().content == "old"


@operation("PutMessage")
@pytest.mark.parametrize("character", ["\x00", "\x01", "\x1f"], ids=["nul", "one", "unit_separator"])
def test_a_character_that_xml_forbids_is_refused(queue, character):
    with refused(400, "InvalidXmlDocument"):
        queue.send_message(f"a{character}b")


@operation("PutMessage")
def test_texts_may_travel_as_base64(account, queue):
    policies = {
        "message_encode_policy": TextBase64EncodePolicy(),
        "message_decode_policy": TextBase64DecodePolicy(),
    }
    with queue_client(account, queue.queue_name, **policies) as client:
        client.send_message("Grüße")
        assert queue.peek_messages()[0].content == base64.b64encode("Grüße".encode()).decode()
        assert client.receive_message().content == "Grüße"


@operation("PutMessage")
def test_bytes_travel_as_base64(account, queue):
    policies = {
        "message_encode_policy": BinaryBase64EncodePolicy(),
        "message_decode_policy": BinaryBase64DecodePolicy(),
    }
    with queue_client(account, queue.queue_name, **policies) as client:
        client.send_message(bytes(range(256)))
        assert client.receive_message().content == bytes(range(256))


@operation("PutMessage")
def test_base64_of_49152_bytes_fills_a_message(account, queue):
    with queue_client(account, queue.queue_name, message_encode_policy=BinaryBase64EncodePolicy()) as client:
        client.send_message(bytes(49152))
        assert len(queue.peek_messages()[0].content) == 65536
        with refused(413, "RequestBodyTooLarge"):
            client.send_message(bytes(49153))
