// Listing blobs, flat and by hierarchy, and deleting many in one request.

import assert from "node:assert/strict";

import {
  blobService, conform, containerSas, containerWithSas, drain, freshBlob, freshContainer, md5Of, refused,
} from "../../harness/blobs.js";

const NAMES = ["Z", "a", "a/1", "a/2", "a/b/1", "ab", "b/1", "b/c/d", "c"];

async function tree(t) {
  const container = await freshContainer(t);
  for (const name of NAMES) await container.getBlockBlobClient(name).upload(name, name.length);
  return container;
}

const namesOf = (items) => items.map(({ name }) => name);

conform("ListBlobs", "blobs_come_in_the_order_of_their_bytes", async (t) => {
  assert.deepEqual(namesOf(await drain((await tree(t)).listBlobsFlat())), NAMES);
});

conform("ListBlobs", "empty_container_lists_nothing", async (t) => {
  assert.deepEqual(await drain((await freshContainer(t)).listBlobsFlat()), []);
});

for (const prefix of ["a", "a/", "b/c", "nothing"]) {
  conform("ListBlobs", `blobs_that_begin_with_${prefix.replaceAll("/", "_slash_")}_are_listed`, async (t) => {
    const found = namesOf(await drain((await tree(t)).listBlobsFlat({ prefix })));
    assert.deepEqual(found, NAMES.filter((name) => name.startsWith(prefix)));
  });
}

for (const maxPageSize of [1, 2, 4, 9, 10]) {
  conform("ListBlobs", `blobs_in_pages_of_${maxPageSize}`, async (t) => {
    const pages = await drain((await tree(t)).listBlobsFlat().byPage({ maxPageSize }));
    assert.deepEqual(pages.flatMap((page) => namesOf(page.segment.blobItems)), NAMES);
    assert.ok(pages.every((page) => page.segment.blobItems.length <= maxPageSize));
    assert.equal(pages[0].maxPageSize, maxPageSize);
  });

  conform("ListBlobs", `hierarchy_in_pages_of_${maxPageSize}`, async (t) => {
    const pages = await drain((await tree(t)).listBlobsByHierarchy("/").byPage({ maxPageSize }));
    const { blobs, prefixes } = levelOf(pages);
    assert.deepEqual(blobs, ["Z", "a", "ab", "c"]);
    assert.deepEqual(prefixes, ["a/", "b/"]);
    for (const { segment } of pages) {
      assert.ok(segment.blobItems.length + (segment.blobPrefixes ?? []).length <= maxPageSize);
    }
  });
}

function levelOf(pages) {
  return {
    blobs: pages.flatMap((page) => namesOf(page.segment.blobItems)),
    prefixes: pages.flatMap((page) => namesOf(page.segment.blobPrefixes ?? [])),
  };
}

for (const [prefix, blobs, prefixes] of [["a/", ["a/1", "a/2"], ["a/b/"]], ["b/c/", ["b/c/d"], []]]) {
  conform("ListBlobs", `hierarchy_below_${prefix.replaceAll("/", "_slash_")}is_listed`, async (t) => {
    const pages = await drain((await tree(t)).listBlobsByHierarchy("/", { prefix }).byPage());
    assert.deepEqual(levelOf(pages), { blobs, prefixes });
  });
}

conform("ListBlobs", "listing_goes_on_from_a_token", async (t) => {
  const container = await tree(t);
  const first = (await container.listBlobsFlat().byPage({ maxPageSize: 4 }).next()).value;
  const rest = await drain(container.listBlobsFlat().byPage({ continuationToken: first.continuationToken }));
  assert.deepEqual([first, ...rest].flatMap((page) => namesOf(page.segment.blobItems)), NAMES);
});

conform("ListBlobs", "listed_blob_has_its_properties", async (t) => {
  const { container, blob } = await freshBlob(t, { metadata: { a: "1" }, tags: { b: "2" } });
  const [listed] = await drain(container.listBlobsFlat({ includeMetadata: true, includeTags: true }));
  const asked = await blob.getProperties();
  assert.deepEqual(listed.metadata, { a: "1" });
  assert.deepEqual(listed.tags, { b: "2" });
  assert.equal(listed.properties.etag, asked.etag.replaceAll('"', ""));
  assert.equal(listed.properties.contentLength, 10);
  assert.equal(listed.properties.blobType, "BlockBlob");
  assert.equal(listed.properties.accessTier, "Hot");
  assert.equal(listed.properties.lastModified.getTime(), asked.lastModified.getTime());
  assert.deepEqual(Buffer.from(listed.properties.contentMD5), md5Of("0123456789"));
});

conform("ListBlobs", "uncommitted_blobs_are_listed_when_asked_for", async (t) => {
  const container = await freshContainer(t);
  await container.getBlockBlobClient("staged").stageBlock("AAAA", "x", 1);
  assert.deepEqual(await drain(container.listBlobsFlat()), []);
  const [listed] = await drain(container.listBlobsFlat({ includeUncommitedBlobs: true }));
  assert.deepEqual([listed.name, listed.properties.contentLength], ["staged", 0]);
});

conform("ListBlobs", "page_of_no_blobs_is_refused", async (t) => {
  const page = (await freshContainer(t)).listBlobsFlat().byPage({ maxPageSize: -1 }).next();
  await refused(page, 400, "OutOfRangeQueryParameterValue");
});

conform("BlobBatch", "batch_deletes_blobs", async (t) => {
  const container = await tree(t);
  const blobs = ["a", "a/1", "c"].map((name) => container.getBlobClient(name));
  const answer = await container.getBlobBatchClient().deleteBlobs(blobs);
  assert.equal(answer._response.status, 202);
  assert.deepEqual([answer.subResponsesSucceededCount, answer.subResponsesFailedCount], [3, 0]);
  assert.deepEqual(namesOf(await drain(container.listBlobsFlat())), ["Z", "a/2", "a/b/1", "ab", "b/1", "b/c/d"]);
});

conform("BlobBatch", "batch_of_the_service_deletes_blobs", async (t) => {
  const container = await tree(t);
  const blobs = ["a", "c"].map((name) => container.getBlobClient(name));
  const answer = await blobService().getBlobBatchClient().deleteBlobs(blobs);
  assert.equal(answer._response.status, 202);
  assert.deepEqual(answer.subResponses.map(({ status }) => status), [202, 202]);
});

conform("BlobBatch", "batch_answers_each_part", async (t) => {
  const container = await tree(t);
  const blobs = ["a", "missing", "c"].map((name) => container.getBlobClient(name));
  const { subResponses } = await container.getBlobBatchClient().deleteBlobs(blobs);
  assert.deepEqual(subResponses.map(({ status }) => status), [202, 404, 202]);
  assert.equal(subResponses[1].errorCode, "BlobNotFound");
});

conform("BlobBatch", "batch_sets_tiers", async (t) => {
  const { container, blob } = await freshBlob(t);
  const { subResponses } = await container.getBlobBatchClient().setBlobsAccessTier([blob], "Cool");
  assert.deepEqual(subResponses.map(({ status }) => status), [200]);
  assert.equal((await blob.getProperties()).accessTier, "Cool");
});

conform("BlobBatch", "batch_works_with_a_sas", async (t) => {
  const container = await tree(t);
  const client = containerWithSas(container, containerSas(container.containerName, "dl"));
  const { subResponses } = await client.getBlobBatchClient().deleteBlobs([client.getBlobClient("a")]);
  assert.deepEqual(subResponses.map(({ status }) => status), [202]);
});
