// Account SAS: services, resource types and permission letters, each opening what it should.

import assert from "node:assert/strict";

import {
  conform, deleteAfter, drain, freshTable, freshTableName, hoursFromNow, refused, servicesOf, serviceWithAccountSas,
  tableWithAccountSas,
} from "../../harness/index.js";

const entity = { partitionKey: "p", rowKey: "r", value: 1 };

async function tableWithEntity(t) {
  const table = await freshTable(t);
  await table.createEntity(entity);
  return table;
}

conform("QueryTables", "account_sas_of_list_on_containers_lists_tables", async (t) => {
  const { tableName } = await freshTable(t);
  const tables = await drain(serviceWithAccountSas("l", "c").listTables());
  assert.ok(tables.some((table) => table.name === tableName));
});

conform("QueryTables", "account_sas_without_list_does_not_list_tables", async () => {
  await refused(drain(serviceWithAccountSas("rwdau", "c").listTables()), 403, "AuthorizationPermissionMismatch");
});

conform("CreateTable", "account_sas_of_write_on_containers_creates_tables", async (t) => {
  const name = freshTableName();
  deleteAfter(t, name);
  await serviceWithAccountSas("w", "c").createTable(name);
});

conform("CreateTable", "account_sas_of_list_does_not_create_tables", async (t) => {
  const name = freshTableName();
  deleteAfter(t, name);
  await refused(serviceWithAccountSas("rl", "c").createTable(name), 403, "AuthorizationPermissionMismatch");
});

conform("DeleteTable", "account_sas_of_delete_on_containers_deletes_tables", async (t) => {
  const table = await freshTable(t);
  await serviceWithAccountSas("d", "c").deleteTable(table.tableName);
  await refused(table.getEntity("p", "r"), 404, "TableNotFound");
});

const operations = [
  ["QueryEntity", "point_read", "r", (table) => table.getEntity("p", "r")],
  ["QueryEntities", "query", "r", (table) => drain(table.listEntities())],
  ["InsertEntity", "insert", "a", (table) => table.createEntity({ ...entity, rowKey: "new" })],
  ["MergeEntity", "merge", "u", (table) => table.updateEntity(entity, "Merge")],
  ["UpdateEntity", "replace", "u", (table) => table.updateEntity(entity, "Replace")],
  ["InsertOrMergeEntity", "insert_or_merge", "au", (table) => table.upsertEntity(entity, "Merge")],
  ["InsertOrReplaceEntity", "insert_or_replace", "au", (table) => table.upsertEntity(entity, "Replace")],
  ["DeleteEntity", "delete", "d", (table) => table.deleteEntity("p", "r")],
];

for (const [operation, verb, letters, call] of operations) {
  conform(operation, `account_sas_of_${letters}_on_objects_allows_${verb}`, async (t) => {
    await call(tableWithAccountSas(await tableWithEntity(t), letters, "o"));
  });

  for (const missing of letters) {
    conform(operation, `account_sas_without_${missing}_refuses_${verb}`, async (t) => {
      const table = tableWithAccountSas(await tableWithEntity(t), "rwdlau".replace(missing, ""), "sco");
      await refused(call(table), 403, "AuthorizationPermissionMismatch");
    });
  }
}

conform("EntityGroupTransaction", "account_sas_allows_a_transaction_within_its_permissions", async (t) => {
  const table = await tableWithEntity(t);
  const actions = [["create", { ...entity, rowKey: "new" }], ["delete", entity]];
  await tableWithAccountSas(table, "ad", "o").submitTransaction(actions);
  assert.equal((await table.getEntity("p", "new")).value, 1);
});

conform("QueryEntities", "account_sas_without_objects_refuses_entities", async (t) => {
  const table = tableWithAccountSas(await tableWithEntity(t), "rwdlau", "sc");
  await refused(drain(table.listEntities()), 403, "AuthorizationResourceTypeMismatch");
});

conform("QueryTables", "account_sas_without_containers_refuses_the_listing_of_tables", async () => {
  await refused(drain(serviceWithAccountSas("rwdlau", "so").listTables()), 403, "AuthorizationResourceTypeMismatch");
});

conform("GetTableServiceProperties", "account_sas_of_read_on_services_reads_properties", async () => {
  assert.ok((await serviceWithAccountSas("r", "s").getProperties()).logging);
});

conform("GetTableServiceProperties", "account_sas_without_services_refuses_properties", async () => {
  const call = serviceWithAccountSas("rwdlau", "co").getProperties();
  await refused(call, 403, "AuthorizationResourceTypeMismatch");
});

conform("Authentication", "account_sas_for_other_services_is_refused", async (t) => {
  const services = servicesOf("bqf");
  const table = tableWithAccountSas(await tableWithEntity(t), "rwdlau", "sco", { services });
  await refused(table.getEntity("p", "r"), 403, "AuthorizationServiceMismatch");
});

conform("Authentication", "account_sas_for_all_services_works", async (t) => {
  const services = servicesOf("btqf");
  const table = tableWithAccountSas(await tableWithEntity(t), "r", "o", { services });
  assert.equal((await table.getEntity("p", "r")).value, 1);
});

conform("Authentication", "account_sas_that_has_expired_is_refused", async (t) => {
  const table = tableWithAccountSas(await tableWithEntity(t), "r", "o", { expiresOn: hoursFromNow(-1) });
  await refused(table.getEntity("p", "r"), 403, "AuthenticationFailed");
});
