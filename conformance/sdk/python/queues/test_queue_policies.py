"""Stored access policies of queues: keeping them, and signing with them."""

from datetime import datetime, timezone

import pytest
from azure.core.exceptions import ClientAuthenticationError
from azure.storage.queue import AccessPolicy, QueueSasPermissions

from queue_sas import from_now, with_queue_sas
from refusal import Answer, refused
from results import operation

START = datetime(2031, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
EXPIRY = datetime(2032, 1, 2, 3, 4, 5, tzinfo=timezone.utc)


@operation("GetQueueACL")
def test_a_new_queue_has_no_policies(queue):
    assert queue.get_queue_access_policy() == {}


@operation("SetQueueACL")
def test_a_policy_of_a_queue_is_read_back(queue):
    policy = AccessPolicy(permission=QueueSasPermissions(read=True, process=True), start=START, expiry=EXPIRY)
    answer = Answer()
    queue.set_queue_access_policy({"policy": policy}, raw_response_hook=answer)
    assert answer.status == 204
    found = queue.get_queue_access_policy()["policy"]
    assert found.permission == "rp"
    assert found.start == "2031-01-02T03:04:05.0000000Z"
    assert found.expiry == "2032-01-02T03:04:05.0000000Z"


@operation("SetQueueACL")
def test_five_policies_of_a_queue_are_kept(queue):
    letters = {f"policy-{index}": letter for index, letter in enumerate(["r", "a", "u", "p", "raup"])}
    queue.set_queue_access_policy({name: AccessPolicy(letter, EXPIRY, START) for name, letter in letters.items()})
    found = queue.get_queue_access_policy()
    assert {name: policy.permission for name, policy in found.items()} == letters


@operation("SetQueueACL")
def test_six_policies_of_a_queue_are_refused(queue):
    with refused(400, "InvalidXmlDocument"):
        queue.set_queue_access_policy({str(index): AccessPolicy("r", EXPIRY, START) for index in range(6)})


@operation("SetQueueACL")
def test_a_policy_of_a_queue_may_be_only_a_name(queue):
    queue.set_queue_access_policy({"empty": None})
    assert list(queue.get_queue_access_policy()) == ["empty"]


@operation("SetQueueACL")
def test_no_policies_clear_those_of_a_queue(queue):
    queue.set_queue_access_policy({"policy": AccessPolicy("r", EXPIRY, START)})
    queue.set_queue_access_policy({})
    assert queue.get_queue_access_policy() == {}


@operation("SetQueueACL")
def test_policies_of_a_queue_are_replaced_as_a_whole(queue):
    queue.set_queue_access_policy({"old": AccessPolicy("r", EXPIRY, START), "kept": AccessPolicy("r", EXPIRY, START)})
    queue.set_queue_access_policy({"kept": AccessPolicy("a", EXPIRY, START)})
    assert {name: policy.permission for name, policy in queue.get_queue_access_policy().items()} == {"kept": "a"}


@operation("SetQueueACL")
@pytest.mark.parametrize("letters", ["d", "w", "rx"])
def test_a_policy_with_a_letter_that_queues_do_not_know_is_refused(queue, letters):
    with refused(400, "InvalidXmlDocument"):
        queue.set_queue_access_policy({"policy": AccessPolicy(letters, EXPIRY, START)})


@operation("SetQueueACL")
def test_a_policy_name_of_64_characters_is_the_longest_for_a_queue(queue):
    queue.set_queue_access_policy({"p" * 64: AccessPolicy("r", EXPIRY, START)})
    assert list(queue.get_queue_access_policy()) == ["p" * 64]
    with refused(400):
        queue.set_queue_access_policy({"p" * 65: AccessPolicy("r", EXPIRY, START)})


@operation("Authentication")
def test_a_sas_takes_its_terms_from_the_policy_of_a_queue(account, queue):
    queue.send_message("text")
    queue.set_queue_access_policy({"reader": AccessPolicy("r", from_now(hours=1), from_now(hours=-1))})
    account.settle()
    client = with_queue_sas(account, queue.queue_name, policy_id="reader")
    assert client.peek_messages()[0].content == "text"
    with refused(403, "AuthorizationPermissionMismatch"):
        client.send_message("more")


@operation("Authentication")
def test_a_sas_and_the_policy_of_a_queue_may_share_the_terms(account, queue):
    queue.set_queue_access_policy({"reader": AccessPolicy(permission="r")})
    account.settle()
    client = with_queue_sas(account, queue.queue_name, policy_id="reader", expiry=from_now(hours=1))
    assert client.peek_messages() == []


@operation("Authentication")
def test_a_sas_with_a_policy_that_a_queue_lacks_is_refused(account, queue):
    with refused(403, "AuthenticationFailed", ClientAuthenticationError):
        with_queue_sas(account, queue.queue_name, policy_id="missing").peek_messages()


@operation("Authentication")
def test_removing_the_policy_of_a_queue_ends_its_signatures(account, queue):
    queue.set_queue_access_policy({"reader": AccessPolicy("r", from_now(hours=1), from_now(hours=-1))})
    account.settle()
    client = with_queue_sas(account, queue.queue_name, policy_id="reader")
    assert client.peek_messages() == []
    queue.set_queue_access_policy({})
    account.settle()
    with refused(403, "AuthenticationFailed", ClientAuthenticationError):
        client.peek_messages()


@operation("Authentication")
@pytest.mark.parametrize("hours", [(-2, -1), (1, 2)], ids=["expired", "not_begun"])
def test_a_policy_of_a_queue_out_of_its_time_is_refused(account, queue, hours):
    start, expiry = (from_now(hours=count) for count in hours)
    queue.set_queue_access_policy({"reader": AccessPolicy("r", expiry, start)})
    account.settle()
    with refused(403, "AuthenticationFailed", ClientAuthenticationError):
        with_queue_sas(account, queue.queue_name, policy_id="reader").peek_messages()
