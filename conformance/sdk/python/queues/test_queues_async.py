"""The asynchronous client of queues, whose HTTP stack and signing are its own."""

import pytest
from azure.core.credentials import AzureSasCredential
from azure.core.exceptions import ClientAuthenticationError, ResourceExistsError, ResourceNotFoundError
from azure.storage.queue import AccessPolicy
from azure.storage.queue.aio import QueueClient, QueueServiceClient

from account import CLIENT_OPTIONS
from queue_clients import new_queue_name
from queue_sas import from_now, queue_sas_token
from refusal import refused
from results import operation


@pytest.fixture
async def async_queues(account):
    async with QueueServiceClient(account.queue_endpoint, credential=account.credential, **CLIENT_OPTIONS) as client:
        yield client


@pytest.fixture
async def async_queue(account, queue):
    async with QueueClient(
        account.queue_endpoint, queue.queue_name, credential=account.credential, **CLIENT_OPTIONS
    ) as client:
        yield client


@operation("CreateQueue")
async def test_async_queues_come_and_go(async_queues, queue_names):
    name = queue_names()
    queue = await async_queues.create_queue(name, metadata={"colour": "red"})
    assert [found.name async for found in async_queues.list_queues(name_starts_with=name)] == [name]
    with refused(409, "QueueAlreadyExists", ResourceExistsError):
        await queue.create_queue(metadata={"colour": "blue"})
    await async_queues.delete_queue(name)
    with refused(404, "QueueNotFound", ResourceNotFoundError):
        await queue.get_queue_properties()


@operation("UpdateMessage")
async def test_an_async_message_goes_its_way(async_queue):
    await async_queue.send_message("Grüße <&>")
    assert [message.content for message in await async_queue.peek_messages()] == ["Grüße <&>"]
    message = await async_queue.receive_message()
    updated = await async_queue.update_message(message, content="new", visibility_timeout=0)
    received = await async_queue.receive_message()
    assert (received.content, received.dequeue_count) == ("new", 2)
    with refused(404, "MessageNotFound"):
        await async_queue.delete_message(updated)
    await async_queue.delete_message(received)
    assert (await async_queue.get_queue_properties()).approximate_message_count == 0


@operation("GetMessages")
async def test_async_messages_come_in_pages(async_queue):
    for index in range(10):
        await async_queue.send_message(str(index))
    found = [message.content async for message in async_queue.receive_messages(messages_per_page=4)]
    assert found == [str(index) for index in range(10)]


@operation("ClearMessages")
async def test_an_async_queue_is_cleared(async_queue):
    await async_queue.send_message("text")
    await async_queue.clear_messages()
    assert await async_queue.peek_messages() == []


@operation("SetQueueMetadata")
async def test_async_queue_metadata_is_read_back(async_queue):
    await async_queue.set_queue_metadata({"a": "1", "b": "two words"})
    assert (await async_queue.get_queue_properties()).metadata == {"a": "1", "b": "two words"}


@operation("SetQueueACL")
async def test_an_async_policy_of_a_queue_is_read_back(async_queue):
    await async_queue.set_queue_access_policy({"reader": AccessPolicy("r", from_now(hours=1))})
    assert (await async_queue.get_queue_access_policy())["reader"].permission == "r"


@operation("ListQueues")
async def test_async_queues_are_listed_in_pages(async_queues, queue_names):
    prefix = queue_names()
    for index in range(5):
        await async_queues.create_queue(f"{prefix}-{index}")
    pages = async_queues.list_queues(name_starts_with=prefix, results_per_page=2).by_page()
    found = [[queue.name async for queue in page] async for page in pages]
    assert [len(page) for page in found if page] == [2, 2, 1]
    for index in range(5):
        await async_queues.delete_queue(f"{prefix}-{index}")


@operation("Authentication")
async def test_an_async_queue_sas_is_used(account, queue):
    queue.send_message("text")
    credential = AzureSasCredential(queue_sas_token(account, queue.queue_name, permission="r"))
    async with QueueClient(
        account.queue_endpoint, queue.queue_name, credential=credential, **CLIENT_OPTIONS
    ) as client:
        assert [message.content for message in await client.peek_messages()] == ["text"]
        with refused(403, "AuthorizationPermissionMismatch"):
            await client.send_message("more")


@operation("Authentication")
async def test_an_async_queue_sas_for_another_queue_is_refused(account, queue):
    credential = AzureSasCredential(queue_sas_token(account, new_queue_name(), permission="r"))
    async with QueueClient(
        account.queue_endpoint, queue.queue_name, credential=credential, **CLIENT_OPTIONS
    ) as client:
        with refused(403, "AuthenticationFailed", ClientAuthenticationError):
            await client.peek_messages()
