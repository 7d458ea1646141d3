// Service SAS on one table: what each permission opens, and when a signature is no good.

import assert from "node:assert/strict";

import { TableClient } from "@azure/data-tables";

import {
  account, clientOptions, conform, drain, freshTable, hoursFromNow, isPlainHttp, refused, serviceClientWithSas, skip,
  tableClientWithSas, tableSas, withTableSas,
} from "../../harness/index.js";

const entity = { partitionKey: "p", rowKey: "r", value: 1 };
const fresh = { partitionKey: "p", rowKey: "new", value: 1 };

/** Every operation on entities, with the letters it needs. */
const operations = [
  ["QueryEntity", "r", (table) => table.getEntity("p", "r")],
  ["QueryEntities", "r", (table) => drain(table.listEntities())],
  ["InsertEntity", "a", (table) => table.createEntity(fresh)],
  ["MergeEntity", "u", (table) => table.updateEntity(entity, "Merge")],
  ["UpdateEntity", "u", (table) => table.updateEntity(entity, "Replace")],
  ["InsertOrMergeEntity", "au", (table) => table.upsertEntity(entity, "Merge")],
  ["InsertOrReplaceEntity", "au", (table) => table.upsertEntity(entity, "Replace")],
  ["DeleteEntity", "d", (table) => table.deleteEntity("p", "r")],
];

async function tableWithEntity(t) {
  const table = await freshTable(t);
  await table.createEntity(entity);
  return table;
}

const snakeCase = (operation) => operation.replace(/(?!^)[A-Z]/g, "_$&").toLowerCase();

for (const [operation, letters, call] of operations) {
  conform(operation, `table_sas_of_${letters}_allows_${snakeCase(operation)}`, async (t) => {
    await call(withTableSas(await tableWithEntity(t), letters));
  });

  for (const missing of letters) {
    conform(operation, `table_sas_without_${missing}_refuses_${snakeCase(operation)}`, async (t) => {
      const table = withTableSas(await tableWithEntity(t), "raud".replace(missing, ""));
      await refused(call(table), 403, "AuthorizationPermissionMismatch");
    });
  }
}

conform("EntityGroupTransaction", "table_sas_allows_a_transaction_within_its_permissions", async (t) => {
  const table = await tableWithEntity(t);
  await withTableSas(table, "ad").submitTransaction([["create", fresh], ["delete", entity]]);
  assert.equal((await table.getEntity("p", "new")).value, 1);
});

conform("EntityGroupTransaction", "table_sas_refuses_a_transaction_beyond_its_permissions", async (t) => {
  const table = await tableWithEntity(t);
  await refused(withTableSas(table, "a").submitTransaction([["create", fresh], ["delete", entity]]), 403);
  await refused(table.getEntity("p", "new"), 404, "ResourceNotFound");
});

conform("Authentication", "table_sas_as_part_of_the_url_works", async (t) => {
  const { tableName } = await tableWithEntity(t);
  const table = new TableClient(`${account.endpoint}?${tableSas(tableName, "ra")}`, tableName, { ...clientOptions });
  assert.equal((await table.getEntity("p", "r")).value, 1);
  await table.submitTransaction([["create", fresh]]);
  assert.equal((await drain(table.listEntities())).length, 2);
});

conform("Authentication", "table_sas_names_its_table_in_any_case", async (t) => {
  const { tableName } = await tableWithEntity(t);
  const table = tableClientWithSas(tableName, tableSas(tableName.toUpperCase(), "r"));
  assert.equal((await table.getEntity("p", "r")).value, 1);
});

conform("Authentication", "table_sas_opens_no_other_table", async (t) => {
  const table = await tableWithEntity(t);
  const other = await tableWithEntity(t);
  await refused(tableClientWithSas(other.tableName, tableSas(table.tableName, "raud")).getEntity("p", "r"), 403);
});

conform("Authentication", "table_sas_does_not_list_tables", async (t) => {
  const { tableName } = await freshTable(t);
  await refused(drain(serviceClientWithSas(tableSas(tableName, "raud")).listTables()), 403);
});

conform("Authentication", "table_sas_that_has_expired_is_refused", async (t) => {
  const past = { startsOn: hoursFromNow(-2), expiresOn: hoursFromNow(-1) };
  const table = withTableSas(await tableWithEntity(t), "r", past);
  await refused(table.getEntity("p", "r"), 403, "AuthenticationFailed");
});

conform("Authentication", "table_sas_that_has_not_started_is_refused", async (t) => {
  const table = withTableSas(await tableWithEntity(t), "r", { startsOn: hoursFromNow(1), expiresOn: hoursFromNow(2) });
  await refused(table.getEntity("p", "r"), 403, "AuthenticationFailed");
});

conform("Authentication", "table_sas_within_its_time_works", async (t) => {
  const table = withTableSas(await tableWithEntity(t), "r", { startsOn: hoursFromNow(-1), expiresOn: hoursFromNow(1) });
  assert.equal((await table.getEntity("p", "r")).value, 1);
});

conform("Authentication", "table_sas_with_changed_permissions_is_refused", async (t) => {
  const { tableName } = await tableWithEntity(t);
  const sas = tableSas(tableName, "r").replace("sp=r&", "sp=rd&");
  await refused(tableClientWithSas(tableName, sas).deleteEntity("p", "r"), 403, "AuthenticationFailed");
});

conform("Authentication", "table_sas_for_https_only_is_refused_over_http", async (t) => {
  if (!isPlainHttp) skip("the target is reached by https");
  const table = withTableSas(await tableWithEntity(t), "r", { protocol: "https" });
  await refused(table.getEntity("p", "r"), 403, "AuthorizationProtocolMismatch");
});

conform("Authentication", "table_sas_for_both_protocols_works", async (t) => {
  const table = withTableSas(await tableWithEntity(t), "r", { protocol: "https,http" });
  assert.equal((await table.getEntity("p", "r")).value, 1);
});

conform("Authentication", "table_sas_for_another_address_is_refused", async (t) => {
  const table = withTableSas(await tableWithEntity(t), "r", { ipRange: { start: "203.0.113.7", end: "203.0.113.9" } });
  await refused(table.getEntity("p", "r"), 403, "AuthorizationSourceIPMismatch");
});

conform("Authentication", "table_sas_for_the_callers_address_works", async (t) => {
  if (new URL(account.endpoint).hostname !== "127.0.0.1") skip("the caller's address is known only on 127.0.0.1");
  const table = withTableSas(await tableWithEntity(t), "r", { ipRange: { start: "127.0.0.1", end: "127.0.0.9" } });
  assert.equal((await table.getEntity("p", "r")).value, 1);
});
