// Order, pages and continuation tokens of entity queries.

import assert from "node:assert/strict";

import { odata } from "@azure/data-tables";

import { conform, drain, freshTable, refused, tableClient } from "../../harness/index.js";

const TRANSACTION_OPERATIONS_MAX = 100;

const row = (index) => index.toString().padStart(5, "0");
const rowsOf = (entities) => entities.map((entity) => entity.rowKey);

/** Fills one partition with `count` entities, rows "00000" and up. */
async function fill(table, partitionKey, count) {
  for (let first = 0; first < count; first += TRANSACTION_OPERATIONS_MAX) {
    const length = Math.min(TRANSACTION_OPERATIONS_MAX, count - first);
    const numbers = Array.from({ length }, (_, index) => first + index);
    await table.submitTransaction(numbers.map((n) => ["create", { partitionKey, rowKey: row(n), n }]));
  }
}

conform("QueryEntities", "query_by_page_never_exceeds_the_page_size", async (t) => {
  const table = await freshTable(t);
  await fill(table, "p", 10);
  const pages = await drain(table.listEntities().byPage({ maxPageSize: 4 }));
  assert.ok(pages.every((page) => page.length <= 4));
  assert.deepEqual(pages.flatMap(rowsOf), Array.from({ length: 10 }, (_, index) => row(index)));
});

conform("QueryEntities", "query_by_pages_of_one_gives_every_entity_once", async (t) => {
  const table = await freshTable(t);
  await fill(table, "p", 5);
  const pages = await drain(table.listEntities().byPage({ maxPageSize: 1 }));
  assert.deepEqual(pages.flatMap(rowsOf), ["00000", "00001", "00002", "00003", "00004"]);
});

conform("QueryEntities", "query_resumes_from_a_continuation_token_in_another_client", async (t) => {
  const table = await freshTable(t);
  await fill(table, "p", 7);
  const { value: first } = await table.listEntities().byPage({ maxPageSize: 3 }).next();
  const { continuationToken } = first;
  assert.ok(continuationToken);
  const elsewhere = tableClient(table.tableName);
  const rest = await drain(elsewhere.listEntities().byPage({ maxPageSize: 3, continuationToken }));
  assert.deepEqual(rowsOf([...first, ...rest.flat()]), Array.from({ length: 7 }, (_, index) => row(index)));
});

conform("QueryEntities", "query_resumed_twice_from_one_token_gives_the_same_page", async (t) => {
  const table = await freshTable(t);
  await fill(table, "p", 6);
  const { value: first } = await table.listEntities().byPage({ maxPageSize: 2 }).next();
  const settings = { maxPageSize: 2, continuationToken: first.continuationToken };
  const { value: once } = await table.listEntities().byPage(settings).next();
  const { value: again } = await table.listEntities().byPage(settings).next();
  assert.deepEqual(rowsOf(once), ["00002", "00003"]);
  assert.deepEqual(rowsOf(again), rowsOf(once));
});

conform("QueryEntities", "query_resumed_sees_what_was_inserted_behind_the_token", async (t) => {
  const table = await freshTable(t);
  await fill(table, "p", 4);
  const { value: first } = await table.listEntities().byPage({ maxPageSize: 2 }).next();
  await table.createEntity({ partitionKey: "p", rowKey: "00002x" });
  await table.deleteEntity("p", "00003");
  const { continuationToken } = first;
  const rest = await drain(table.listEntities().byPage({ maxPageSize: 10, continuationToken }));
  assert.deepEqual(rest.flatMap(rowsOf), ["00002", "00002x"]);
});

conform("QueryEntities", "query_resumes_though_the_next_entity_is_gone", async (t) => {
  const table = await freshTable(t);
  await fill(table, "p", 4);
  const { value: first } = await table.listEntities().byPage({ maxPageSize: 2 }).next();
  await table.deleteEntity("p", "00002");
  const { continuationToken } = first;
  const rest = await drain(table.listEntities().byPage({ maxPageSize: 2, continuationToken }));
  assert.deepEqual(rest.flatMap(rowsOf), ["00003"]);
});

conform("QueryEntities", "query_with_a_filter_keeps_it_across_pages", async (t) => {
  const table = await freshTable(t);
  await fill(table, "p", 30);
  const listing = table.listEntities({ queryOptions: { filter: odata`n ge ${10} and n lt ${20}` } });
  const pages = await drain(listing.byPage({ maxPageSize: 3 }));
  assert.deepEqual(pages.flatMap(rowsOf), Array.from({ length: 10 }, (_, index) => row(10 + index)));
});

conform("QueryEntities", "query_pages_cross_partitions", async (t) => {
  const table = await freshTable(t);
  for (const partitionKey of ["b", "a", "c"]) await fill(table, partitionKey, 3);
  const pages = await drain(table.listEntities().byPage({ maxPageSize: 2 }));
  const keys = pages.flat().map((entity) => entity.partitionKey + entity.rowKey.at(-1));
  assert.deepEqual(keys, ["a0", "a1", "a2", "b0", "b1", "b2", "c0", "c1", "c2"]);
});

conform("QueryEntities", "query_pages_break_at_any_key", async (t) => {
  const table = await freshTable(t);
  const keys = ["", " ", "%41", "+&=", "a'b", "é", "日本", "🦀"];
  await table.submitTransaction(keys.map((rowKey) => ["create", { partitionKey: "o'k+ é", rowKey }]));
  const pages = await drain(table.listEntities().byPage({ maxPageSize: 1 }));
  assert.deepEqual(pages.flatMap(rowsOf), keys);
});

conform("QueryEntities", "query_gives_more_than_a_thousand_entities_in_order", async (t) => {
  const table = await freshTable(t);
  await fill(table, "p", 1100);
  const all = Array.from({ length: 1100 }, (_, index) => row(index));
  assert.deepEqual(rowsOf(await drain(table.listEntities())), all);
  const pages = await drain(table.listEntities().byPage());
  assert.ok(pages[0].length <= 1000 && pages[0].continuationToken);
  assert.deepEqual(pages.flatMap(rowsOf), all);
});

conform("QueryEntities", "query_is_ordered_by_partition_then_row_by_code_unit", async (t) => {
  const table = await freshTable(t);
  for (const key of ["p2/a", "p10/b", "P1/x", "p1/a", "p1/Z", "p1/10", "p1/9", "é/a"]) {
    const [partitionKey, rowKey] = key.split("/");
    await table.createEntity({ partitionKey, rowKey });
  }
  const found = (await drain(table.listEntities())).map((entity) => `${entity.partitionKey}/${entity.rowKey}`);
  assert.deepEqual(found, ["P1/x", "p1/10", "p1/9", "p1/Z", "p1/a", "p10/b", "p2/a", "é/a"]);
});

conform("QueryEntities", "query_of_an_empty_table_has_no_token", async (t) => {
  const table = await freshTable(t);
  const pages = await drain(table.listEntities().byPage({ maxPageSize: 5 }));
  assert.deepEqual(pages.flat(), []);
  assert.equal(pages.at(-1).continuationToken, undefined);
});

conform("QueryEntities", "query_with_a_page_size_over_a_thousand_is_refused", async (t) => {
  const table = await freshTable(t);
  await refused(table.listEntities().byPage({ maxPageSize: 1001 }).next(), 400, "InvalidInput");
});
