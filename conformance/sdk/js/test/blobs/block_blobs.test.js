// Block blobs: single uploads, blocks, large and parallel transfers, streams.

import assert from "node:assert/strict";
import { Readable } from "node:stream";

import {
  MIB, blobSas, conform, contentOf, freshBlob, freshContainer, md5Of, refused, someBytes,
} from "../../harness/blobs.js";

const blockId = (index) => Buffer.from(`block-${index}`.padEnd(12, "-")).toString("base64");

const headers = {
  blobContentType: "text/plain; charset=utf-8", blobContentEncoding: "identity", blobContentLanguage: "de",
  blobContentDisposition: 'attachment; filename="a b.txt"', blobCacheControl: "max-age=60",
};

conform("PutBlob", "upload_is_described", async (t) => {
  const blob = (await freshContainer(t)).getBlockBlobClient("blob");
  const uploaded = await blob.upload("hello", 5, { metadata: { colour: "red" }, blobHTTPHeaders: headers });
  assert.equal(uploaded._response.status, 201);
  assert.deepEqual(Buffer.from(uploaded.contentMD5), md5Of("hello"));
  assert.equal(uploaded.isServerEncrypted, true);
  const properties = await blob.getProperties();
  assert.equal(properties.etag, uploaded.etag);
  assert.equal(properties.contentLength, 5);
  assert.equal(properties.blobType, "BlockBlob");
  assert.deepEqual(properties.metadata, { colour: "red" });
  assert.equal(properties.contentType, headers.blobContentType);
  assert.equal(properties.contentDisposition, headers.blobContentDisposition);
  assert.equal(properties.cacheControl, headers.blobCacheControl);
  assert.equal(properties.accessTier, "Hot");
});

for (const size of [0, 1, 1000, 65536, 65537, MIB, 3 * MIB + 1]) {
  conform("PutBlob", `content_of_${size}_bytes_comes_back`, async (t) => {
    const blob = (await freshContainer(t)).getBlockBlobClient("blob");
    const content = someBytes(size);
    await blob.upload(content, size);
    assert.ok((await blob.downloadToBuffer()).equals(content));
    assert.deepEqual(Buffer.from((await blob.getProperties()).contentMD5), md5Of(content));
  });
}

conform("PutBlob", "upload_that_must_not_overwrite_is_refused", async (t) => {
  const { blob } = await freshBlob(t);
  await refused(blob.upload("new", 3, { conditions: { ifNoneMatch: "*" } }), 409, "BlobAlreadyExists");
  assert.equal(await contentOf(blob), "0123456789");
});

conform("PutBlob", "upload_replaces_everything", async (t) => {
  const { blob } = await freshBlob(t, { metadata: { a: "1" }, blobHTTPHeaders: headers });
  await blob.upload("new", 3);
  const properties = await blob.getProperties();
  assert.deepEqual(properties.metadata, {});
  assert.equal(properties.contentType, "application/octet-stream");
  assert.equal(await contentOf(blob), "new");
});

for (const [label, options] of [
  ["blocks_of_1_mib_in_parallel", { blockSize: MIB, maxSingleShotSize: MIB, concurrency: 6 }],
  ["blocks_of_4_mib_one_by_one", { blockSize: 4 * MIB, maxSingleShotSize: MIB, concurrency: 1 }],
  ["one_request", {}],
]) {
  conform("PutBlockList", `upload_of_22_mib_in_${label}`, async (t) => {
    const blob = (await freshContainer(t)).getBlockBlobClient("blob");
    const content = someBytes(22 * MIB + 7);
    await blob.uploadData(content, options);
    assert.equal((await blob.getProperties()).contentLength, content.length);
    const read = await blob.downloadToBuffer(0, undefined, { blockSize: 2 * MIB, concurrency: 4 });
    assert.ok(read.equals(content));
    const { committedBlocks } = await blob.getBlockList("committed");
    assert.equal(committedBlocks.length, options.blockSize ? Math.ceil(content.length / options.blockSize) : 0);
  });
}

conform("PutBlockList", "stream_of_unknown_length_goes_up_in_blocks", async (t) => {
  const blob = (await freshContainer(t)).getBlockBlobClient("blob");
  const content = someBytes(9 * MIB + 5);
  const pieces = Array.from({ length: 100 }, (_, index) => content.subarray(index * 100000, (index + 1) * 100000));
  await blob.uploadStream(Readable.from(pieces), MIB, 4);
  assert.ok((await blob.downloadToBuffer()).equals(content));
});

conform("GetBlob", "download_streams_in_pieces", async (t) => {
  const blob = (await freshContainer(t)).getBlockBlobClient("blob");
  const content = someBytes(5 * MIB);
  await blob.upload(content, content.length);
  const { readableStreamBody, contentLength } = await blob.download();
  assert.equal(contentLength, content.length);
  const chunks = [];
  for await (const chunk of readableStreamBody) chunks.push(chunk);
  assert.ok(chunks.length > 1);
  assert.ok(Buffer.concat(chunks).equals(content));
});

async function staged(t) {
  const blob = (await freshContainer(t)).getBlockBlobClient("staged");
  for (const [index, text] of ["aa", "bb", "cc"].entries()) await blob.stageBlock(blockId(index), text, 2);
  return blob;
}

conform("PutBlock", "staged_block_is_described", async (t) => {
  const blob = (await freshContainer(t)).getBlockBlobClient("blob");
  const answer = await blob.stageBlock(blockId(0), "text", 4);
  assert.equal(answer._response.status, 201);
  assert.equal(answer._response.headers.get("etag"), undefined);
  assert.ok(answer.contentMD5 ?? answer.xMsContentCrc64);
});

conform("PutBlock", "blob_of_uncommitted_blocks_is_not_there_yet", async (t) => {
  const blob = await staged(t);
  assert.equal(await blob.exists(), false);
  await refused(blob.download(), 404, "BlobNotFound");
});

conform("PutBlockList", "blocks_are_put_together_in_the_order_of_the_list", async (t) => {
  const blob = await staged(t);
  const answer = await blob.commitBlockList([2, 0, 1, 0].map(blockId));
  assert.equal(answer._response.status, 201);
  assert.equal(await contentOf(blob), "ccaabbaa");
  assert.equal((await blob.getProperties()).etag, answer.etag);
});

conform("PutBlockList", "unknown_block_is_refused", async (t) => {
  const blob = await staged(t);
  await refused(blob.commitBlockList([blockId(0), blockId(9)]), 400, "InvalidBlockList");
});

conform("PutBlock", "block_ids_of_different_length_are_refused", async (t) => {
  const blob = await staged(t);
  await refused(blob.stageBlock(Buffer.from("short").toString("base64"), "x", 1), 400, "InvalidBlobOrBlock");
});

conform("PutBlock", "block_id_that_is_no_base64_is_refused", async (t) => {
  const blob = (await freshContainer(t)).getBlockBlobClient("blob");
  await refused(blob.stageBlock("no base64!", "x", 1), 400, "InvalidQueryParameterValue", "InvalidBlockId");
});

conform("PutBlock", "block_with_a_wrong_md5_is_refused", async (t) => {
  const blob = (await freshContainer(t)).getBlockBlobClient("blob");
  const transactionalContentMD5 = new Uint8Array(16);
  await refused(blob.stageBlock(blockId(0), "x", 1, { transactionalContentMD5 }), 400, "Md5Mismatch");
});

conform("PutBlock", "block_with_its_crc64_is_accepted", async (t) => {
  const blob = (await freshContainer(t)).getBlockBlobClient("blob");
  const transactionalContentCrc64 = Buffer.from("iJh5CoYUi64=", "base64");
  await blob.stageBlock(blockId(0), "123456789", 9, { transactionalContentCrc64 });
  await blob.commitBlockList([blockId(0)]);
  assert.equal(await contentOf(blob), "123456789");
});

conform("PutBlock", "block_with_a_wrong_crc64_is_refused", async (t) => {
  const blob = (await freshContainer(t)).getBlockBlobClient("blob");
  const transactionalContentCrc64 = Buffer.from("AAAAAAAAAAA=", "base64");
  const call = blob.stageBlock(blockId(0), "123456789", 9, { transactionalContentCrc64 });
  await refused(call, 400, "Crc64Mismatch");
});

conform("GetBlockList", "blocks_are_listed_with_their_sizes", async (t) => {
  const blob = await staged(t);
  await blob.commitBlockList([blockId(2), blockId(0)]);
  await blob.stageBlock(blockId(7), "1234567", 7);
  await blob.stageBlock(blockId(5), "12345", 5);
  const { committedBlocks, uncommittedBlocks } = await blob.getBlockList("all");
  assert.deepEqual(committedBlocks, [{ name: blockId(2), size: 2 }, { name: blockId(0), size: 2 }]);
  assert.deepEqual(uncommittedBlocks, [{ name: blockId(5), size: 5 }, { name: blockId(7), size: 7 }]);
});

conform("PutBlockFromURL", "block_is_taken_from_another_blob", async (t) => {
  const { container, blob } = await freshBlob(t);
  const copy = container.getBlockBlobClient("copy");
  await copy.stageBlockFromURL(blockId(0), `${blob.url}?${blobSas(blob, "r")}`, 2, 3);
  await copy.commitBlockList([blockId(0)]);
  assert.equal(await contentOf(copy), "234");
});
