// Tables, their policies and the service's settings by the retired client.

import assert from "node:assert/strict";

import { azure, conform, entity, freshTable, freshTableName, plain, tables, withSas } from "../harness/index.js";

conform("CreateTable", "create_table_if_not_exists_tells_whether_it_did", async (t) => {
  const name = freshTableName("legacy");
  t.after(() => tables.deleteTableIfExists(name));
  assert.equal((await tables.createTableIfNotExists(name)).result.created, true);
  assert.equal((await tables.createTableIfNotExists(name)).result.created, false);
});

conform("QueryTable", "does_table_exist_answers_both_ways", async (t) => {
  const name = await freshTable(t);
  assert.equal((await tables.doesTableExist(name)).result.exists, true);
  assert.equal((await tables.doesTableExist(freshTableName("legacy"))).result.exists, false);
});

conform("QueryTable", "a_table_read_by_name_is_the_table", async (t) => {
  const name = await freshTable(t);
  await tables.insertEntity(name, entity("r"));
  const { response } = await tables.doesTableExist(name);
  assert.equal(response.body.TableName, name);
});

conform("DeleteTable", "delete_table_if_exists_tells_whether_it_did", async (t) => {
  const name = await freshTable(t);
  assert.equal((await tables.deleteTableIfExists(name)).result, true);
  assert.equal((await tables.deleteTableIfExists(freshTableName("legacy"))).result, false);
});

conform("QueryTables", "list_tables_by_prefix_finds_the_table", async (t) => {
  const name = await freshTable(t);
  const { result } = await tables.listTablesSegmentedWithPrefix(name.slice(0, 20), null);
  assert.deepEqual(result.entries, [name]);
  assert.equal(result.continuationToken, null);
});

conform("SetTableAcl", "policies_come_back_and_open_the_table", async (t) => {
  const name = await freshTable(t);
  await tables.insertEntity(name, entity("r"));
  const [start, expiry] = [new Date("2024-01-01T00:00:00Z"), new Date("2099-01-01T00:00:00Z")];
  const policy = { Start: start, Expiry: expiry, Permissions: "r" };
  await tables.setTableAcl(name, { reader: policy });
  const { reader } = (await tables.getTableAcl(name)).result.signedIdentifiers;
  assert.deepEqual([new Date(reader.Start), new Date(reader.Expiry), reader.Permissions], [start, expiry, "r"]);
  const guest = withSas(plain.generateSharedAccessSignature(name, { Id: "reader" }));
  assert.equal((await guest.retrieveEntity(name, "p", "r")).result.RowKey._, "r");
});

conform("Authentication", "shared_access_signature_opens_what_it_permits", async (t) => {
  const name = await freshTable(t);
  const AccessPolicy = { Permissions: "ra", Expiry: azure.date.minutesFromNow(30), StartPk: "p", EndPk: "p" };
  const guest = withSas(plain.generateSharedAccessSignature(name, { AccessPolicy }));
  await guest.insertEntity(name, entity("r"));
  assert.equal((await guest.retrieveEntity(name, "p", "r")).result.RowKey._, "r");
  const attempt = guest.deleteEntity(name, entity("r"));
  await assert.rejects(attempt, { statusCode: 403, code: "AuthorizationPermissionMismatch" });
});

conform("SetTableServiceProperties", "service_properties_come_back_as_they_were_set", async () => {
  const { result: properties } = await tables.getServiceProperties();
  assert.equal((await tables.setServiceProperties(properties)).response.statusCode, 202);
  assert.deepEqual((await tables.getServiceProperties()).result, properties);
});

conform("GetTableServiceStats", "service_stats_of_the_secondary_are_read", async () => {
  const { result } = await tables.getServiceStats({ locationMode: azure.StorageUtilities.LocationMode.SECONDARY_ONLY });
  assert.ok(["live", "bootstrap", "unavailable"].includes(result.GeoReplication.Status));
});
