// Filters as expressions: and, or, not, missing properties, errors.

import assert from "node:assert/strict";

import { odata } from "@azure/data-tables";

import { conform, drain, freshTable, refused, rowKeys } from "../../harness/index.js";

async function tableOfPeople(t) {
  const table = await freshTable(t);
  const people = [
    { rowKey: "ada", age: 36, city: "London", admin: true },
    { rowKey: "bob", age: 20, city: "Paris", admin: false },
    { rowKey: "eve", age: 50, city: "London", admin: false },
    { rowKey: "zoe", city: "Oslo" },
  ];
  await table.submitTransaction(people.map((person) => ["create", { partitionKey: "people", ...person }]));
  return table;
}

for (const [name, filter, rows] of [
  ["filter_with_and_needs_both", odata`city eq ${"London"} and age gt ${40}`, ["eve"]],
  ["filter_with_or_needs_one", odata`city eq ${"Paris"} or age eq ${50}`, ["bob", "eve"]],
  ["filter_with_not_turns_a_condition_around", odata`not (city eq ${"London"})`, ["bob", "zoe"]],
  ["filter_binds_and_before_or", "city eq 'Oslo' or city eq 'London' and age gt 40", ["eve", "zoe"]],
  ["filter_obeys_parentheses", "(city eq 'Oslo' or city eq 'London') and age gt 40", ["eve"]],
  ["filter_accepts_nested_not", "not (not (city eq 'London') or age lt 40)", ["eve"]],
  ["filter_accepts_superfluous_parentheses", "((((age eq 20))))", ["bob"]],
  ["filter_accepts_the_literal_on_the_left", "30 lt age", ["ada", "eve"]],
  ["filter_does_not_find_what_lacks_the_property", "age ne 36", ["bob", "eve"]],
  ["filter_negated_finds_what_lacks_the_property", "not (age eq 36)", ["bob", "eve", "zoe"]],
  ["filter_of_a_bare_boolean_property_holds_when_true", "admin", ["ada"]],
  ["filter_names_are_case_sensitive", "City eq 'London'", []],
  ["filter_on_row_key_range_is_a_range", "RowKey ge 'b' and RowKey lt 'f'", ["bob", "eve"]],
  ["filter_that_matches_nothing_is_an_empty_answer", "PartitionKey eq 'nobody'", []],
  ["filter_that_is_empty_means_none", "", ["ada", "bob", "eve", "zoe"]],
]) {
  conform("QueryEntities", name, async (t) => {
    assert.deepEqual(await rowKeys(await tableOfPeople(t), filter), rows);
  });
}

conform("QueryEntities", "filter_on_both_keys_of_a_missing_entity_is_an_empty_answer", async (t) => {
  const table = await tableOfPeople(t);
  assert.deepEqual(await rowKeys(table, odata`PartitionKey eq ${"people"} and RowKey eq ${"nobody"}`), []);
});

conform("QueryEntities", "filter_of_fifty_conditions_is_accepted", async (t) => {
  const table = await tableOfPeople(t);
  const conditions = Array.from({ length: 50 }, (_, age) => odata`age eq ${age + 1}`);
  assert.deepEqual(await rowKeys(table, conditions.join(" or ")), ["ada", "bob", "eve"]);
});

conform("QueryEntities", "filter_and_select_work_together", async (t) => {
  const table = await tableOfPeople(t);
  const queryOptions = { filter: odata`age gt ${30}`, select: ["city"] };
  const entities = await drain(table.listEntities({ queryOptions }));
  assert.deepEqual(entities.map(({ etag, ...rest }) => rest), [{ city: "London" }, { city: "London" }]);
});

for (const [what, filter] of [
  ["an_unterminated_string", "city eq 'London"],
  ["a_missing_operand", "age eq"],
  ["an_unbalanced_parenthesis", "(age eq 1"],
  ["an_unknown_operator", "age like 1"],
  ["an_operator_in_upper_case", "age EQ 20"],
  ["text_after_the_end", "age eq 1 age"],
  ["a_broken_date", "age eq datetime'soon'"],
  ["a_broken_guid", "age eq guid'none'"],
]) {
  conform("QueryEntities", `filter_with_${what}_is_refused`, async (t) => {
    await refused(rowKeys(await tableOfPeople(t), filter), 400, "InvalidInput");
  });
}

for (const [what, filter] of [
  ["startswith", "startswith(city, 'L')"],
  ["substringof", "substringof('on', city)"],
]) {
  conform("QueryEntities", `filter_with_the_function_${what}_is_not_implemented`, async (t) => {
    await refused(rowKeys(await tableOfPeople(t), filter), 501, "NotImplemented");
  });
}

conform("QueryEntities", "filter_may_be_a_constant", async (t) => {
  const table = await freshTable(t);
  await table.createEntity({ partitionKey: "p", rowKey: "r" });
  assert.deepEqual(await rowKeys(table, "false"), []);
  assert.deepEqual(await rowKeys(table, "true"), ["r"]);
  assert.deepEqual(await rowKeys(table, "1 eq 1 and RowKey eq 'r'"), ["r"]);
});
