// Deleting tables, and what a missing table answers to everything else.

import assert from "node:assert/strict";

import { odata } from "@azure/data-tables";

import {
  conform, drain, freshTable, freshTableName, refused, responseOf, serviceClient, tableClient,
} from "../../harness/index.js";

const entity = { partitionKey: "p", rowKey: "r", value: 1 };

conform("DeleteTable", "delete_table_takes_it_from_the_listing", async (t) => {
  const table = await freshTable(t);
  await table.deleteTable();
  const filter = odata`TableName eq ${table.tableName}`;
  assert.deepEqual(await drain(serviceClient().listTables({ queryOptions: { filter } })), []);
});

conform("DeleteTable", "delete_table_makes_its_entities_unreachable", async (t) => {
  const table = await freshTable(t);
  await table.createEntity(entity);
  await table.deleteTable();
  await refused(table.getEntity("p", "r"), 404, "TableNotFound");
});

conform("DeleteTable", "delete_table_finds_the_name_in_any_case", async (t) => {
  const table = await freshTable(t);
  const response = await responseOf((options) => tableClient(table.tableName.toUpperCase()).deleteTable(options));
  assert.equal(response.status, 204);
  await refused(table.getEntity("p", "r"), 404, "TableNotFound");
});

conform("DeleteTable", "delete_table_that_is_missing_is_forgiven_by_the_client", async () => {
  await tableClient(freshTableName()).deleteTable();
  await serviceClient().deleteTable(freshTableName());
});

conform("DeleteTable", "delete_table_that_is_missing_answers_resource_not_found", async () => {
  const response = await responseOf((options) => tableClient(freshTableName()).deleteTable(options));
  assert.equal(response.status, 404);
  assert.equal(response.parsedBody.odataError.code, "ResourceNotFound");
});

for (const [operation, verb, call] of [
  ["InsertEntity", "insert", (table) => table.createEntity(entity)],
  ["QueryEntity", "point_read", (table) => table.getEntity("p", "r")],
  ["QueryEntities", "query", (table) => drain(table.listEntities())],
  ["UpdateEntity", "replace", (table) => table.updateEntity(entity, "Replace")],
  ["MergeEntity", "merge", (table) => table.updateEntity(entity, "Merge")],
  ["InsertOrReplaceEntity", "insert_or_replace", (table) => table.upsertEntity(entity, "Replace")],
  ["InsertOrMergeEntity", "insert_or_merge", (table) => table.upsertEntity(entity, "Merge")],
  ["DeleteEntity", "delete", (table) => table.deleteEntity("p", "r")],
  ["EntityGroupTransaction", "transaction", (table) => table.submitTransaction([["create", entity]])],
]) {
  conform(operation, `${verb}_in_a_missing_table_answers_table_not_found`, async () => {
    await refused(call(tableClient(freshTableName())), 404, "TableNotFound");
  });
}
