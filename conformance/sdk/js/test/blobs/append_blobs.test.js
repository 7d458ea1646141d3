// Append blobs: offsets, block counts, and the conditions of log writers.

import assert from "node:assert/strict";

import { conform, contentOf, freshBlob, freshContainer, refused } from "../../harness/blobs.js";

async function freshLog(t) {
  const log = (await freshContainer(t)).getAppendBlobClient("log");
  await log.create();
  return log;
}

conform("PutBlob", "new_append_blob_is_empty", async (t) => {
  const log = (await freshContainer(t)).getAppendBlobClient("log");
  const created = await log.create({ metadata: { a: "1" } });
  assert.equal(created._response.status, 201);
  const properties = await log.getProperties();
  assert.deepEqual([properties.blobType, properties.contentLength], ["AppendBlob", 0]);
  assert.equal(properties.blobCommittedBlockCount, 0);
});

conform("PutBlob", "append_blob_is_created_only_if_missing", async (t) => {
  const log = await freshLog(t);
  await refused(log.create({ conditions: { ifNoneMatch: "*" } }), 409, "BlobAlreadyExists");
  assert.equal((await log.createIfNotExists()).succeeded, false);
});

conform("AppendBlock", "append_tells_offset_and_count", async (t) => {
  const log = await freshLog(t);
  const first = await log.appendBlock("first,", 6);
  const second = await log.appendBlock("second", 6);
  assert.equal(first._response.status, 201);
  assert.deepEqual([first.blobAppendOffset, first.blobCommittedBlockCount], ["0", 1]);
  assert.deepEqual([second.blobAppendOffset, second.blobCommittedBlockCount], ["6", 2]);
  assert.notEqual(first.etag, second.etag);
  assert.equal(await contentOf(log), "first,second");
});

for (const [label, conditions, code] of [
  ["at_the_right_position", { appendPosition: 4 }],
  ["at_a_wrong_position", { appendPosition: 3 }, "AppendPositionConditionNotMet"],
  ["within_the_largest_size", { maxSize: 8 }],
  ["beyond_the_largest_size", { maxSize: 7 }, "MaxBlobSizeConditionNotMet"],
]) {
  conform("AppendBlock", `append_${label}_is_${code ? "refused" : "done"}`, async (t) => {
    const log = await freshLog(t);
    await log.appendBlock("0123", 4);
    const outcome = log.appendBlock("4567", 4, { conditions });
    await (code ? refused(outcome, 412, code) : outcome);
    assert.equal(await contentOf(log), code ? "0123" : "01234567");
  });
}

conform("AppendBlock", "append_to_a_block_blob_is_refused", async (t) => {
  const { container } = await freshBlob(t);
  await refused(container.getAppendBlobClient("blob").appendBlock("x", 1), 409, "InvalidBlobType");
});

conform("AppendBlock", "append_to_a_missing_blob_answers_blob_not_found", async (t) => {
  const log = (await freshContainer(t)).getAppendBlobClient("missing");
  await refused(log.appendBlock("x", 1), 404, "BlobNotFound");
});

conform("AppendBlock", "append_with_a_wrong_md5_is_refused", async (t) => {
  const log = await freshLog(t);
  await refused(log.appendBlock("x", 1, { transactionalContentMD5: new Uint8Array(16) }), 400, "Md5Mismatch");
});

conform("AppendBlock", "concurrent_appends_all_arrive_whole", async (t) => {
  const log = await freshLog(t);
  const lines = Array.from({ length: 40 }, (_, index) => `line ${String(index).padStart(3, "0")}\n`);
  await Promise.all(lines.map((line) => log.appendBlock(line, line.length)));
  assert.deepEqual((await contentOf(log)).match(/.*\n/g).sort(), lines);
  assert.equal((await log.getProperties()).blobCommittedBlockCount, 40);
});
