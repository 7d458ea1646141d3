// Listing queues: prefixes, pages, markers and metadata.

import assert from "node:assert/strict";

import { conform, drain, freshQueueName, queueService, refused } from "../../harness/queues.js";

const COUNT = 6;

/** Queues whose names begin alike, each with its number as metadata. */
async function queues(t) {
  const prefix = freshQueueName("list").slice(0, 50);
  const service = queueService();
  const names = Array.from({ length: COUNT }, (_, index) => `${prefix}-${index}`);
  for (const [index, name] of names.entries()) await service.createQueue(name, { metadata: { number: `${index}` } });
  t.after(() => Promise.all(names.map((name) => service.deleteQueue(name))));
  return { prefix, names };
}

const namesOf = (items) => items.map((queue) => queue.name);

conform("ListQueues", "list_queues_with_a_prefix_in_order", async (t) => {
  const { prefix, names } = await queues(t);
  assert.deepEqual(namesOf(await drain(queueService().listQueues({ prefix }))), names);
});

conform("ListQueues", "list_queues_of_a_prefix_that_none_has_is_empty", async () => {
  assert.deepEqual(await drain(queueService().listQueues({ prefix: "no-such-queue-anywhere" })), []);
});

for (const maxPageSize of [1, 2, COUNT, COUNT + 1]) {
  conform("ListQueues", `list_queues_in_pages_of_${maxPageSize}`, async (t) => {
    const { prefix, names } = await queues(t);
    const pages = await drain(queueService().listQueues({ prefix }).byPage({ maxPageSize }));
    assert.deepEqual(pages.flatMap((page) => namesOf(page.queueItems ?? [])), names);
    assert.ok(pages.every((page) => (page.queueItems ?? []).length <= maxPageSize));
    assert.equal(pages[0].prefix, prefix);
    assert.equal(pages[0].maxPageSize, maxPageSize);
  });
}

conform("ListQueues", "list_queues_goes_on_from_a_token", async (t) => {
  const { prefix, names } = await queues(t);
  const first = (await queueService().listQueues({ prefix }).byPage({ maxPageSize: 2 }).next()).value;
  const rest = queueService().listQueues({ prefix }).byPage({ continuationToken: first.continuationToken });
  const found = (await drain(rest)).flatMap((page) => namesOf(page.queueItems ?? []));
  assert.deepEqual([...namesOf(first.queueItems), ...found], names);
});

conform("ListQueues", "list_queues_shows_metadata_when_asked_for", async (t) => {
  const { prefix } = await queues(t);
  const found = await drain(queueService().listQueues({ prefix, includeMetadata: true }));
  assert.deepEqual(found.map((queue) => queue.metadata), Array.from({ length: COUNT }, (_, i) => ({ number: `${i}` })));
  const plain = await drain(queueService().listQueues({ prefix }));
  assert.ok(plain.every((queue) => Object.keys(queue.metadata ?? {}).length === 0));
});

conform("ListQueues", "list_queues_with_a_page_size_below_one_is_refused", async () => {
  const page = queueService().listQueues().byPage({ maxPageSize: -1 }).next();
  await refused(page, 400, "OutOfRangeQueryParameterValue");
});
