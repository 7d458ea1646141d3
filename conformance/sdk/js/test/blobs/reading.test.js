// Reading blobs: ranges, empty blobs, properties, metadata, content headers, tags and tiers, names.

import assert from "node:assert/strict";

import {
  blobService, conform, contentOf, drain, freshBlob, freshContainer, md5Of, refused, secondaryOf,
} from "../../harness/blobs.js";

for (const [label, offset, count, expected] of [
  ["first_byte", 0, 1, "0"],
  ["middle", 3, 4, "3456"],
  ["rest", 5, undefined, "56789"],
  ["part_across_the_end", 8, 100, "89"],
]) {
  conform("GetBlob", `range_of_the_${label}_is_read`, async (t) => {
    const { blob } = await freshBlob(t);
    const answer = await blob.download(offset, count);
    assert.equal(answer._response.status, 206);
    assert.equal(answer.contentRange, `bytes ${offset}-${offset + expected.length - 1}/10`);
    assert.equal(await contentOf(blob, offset, count), expected);
  });
}

conform("GetBlob", "range_behind_the_end_is_refused", async (t) => {
  const { blob } = await freshBlob(t);
  const error = await refused(blob.download(11, 1), 416, "InvalidRange");
  assert.equal(error.response.headers.get("content-range"), "bytes */10");
});

conform("GetBlob", "empty_blob_is_read", async (t) => {
  const blob = (await freshContainer(t)).getBlockBlobClient("empty");
  await blob.upload("", 0);
  assert.equal(await contentOf(blob), "");
  assert.equal((await blob.downloadToBuffer()).length, 0);
});

conform("GetBlob", "md5_of_a_range_is_told_when_asked_for", async (t) => {
  const { blob } = await freshBlob(t);
  const answer = await blob.download(2, 3, { rangeGetContentMD5: true });
  assert.deepEqual(Buffer.from(answer.contentMD5), md5Of("234"));
  assert.deepEqual(Buffer.from(answer.blobContentMD5), md5Of("0123456789"));
});

conform("GetBlob", "crc64_of_a_range_is_told_when_asked_for", async (t) => {
  const blob = (await freshContainer(t)).getBlockBlobClient("blob");
  await blob.upload("x123456789x", 11);
  const answer = await blob.download(1, 9, { rangeGetContentCrc64: true });
  assert.equal(Buffer.from(answer.contentCrc64).toString("base64"), "iJh5CoYUi64=");
});

conform("GetBlob", "download_tells_what_the_properties_tell", async (t) => {
  const { blob } = await freshBlob(t, { metadata: { a: "1" } });
  const [read, asked] = [await blob.download(), await blob.getProperties()];
  for (const name of ["etag", "contentType", "contentLength", "blobType", "leaseState", "leaseStatus"]) {
    assert.equal(read[name], asked[name], name);
  }
  assert.deepEqual(read.metadata, asked.metadata);
  assert.equal(read.createdOn.getTime(), asked.createdOn.getTime());
  assert.equal(read.acceptRanges, "bytes");
});

conform("GetBlobProperties", "blob_exists_when_it_is_there", async (t) => {
  const { container, blob } = await freshBlob(t);
  assert.equal(await blob.exists(), true);
  assert.equal(await container.getBlobClient("missing").exists(), false);
});

conform("SetBlobMetadata", "blob_metadata_is_replaced_as_a_whole", async (t) => {
  const { blob } = await freshBlob(t, { metadata: { a: "1", b: "2" } });
  const changed = await blob.setMetadata({ b: "3" });
  assert.equal(changed._response.status, 200);
  const properties = await blob.getProperties();
  assert.deepEqual(properties.metadata, { b: "3" });
  assert.equal(properties.etag, changed.etag);
});

conform("SetBlobProperties", "content_headers_are_replaced_together", async (t) => {
  const { blob } = await freshBlob(t, { blobHTTPHeaders: { blobContentType: "text/a", blobCacheControl: "no-store" } });
  assert.equal((await blob.setHTTPHeaders({ blobContentLanguage: "fr" }))._response.status, 200);
  const properties = await blob.getProperties();
  assert.equal(properties.contentLanguage, "fr");
  assert.equal(properties.cacheControl, undefined);
  assert.equal(properties.contentMD5, undefined);
});

conform("SetBlobProperties", "content_headers_that_are_not_given_are_cleared", async (t) => {
  const { blob } = await freshBlob(t, { blobHTTPHeaders: { blobContentType: "text/a", blobCacheControl: "no-store" } });
  await blob.setHTTPHeaders({});
  const { contentType, contentMD5, cacheControl } = await blob.getProperties();
  assert.deepEqual([contentType, contentMD5, cacheControl], [undefined, undefined, undefined]);
});

conform("SetBlobTags", "tags_are_read_back", async (t) => {
  const { blob } = await freshBlob(t);
  assert.equal((await blob.setTags({ colour: "red", "a b": "1/2" }))._response.status, 204);
  assert.deepEqual((await blob.getTags()).tags, { colour: "red", "a b": "1/2" });
  assert.equal((await blob.getProperties()).tagCount, 2);
});

conform("GetBlobTags", "tags_come_with_the_upload", async (t) => {
  const { blob } = await freshBlob(t, { tags: { colour: "red" } });
  assert.deepEqual((await blob.getTags()).tags, { colour: "red" });
});

for (const tier of ["Hot", "Cool", "Cold"]) {
  conform("SetBlobTier", `tier_${tier.toLowerCase()}_is_read_back`, async (t) => {
    const { blob } = await freshBlob(t);
    assert.equal((await blob.setAccessTier(tier))._response.status, 200);
    assert.equal((await blob.getProperties()).accessTier, tier);
  });
}

conform("GetAccountInformation", "account_tells_its_kind", async () => {
  const { accountKind, skuName } = await blobService().getAccountInfo();
  assert.equal(accountKind, "StorageV2");
  assert.ok(skuName);
});

for (const [label, name] of Object.entries({
  path: "a/b/c.txt", leading_slash: "/leading", trailing_slash: "trailing/", two_slashes: "a//b", space: "two words",
  plus: "a+b", percent: "100%", percent_and_digits: "a%20b", question_mark: "what?", hash: "a#1", ampersand: "a=b&c",
  quotes: "it's \"q\"", brackets: "a(b)[c]{d}", colon: "12:30;x", angle_brackets: "<a>", german: "Grüße",
  chinese: "文件", emoji: "🐘", long: "n".repeat(1024),
})) {
  conform("PutBlob", `blob_name_with_${label}_survives`, async (t) => {
    const container = await freshContainer(t);
    const blob = container.getBlockBlobClient(name);
    await blob.upload("text", 4, { metadata: { a: "1" } });
    assert.equal(await contentOf(blob), "text");
    assert.deepEqual((await drain(container.listBlobsFlat())).map((found) => found.name), [name]);
    await blob.delete();
    assert.equal(await blob.exists(), false);
  });
}

conform("GetBlob", "secondary_of_blobs_serves_reads", async (t) => {
  const { container } = await freshBlob(t);
  const secondary = blobService(secondaryOf("blob")).getContainerClient(container.containerName);
  assert.equal(await contentOf(secondary.getBlobClient("blob")), "0123456789");
});
