// Conditional headers: every condition against every kind of read and write.

import assert from "node:assert/strict";

import { conform, contentOf, freshBlob, freshContainer, refused } from "../../harness/blobs.js";

const OTHER = '"0x8D4BCC2E4835CD0"';
const HOUR_MS = 3_600_000;
const before = (date) => new Date(date.getTime() - HOUR_MS);

/** Each condition: how it is said of an untouched blob, whether it holds, and how a read that it fails is answered. */
const conditions = [
  ["if_match_current", (p) => ({ ifMatch: p.etag }), true],
  ["if_match_other", () => ({ ifMatch: OTHER }), false, 412],
  ["if_match_any", () => ({ ifMatch: "*" }), true],
  ["if_none_match_current", (p) => ({ ifNoneMatch: p.etag }), false, 304],
  ["if_none_match_other", () => ({ ifNoneMatch: OTHER }), true],
  ["if_modified_since_before", (p) => ({ ifModifiedSince: before(p.lastModified) }), true],
  ["if_modified_since_then", (p) => ({ ifModifiedSince: p.lastModified }), false, 304],
  ["if_unmodified_since_then", (p) => ({ ifUnmodifiedSince: p.lastModified }), true],
  ["if_unmodified_since_before", (p) => ({ ifUnmodifiedSince: before(p.lastModified) }), false, 412],
];

const reads = [
  ["GetBlob", "download", (blob, conditions) => blob.download(0, undefined, { conditions })],
  ["GetBlobProperties", "get_properties", (blob, conditions) => blob.getProperties({ conditions })],
];

const headers = { blobContentType: "a/b" };

const writes = [
  ["PutBlob", "upload", (blob, conditions) => blob.upload("new", 3, { conditions })],
  ["PutBlockList", "commit", (blob, conditions) => blob.commitBlockList([], { conditions })],
  ["SetBlobMetadata", "set_metadata", (blob, conditions) => blob.setMetadata({ a: "1" }, { conditions })],
  ["SetBlobProperties", "set_headers", (blob, conditions) => blob.setHTTPHeaders(headers, { conditions })],
  ["SnapshotBlob", "snapshot", (blob, conditions) => blob.createSnapshot({ conditions })],
  ["AcquireBlobLease", "lease", (blob, conditions) => blob.getBlobLeaseClient().acquireLease(-1, { conditions })],
  ["DeleteBlob", "delete", (blob, conditions) => blob.delete({ conditions })],
];

for (const [label, say, holds, readStatus] of conditions) {
  for (const [operation, verb, call] of reads) {
    conform(operation, `${verb}_with_${label}_${holds ? "is_answered" : "is_refused"}`, async (t) => {
      const { blob } = await freshBlob(t);
      const outcome = call(blob, say(await blob.getProperties()));
      await (holds ? outcome : refused(outcome, readStatus, "ConditionNotMet"));
    });
  }

  for (const [operation, verb, call] of writes) {
    conform(operation, `${verb}_with_${label}_${holds ? "is_done" : "is_refused"}`, async (t) => {
      const { blob } = await freshBlob(t);
      const properties = await blob.getProperties();
      const outcome = call(blob, say(properties));
      if (holds) return void (await outcome);
      await refused(outcome, 412, "ConditionNotMet");
      assert.equal((await blob.getProperties()).etag, properties.etag);
      assert.equal(await contentOf(blob), "0123456789");
    });
  }
}

conform("PutBlob", "upload_only_if_missing_creates_once", async (t) => {
  const blob = (await freshContainer(t)).getBlockBlobClient("once");
  const conditions = { ifNoneMatch: "*" };
  const outcomes = await Promise.allSettled(
    Array.from({ length: 8 }, (_, index) => blob.upload(`${index}`, 1, { conditions })),
  );
  assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 1);
  for (const { reason } of outcomes.filter((outcome) => outcome.reason)) assert.equal(reason.code, "BlobAlreadyExists");
});

conform("PutBlob", "concurrent_writers_with_one_etag_have_one_winner", async (t) => {
  const { blob } = await freshBlob(t);
  const { etag: ifMatch } = await blob.getProperties();
  const outcomes = await Promise.allSettled(
    Array.from({ length: 8 }, (_, index) => blob.upload(`${index}`, 1, { conditions: { ifMatch } })),
  );
  assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 1);
  for (const { reason } of outcomes.filter((outcome) => outcome.reason)) assert.equal(reason.statusCode, 412);
});

conform("SetBlobMetadata", "conditions_that_do_not_go_together_are_refused", async (t) => {
  const { blob } = await freshBlob(t);
  const { etag } = await blob.getProperties();
  const call = blob.setMetadata({ a: "1" }, { conditions: { ifMatch: etag, ifNoneMatch: OTHER } });
  await refused(call, 400, "MultipleConditionHeadersNotSupported");
});

for (const [operation, verb, call] of [
  ["GetBlob", "download", (blob) => blob.download()],
  ["GetBlobProperties", "get_properties", (blob) => blob.getProperties()],
  ["DeleteBlob", "delete", (blob) => blob.delete()],
  ["SetBlobMetadata", "set_metadata", (blob) => blob.setMetadata({})],
  ["SetBlobProperties", "set_headers", (blob) => blob.setHTTPHeaders({ blobContentType: "a/b" })],
  ["SnapshotBlob", "snapshot", (blob) => blob.createSnapshot()],
  ["AcquireBlobLease", "lease", (blob) => blob.getBlobLeaseClient().acquireLease(-1)],
  ["GetBlockList", "get_block_list", (blob) => blob.getBlockList("all")],
  ["GetBlobTags", "get_tags", (blob) => blob.getTags()],
]) {
  conform(operation, `${verb}_of_a_missing_blob_answers_blob_not_found`, async (t) => {
    await refused(call((await freshContainer(t)).getBlockBlobClient("missing")), 404, "BlobNotFound");
  });
}
