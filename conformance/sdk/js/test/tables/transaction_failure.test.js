// Entity group transactions that fail: nothing is applied, and the answer names the operation at fault.

import assert from "node:assert/strict";

import { conform, drain, freshTable, refused } from "../../harness/index.js";

const entity = (rowKey, rest = {}) => ({ partitionKey: "p", rowKey, ...rest });

/** Asserts that the transaction fails at `index` and leaves the table as it was. */
async function failsAt(table, actions, index, status, code) {
  const before = await drain(table.listEntities());
  const error = await refused(table.submitTransaction(actions), status, code);
  assert.match(error.message, new RegExp(`^${index}:`));
  assert.deepEqual(await drain(table.listEntities()), before);
}

/** Rewrites the body of the transaction on its way out, past the checks the SDK itself makes. */
function rewriteBody(table, rewrite) {
  table.pipeline.addPolicy({
    name: "rewriteBody",
    sendRequest(request, next) {
      request.body = rewrite(request.body);
      return next(request);
    },
  });
}

conform("EntityGroupTransaction", "transaction_inserting_an_existing_entity_fails_at_its_index", async (t) => {
  const table = await freshTable(t);
  await table.createEntity(entity("taken"));
  const actions = ["a", "b", "taken", "c"].map((rowKey) => ["create", entity(rowKey)]);
  await failsAt(table, actions, 2, 409, "EntityAlreadyExists");
});

for (const [verb, action] of [
  ["merging", (rowKey) => ["update", entity(rowKey, { value: 1 }), "Merge"]],
  ["replacing", (rowKey) => ["update", entity(rowKey, { value: 1 }), "Replace"]],
  ["deleting", (rowKey) => ["delete", entity(rowKey)]],
]) {
  conform("EntityGroupTransaction", `transaction_${verb}_a_missing_entity_fails_at_its_index`, async (t) => {
    const table = await freshTable(t);
    await failsAt(table, [["create", entity("a")], action("missing")], 1, 404, "ResourceNotFound");
  });
}

conform("EntityGroupTransaction", "transaction_with_a_stale_etag_fails_at_its_index", async (t) => {
  const table = await freshTable(t);
  const { etag } = await table.createEntity(entity("a", { value: 1 }));
  await table.updateEntity(entity("a", { value: 2 }), "Replace");
  const actions = [["create", entity("b")], ["update", entity("a", { value: 3 }), "Replace", { etag }]];
  await failsAt(table, actions, 1, 412, "UpdateConditionNotSatisfied");
});

conform("EntityGroupTransaction", "transaction_that_fails_undoes_updates_and_deletes", async (t) => {
  const table = await freshTable(t);
  await table.createEntity(entity("changed", { value: 1 }));
  await table.createEntity(entity("deleted", { value: 1 }));
  const actions = [
    ["update", entity("changed", { value: 2 }), "Replace"],
    ["delete", entity("deleted")],
    ["update", entity("missing", { value: 2 }), "Replace"],
  ];
  await failsAt(table, actions, 2, 404, "ResourceNotFound");
});

conform("EntityGroupTransaction", "transaction_touching_an_entity_twice_is_refused", async (t) => {
  const table = await freshTable(t);
  const actions = ["a", "b", "a"].map((rowKey, value) => ["upsert", entity(rowKey, { value })]);
  await failsAt(table, actions, 2, 400, "InvalidDuplicateRow");
});

conform("EntityGroupTransaction", "transaction_over_two_partitions_is_refused_by_the_client", async (t) => {
  const table = await freshTable(t);
  const actions = [["create", entity("a")], ["create", { partitionKey: "q", rowKey: "b" }]];
  await assert.rejects(table.submitTransaction(actions), /same partitionKey/);
});

conform("EntityGroupTransaction", "transaction_over_two_partitions_is_refused_by_the_service", async (t) => {
  const table = await freshTable(t);
  rewriteBody(table, (body) => body?.replace('"PartitionKey":"p","RowKey":"b"', '"PartitionKey":"q","RowKey":"b"'));
  const actions = [["create", entity("a")], ["create", entity("b")]];
  await refused(table.submitTransaction(actions), 400, "CommandsInBatchActOnDifferentPartitions");
  assert.deepEqual(await drain(table.listEntities()), []);
});

conform("EntityGroupTransaction", "transaction_of_101_operations_is_refused", async (t) => {
  const table = await freshTable(t);
  const actions = Array.from({ length: 101 }, (_, index) => ["create", entity(`${index}`)]);
  await refused(table.submitTransaction(actions), 400, "InvalidInput");
  assert.deepEqual(await drain(table.listEntities()), []);
});

conform("EntityGroupTransaction", "transaction_over_four_mebibytes_is_refused", async (t) => {
  const table = await freshTable(t);
  const text = "x".repeat(30_000);
  const actions = Array.from({ length: 75 }, (_, index) => ["create", entity(`${index}`, { a: text, b: text })]);
  await refused(table.submitTransaction(actions), 413, "RequestBodyTooLarge");
  assert.deepEqual(await drain(table.listEntities()), []);
});

conform("EntityGroupTransaction", "transaction_with_a_forbidden_key_character_fails_at_its_index", async (t) => {
  const table = await freshTable(t);
  await failsAt(table, [["create", entity("a")], ["create", entity("b#c")]], 1, 400, "OutOfRangeInput");
});

conform("EntityGroupTransaction", "transaction_with_a_value_that_is_too_large_fails_at_its_index", async (t) => {
  const table = await freshTable(t);
  const actions = [["create", entity("a")], ["create", entity("b", { text: "x".repeat(32_769) })]];
  await failsAt(table, actions, 1, 400, "PropertyValueTooLarge");
});

conform("EntityGroupTransaction", "transaction_without_a_row_key_fails_at_its_index", async (t) => {
  const table = await freshTable(t);
  const actions = [["create", entity("a")], ["create", { partitionKey: "p", value: 1 }]];
  await failsAt(table, actions, 1, 400, "PropertiesNeedValue");
});

conform("EntityGroupTransaction", "transaction_conflicts_let_exactly_one_win", async (t) => {
  const table = await freshTable(t);
  const attempts = Array.from({ length: 8 }, (_, winner) =>
    table.submitTransaction([["upsert", entity(`own${winner}`)], ["create", entity("prize", { winner })]]));
  const outcomes = await Promise.allSettled(attempts);
  const winners = outcomes.flatMap((outcome, index) => (outcome.status === "fulfilled" ? [index] : []));
  assert.equal(winners.length, 1);
  const rows = (await drain(table.listEntities())).map((each) => each.rowKey);
  assert.deepEqual(rows, [`own${winners[0]}`, "prize"]);
});
