"""Many consumers at once: each message goes to one of them until its timeout ends."""

import asyncio
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from azure.storage.queue.aio import QueueClient

from account import CLIENT_OPTIONS
from queue_clients import queue_client
from results import operation

MESSAGES = 120
CONSUMERS = 8


def drain(account, name, per_page):
    """Receives and deletes until the queue gives nothing more; returns the texts."""
    taken = []
    with queue_client(account, name) as client:
        while page := list(
            client.receive_messages(messages_per_page=per_page, max_messages=per_page, visibility_timeout=120)
        ):
            for message in page:
                client.delete_message(message)
                taken.append(message.content)
    return taken


@operation("GetMessages")
def test_concurrent_consumers_share_messages_without_duplicates(account, queue):
    with ThreadPoolExecutor(CONSUMERS) as pool:
        list(pool.map(lambda index: queue.send_message(str(index)), range(MESSAGES)))
        taken = pool.map(lambda index: drain(account, queue.queue_name, 1 + index), range(CONSUMERS))
        counts = Counter(text for texts in taken for text in texts)
    assert counts == Counter({str(index): 1 for index in range(MESSAGES)})
    assert queue.get_queue_properties().approximate_message_count == 0


@operation("UpdateMessage")
def test_one_of_several_updates_with_the_same_receipt_wins(account, queue):
    message = queue.send_message("old")

    def update(index):
        try:
            queue.update_message(message.id, message.pop_receipt, content=str(index), visibility_timeout=0)
            return True
        except Exception:  # Every refusal counts, whatever its class.
            return False

    with ThreadPoolExecutor(CONSUMERS) as pool:
        assert Counter(pool.map(update, range(CONSUMERS))) == {True: 1, False: CONSUMERS - 1}


@operation("DeleteMessage")
def test_one_of_several_deletions_wins(queue):
    message = queue.send_message("text")

    def delete(_):
        try:
            queue.delete_message(message)
            return True
        except Exception:  # Every refusal counts, whatever its class.
            return False

    with ThreadPoolExecutor(CONSUMERS) as pool:
        assert Counter(pool.map(delete, range(CONSUMERS))) == {True: 1, False: CONSUMERS - 1}


@operation("GetMessages")
async def test_asynchronous_consumers_share_messages_without_duplicates(account, queue):
    for index in range(40):
        queue.send_message(str(index))

    async def consume():
        taken = []
        client = QueueClient(account.queue_endpoint, queue.queue_name, credential=account.credential, **CLIENT_OPTIONS)
        async with client:
            while message := await client.receive_message(visibility_timeout=120):
                await client.delete_message(message)
                taken.append(message.content)
        return taken

    taken = await asyncio.gather(*(consume() for _ in range(CONSUMERS)))
    assert Counter(text for texts in taken for text in texts) == Counter({str(index): 1 for index in range(40)})
