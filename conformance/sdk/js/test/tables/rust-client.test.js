// The Rust client of this repository and the SDK continue each other's work: its filters as text, and its pages.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { conform, drain, freshTable, skip } from "../../harness/index.js";

const ODD_KEYS = ["plain", "o'clock", "''", "100%41", "a+b&c=d", " two  spaces ", "naïve 日本語", "😀;:@~"];

/** What the client prints; CONFORMANCE_RUST_CLIENT names it as a program. */
async function rustClient(...words) {
  const program = process.env.CONFORMANCE_RUST_CLIENT;
  if (!program) skip("CONFORMANCE_RUST_CLIENT is not set");
  const { stdout } = await promisify(execFile)(program, words);
  return JSON.parse(stdout);
}

const keysOf = (entities) => entities.map(({ partitionKey, rowKey }) => [partitionKey, rowKey]);

for (const group of ["operators", "literals", "extremes", "keys", "nesting"]) {
  conform("QueryEntities", `filters_of_the_rust_client_find_the_same_${group}`, async (t) => {
    const table = await freshTable(t);
    const filters = await rustClient("filters", table.tableName, group);
    assert.ok(filters.length > 0);
    for (const { filter, keys } of filters) {
      const found = await drain(table.listEntities({ queryOptions: { filter } }));
      assert.deepEqual(keysOf(found), keys, filter);
    }
  });
}

// The SDK's tokens are Base64 of these names.
const encoded = ({ partition, row }) =>
  Buffer.from(JSON.stringify({ nextPartitionKey: partition, nextRowKey: row ?? undefined })).toString("base64");

function decoded(token) {
  const { nextPartitionKey, nextRowKey } = JSON.parse(Buffer.from(token, "base64").toString());
  return [nextPartitionKey, nextRowKey].filter((key) => key !== undefined);
}

conform("QueryEntities", "the_rust_client_and_the_sdk_page_in_turn", async (t) => {
  const table = await freshTable(t);
  for (const key of ODD_KEYS) await table.createEntity({ partitionKey: key, rowKey: key });
  const found = [];
  let next = [];
  while (next) {
    const theirs = await rustClient("page", table.tableName, "2", ...next);
    found.push(...theirs.keys);
    if (!theirs.next) break;
    const continuationToken = encoded(theirs.next);
    const { value: page } = await table.listEntities().byPage({ maxPageSize: 2, continuationToken }).next();
    found.push(...keysOf(page));
    next = page.continuationToken && decoded(page.continuationToken);
  }
  assert.deepEqual(found, keysOf(await drain(table.listEntities())));
  assert.equal(found.length, ODD_KEYS.length);
});
