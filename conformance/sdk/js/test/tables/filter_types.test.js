// Filters made with the SDK's `odata` template, for every type and operator.

import assert from "node:assert/strict";

import { odata } from "@azure/data-tables";

import { conform, freshTable, refused, rowKeys } from "../../harness/index.js";

/** A table with one entity per value, rows "0", "1", … in one partition, each value in the property `v`. */
async function tableOf(t, ...values) {
  const table = await freshTable(t);
  const entities = values.map((v, index) => ({ partitionKey: "p", rowKey: `${index}`, v }));
  await table.submitTransaction(entities.map((entity) => ["create", entity]));
  return table;
}

/** Checks the six comparisons of `v` with the literal that equals the middle one of three ascending values. */
async function checkOperators(table, literal) {
  for (const [operator, rows] of [
    ["eq", ["1"]], ["ne", ["0", "2"]], ["lt", ["0"]], ["le", ["0", "1"]], ["gt", ["2"]], ["ge", ["1", "2"]],
  ]) {
    assert.deepEqual(await rowKeys(table, `v ${operator} ${literal}`), rows, `v ${operator} ${literal}`);
  }
}

const guid = (value) => ({ type: "Guid", value });
const low = "0a000000-0000-0000-0000-000000000000";
const middle = "0b000000-0000-0000-0000-000000000000";
const high = "0c000000-0000-0000-0000-000000000000";

for (const [type, values, literal] of [
  ["string", ["Zebra", "apple", "äpfel"], "'apple'"],
  ["int32", [-5, 7, 100], odata`${7}`],
  ["negative_int32", [-100, -7, 5], odata`${-7}`],
  ["int64", [-(2n ** 40n), 2n ** 40n, 2n ** 41n], odata`${2n ** 40n}L`],
  ["double", [-1.5, 0.25, 1e10], odata`${0.25}`],
  ["datetime", [new Date(-1), new Date(0), new Date(86_400_000)], odata`${new Date(0)}`],
  ["guid", [guid(low), guid(middle), guid(high)], odata`guid'${middle}'`],
  ["binary", [Buffer.from([1]), Buffer.from([1, 2]), Buffer.from([2])], odata`X'${"0102"}'`],
]) {
  conform("QueryEntities", `filter_on_${type}_knows_all_six_operators`, async (t) => {
    await checkOperators(await tableOf(t, ...values), literal);
  });
}

conform("QueryEntities", "filter_on_boolean_compares_with_true_and_false", async (t) => {
  const table = await tableOf(t, true, false, true);
  assert.deepEqual(await rowKeys(table, odata`v eq ${true}`), ["0", "2"]);
  assert.deepEqual(await rowKeys(table, odata`v eq ${false}`), ["1"]);
  assert.deepEqual(await rowKeys(table, odata`v ne ${true}`), ["1"]);
});

conform("QueryEntities", "filter_on_binary_accepts_the_long_prefix", async (t) => {
  const table = await tableOf(t, Buffer.from([0xab]), Buffer.from([0xac]));
  assert.deepEqual(await rowKeys(table, "v eq binary'AB'"), ["0"]);
  assert.deepEqual(await rowKeys(table, "v eq X'ab'"), ["0"]);
});

conform("QueryEntities", "filter_on_guid_ignores_the_case_of_the_literal", async (t) => {
  const table = await tableOf(t, guid("0d9df4a2-2a9e-4d52-9b4f-1c5a4ec3f8a1"));
  assert.deepEqual(await rowKeys(table, "v eq guid'0D9DF4A2-2A9E-4D52-9B4F-1C5A4EC3F8A1'"), ["0"]);
});

conform("QueryEntities", "filter_on_datetime_sees_seven_digits", async (t) => {
  const tick = (digit) => ({ type: "DateTime", value: `2024-01-01T00:00:00.123456${digit}Z` });
  const table = await tableOf(t, tick(1), tick(2), tick(3));
  await checkOperators(table, "datetime'2024-01-01T00:00:00.1234562Z'");
});

conform("QueryEntities", "filter_on_timestamp_compares_as_a_date", async (t) => {
  const table = await tableOf(t, 1, 2);
  const hour = 3_600_000;
  assert.deepEqual(await rowKeys(table, odata`Timestamp gt ${new Date(Date.now() - hour)}`), ["0", "1"]);
  assert.deepEqual(await rowKeys(table, odata`Timestamp gt ${new Date(Date.now() + hour)}`), []);
});

conform("QueryEntities", "filter_on_the_exact_timestamp_finds_the_entity", async (t) => {
  const table = await tableOf(t, 1);
  const { timestamp } = await table.getEntity("p", "0");
  assert.deepEqual(await rowKeys(table, `Timestamp eq datetime'${timestamp}'`), ["0"]);
});

// The template writes a BigInt without the suffix that marks an Int64.
conform("QueryEntities", "filter_on_int64_accepts_a_small_literal_without_suffix", async (t) => {
  const table = await tableOf(t, 11n, 12n, 13n);
  assert.deepEqual(await rowKeys(table, odata`v gt ${12n}`), ["2"]);
});

conform("QueryEntities", "filter_with_an_unsuffixed_literal_beyond_int32_is_refused", async (t) => {
  const table = await tableOf(t, 2n ** 40n);
  await refused(rowKeys(table, odata`v eq ${2n ** 40n}`), 400, "InvalidInput");
});

conform("QueryEntities", "filter_on_double_accepts_a_whole_literal", async (t) => {
  const table = await tableOf(t, { type: "Double", value: "3.0" }, { type: "Double", value: "4.0" });
  assert.deepEqual(await rowKeys(table, odata`v eq ${3}`), ["0"]);
  assert.deepEqual(await rowKeys(table, "v eq 3.0"), ["0"]);
});

conform("QueryEntities", "filter_on_double_accepts_an_exponent", async (t) => {
  const table = await tableOf(t, 1.5e300, 2.5);
  assert.deepEqual(await rowKeys(table, "v gt 1e299"), ["0"]);
});

for (const [what, text] of [
  ["quotes", "it's ''quoted''"],
  ["reserved_characters", "50% + a&b=c#d?e/f\\g"],
  ["emoji", "🦀 crab"],
  ["words_of_the_grammar", "a and b or not (c eq 'd')"],
  ["nothing", ""],
]) {
  conform("QueryEntities", `filter_on_a_string_of_${what}_finds_it`, async (t) => {
    const table = await tableOf(t, text, "something else");
    assert.deepEqual(await rowKeys(table, odata`v eq ${text}`), ["0"]);
  });
}

conform("QueryEntities", "filter_on_strings_is_case_sensitive", async (t) => {
  const table = await tableOf(t, "apple", "Apple");
  assert.deepEqual(await rowKeys(table, odata`v eq ${"Apple"}`), ["1"]);
});

conform("QueryEntities", "filter_never_finds_a_value_of_another_type_equal", async (t) => {
  const table = await tableOf(t, "5", 5, 5n, true);
  assert.deepEqual(await rowKeys(table, "v eq '5'"), ["0"]);
  assert.deepEqual(await rowKeys(table, "v eq true"), ["3"]);
});
