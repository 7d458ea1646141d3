// Service SAS limited to a range of keys: one contiguous range in (PartitionKey, RowKey) order.

import assert from "node:assert/strict";

import { conform, drain, freshTable, refused, withTableSas } from "../../harness/index.js";

/** Partitions a, b, c with rows 1, 2, 3. */
async function tableOfNine(t) {
  const table = await freshTable(t);
  for (const partitionKey of ["a", "b", "c"]) {
    await table.submitTransaction(["1", "2", "3"].map((rowKey) => ["create", { partitionKey, rowKey }]));
  }
  return table;
}

const visible = async (table) => (await drain(table.listEntities())).map((each) => each.partitionKey + each.rowKey);

for (const [what, range, expected] of [
  ["a_first_partition", { startPartitionKey: "b" }, ["b1", "b2", "b3", "c1", "c2", "c3"]],
  ["a_last_partition", { endPartitionKey: "b" }, ["a1", "a2", "a3", "b1", "b2", "b3"]],
  ["one_partition", { startPartitionKey: "b", endPartitionKey: "b" }, ["b1", "b2", "b3"]],
  ["a_first_row", { startPartitionKey: "b", startRowKey: "2" }, ["b2", "b3", "c1", "c2", "c3"]],
  ["a_last_row", { endPartitionKey: "b", endRowKey: "2" }, ["a1", "a2", "a3", "b1", "b2"]],
  [
    "rows_at_both_ends",
    { startPartitionKey: "a", startRowKey: "3", endPartitionKey: "c", endRowKey: "1" },
    ["a3", "b1", "b2", "b3", "c1"],
  ],
  [
    "one_entity",
    { startPartitionKey: "b", startRowKey: "2", endPartitionKey: "b", endRowKey: "2" },
    ["b2"],
  ],
]) {
  conform("QueryEntities", `table_sas_limited_by_${what}_shows_only_that_range`, async (t) => {
    assert.deepEqual(await visible(withTableSas(await tableOfNine(t), "r", range)), expected);
  });
}

const onlyB = { startPartitionKey: "b", endPartitionKey: "b" };

conform("QueryEntity", "table_sas_reads_an_entity_within_its_range", async (t) => {
  const table = withTableSas(await tableOfNine(t), "r", onlyB);
  assert.equal((await table.getEntity("b", "1")).rowKey, "1");
});

conform("QueryEntity", "table_sas_does_not_find_an_entity_outside_its_range", async (t) => {
  const table = withTableSas(await tableOfNine(t), "r", onlyB);
  await refused(table.getEntity("a", "1"), 404, "ResourceNotFound");
});

const outside = { partitionKey: "a", rowKey: "1" };

for (const [operation, verb, call] of [
  ["InsertEntity", "insert", (table) => table.createEntity({ ...outside, rowKey: "9" })],
  ["UpdateEntity", "replace", (table) => table.updateEntity(outside, "Replace")],
  ["MergeEntity", "merge", (table) => table.updateEntity(outside, "Merge")],
  ["InsertOrReplaceEntity", "insert_or_replace", (table) => table.upsertEntity(outside, "Replace")],
  ["InsertOrMergeEntity", "insert_or_merge", (table) => table.upsertEntity(outside, "Merge")],
  ["DeleteEntity", "delete", (table) => table.deleteEntity("a", "1")],
  ["EntityGroupTransaction", "transaction", (table) => table.submitTransaction([["delete", outside]])],
]) {
  conform(operation, `table_sas_refuses_${verb}_outside_its_range`, async (t) => {
    const table = withTableSas(await tableOfNine(t), "raud", onlyB);
    await refused(call(table), 403, "AuthorizationFailure");
  });
}

conform("EntityGroupTransaction", "table_sas_allows_writes_within_its_range", async (t) => {
  const table = withTableSas(await tableOfNine(t), "raud", onlyB);
  await table.createEntity({ partitionKey: "b", rowKey: "9" });
  await table.submitTransaction([["delete", { partitionKey: "b", rowKey: "9" }]]);
  assert.deepEqual(await visible(table), ["b1", "b2", "b3"]);
});
