// Leases on blobs and containers: the table of states, and what a lease protects.

import assert from "node:assert/strict";

import { conform, contentOf, freshBlob, refused } from "../../harness/blobs.js";

const ID = "11111111-1111-1111-1111-111111111111";
const OTHER = "22222222-2222-2222-2222-222222222222";
const THIRD = "33333333-3333-3333-3333-333333333333";

const stateOf = async (client) => {
  const { leaseStatus, leaseState, leaseDuration } = await client.getProperties();
  return [leaseStatus, leaseState, leaseDuration];
};

const held = (client, id = ID) => client.getBlobLeaseClient(id);

for (const kind of ["Blob", "Container"]) {
  const lower = kind.toLowerCase();
  const leasable = async (t) => {
    const { container, blob } = await freshBlob(t);
    return kind === "Blob" ? blob : container;
  };
  const about = (action, name, body) =>
    conform(`${action}${kind}Lease`, `${lower}_lease_${name}`, async (t) => body(await leasable(t)));

  for (const seconds of [15, 60, -1]) {
    const label = `${seconds}`.replace("-", "minus_");
    about("Acquire", `is_acquired_for_${label}_seconds`, async (client) => {
      const before = await client.getProperties();
      const lease = await held(client).acquireLease(seconds);
      assert.equal(lease._response.status, 201);
      assert.equal(lease.leaseId, ID);
      assert.equal(lease.etag, before.etag);
      assert.deepEqual(await stateOf(client), ["locked", "leased", seconds < 0 ? "infinite" : "fixed"]);
    });
  }

  for (const seconds of [0, 14, 61]) {
    about("Acquire", `of_${seconds}_seconds_is_refused`, async (client) => {
      await refused(held(client).acquireLease(seconds), 400, "InvalidHeaderValue");
    });
  }

  about("Acquire", "that_is_taken_is_refused", async (client) => {
    await held(client).acquireLease(-1);
    await refused(held(client, OTHER).acquireLease(-1), 409, "LeaseAlreadyPresent");
    await held(client).acquireLease(15);
    assert.deepEqual(await stateOf(client), ["locked", "leased", "fixed"]);
  });

  about("Renew", "is_renewed_by_its_holder", async (client) => {
    await held(client).acquireLease(15);
    assert.equal((await held(client).renewLease()).leaseId, ID);
    await refused(held(client, OTHER).renewLease(), 409, "LeaseIdMismatchWithLeaseOperation");
  });

  about("Renew", "that_was_broken_is_not_renewed", async (client) => {
    await held(client).acquireLease(-1);
    await held(client).breakLease(0);
    await refused(held(client).renewLease(), 409, "LeaseIsBrokenAndCannotBeRenewed");
  });

  about("Change", "changes_its_id", async (client) => {
    await held(client).acquireLease(-1);
    assert.equal((await held(client).changeLease(OTHER)).leaseId, OTHER);
    await refused(held(client, ID).renewLease(), 409, "LeaseIdMismatchWithLeaseOperation");
    await refused(held(client, ID).changeLease(THIRD), 409, "LeaseIdMismatchWithLeaseOperation");
  });

  about("Change", "that_is_not_there_is_not_changed", async (client) => {
    await refused(held(client).changeLease(OTHER), 409, "LeaseNotPresentWithLeaseOperation");
  });

  about("Change", "that_is_breaking_is_not_changed", async (client) => {
    await held(client).acquireLease(-1);
    await held(client).breakLease(60);
    await refused(held(client).changeLease(OTHER), 409, "LeaseIsBreakingAndCannotBeChanged");
  });

  about("Release", "is_released_by_its_holder", async (client) => {
    await held(client).acquireLease(-1);
    await refused(held(client, OTHER).releaseLease(), 409, "LeaseIdMismatchWithLeaseOperation");
    assert.equal((await held(client).releaseLease())._response.status, 200);
    assert.deepEqual(await stateOf(client), ["unlocked", "available", undefined]);
  });

  about("Break", "without_end_breaks_at_once", async (client) => {
    await held(client).acquireLease(-1);
    const broken = await client.getBlobLeaseClient().breakLease();
    assert.deepEqual([broken._response.status, broken.leaseTime], [202, 0]);
    assert.deepEqual(await stateOf(client), ["unlocked", "broken", undefined]);
  });

  about("Break", "breaks_after_a_period", async (client) => {
    await held(client).acquireLease(-1);
    const { leaseTime } = await held(client).breakLease(60);
    assert.ok(leaseTime > 50 && leaseTime <= 60, `${leaseTime}`);
    assert.deepEqual(await stateOf(client), ["locked", "breaking", undefined]);
    await refused(held(client).acquireLease(-1), 409, "LeaseIsBreakingAndCannotBeAcquired");
    await refused(held(client, OTHER).acquireLease(-1), 409, "LeaseAlreadyPresent");
  });

  about("Break", "that_is_not_there_is_not_broken", async (client) => {
    await refused(held(client).breakLease(0), 409, "LeaseNotPresentWithLeaseOperation");
  });

  about("Acquire", "that_was_broken_is_free_for_another", async (client) => {
    await held(client).acquireLease(-1);
    await held(client).breakLease(0);
    await held(client, OTHER).acquireLease(-1);
    assert.deepEqual(await stateOf(client), ["locked", "leased", "infinite"]);
  });
}

const headers = { blobContentType: "a/b" };

const writes = [
  ["PutBlob", "upload", (blob, conditions) => blob.upload("new", 3, { conditions })],
  ["PutBlock", "stage", (blob, conditions) => blob.stageBlock("AAAA", "x", 1, { conditions })],
  ["PutBlockList", "commit", (blob, conditions) => blob.commitBlockList([], { conditions })],
  ["SetBlobMetadata", "set_metadata", (blob, conditions) => blob.setMetadata({ a: "1" }, { conditions })],
  ["SetBlobProperties", "set_headers", (blob, conditions) => blob.setHTTPHeaders(headers, { conditions })],
  ["DeleteBlob", "delete", (blob, conditions) => blob.delete({ conditions })],
];

for (const [operation, verb, call] of writes) {
  conform(operation, `${verb}_of_a_leased_blob_needs_the_lease`, async (t) => {
    const { blob } = await freshBlob(t);
    await held(blob).acquireLease(-1);
    await refused(call(blob), 412, "LeaseIdMissing");
    await refused(call(blob, { leaseId: OTHER }), 412, "LeaseIdMismatchWithBlobOperation");
    assert.equal(await contentOf(blob), "0123456789");
    await call(blob, { leaseId: ID });
  });

  conform(operation, `${verb}_with_a_lease_that_never_was_is_refused`, async (t) => {
    const { blob } = await freshBlob(t);
    await refused(call(blob, { leaseId: ID }), 412, "LeaseNotPresentWithBlobOperation");
  });
}

conform("DeleteContainer", "delete_of_a_leased_container_needs_the_lease", async (t) => {
  const { container } = await freshBlob(t);
  await held(container).acquireLease(-1);
  await refused(container.delete(), 412, "LeaseIdMissing");
  const other = { conditions: { leaseId: OTHER } };
  await refused(container.delete(other), 412, "LeaseIdMismatchWithContainerOperation");
  await container.delete({ conditions: { leaseId: ID } });
});
