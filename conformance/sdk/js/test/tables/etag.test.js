// Optimistic concurrency: etags, their text, and the conditions built on them.

import assert from "node:assert/strict";

import { conform, errorCode, freshTable, refused, responseOf } from "../../harness/index.js";

const keys = { partitionKey: "p", rowKey: "r" };

async function tableWithStaleEtag(t) {
  const table = await freshTable(t);
  const { etag: stale } = await table.createEntity({ ...keys, value: 1 });
  const { etag: current } = await table.updateEntity({ ...keys, value: 2 }, "Replace");
  return { table, stale, current };
}

for (const [operation, verb, call] of [
  ["UpdateEntity", "replace", (table, etag) => table.updateEntity({ ...keys, value: 3 }, "Replace", { etag })],
  ["MergeEntity", "merge", (table, etag) => table.updateEntity({ ...keys, value: 3 }, "Merge", { etag })],
  ["DeleteEntity", "delete", (table, etag) => table.deleteEntity("p", "r", { etag })],
]) {
  conform(operation, `${verb}_with_a_stale_etag_is_refused`, async (t) => {
    const { table, stale } = await tableWithStaleEtag(t);
    await refused(call(table, stale), 412, "UpdateConditionNotSatisfied");
    assert.equal((await table.getEntity("p", "r")).value, 2);
  });

  conform(operation, `${verb}_with_the_current_etag_succeeds`, async (t) => {
    const { table, current } = await tableWithStaleEtag(t);
    await call(table, current);
  });

  conform(operation, `${verb}_with_an_etag_of_a_missing_entity_answers_resource_not_found`, async (t) => {
    const { table, current } = await tableWithStaleEtag(t);
    await table.deleteEntity("p", "r");
    await refused(call(table, current), 404, "ResourceNotFound");
  });

  conform(operation, `${verb}_with_a_malformed_etag_is_refused`, async (t) => {
    const { table } = await tableWithStaleEtag(t);
    await refused(call(table, "not-an-etag"), 400, "InvalidInput");
  });

  conform(operation, `${verb}_with_a_foreign_weak_etag_does_not_match`, async (t) => {
    const { table } = await tableWithStaleEtag(t);
    await refused(call(table, 'W/"wrong"'), 412, "UpdateConditionNotSatisfied");
  });
}

conform("QueryEntity", "the_etag_is_the_timestamp_in_its_envelope", async (t) => {
  const table = await freshTable(t);
  await table.createEntity(keys);
  const { etag, timestamp } = await table.getEntity("p", "r");
  assert.equal(etag, `W/"datetime'${timestamp.replaceAll(":", "%3A")}'"`);
});

// A tenth of all timestamps would end in a zero, so a hundred of them settle the matter.
conform("QueryEntities", "timestamps_have_no_trailing_zeros", async (t) => {
  const table = await freshTable(t);
  await Promise.all(Array.from({ length: 100 }, (_, row) => table.createEntity({ ...keys, rowKey: `${row}` })));
  for await (const { timestamp } of table.listEntities()) {
    assert.match(timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{0,6}[1-9])?Z$/);
  }
});

conform("QueryEntity", "a_point_read_carries_the_etag_in_its_header_too", async (t) => {
  const table = await freshTable(t);
  const { etag } = await table.createEntity(keys);
  const response = await responseOf((options) => table.getEntity("p", "r", options));
  assert.equal(response.headers.get("etag"), etag);
});

conform("QueryEntities", "a_query_shows_the_same_etag_as_a_point_read", async (t) => {
  const table = await freshTable(t);
  const { etag } = await table.createEntity(keys);
  const { value: entity } = await table.listEntities().next();
  assert.equal(entity.etag, etag);
});

conform("InsertOrReplaceEntity", "every_write_yields_a_greater_timestamp", async (t) => {
  const table = await freshTable(t);
  let previous = "";
  for (let round = 0; round < 20; round += 1) {
    await table.upsertEntity({ ...keys, round }, "Replace");
    const { timestamp } = await table.getEntity("p", "r");
    const [second, fraction = ""] = timestamp.replace("Z", "").split(".");
    const instant = `${second}.${fraction.padEnd(7, "0")}`;
    assert.ok(instant > previous, `${instant} after ${previous}`);
    previous = instant;
  }
});

conform("MergeEntity", "concurrent_merges_with_one_etag_let_exactly_one_win", async (t) => {
  const table = await freshTable(t);
  const { etag } = await table.createEntity({ ...keys, winner: -1 });
  const attempt = (_, winner) => table.updateEntity({ ...keys, winner }, "Merge", { etag });
  const outcomes = await Promise.allSettled(Array.from({ length: 10 }, attempt));
  const winners = outcomes.flatMap((outcome, index) => (outcome.status === "fulfilled" ? [index] : []));
  const codes = new Set(outcomes.filter((o) => o.status === "rejected").map((o) => errorCode(o.reason)));
  assert.equal(winners.length, 1);
  assert.deepEqual([...codes], ["UpdateConditionNotSatisfied"]);
  assert.equal((await table.getEntity("p", "r")).winner, winners[0]);
});
