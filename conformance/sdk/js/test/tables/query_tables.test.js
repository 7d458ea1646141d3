// Listing tables: filters, order, paging.

import assert from "node:assert/strict";

import { odata } from "@azure/data-tables";

import { conform, drain, freshTable, freshTableName, refused, serviceClient } from "../../harness/index.js";

async function listNames(filter) {
  const tables = await drain(serviceClient().listTables({ queryOptions: { filter } }));
  return tables.map((table) => table.name);
}

/** A filter for the names that begin with `prefix`, in the form every client uses. */
function beginsWith(prefix) {
  return odata`TableName ge ${prefix} and TableName lt ${`${prefix}{`}`;
}

async function freshFamily(t, count) {
  const prefix = freshTableName("fam").slice(0, 20);
  const names = Array.from({ length: count }, (_, index) => `${prefix}${String.fromCharCode(97 + index)}`);
  // Created backwards, so that the listing's order is the service's doing.
  for (const name of names.toReversed()) await freshTable(t, name);
  return { prefix, names };
}

conform("QueryTables", "list_tables_contains_a_created_table", async (t) => {
  const table = await freshTable(t);
  assert.ok((await listNames()).includes(table.tableName));
});

conform("QueryTables", "list_tables_by_exact_name_finds_only_it", async (t) => {
  const table = await freshTable(t);
  assert.deepEqual(await listNames(odata`TableName eq ${table.tableName}`), [table.tableName]);
});

conform("QueryTables", "list_tables_keeps_the_case_of_the_creation", async (t) => {
  const name = freshTableName("CamelCase");
  await freshTable(t, name);
  assert.deepEqual(await listNames(odata`TableName eq ${name}`), [name]);
});

conform("QueryTables", "list_tables_of_a_missing_name_is_empty", async () => {
  assert.deepEqual(await listNames(odata`TableName eq ${freshTableName()}`), []);
});

conform("QueryTables", "list_tables_by_prefix_is_sorted_by_name", async (t) => {
  const { prefix, names } = await freshFamily(t, 4);
  assert.deepEqual(await listNames(beginsWith(prefix)), names);
});

conform("QueryTables", "list_tables_combines_conditions_with_or_and_not", async (t) => {
  const { prefix, names } = await freshFamily(t, 3);
  const [a, b, c] = names;
  assert.deepEqual(await listNames(odata`TableName eq ${a} or TableName eq ${c}`), [a, c]);
  assert.deepEqual(await listNames(`${beginsWith(prefix)} and not (TableName eq '${b}')`), [a, c]);
});

conform("QueryTables", "list_tables_by_page_gives_every_table_once", async (t) => {
  const { prefix, names } = await freshFamily(t, 5);
  const listing = serviceClient().listTables({ queryOptions: { filter: beginsWith(prefix) } });
  const pages = await drain(listing.byPage({ maxPageSize: 2 }));
  assert.ok(pages.every((page) => page.length <= 2));
  assert.deepEqual(pages.flat().map((table) => table.name), names);
});

conform("QueryTables", "list_tables_resumes_from_a_continuation_token", async (t) => {
  const { prefix, names } = await freshFamily(t, 4);
  const options = { queryOptions: { filter: beginsWith(prefix) } };
  const first = await serviceClient().listTables(options).byPage({ maxPageSize: 3 }).next();
  const { continuationToken } = first.value;
  const rest = await drain(serviceClient().listTables(options).byPage({ maxPageSize: 3, continuationToken }));
  assert.deepEqual([...first.value, ...rest.flat()].map((table) => table.name), names);
});

conform("QueryTables", "list_tables_with_a_broken_filter_is_refused", async () => {
  await refused(listNames("TableName eq 'unterminated"), 400, "InvalidInput");
});
