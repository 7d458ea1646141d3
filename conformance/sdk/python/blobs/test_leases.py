"""Leases on blobs and containers: the table of states."""

import time
import uuid

import pytest
from azure.storage.blob import BlobLeaseClient

from refusal import Answer, refused
from results import operation

ID = "11111111-1111-1111-1111-111111111111"
OTHER = "22222222-2222-2222-2222-222222222222"
THIRD = "33333333-3333-3333-3333-333333333333"


def states(client):
    lease = properties_of(client).lease
    return lease.status, lease.state, lease.duration


def properties_of(client):
    return client.get_blob_properties() if hasattr(client, "blob_name") else client.get_container_properties()


@pytest.fixture(params=["blob", "container"])
def leasable(request, container, blob):
    """A client of a thing that can be leased; every case runs for both kinds."""
    return {"blob": blob, "container": container}[request.param]


def about(action):
    """Marks a case by its kind: leases of blobs and of containers are operations of their own."""
    kinds = {"blob": "Blob", "container": "Container"}
    marks = [pytest.param(kind, marks=operation(f"{action}{name}Lease")) for kind, name in kinds.items()]
    return pytest.mark.parametrize("leasable", marks, indirect=True)


def held(client, id=ID):
    """The lease as someone sees it who knows, or guesses, this id."""
    return BlobLeaseClient(client, lease_id=id)


@about("Acquire")
def test_a_lease_is_acquired(leasable):
    assert states(leasable) == ("unlocked", "available", None)
    before = properties_of(leasable)
    answer = Answer()
    lease = leasable.acquire_lease(lease_duration=15, lease_id=ID, raw_response_hook=answer)
    assert (answer.status, lease.id) == (201, ID)
    assert states(leasable) == ("locked", "leased", "fixed")
    after = properties_of(leasable)
    assert (after.etag, after.last_modified) == (before.etag, before.last_modified)
    assert lease.etag == before.etag


@about("Acquire")
def test_a_lease_without_a_proposed_id_gets_one(leasable):
    lease = BlobLeaseClient(leasable)
    lease.acquire(lease_duration=-1)
    assert uuid.UUID(lease.id)
    assert states(leasable) == ("locked", "leased", "infinite")


@about("Acquire")
@pytest.mark.parametrize("duration", [15, 30, 60, -1])
def test_a_duration_is_accepted(leasable, duration):
    leasable.acquire_lease(lease_duration=duration)
    assert states(leasable) == ("locked", "leased", "infinite" if duration < 0 else "fixed")


@about("Acquire")
@pytest.mark.parametrize("duration", [0, 1, 14, 61, -2])
def test_a_duration_out_of_range_is_refused(leasable, duration):
    with refused(400, "InvalidHeaderValue"):
        leasable.acquire_lease(lease_duration=duration)
    assert states(leasable) == ("unlocked", "available", None)


@about("Acquire")
def test_a_lease_that_is_taken_is_refused(leasable):
    leasable.acquire_lease(lease_duration=-1, lease_id=ID)
    with refused(409, "LeaseAlreadyPresent"):
        leasable.acquire_lease(lease_duration=-1, lease_id=OTHER)
    with refused(409, "LeaseAlreadyPresent"):
        leasable.acquire_lease(lease_duration=-1)


@about("Acquire")
def test_the_holder_may_acquire_again_for_another_duration(leasable):
    leasable.acquire_lease(lease_duration=-1, lease_id=ID)
    leasable.acquire_lease(lease_duration=15, lease_id=ID)
    assert states(leasable) == ("locked", "leased", "fixed")


@about("Acquire")
def test_an_id_that_is_no_guid_is_refused(leasable):
    with refused(400, "InvalidHeaderValue"):
        leasable.acquire_lease(lease_duration=15, lease_id="not-a-guid")


@about("Renew")
def test_a_lease_is_renewed(leasable):
    lease = leasable.acquire_lease(lease_duration=15, lease_id=ID)
    answer = Answer()
    lease.renew(raw_response_hook=answer)
    assert answer.status == 200
    assert answer.headers["x-ms-lease-id"] == ID
    assert states(leasable) == ("locked", "leased", "fixed")


@about("Renew")
def test_renewing_with_another_id_is_refused(leasable):
    with refused(409, "LeaseIdMismatchWithLeaseOperation"):
        held(leasable).renew()
    leasable.acquire_lease(lease_duration=15, lease_id=ID)
    with refused(409, "LeaseIdMismatchWithLeaseOperation"):
        held(leasable, OTHER).renew()


@about("Renew")
def test_a_broken_lease_is_not_renewed(leasable):
    lease = leasable.acquire_lease(lease_duration=-1, lease_id=ID)
    lease.break_lease(0)
    with refused(409, "LeaseIsBrokenAndCannotBeRenewed"):
        lease.renew()


@about("Renew")
def test_a_breaking_lease_is_not_renewed(leasable):
    lease = leasable.acquire_lease(lease_duration=-1, lease_id=ID)
    lease.break_lease(60)
    with refused(409, "LeaseIsBrokenAndCannotBeRenewed"):
        lease.renew()


@about("Change")
def test_a_lease_changes_its_id(leasable):
    lease = leasable.acquire_lease(lease_duration=-1, lease_id=ID)
    answer = Answer()
    lease.change(OTHER, raw_response_hook=answer)
    assert (answer.status, lease.id) == (200, OTHER)
    with refused(409, "LeaseIdMismatchWithLeaseOperation"):
        held(leasable, ID).renew()
    lease.renew()


@about("Change")
def test_changing_to_the_present_id_is_accepted(leasable):
    leasable.acquire_lease(lease_duration=-1, lease_id=ID)
    held(leasable, OTHER).change(ID)
    held(leasable, ID).renew()


@about("Change")
def test_changing_with_another_id_is_refused(leasable):
    leasable.acquire_lease(lease_duration=-1, lease_id=ID)
    with refused(409, "LeaseIdMismatchWithLeaseOperation"):
        held(leasable, OTHER).change(THIRD)


@about("Change")
def test_changing_what_is_not_leased_is_refused(leasable):
    with refused(409, "LeaseNotPresentWithLeaseOperation"):
        held(leasable).change(OTHER)


@about("Change")
def test_a_breaking_lease_is_not_changed(leasable):
    lease = leasable.acquire_lease(lease_duration=-1, lease_id=ID)
    lease.break_lease(60)
    with refused(409, "LeaseIsBreakingAndCannotBeChanged"):
        lease.change(OTHER)


@about("Release")
def test_a_lease_is_released(leasable):
    lease = leasable.acquire_lease(lease_duration=-1, lease_id=ID)
    answer = Answer()
    lease.release(raw_response_hook=answer)
    assert answer.status == 200
    assert states(leasable) == ("unlocked", "available", None)
    leasable.acquire_lease(lease_duration=-1, lease_id=OTHER)


@about("Release")
def test_releasing_with_another_id_is_refused(leasable):
    with refused(409, "LeaseIdMismatchWithLeaseOperation"):
        held(leasable).release()
    leasable.acquire_lease(lease_duration=-1, lease_id=ID)
    with refused(409, "LeaseIdMismatchWithLeaseOperation"):
        held(leasable, OTHER).release()


@about("Release")
@pytest.mark.parametrize("period", [0, 60], ids=["broken", "breaking"])
def test_a_lease_that_was_broken_is_released(leasable, period):
    lease = leasable.acquire_lease(lease_duration=-1, lease_id=ID)
    lease.break_lease(period)
    lease.release()
    assert states(leasable) == ("unlocked", "available", None)


@about("Break")
def test_an_infinite_lease_breaks_at_once(leasable):
    lease = leasable.acquire_lease(lease_duration=-1, lease_id=ID)
    answer = Answer()
    assert lease.break_lease(raw_response_hook=answer) == 0
    assert answer.status == 202
    assert states(leasable) == ("unlocked", "broken", None)


@about("Break")
def test_an_infinite_lease_breaks_after_a_period(leasable):
    lease = leasable.acquire_lease(lease_duration=-1, lease_id=ID)
    assert 55 <= lease.break_lease(60) <= 60
    assert states(leasable) == ("locked", "breaking", None)


@about("Break")
def test_a_fixed_lease_breaks_when_its_time_is_over(leasable):
    lease = leasable.acquire_lease(lease_duration=30, lease_id=ID)
    assert 25 <= lease.break_lease() <= 30
    assert states(leasable) == ("locked", "breaking", None)


@about("Break")
def test_the_period_of_a_break_is_at_most_the_rest_of_the_lease(leasable):
    lease = leasable.acquire_lease(lease_duration=15, lease_id=ID)
    assert lease.break_lease(60) <= 15


@about("Break")
def test_a_break_can_only_be_shortened(leasable):
    lease = leasable.acquire_lease(lease_duration=-1, lease_id=ID)
    lease.break_lease(30)
    assert lease.break_lease(60) <= 30
    assert lease.break_lease(0) == 0
    assert states(leasable) == ("unlocked", "broken", None)


@about("Break")
def test_breaking_what_is_broken_is_accepted(leasable):
    lease = leasable.acquire_lease(lease_duration=-1, lease_id=ID)
    lease.break_lease(0)
    assert lease.break_lease() == 0


@about("Break")
def test_breaking_what_is_not_leased_is_refused(leasable):
    with refused(409, "LeaseNotPresentWithLeaseOperation"):
        held(leasable).break_lease()


@about("Break")
def test_anyone_may_break_a_lease(leasable):
    leasable.acquire_lease(lease_duration=-1, lease_id=ID)
    assert BlobLeaseClient(leasable).break_lease(0) == 0


@about("Acquire")
def test_a_broken_lease_is_free_for_another(leasable):
    leasable.acquire_lease(lease_duration=-1, lease_id=ID).break_lease(0)
    leasable.acquire_lease(lease_duration=-1, lease_id=OTHER)
    assert states(leasable) == ("locked", "leased", "infinite")


@about("Acquire")
def test_a_breaking_lease_is_not_free(leasable):
    leasable.acquire_lease(lease_duration=-1, lease_id=ID).break_lease(60)
    with refused(409, "LeaseIsBreakingAndCannotBeAcquired"):
        leasable.acquire_lease(lease_duration=-1, lease_id=ID)
    with refused(409, "LeaseAlreadyPresent"):
        leasable.acquire_lease(lease_duration=-1, lease_id=OTHER)


@operation("BreakBlobLease")
def test_a_breaking_lease_is_broken_when_its_period_is_over(blob):
    blob.acquire_lease(lease_duration=-1, lease_id=ID).break_lease(1)
    time.sleep(2)
    assert states(blob) == ("unlocked", "broken", None)


@operation("AcquireBlobLease")
def test_a_fixed_lease_ends_by_itself(blob):
    lease = blob.acquire_lease(lease_duration=15, lease_id=ID)
    time.sleep(16)
    assert states(blob) == ("unlocked", "expired", None)
    lease.renew()
    assert states(blob) == ("locked", "leased", "fixed")
    lease.release()
