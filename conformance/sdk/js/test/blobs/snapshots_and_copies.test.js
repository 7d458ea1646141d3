// Snapshots, deletion, and copies within the account.

import assert from "node:assert/strict";

import { blobSas, conform, contentOf, drain, freshBlob, refused } from "../../harness/blobs.js";

conform("SnapshotBlob", "snapshot_keeps_what_was", async (t) => {
  const { blob } = await freshBlob(t, { metadata: { version: "1" } });
  const created = await blob.createSnapshot();
  assert.equal(created._response.status, 201);
  assert.match(created.snapshot, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z$/);
  await blob.upload("changed", 7);
  const snapshot = blob.withSnapshot(created.snapshot);
  assert.equal(await contentOf(snapshot), "0123456789");
  assert.deepEqual((await snapshot.getProperties()).metadata, { version: "1" });
});

conform("SnapshotBlob", "snapshot_with_metadata_of_its_own", async (t) => {
  const { blob } = await freshBlob(t, { metadata: { a: "1" } });
  const { snapshot } = await blob.createSnapshot({ metadata: { b: "2" } });
  assert.deepEqual((await blob.withSnapshot(snapshot).getProperties()).metadata, { b: "2" });
  assert.deepEqual((await blob.getProperties()).metadata, { a: "1" });
});

conform("ListBlobs", "snapshots_are_listed_before_their_blob", async (t) => {
  const { container, blob } = await freshBlob(t);
  const { snapshot } = await blob.createSnapshot();
  const listed = await drain(container.listBlobsFlat({ includeSnapshots: true }));
  assert.deepEqual(listed.map((found) => found.snapshot), [snapshot, undefined]);
});

conform("DeleteBlob", "blob_with_snapshots_is_not_deleted_unless_told", async (t) => {
  const { blob } = await freshBlob(t);
  await blob.createSnapshot();
  await refused(blob.delete(), 409, "SnapshotsPresent");
  await blob.delete({ deleteSnapshots: "only" });
  assert.equal((await blob.delete())._response.status, 202);
});

conform("DeleteBlob", "blob_is_deleted_with_its_snapshots", async (t) => {
  const { container, blob } = await freshBlob(t);
  await blob.createSnapshot();
  await blob.delete({ deleteSnapshots: "include" });
  assert.deepEqual(await drain(container.listBlobsFlat({ includeSnapshots: true })), []);
});

conform("DeleteBlob", "one_snapshot_is_deleted", async (t) => {
  const { blob } = await freshBlob(t);
  const { snapshot } = await blob.createSnapshot();
  await blob.withSnapshot(snapshot).delete();
  assert.equal(await blob.withSnapshot(snapshot).exists(), false);
  assert.equal(await blob.exists(), true);
});

conform("DeleteBlob", "delete_if_exists_tells_whether_it_did", async (t) => {
  const { blob } = await freshBlob(t);
  assert.equal((await blob.deleteIfExists()).succeeded, true);
  assert.equal((await blob.deleteIfExists()).succeeded, false);
});

async function copied(t, options) {
  const { container, blob } = await freshBlob(t, {
    metadata: { colour: "red" }, blobHTTPHeaders: { blobContentType: "text/plain" },
  });
  const copy = container.getBlockBlobClient("copy");
  const result = await (await copy.beginCopyFromURL(blob.url, options)).pollUntilDone();
  return { container, blob, copy, result };
}

conform("CopyBlob", "copy_has_everything_of_its_source", async (t) => {
  const { copy, result } = await copied(t);
  assert.equal(result.copyStatus, "success");
  assert.equal(await contentOf(copy), "0123456789");
  const properties = await copy.getProperties();
  assert.deepEqual(properties.metadata, { colour: "red" });
  assert.equal(properties.contentType, "text/plain");
  const { copyId, copyStatus, copyProgress } = properties;
  assert.deepEqual([copyId, copyStatus, copyProgress], [result.copyId, "success", "10/10"]);
});

conform("CopyBlob", "copy_with_metadata_of_its_own", async (t) => {
  const { copy } = await copied(t, { metadata: { size: "9" } });
  assert.deepEqual((await copy.getProperties()).metadata, { size: "9" });
});

conform("CopyBlob", "copy_outlives_its_source", async (t) => {
  const { blob, copy } = await copied(t);
  await blob.delete();
  assert.equal(await contentOf(copy), "0123456789");
});

conform("CopyBlob", "copy_of_a_missing_source_is_refused", async (t) => {
  const { container } = await freshBlob(t);
  const call = container.getBlobClient("copy").beginCopyFromURL(container.getBlobClient("missing").url);
  await refused(call, 404, "BlobNotFound", "CannotVerifyCopySource");
});

conform("CopyBlob", "copy_under_a_source_condition_that_fails_is_refused", async (t) => {
  const { container, blob } = await freshBlob(t);
  const sourceConditions = { ifMatch: '"0x8D4BCC2E4835CD0"' };
  const call = container.getBlobClient("copy").beginCopyFromURL(blob.url, { sourceConditions });
  await refused(call, 412, "SourceConditionNotMet");
});

conform("CopyBlob", "copy_only_if_missing_is_refused", async (t) => {
  const { blob } = await freshBlob(t);
  await refused(blob.beginCopyFromURL(blob.url, { conditions: { ifNoneMatch: "*" } }), 409, "BlobAlreadyExists");
});

conform("CopyBlobFromURL", "synchronous_copy_is_done_when_it_is_answered", async (t) => {
  const { container, blob } = await freshBlob(t);
  const copy = container.getBlobClient("copy");
  const answer = await copy.syncCopyFromURL(`${blob.url}?${blobSas(blob, "r")}`);
  assert.deepEqual([answer._response.status, answer.copyStatus], [202, "success"]);
  assert.equal(await contentOf(copy), "0123456789");
});

conform("AbortCopyBlob", "copy_that_is_done_cannot_be_aborted", async (t) => {
  const { copy, result } = await copied(t);
  await refused(copy.abortCopyFromURL(result.copyId), 409, "NoPendingCopyOperation");
});
