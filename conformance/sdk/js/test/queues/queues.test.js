// Queues come and go: creating, creating again, deleting, metadata, and what a missing queue answers.

import assert from "node:assert/strict";

import { conform, freshQueue, freshQueueName, queueClient, queueService, refused } from "../../harness/queues.js";

conform("CreateQueue", "create_queue_makes_an_empty_queue", async (t) => {
  const queue = queueClient(freshQueueName());
  const created = await queue.create();
  t.after(() => queue.deleteIfExists());
  assert.equal(created._response.status, 201);
  const properties = await queue.getProperties();
  assert.equal(properties.approximateMessagesCount, 0);
  assert.deepEqual(properties.metadata, {});
});

conform("CreateQueue", "create_queue_again_with_the_same_metadata_answers_204", async (t) => {
  const queue = await freshQueue(t, { metadata: { colour: "red" } });
  assert.equal((await queue.create({ metadata: { colour: "red" } }))._response.status, 204);
});

conform("CreateQueue", "create_queue_again_with_other_metadata_is_refused", async (t) => {
  const queue = await freshQueue(t, { metadata: { colour: "red" } });
  await refused(queue.create({ metadata: { colour: "blue" } }), 409, "QueueAlreadyExists");
  await refused(queue.create(), 409, "QueueAlreadyExists");
});

conform("CreateQueue", "create_queue_if_not_exists_tells_whether_it_did", async (t) => {
  const queue = queueClient(freshQueueName());
  t.after(() => queue.deleteIfExists());
  assert.equal((await queue.createIfNotExists()).succeeded, true);
  assert.equal((await queue.createIfNotExists()).succeeded, false);
  assert.equal((await queue.createIfNotExists({ metadata: { other: "1" } })).succeeded, false);
});

for (const [label, name, code] of [
  ["two_characters", "ab", "OutOfRangeInput"],
  ["64_characters", "q".repeat(64), "OutOfRangeInput"],
  ["upper_case", "Upper", "InvalidResourceName"],
  ["an_underscore", "under_score", "InvalidResourceName"],
  ["two_dashes", "a--b", "InvalidResourceName"],
  ["a_leading_dash", "-ab", "InvalidResourceName"],
  ["a_trailing_dash", "ab-", "InvalidResourceName"],
]) {
  conform("CreateQueue", `queue_name_with_${label}_is_refused`, async () => {
    await refused(queueClient(name).create(), 400, code);
  });
}

conform("DeleteQueue", "delete_queue_takes_it_away", async (t) => {
  const queue = await freshQueue(t);
  await queue.sendMessage("lost");
  assert.equal((await queue.delete())._response.status, 204);
  assert.equal(await queue.exists(), false);
  await refused(queue.getProperties(), 404, "QueueNotFound");
});

conform("DeleteQueue", "delete_queue_if_exists_tells_whether_it_did", async (t) => {
  const queue = await freshQueue(t);
  assert.equal((await queue.deleteIfExists()).succeeded, true);
  assert.equal((await queue.deleteIfExists()).succeeded, false);
});

conform("GetQueueMetadata", "queue_exists_when_it_is_there", async (t) => {
  assert.equal(await (await freshQueue(t)).exists(), true);
  assert.equal(await queueClient(freshQueueName()).exists(), false);
});

conform("SetQueueMetadata", "queue_metadata_is_replaced_as_a_whole", async (t) => {
  const queue = await freshQueue(t, { metadata: { a: "1", b: "2" } });
  assert.equal((await queue.setMetadata({ b: "3", c: "two words" }))._response.status, 204);
  assert.deepEqual((await queue.getProperties()).metadata, { b: "3", c: "two words" });
  await queue.setMetadata();
  assert.deepEqual((await queue.getProperties()).metadata, {});
});

conform("GetQueueMetadata", "message_count_counts_invisible_messages", async (t) => {
  const queue = await freshQueue(t);
  await queue.sendMessage("now");
  await queue.sendMessage("later", { visibilityTimeout: 600 });
  await queue.receiveMessages({ visibilityTimeout: 600 });
  assert.equal((await queue.getProperties()).approximateMessagesCount, 2);
});

conform("GetQueueMetadata", "answer_of_a_queue_carries_the_common_headers", async (t) => {
  const { _response: response, ...properties } = await (await freshQueue(t)).getProperties();
  assert.ok(properties.requestId);
  assert.ok(properties.date instanceof Date);
  assert.equal(properties.version, response.request.headers.get("x-ms-version"));
  assert.equal(properties.clientRequestId, response.request.headers.get("x-ms-client-request-id"));
  assert.equal(response.headers.get("cache-control"), "no-cache");
});

for (const [operation, verb, call] of [
  ["DeleteQueue", "delete", (queue) => queue.delete()],
  ["GetQueueMetadata", "get_properties", (queue) => queue.getProperties()],
  ["SetQueueMetadata", "set_metadata", (queue) => queue.setMetadata({ a: "b" })],
  ["GetQueueACL", "get_access_policy", (queue) => queue.getAccessPolicy()],
  ["SetQueueACL", "set_access_policy", (queue) => queue.setAccessPolicy([])],
  ["PutMessage", "send", (queue) => queue.sendMessage("text")],
  ["GetMessages", "receive", (queue) => queue.receiveMessages()],
  ["PeekMessages", "peek", (queue) => queue.peekMessages()],
  ["ClearMessages", "clear", (queue) => queue.clearMessages()],
]) {
  conform(operation, `${verb}_at_a_missing_queue_answers_queue_not_found`, async () => {
    const error = await refused(call(queueClient(freshQueueName())), 404, "QueueNotFound");
    assert.match(error.message, /The specified queue does not exist\./);
  });
}

conform("CreateQueue", "service_client_creates_and_deletes_queues", async (t) => {
  const name = freshQueueName();
  const service = queueService();
  await service.createQueue(name, { metadata: { a: "1" } });
  t.after(() => queueClient(name).deleteIfExists());
  assert.deepEqual((await service.getQueueClient(name).getProperties()).metadata, { a: "1" });
  await service.deleteQueue(name);
  assert.equal(await queueClient(name).exists(), false);
});
