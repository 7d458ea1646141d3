// Entity group transactions that succeed.

import assert from "node:assert/strict";

import { TableTransaction } from "@azure/data-tables";

import { conform, drain, freshTable, properties, responseOf } from "../../harness/index.js";

const entity = (rowKey, rest = {}) => ({ partitionKey: "p", rowKey, ...rest });

async function stored(table) {
  const entities = await drain(table.listEntities());
  return Object.fromEntries(entities.map((each) => [each.rowKey, properties(each)]));
}

async function tableWithOldEntities(t, ...rows) {
  const table = await freshTable(t);
  for (const rowKey of rows) await table.createEntity(entity(rowKey, { old: 1 }));
  return table;
}

conform("EntityGroupTransaction", "transaction_applies_every_kind_of_operation", async (t) => {
  const table = await tableWithOldEntities(t, "merge", "replace", "upsertMerge", "upsertReplace", "delete");
  const transaction = new TableTransaction();
  transaction.createEntity(entity("create", { fresh: 2 }));
  transaction.updateEntity(entity("merge", { fresh: 2 }), "Merge");
  transaction.updateEntity(entity("replace", { fresh: 2 }), "Replace");
  transaction.upsertEntity(entity("upsertMerge", { fresh: 2 }), "Merge");
  transaction.upsertEntity(entity("upsertReplace", { fresh: 2 }), "Replace");
  transaction.upsertEntity(entity("upsertInserted", { fresh: 2 }), "Merge");
  transaction.deleteEntity("p", "delete");
  const result = await table.submitTransaction(transaction.actions);
  assert.equal(result.status, 202);
  assert.deepEqual(result.subResponses.map((response) => response.status), Array(7).fill(204));
  assert.deepEqual(await stored(table), {
    create: { fresh: 2 },
    merge: { old: 1, fresh: 2 },
    replace: { fresh: 2 },
    upsertMerge: { old: 1, fresh: 2 },
    upsertReplace: { fresh: 2 },
    upsertInserted: { fresh: 2 },
  });
});

conform("EntityGroupTransaction", "transaction_answers_the_etag_of_every_write", async (t) => {
  const table = await tableWithOldEntities(t, "merge", "delete");
  const { subResponses } = await table.submitTransaction([
    ["create", entity("create")],
    ["update", entity("merge", { fresh: 2 }), "Merge"],
    ["delete", entity("delete")],
  ]);
  assert.equal(subResponses[0].etag, (await table.getEntity("p", "create")).etag);
  assert.equal(subResponses[1].etag, (await table.getEntity("p", "merge")).etag);
  assert.equal(subResponses[2].etag, undefined);
});

conform("EntityGroupTransaction", "transaction_answers_can_be_found_by_row_key_for_inserts", async (t) => {
  const table = await freshTable(t);
  const result = await table.submitTransaction([["create", entity("a")], ["create", entity("b")]]);
  assert.equal(result.getResponseForEntity("b").etag, (await table.getEntity("p", "b")).etag);
});

conform("EntityGroupTransaction", "transaction_gives_all_its_entities_one_timestamp", async (t) => {
  const table = await freshTable(t);
  await table.submitTransaction(Array.from({ length: 20 }, (_, index) => ["create", entity(`${index}`)]));
  const timestamps = new Set((await drain(table.listEntities())).map(({ timestamp }) => timestamp));
  assert.equal(timestamps.size, 1);
});

conform("EntityGroupTransaction", "transaction_of_one_operation_succeeds", async (t) => {
  const table = await freshTable(t);
  await table.submitTransaction([["create", entity("only", { value: 1 })]]);
  assert.deepEqual(await stored(table), { only: { value: 1 } });
});

conform("EntityGroupTransaction", "transaction_of_one_hundred_operations_succeeds", async (t) => {
  const table = await freshTable(t);
  const actions = Array.from({ length: 100 }, (_, index) => ["create", entity(`${index}`, { index })]);
  const { subResponses } = await table.submitTransaction(actions);
  assert.equal(subResponses.length, 100);
  assert.equal((await drain(table.listEntities())).length, 100);
});

conform("EntityGroupTransaction", "transaction_obeys_matching_etags", async (t) => {
  const table = await freshTable(t);
  const { etag } = await table.createEntity(entity("a", { value: 1 }));
  await table.submitTransaction([["update", entity("a", { value: 2 }), "Replace", { etag }]]);
  assert.equal((await table.getEntity("p", "a")).value, 2);
});

conform("EntityGroupTransaction", "transaction_keeps_every_edm_type", async (t) => {
  const table = await freshTable(t);
  const values = {
    text: "naïve 🦀 \"quoted\"\r\n--changeset",
    int32: -1,
    int64: 9007199254740993n,
    double: 0.1,
    flag: false,
    date: new Date("2024-02-29T12:34:56.789Z"),
    guid: { type: "Guid", value: "0d9df4a2-2a9e-4d52-9b4f-1c5a4ec3f8a1" },
  };
  await table.submitTransaction([["create", entity("a", values)]]);
  assert.deepEqual(properties(await table.getEntity("p", "a")), values);
});

conform("EntityGroupTransaction", "transaction_reaches_entities_with_odd_keys", async (t) => {
  const table = await freshTable(t);
  const partitionKey = "o'b r+(é)%";
  const rows = ["", "a'b", "100%", "a+b", "(x)", "日本 🦀"];
  await table.submitTransaction(rows.map((rowKey) => ["upsert", { partitionKey, rowKey, value: 1 }, "Replace"]));
  await table.submitTransaction(rows.map((rowKey) => ["update", { partitionKey, rowKey, value: 2 }, "Merge"]));
  const found = await drain(table.listEntities());
  assert.deepEqual(found.map((each) => [each.rowKey, each.value]).sort(), rows.map((rowKey) => [rowKey, 2]).sort());
  await table.submitTransaction(rows.map((rowKey) => ["delete", { partitionKey, rowKey }]));
  assert.deepEqual(await drain(table.listEntities()), []);
});

conform("EntityGroupTransaction", "transaction_just_under_four_mebibytes_succeeds", async (t) => {
  const table = await freshTable(t);
  const text = "x".repeat(30_000);
  const actions = Array.from({ length: 65 }, (_, index) => ["create", entity(`${index}`, { a: text, b: text })]);
  await table.submitTransaction(actions);
  assert.equal((await drain(table.listEntities({ queryOptions: { select: ["RowKey"] } }))).length, 65);
});

conform("EntityGroupTransaction", "transaction_is_answered_in_the_parts_the_clients_look_for", async (t) => {
  const table = await freshTable(t);
  const response = await responseOf(({ onResponse }) => {
    table.pipeline.addPolicy({
      name: "keepResponse",
      async sendRequest(request, next) {
        const answer = await next(request);
        onResponse(answer);
        return answer;
      },
    });
    return table.submitTransaction([["create", entity("a")]]);
  });
  assert.match(response.headers.get("content-type"), /^multipart\/mixed; boundary="?batchresponse_/);
  assert.match(response.bodyAsText, /^--batchresponse_/);
  assert.match(response.bodyAsText, /\r\n\r\n--changesetresponse_/);
  assert.match(response.bodyAsText, /\r\nHTTP\/1\.1 204 No Content\r\n/);
});
