// Inserting entities: what is answered, what is kept, what is refused.

import assert from "node:assert/strict";

import { account, conform, freshTable, properties, refused, responseOf, tableClient } from "../../harness/index.js";

const keys = { partitionKey: "p", rowKey: "r" };

conform("InsertEntity", "insert_answers_the_etag_that_a_read_shows", async (t) => {
  const table = await freshTable(t);
  const inserted = await table.createEntity({ ...keys, value: 1 });
  const entity = await table.getEntity("p", "r");
  assert.match(inserted.etag, /^W\/"datetime'.+'"$/);
  assert.equal(entity.etag, inserted.etag);
});

conform("InsertEntity", "insert_applies_the_preference_for_no_content", async (t) => {
  const table = await freshTable(t);
  const inserted = await table.createEntity(keys);
  assert.equal(inserted.preferenceApplied, "return-no-content");
  const response = await responseOf((options) => table.createEntity({ ...keys, rowKey: "s" }, options));
  assert.equal(response.status, 204);
});

conform("InsertEntity", "insert_answers_where_the_entity_is", async (t) => {
  const table = await freshTable(t);
  const response = await responseOf((options) => table.createEntity(keys, options));
  const address = `${account.endpoint}/${table.tableName}(PartitionKey='p',RowKey='r')`;
  assert.equal(response.headers.get("location"), address);
  assert.equal(response.headers.get("dataserviceid"), address);
});

conform("InsertEntity", "insert_of_an_entity_with_only_keys_is_kept", async (t) => {
  const table = await freshTable(t);
  await table.createEntity(keys);
  const entity = await table.getEntity("p", "r");
  assert.deepEqual(properties(entity), {});
  assert.equal(entity.partitionKey, "p");
  assert.equal(entity.rowKey, "r");
});

conform("InsertEntity", "insert_of_an_existing_entity_is_refused", async (t) => {
  const table = await freshTable(t);
  await table.createEntity({ ...keys, value: 1 });
  await refused(table.createEntity({ ...keys, value: 2 }), 409, "EntityAlreadyExists");
  assert.equal((await table.getEntity("p", "r")).value, 1);
});

conform("InsertEntity", "insert_without_a_row_key_is_refused", async (t) => {
  const table = await freshTable(t);
  await refused(table.createEntity({ partitionKey: "p", value: 1 }), 400, "PropertiesNeedValue");
});

conform("InsertEntity", "insert_without_a_partition_key_is_refused", async (t) => {
  const table = await freshTable(t);
  await refused(table.createEntity({ rowKey: "r", value: 1 }), 400, "PropertiesNeedValue");
});

conform("InsertEntity", "insert_sets_its_own_timestamp", async (t) => {
  const table = await freshTable(t);
  await table.createEntity({ ...keys, timestamp: "2001-01-01T00:00:00Z" });
  const { timestamp } = await table.getEntity("p", "r");
  const ageMinutes = (Date.now() - Date.parse(timestamp)) / 60_000;
  assert.ok(Math.abs(ageMinutes) < 15, `timestamp ${timestamp}`);
});

conform("InsertEntity", "insert_does_not_store_null_properties", async (t) => {
  const table = await freshTable(t);
  await table.createEntity({ ...keys, present: 1, absent: null, missing: undefined });
  assert.deepEqual(properties(await table.getEntity("p", "r")), { present: 1 });
});

conform("InsertEntity", "insert_accepts_an_entity_as_it_was_read", async (t) => {
  const table = await freshTable(t);
  await table.createEntity({ ...keys, big: 7n, when: new Date("2024-05-06T07:08:09.010Z") });
  const read = await table.getEntity("p", "r");
  await table.createEntity({ ...read, rowKey: "copy" });
  assert.deepEqual(properties(await table.getEntity("p", "copy")), properties(read));
});

conform("InsertEntity", "insert_keeps_property_names_that_differ_only_in_case", async (t) => {
  const table = await freshTable(t);
  const names = { value: 1, Value: 2, VALUE: 3 };
  await table.createEntity({ ...keys, ...names });
  assert.deepEqual(properties(await table.getEntity("p", "r")), names);
});

conform("InsertEntity", "insert_keeps_property_names_of_other_alphabets", async (t) => {
  const table = await freshTable(t);
  const names = { größe: 1, размер: 2, 大きさ: 3, _underscore: 4, digits123: 5 };
  await table.createEntity({ ...keys, ...names });
  assert.deepEqual(properties(await table.getEntity("p", "r")), names);
});

conform("InsertEntity", "insert_finds_the_table_name_in_any_case", async (t) => {
  const table = await freshTable(t);
  await tableClient(table.tableName.toUpperCase()).createEntity({ ...keys, value: 1 });
  assert.equal((await table.getEntity("p", "r")).value, 1);
});
