// The published limits of an entity, each at its last good value and just beyond.

import assert from "node:assert/strict";

import { conform, freshTable, properties, refused } from "../../harness/index.js";

const keys = { partitionKey: "p", rowKey: "r" };
const KIB = 1024;

/** `count` properties of this value. */
function numbered(count, value) {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, value]));
}

async function insert(t, values) {
  const table = await freshTable(t);
  await table.createEntity({ ...keys, ...values });
  return properties(await table.getEntity("p", "r"));
}

async function insertRefused(t, values, status, code) {
  const table = await freshTable(t);
  await refused(table.createEntity({ ...keys, ...values }), status, code);
}

conform("InsertEntity", "insert_with_252_properties_succeeds", async (t) => {
  assert.equal(Object.keys(await insert(t, numbered(252, 1))).length, 252);
});

conform("InsertEntity", "insert_with_253_properties_is_refused", async (t) => {
  await insertRefused(t, numbered(253, 1), 400, "TooManyProperties");
});

conform("MergeEntity", "merge_beyond_252_properties_is_refused", async (t) => {
  const table = await freshTable(t);
  await table.createEntity({ ...keys, ...numbered(252, 1) });
  await refused(table.updateEntity({ ...keys, oneMore: 1 }, "Merge"), 400, "TooManyProperties");
});

conform("InsertEntity", "string_of_32768_characters_is_stored", async (t) => {
  const text = "é".repeat(32 * KIB);
  assert.equal((await insert(t, { text })).text, text);
});

conform("InsertEntity", "string_of_32769_characters_is_refused", async (t) => {
  await insertRefused(t, { text: "x".repeat(32 * KIB + 1) }, 400, "PropertyValueTooLarge");
});

conform("InsertEntity", "string_length_counts_utf_16_units", async (t) => {
  await insertRefused(t, { text: "🦀".repeat(16 * KIB + 1) }, 400, "PropertyValueTooLarge");
  assert.equal((await insert(t, { text: "🦀".repeat(16 * KIB) })).text.length, 32 * KIB);
});

conform("InsertEntity", "binary_of_65536_bytes_is_stored", async (t) => {
  assert.equal((await insert(t, { bytes: new Uint8Array(64 * KIB) })).bytes.length, 64 * KIB);
});

conform("InsertEntity", "binary_of_65537_bytes_is_refused", async (t) => {
  await insertRefused(t, { bytes: new Uint8Array(64 * KIB + 1) }, 400, "PropertyValueTooLarge");
});

conform("InsertEntity", "entity_just_under_a_mebibyte_is_stored", async (t) => {
  const stored = await insert(t, { ...numbered(15, new Uint8Array(64 * KIB)), last: new Uint8Array(63 * KIB) });
  assert.equal(Object.keys(stored).length, 16);
});

conform("InsertEntity", "entity_over_a_mebibyte_is_refused", async (t) => {
  await insertRefused(t, numbered(17, new Uint8Array(64 * KIB)), 400, "EntityTooLarge");
});

conform("MergeEntity", "merge_that_grows_an_entity_over_a_mebibyte_is_refused", async (t) => {
  const table = await freshTable(t);
  await table.createEntity({ ...keys, ...numbered(15, new Uint8Array(64 * KIB)) });
  const more = { last: new Uint8Array(64 * KIB), more: new Uint8Array(64 * KIB) };
  await refused(table.updateEntity({ ...keys, ...more }, "Merge"), 400, "EntityTooLarge");
});

conform("InsertEntity", "property_name_of_255_characters_is_stored", async (t) => {
  assert.deepEqual(await insert(t, { ["n".repeat(255)]: 1 }), { ["n".repeat(255)]: 1 });
});

conform("InsertEntity", "property_name_of_256_characters_is_refused", async (t) => {
  await insertRefused(t, { ["n".repeat(256)]: 1 }, 400, "PropertyNameTooLong");
});

for (const [what, name] of [
  ["a_hyphen", "with-hyphen"],
  ["a_space", "two words"],
  ["a_leading_digit", "1st"],
]) {
  conform("InsertEntity", `property_name_with_${what}_is_refused`, async (t) => {
    await insertRefused(t, { [name]: 1 }, 400, "PropertyNameInvalid");
  });
}
