"""Many blobs in one request: deleting them, with one answer for each."""

import pytest
from azure.core import MatchConditions
from azure.storage.blob import PartialBatchErrorException

from blob_sas import container_with_sas
from refusal import Answer
from results import operation

pytestmark = operation("BlobBatch")

OTHER_ETAG = '"0x8D4BCC2E4835CD0"'


@pytest.fixture
def stocked(container):
    for index in range(5):
        container.upload_blob(f"blob {index}", b"x")
    return container


def names_of(container):
    return [blob.name for blob in container.list_blobs()]


@pytest.mark.parametrize("count", [1, 2, 5])
def test_several_blobs_are_deleted_in_one_request(stocked, count):
    answers = list(stocked.delete_blobs(*[f"blob {index}" for index in range(count)]))
    assert [answer.status_code for answer in answers] == [202] * count
    assert names_of(stocked) == [f"blob {index}" for index in range(count, 5)]


def test_256_blobs_are_deleted_in_one_request(container):
    names = [f"{index:03}" for index in range(256)]
    for name in names:
        container.upload_blob(name, b"")
    assert {answer.status_code for answer in container.delete_blobs(*names)} == {202}
    assert names_of(container) == []


def test_one_missing_blob_does_not_stop_the_others(stocked):
    wanted = ["blob 0", "missing", "blob 1"]
    answers = list(stocked.delete_blobs(*wanted, raise_on_any_failure=False))
    assert [answer.status_code for answer in answers] == [202, 404, 202]
    assert answers[1].headers["x-ms-error-code"] == "BlobNotFound"
    assert names_of(stocked) == ["blob 2", "blob 3", "blob 4"]


def test_a_failed_part_is_raised_by_the_sdk(stocked):
    with pytest.raises(PartialBatchErrorException) as caught:
        stocked.delete_blobs("blob 0", "missing")
    assert [part.status_code for part in caught.value.parts] == [202, 404]


def test_parts_may_have_conditions_of_their_own(stocked):
    stocked.get_blob_client("blob 1").create_snapshot()
    answers = list(
        stocked.delete_blobs(
            {"name": "blob 0"},
            {"name": "blob 1", "delete_snapshots": "include"},
            {"name": "blob 2", "etag": OTHER_ETAG, "match_condition": MatchConditions.IfNotModified},
            raise_on_any_failure=False,
        )
    )
    assert [answer.status_code for answer in answers] == [202, 202, 412]
    assert names_of(stocked) == ["blob 2", "blob 3", "blob 4"]


def test_a_leased_blob_of_a_batch_is_refused(stocked):
    stocked.get_blob_client("blob 0").acquire_lease(lease_duration=-1)
    answers = list(stocked.delete_blobs("blob 0", "blob 1", raise_on_any_failure=False))
    assert [answer.status_code for answer in answers] == [412, 202]
    assert answers[0].headers["x-ms-error-code"] == "LeaseIdMissing"


@pytest.mark.parametrize("name", ["with space", "a/b/c", "Grüße", "100%", "a?b#c"])
def test_an_odd_name_is_deleted_in_a_batch(container, name):
    container.upload_blob(name, b"x")
    assert [answer.status_code for answer in container.delete_blobs(name)] == [202]
    assert names_of(container) == []


def test_a_batch_is_answered_with_202(stocked):
    answer = Answer()
    list(stocked.delete_blobs("blob 0", raw_response_hook=answer))
    assert answer.status == 202
    assert answer.headers["Content-Type"].startswith("multipart/mixed; boundary=batchresponse_")


def test_a_batch_works_with_a_sas(account, stocked):
    client = container_with_sas(account, stocked.container_name, permission="dl")
    assert [answer.status_code for answer in client.delete_blobs("blob 0", "blob 1")] == [202, 202]
    assert len(names_of(stocked)) == 3


def test_a_batch_is_refused_without_the_permission(account, stocked):
    client = container_with_sas(account, stocked.container_name, permission="rl")
    answers = list(client.delete_blobs("blob 0", raise_on_any_failure=False))
    assert [answer.status_code for answer in answers] == [403]
    assert len(names_of(stocked)) == 5


def test_tiers_are_set_in_a_batch(stocked):
    answers = list(stocked.set_standard_blob_tier_blobs("Cool", "blob 0", "blob 1"))
    assert [answer.status_code for answer in answers] == [200, 200]
    assert stocked.get_blob_client("blob 0").get_blob_properties().blob_tier == "Cool"
