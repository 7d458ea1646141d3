// Entity group transactions as the retired client writes them: bare line feeds, MERGE, and a lone GET.

import assert from "node:assert/strict";

import { azure, conform, entity, entityGenerator, freshTable, tables, values } from "../harness/index.js";

const numbered = (row, n) => entity(row, { n: entityGenerator.Int32(n) });

conform("EntityGroupTransaction", "batch_with_bare_line_feeds_applies_every_kind_of_operation", async (t) => {
  const name = await freshTable(t);
  const old = entityGenerator.Int32(1);
  for (const row of ["merge", "replace", "delete"]) await tables.insertEntity(name, entity(row, { old }));
  const batch = new azure.TableBatch();
  batch.insertEntity(numbered("insert", 2));
  batch.mergeEntity(numbered("merge", 2));
  batch.replaceEntity(numbered("replace", 2));
  batch.insertOrMergeEntity(numbered("insertOrMerge", 2));
  batch.insertOrReplaceEntity(numbered("insertOrReplace", 2));
  batch.deleteEntity(entity("delete"));
  const { result } = await tables.executeBatch(name, batch);
  assert.deepEqual(result.map((part) => part.response.statusCode), Array(6).fill(204));
  const { entries } = (await tables.queryEntities(name, new azure.TableQuery(), null)).result;
  assert.deepEqual(Object.fromEntries(entries.map((entry) => [entry.RowKey._, values(entry)])), {
    insert: { n: 2 },
    insertOrMerge: { n: 2 },
    insertOrReplace: { n: 2 },
    merge: { old: 1, n: 2 },
    replace: { n: 2 },
  });
});

conform("EntityGroupTransaction", "batch_echoes_inserted_entities_when_asked", async (t) => {
  const name = await freshTable(t);
  const batch = new azure.TableBatch();
  batch.insertEntity(numbered("a", 1), { echoContent: true });
  batch.insertEntity(numbered("b", 2), { echoContent: true });
  const { result } = await tables.executeBatch(name, batch);
  assert.deepEqual(result.map((part) => part.entity.n._), [1, 2]);
});

conform("EntityGroupTransaction", "batch_of_one_get_returns_the_entity", async (t) => {
  const name = await freshTable(t);
  await tables.insertEntity(name, numbered("r", 7));
  const batch = new azure.TableBatch();
  batch.retrieveEntity("p", "r");
  const { result } = await tables.executeBatch(name, batch);
  assert.equal(result[0].entity.n._, 7);
});

conform("EntityGroupTransaction", "batch_that_fails_names_the_operation_and_changes_nothing", async (t) => {
  const name = await freshTable(t);
  await tables.insertEntity(name, entity("taken"));
  const batch = new azure.TableBatch();
  batch.insertEntity(entity("a"));
  batch.insertEntity(entity("taken"));
  const error = await tables.executeBatch(name, batch).catch((reason) => reason);
  assert.equal(error.code, "EntityAlreadyExists");
  assert.match(error.message, /^1:/);
  await assert.rejects(tables.retrieveEntity(name, "p", "a"), { statusCode: 404 });
});
