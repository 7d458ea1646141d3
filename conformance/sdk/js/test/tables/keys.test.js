// Keys with every legal oddity, in bodies, addresses and filters; and the characters that are not legal.

import assert from "node:assert/strict";

import { odata } from "@azure/data-tables";

import { conform, drain, freshTable, properties, refused } from "../../harness/index.js";

for (const [what, key] of [
  ["single_quotes", "o'brien's '' quoted'"],
  ["double_quotes", 'the "quoted" word'],
  ["spaces", " leading and  trailing "],
  ["percent", "100% of 5%"],
  ["a_percent_escape", "%27%2F%zz"],
  ["plus", "a+b++c"],
  ["ampersand_and_equals", "a=1&b=2"],
  ["parentheses", "f(x)=(y)"],
  ["commas_and_semicolons", "a,b;c"],
  ["the_look_of_an_address", "x',RowKey='y"],
  ["braces_and_brackets", "{a}[b]<c>"],
  ["dollar_and_at", "$batch@odata.type"],
  ["colon_and_pipe", "12:30|~^`!*"],
  ["a_dot", "."],
  ["two_dots", ".."],
  ["latin_letters_beyond_ascii", "ÅngströmŒuvreß"],
  ["other_alphabets", "Ελλάδα Россия 日本語 עברית"],
  ["emoji", "🦀👩‍👩‍👧‍👦🏳️‍🌈"],
  ["combining_marks", "e\u0301 is not é"],
  ["a_no_break_space", "a\u00a0b"],
]) {
  conform("QueryEntity", `keys_with_${what}_work_everywhere`, async (t) => {
    const table = await freshTable(t);
    const keys = { partitionKey: key, rowKey: key };
    await table.createEntity({ ...keys, value: 1 });
    await table.updateEntity({ ...keys, value: 2 }, "Merge");
    const entity = await table.getEntity(key, key);
    assert.deepEqual([entity.partitionKey, entity.rowKey, entity.value], [key, key, 2]);
    const filter = odata`PartitionKey eq ${key} and RowKey eq ${key}`;
    assert.equal((await drain(table.listEntities({ queryOptions: { filter } }))).length, 1);
    await table.deleteEntity(key, key);
    await refused(table.getEntity(key, key), 404, "ResourceNotFound");
  });
}

conform("QueryEntity", "empty_keys_work_everywhere", async (t) => {
  const table = await freshTable(t);
  await table.createEntity({ partitionKey: "", rowKey: "", value: 1 });
  await table.updateEntity({ partitionKey: "", rowKey: "", value: 2 }, "Replace");
  const entity = await table.getEntity("", "");
  assert.deepEqual([entity.partitionKey, entity.rowKey, entity.value], ["", "", 2]);
  const filter = odata`PartitionKey eq '' and RowKey eq ''`;
  assert.equal((await drain(table.listEntities({ queryOptions: { filter } }))).length, 1);
  await table.deleteEntity("", "");
  assert.deepEqual(await drain(table.listEntities()), []);
});

conform("InsertEntity", "keys_that_differ_only_in_case_are_different", async (t) => {
  const table = await freshTable(t);
  await table.createEntity({ partitionKey: "P", rowKey: "R", value: 1 });
  await table.createEntity({ partitionKey: "p", rowKey: "R", value: 2 });
  await table.createEntity({ partitionKey: "P", rowKey: "r", value: 3 });
  assert.deepEqual(properties(await table.getEntity("P", "R")), { value: 1 });
  assert.deepEqual(properties(await table.getEntity("p", "R")), { value: 2 });
  assert.deepEqual(properties(await table.getEntity("P", "r")), { value: 3 });
});

conform("InsertEntity", "keys_are_not_joined_to_tell_entities_apart", async (t) => {
  const table = await freshTable(t);
  await table.createEntity({ partitionKey: "a", rowKey: "bc", value: 1 });
  await table.createEntity({ partitionKey: "ab", rowKey: "c", value: 2 });
  assert.equal((await table.getEntity("a", "bc")).value, 1);
  assert.equal((await table.getEntity("ab", "c")).value, 2);
});

for (const [what, character] of [
  ["a_slash", "/"],
  ["a_backslash", "\\"],
  ["a_hash", "#"],
  ["a_question_mark", "?"],
  ["a_tab", "\t"],
  ["a_line_feed", "\n"],
  ["a_nul", "\0"],
  ["a_delete", "\u007f"],
  ["a_c1_control", "\u0085"],
]) {
  conform("InsertEntity", `insert_with_${what}_in_a_key_is_refused`, async (t) => {
    const table = await freshTable(t);
    const key = `a${character}b`;
    await refused(table.createEntity({ partitionKey: key, rowKey: "r" }), 400, "OutOfRangeInput");
    await refused(table.createEntity({ partitionKey: "p", rowKey: key }), 400, "OutOfRangeInput");
  });
}

for (const [what, character] of [
  ["a_slash", "/"],
  ["a_backslash", "\\"],
  ["a_hash", "#"],
  ["a_question_mark", "?"],
]) {
  conform("InsertOrReplaceEntity", `insert_or_replace_with_${what}_in_a_key_is_refused`, async (t) => {
    const table = await freshTable(t);
    await refused(table.upsertEntity({ partitionKey: `a${character}b`, rowKey: "r" }, "Replace"), 400);
  });
}

conform("InsertEntity", "insert_with_keys_of_512_characters_succeeds", async (t) => {
  const table = await freshTable(t);
  const key = "é".repeat(512);
  await table.createEntity({ partitionKey: key, rowKey: key, value: 1 });
  assert.equal((await table.getEntity(key, key)).value, 1);
});

conform("InsertEntity", "insert_with_a_key_of_2048_characters_is_refused", async (t) => {
  const table = await freshTable(t);
  const call = table.createEntity({ partitionKey: "p", rowKey: "k".repeat(2048) });
  await refused(call, 400, "KeyValueTooLarge", "PropertyValueTooLarge");
});
