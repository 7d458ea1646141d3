// Replace, merge, the two upserts and delete, without regard to etags.

import assert from "node:assert/strict";

import { conform, freshTable, properties, refused, responseOf } from "../../harness/index.js";

const keys = { partitionKey: "p", rowKey: "r" };

async function tableWithEntity(t) {
  const table = await freshTable(t);
  await table.createEntity({ ...keys, kept: "old", changed: "old" });
  return table;
}

const stored = async (table) => properties(await table.getEntity("p", "r"));

conform("UpdateEntity", "replace_discards_properties_that_were_not_sent", async (t) => {
  const table = await tableWithEntity(t);
  await table.updateEntity({ ...keys, changed: "new" }, "Replace");
  assert.deepEqual(await stored(table), { changed: "new" });
});

conform("MergeEntity", "merge_keeps_properties_that_were_not_sent", async (t) => {
  const table = await tableWithEntity(t);
  await table.updateEntity({ ...keys, changed: "new", added: 1 }, "Merge");
  assert.deepEqual(await stored(table), { kept: "old", changed: "new", added: 1 });
});

conform("MergeEntity", "merge_of_null_changes_nothing", async (t) => {
  const table = await tableWithEntity(t);
  await table.updateEntity({ ...keys, kept: null }, "Merge");
  assert.deepEqual(await stored(table), { kept: "old", changed: "old" });
});

conform("UpdateEntity", "replace_with_null_removes_the_property", async (t) => {
  const table = await tableWithEntity(t);
  await table.updateEntity({ ...keys, kept: null, changed: "old" }, "Replace");
  assert.deepEqual(await stored(table), { changed: "old" });
});

conform("MergeEntity", "merge_may_change_the_type_of_a_property", async (t) => {
  const table = await tableWithEntity(t);
  await table.updateEntity({ ...keys, changed: 12345678901n }, "Merge");
  assert.deepEqual(await stored(table), { kept: "old", changed: 12345678901n });
  await table.updateEntity({ ...keys, changed: true }, "Merge");
  assert.deepEqual(await stored(table), { kept: "old", changed: true });
});

conform("MergeEntity", "merge_tunnelled_through_post_is_a_merge", async (t) => {
  const table = await tableWithEntity(t);
  // What the SDK does of itself towards hosts it takes for another product.
  table.pipeline.addPolicy({
    name: "tunnelPatchThroughPost",
    sendRequest(request, next) {
      if (request.method === "PATCH") {
        request.method = "POST";
        request.headers.set("X-HTTP-Method", "MERGE");
      }
      return next(request);
    },
  });
  await table.updateEntity({ ...keys, changed: "new" }, "Merge");
  assert.deepEqual(await stored(table), { kept: "old", changed: "new" });
});

conform("UpdateEntity", "replace_of_a_missing_entity_is_refused", async (t) => {
  const table = await freshTable(t);
  await refused(table.updateEntity({ ...keys, value: 1 }, "Replace"), 404, "ResourceNotFound");
});

conform("MergeEntity", "merge_of_a_missing_entity_is_refused", async (t) => {
  const table = await freshTable(t);
  await refused(table.updateEntity({ ...keys, value: 1 }, "Merge"), 404, "ResourceNotFound");
});

conform("InsertOrReplaceEntity", "insert_or_replace_inserts_a_missing_entity", async (t) => {
  const table = await freshTable(t);
  await table.upsertEntity({ ...keys, value: 1 }, "Replace");
  assert.deepEqual(await stored(table), { value: 1 });
});

conform("InsertOrReplaceEntity", "insert_or_replace_replaces_an_existing_entity", async (t) => {
  const table = await tableWithEntity(t);
  await table.upsertEntity({ ...keys, changed: "new" }, "Replace");
  assert.deepEqual(await stored(table), { changed: "new" });
});

conform("InsertOrMergeEntity", "insert_or_merge_inserts_a_missing_entity", async (t) => {
  const table = await freshTable(t);
  await table.upsertEntity({ ...keys, value: 1 }, "Merge");
  assert.deepEqual(await stored(table), { value: 1 });
});

conform("InsertOrMergeEntity", "insert_or_merge_merges_into_an_existing_entity", async (t) => {
  const table = await tableWithEntity(t);
  await table.upsertEntity({ ...keys, changed: "new" }, "Merge");
  assert.deepEqual(await stored(table), { kept: "old", changed: "new" });
});

for (const [operation, verb, method, mode] of [
  ["UpdateEntity", "replace", "updateEntity", "Replace"],
  ["MergeEntity", "merge", "updateEntity", "Merge"],
  ["InsertOrReplaceEntity", "insert_or_replace", "upsertEntity", "Replace"],
  ["InsertOrMergeEntity", "insert_or_merge", "upsertEntity", "Merge"],
]) {
  conform(operation, `${verb}_answers_204_with_the_new_etag`, async (t) => {
    const table = await tableWithEntity(t);
    const before = await table.getEntity("p", "r");
    const response = await responseOf((options) => table[method]({ ...keys, changed: "new" }, mode, options));
    const after = await table.getEntity("p", "r");
    assert.equal(response.status, 204);
    assert.equal(response.headers.get("etag"), after.etag);
    assert.notEqual(after.etag, before.etag);
  });
}

conform("DeleteEntity", "delete_removes_the_entity", async (t) => {
  const table = await tableWithEntity(t);
  const response = await responseOf((options) => table.deleteEntity("p", "r", options));
  assert.equal(response.status, 204);
  await refused(table.getEntity("p", "r"), 404, "ResourceNotFound");
});

conform("DeleteEntity", "delete_of_a_missing_entity_is_refused", async (t) => {
  const table = await freshTable(t);
  await refused(table.deleteEntity("p", "r"), 404, "ResourceNotFound");
});

conform("DeleteEntity", "delete_leaves_the_neighbours_alone", async (t) => {
  const table = await tableWithEntity(t);
  await table.createEntity({ partitionKey: "p", rowKey: "r2" });
  await table.createEntity({ partitionKey: "p2", rowKey: "r" });
  await table.deleteEntity("p", "r");
  assert.equal((await table.getEntity("p", "r2")).rowKey, "r2");
  assert.equal((await table.getEntity("p2", "r")).partitionKey, "p2");
});

conform("InsertEntity", "insert_after_delete_starts_afresh", async (t) => {
  const table = await tableWithEntity(t);
  await table.deleteEntity("p", "r");
  await table.createEntity({ ...keys, value: 1 });
  assert.deepEqual(await stored(table), { value: 1 });
});
