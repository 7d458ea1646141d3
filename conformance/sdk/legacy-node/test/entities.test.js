// Entities by the retired client: the MERGE verb, echoed content, empty content types, tokens.

import assert from "node:assert/strict";

import { azure, conform, entity, entityGenerator, freshTable, tables, values } from "../harness/index.js";

conform("InsertEntity", "entity_generator_types_round_trip", async (t) => {
  const name = await freshTable(t);
  const sent = {
    text: entityGenerator.String("naïve 🦀"),
    int32: entityGenerator.Int32(-5),
    int64: entityGenerator.Int64("9007199254740993"),
    double: entityGenerator.Double(1.5),
    flag: entityGenerator.Boolean(true),
    date: entityGenerator.DateTime(new Date("2024-02-29T12:34:56.789Z")),
    guid: entityGenerator.Guid("0d9df4a2-2a9e-4d52-9b4f-1c5a4ec3f8a1"),
    binary: entityGenerator.Binary(Buffer.from([0, 1, 255])),
  };
  await tables.insertEntity(name, entity("r", sent));
  const { result } = await tables.retrieveEntity(name, "p", "r");
  assert.deepEqual(values(result), values(sent));
  assert.deepEqual(
    ["int64", "date", "guid", "binary"].map((property) => result[property].$),
    ["Edm.Int64", "Edm.DateTime", "Edm.Guid", "Edm.Binary"],
  );
});

conform("InsertEntity", "whole_double_given_as_text_stays_a_double", async (t) => {
  const name = await freshTable(t);
  await tables.insertEntity(name, entity("r", { double: entityGenerator.Double(3) }));
  const query = new azure.TableQuery().where("double eq 3.0");
  assert.equal((await tables.queryEntities(name, query, null)).result.entries.length, 1);
});

conform("InsertEntity", "echo_content_decides_whether_the_entity_is_returned", async (t) => {
  const name = await freshTable(t);
  const value = entityGenerator.Int32(1);
  const echoed = await tables.insertEntity(name, entity("a", { value }), { echoContent: true });
  assert.equal(echoed.response.statusCode, 201);
  assert.equal(echoed.result.value._, 1);
  const silent = await tables.insertEntity(name, entity("b"));
  assert.equal(silent.response.statusCode, 204);
  assert.ok(silent.result[".metadata"].etag);
});

conform("MergeEntity", "the_merge_verb_merges", async (t) => {
  const name = await freshTable(t);
  await tables.insertEntity(name, entity("r", { a: entityGenerator.Int32(1) }));
  await tables.mergeEntity(name, entity("r", { b: entityGenerator.Int32(2) }));
  await tables.insertOrMergeEntity(name, entity("r", { c: entityGenerator.Int32(3) }));
  assert.deepEqual(values((await tables.retrieveEntity(name, "p", "r")).result), { a: 1, b: 2, c: 3 });
});

conform("UpdateEntity", "replace_and_insert_or_replace_replace", async (t) => {
  const name = await freshTable(t);
  await tables.insertOrReplaceEntity(name, entity("r", { a: entityGenerator.Int32(1) }));
  await tables.replaceEntity(name, entity("r", { b: entityGenerator.Int32(2) }));
  assert.deepEqual(values((await tables.retrieveEntity(name, "p", "r")).result), { b: 2 });
});

conform("UpdateEntity", "replace_with_a_stale_etag_is_refused", async (t) => {
  const name = await freshTable(t);
  const { result: stale } = await tables.insertEntity(name, entity("r"));
  await tables.mergeEntity(name, entity("r", { a: entityGenerator.Int32(1) }));
  const outdated = { ...entity("r"), ".metadata": stale[".metadata"] };
  await assert.rejects(tables.replaceEntity(name, outdated), { statusCode: 412, code: "UpdateConditionNotSatisfied" });
});

conform("DeleteEntity", "delete_without_a_content_type_deletes", async (t) => {
  const name = await freshTable(t);
  await tables.insertEntity(name, entity("o'brien & co"));
  assert.equal((await tables.deleteEntity(name, entity("o'brien & co"))).response.statusCode, 204);
  const missing = tables.retrieveEntity(name, "p", "o'brien & co");
  await assert.rejects(missing, { statusCode: 404, code: "ResourceNotFound" });
});

conform("QueryEntities", "query_with_where_select_and_top_continues_by_token", async (t) => {
  const name = await freshTable(t);
  for (const row of ["1", "2", "3", "4", "5"]) {
    const n = entityGenerator.Int32(Number(row));
    await tables.insertEntity(name, entity(row, { n, other: entityGenerator.String("x") }));
  }
  const query = new azure.TableQuery().select("n").top(2).where("PartitionKey eq ?", "p").and("n ge ?", 2);
  const found = [];
  let token = null;
  do {
    const { result } = await tables.queryEntities(name, query, token);
    assert.ok(result.entries.length <= 2);
    found.push(...result.entries.map(values));
    token = result.continuationToken;
  } while (token);
  assert.deepEqual(found, [{ n: 2 }, { n: 3 }, { n: 4 }, { n: 5 }]);
});

conform("QueryEntity", "every_payload_format_is_understood", async (t) => {
  const name = await freshTable(t);
  await tables.insertEntity(name, entity("r", { n: entityGenerator.Int64("42") }));
  for (const payloadFormat of Object.values(azure.TableUtilities.PayloadFormat)) {
    const { result, response } = await tables.retrieveEntity(name, "p", "r", { payloadFormat });
    assert.equal(result.n._, "42");
    assert.ok(response.headers["content-type"].replaceAll(" ", "").startsWith(payloadFormat));
    assert.ok(result[".metadata"].etag);
  }
});
