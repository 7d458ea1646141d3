// Point reads and projection.

import assert from "node:assert/strict";

import { conform, drain, freshTable, properties, refused, responseOf } from "../../harness/index.js";

async function tableWithEntity(t) {
  const table = await freshTable(t);
  await table.createEntity({ partitionKey: "p", rowKey: "r", a: 1, b: "two", c: 3n });
  return table;
}

const select = (...names) => ({ queryOptions: { select: names } });

conform("QueryEntity", "point_read_of_a_missing_entity_answers_resource_not_found", async (t) => {
  const table = await tableWithEntity(t);
  await refused(table.getEntity("p", "other"), 404, "ResourceNotFound");
  await refused(table.getEntity("other", "r"), 404, "ResourceNotFound");
});

conform("QueryEntity", "point_read_answers_minimal_metadata", async (t) => {
  const table = await tableWithEntity(t);
  const response = await responseOf((options) => table.getEntity("p", "r", options));
  assert.match(response.headers.get("content-type"), /^application\/json;\s*odata=minimalmetadata/);
  const body = JSON.parse(response.bodyAsText);
  assert.ok(body["odata.metadata"].endsWith(`$metadata#${table.tableName}/@Element`));
  assert.equal(body["c@odata.type"], "Edm.Int64");
  assert.ok(!("a@odata.type" in body) && !("b@odata.type" in body) && !("Timestamp@odata.type" in body));
});

conform("QueryEntity", "select_on_a_point_read_returns_only_what_was_named", async (t) => {
  const table = await tableWithEntity(t);
  const entity = await table.getEntity("p", "r", select("a", "c"));
  assert.deepEqual(properties(entity), { a: 1, c: 3n });
  assert.ok(!("partitionKey" in entity) && !("rowKey" in entity) && !("timestamp" in entity));
});

conform("QueryEntity", "select_on_a_point_read_keeps_the_etag", async (t) => {
  const table = await tableWithEntity(t);
  const { etag } = await table.getEntity("p", "r");
  assert.equal((await table.getEntity("p", "r", select("a"))).etag, etag);
});

conform("QueryEntity", "select_returns_the_system_properties_when_named", async (t) => {
  const table = await tableWithEntity(t);
  const entity = await table.getEntity("p", "r", select("partitionKey", "rowKey", "timestamp"));
  assert.deepEqual(properties(entity), {});
  assert.deepEqual([entity.partitionKey, entity.rowKey], ["p", "r"]);
  assert.ok(entity.timestamp);
});

conform("QueryEntity", "select_of_a_property_the_entity_lacks_returns_null", async (t) => {
  const table = await tableWithEntity(t);
  assert.deepEqual(properties(await table.getEntity("p", "r", select("a", "lacking"))), { a: 1, lacking: null });
});

conform("QueryEntity", "select_is_case_sensitive", async (t) => {
  const table = await tableWithEntity(t);
  const entity = await table.getEntity("p", "r", select("A"));
  assert.ok(!("a" in entity));
});

conform("QueryEntity", "select_of_the_star_returns_everything", async (t) => {
  const table = await tableWithEntity(t);
  assert.deepEqual(properties(await table.getEntity("p", "r", select("*"))), { a: 1, b: "two", c: 3n });
});

conform("QueryEntities", "select_on_a_query_returns_only_what_was_named", async (t) => {
  const table = await tableWithEntity(t);
  await table.createEntity({ partitionKey: "p", rowKey: "s", a: 10 });
  const entities = await drain(table.listEntities(select("rowKey", "a")));
  assert.deepEqual(entities.map(({ etag, ...rest }) => rest), [{ rowKey: "r", a: 1 }, { rowKey: "s", a: 10 }]);
  assert.ok(entities.every((entity) => entity.etag));
});

conform("QueryEntities", "select_on_a_query_fills_gaps_with_null", async (t) => {
  const table = await tableWithEntity(t);
  await table.createEntity({ partitionKey: "p", rowKey: "s", a: 10 });
  const entities = await drain(table.listEntities(select("b")));
  assert.deepEqual(entities.map(properties), [{ b: "two" }, { b: null }]);
});
