// A queue's SAS, the account SAS at queues, stored access policies, and keys.

import assert from "node:assert/strict";

import { QueueServiceClient, StorageSharedKeyCredential } from "@azure/storage-queue";

import {
  account, accountSas, clientOptions, conform, connectionString, drain, freshQueue, freshQueueName, hoursFromNow,
  isDevelopmentDefault, isPlainHttp, queueClient, queueSas, queueService, queueWithSas, refused, serviceWithSas, skip,
  texts,
} from "../../harness/queues.js";

const WRONG_KEY = "d3JvbmcgYnV0IHdlbGwgZm9ybWVkIGtleQ==";

/** Every operation that a queue's SAS can allow, with its letter. */
const operations = [
  ["GetQueueMetadata", "r", (queue) => queue.getProperties()],
  ["PeekMessages", "r", (queue) => queue.peekMessages()],
  ["PutMessage", "a", (queue) => queue.sendMessage("more")],
  ["UpdateMessage", "u", (queue, sent) => queue.updateMessage(sent.messageId, sent.popReceipt, "new", 0)],
  ["GetMessages", "p", (queue) => queue.receiveMessages()],
  ["DeleteMessage", "p", (queue, sent) => queue.deleteMessage(sent.messageId, sent.popReceipt)],
];

async function queueWithMessage(t) {
  const queue = await freshQueue(t);
  return { queue, sent: await queue.sendMessage("text") };
}

const snakeCase = (operation) => operation.replace(/(?!^)[A-Z]/g, "_$&").toLowerCase();

for (const [operation, letter, call] of operations) {
  conform("Authentication", `queue_sas_of_${letter}_allows_${snakeCase(operation)}`, async (t) => {
    const { queue, sent } = await queueWithMessage(t);
    await call(queueWithSas(queue.name, queueSas(queue.name, letter)), sent);
  });

  conform("Authentication", `queue_sas_without_${letter}_refuses_${snakeCase(operation)}`, async (t) => {
    const { queue, sent } = await queueWithMessage(t);
    const client = queueWithSas(queue.name, queueSas(queue.name, "raup".replace(letter, "")));
    await refused(call(client, sent), 403, "AuthorizationPermissionMismatch");
  });
}

for (const [label, call] of [
  ["delete_the_queue", (queue) => queue.delete()],
  ["set_metadata", (queue) => queue.setMetadata({ a: "b" })],
  ["clear_messages", (queue) => queue.clearMessages()],
  ["read_policies", (queue) => queue.getAccessPolicy()],
]) {
  conform("Authentication", `queue_sas_does_not_${label}`, async (t) => {
    const { queue } = await queueWithMessage(t);
    await refused(call(queueWithSas(queue.name, queueSas(queue.name, "raup"))), 403);
  });
}

for (const [label, options, code] of [
  ["that_has_expired", { startsOn: hoursFromNow(-2), expiresOn: hoursFromNow(-1) }, "AuthenticationFailed"],
  ["that_has_not_started", { startsOn: hoursFromNow(1), expiresOn: hoursFromNow(2) }, "AuthenticationFailed"],
  ["for_another_address", { ipRange: { start: "203.0.113.7", end: "203.0.113.9" } }, "AuthorizationSourceIPMismatch"],
  ["with_an_unknown_policy", { identifier: "missing" }, "AuthenticationFailed"],
]) {
  conform("Authentication", `queue_sas_${label}_is_refused`, async (t) => {
    const { queue } = await queueWithMessage(t);
    await refused(queueWithSas(queue.name, queueSas(queue.name, "r", options)).peekMessages(), 403, code);
  });
}

conform("Authentication", "queue_sas_for_https_only_is_refused_over_http", async (t) => {
  if (!isPlainHttp) skip("the target is reached by https");
  const { queue } = await queueWithMessage(t);
  const client = queueWithSas(queue.name, queueSas(queue.name, "r", { protocol: "https" }));
  await refused(client.peekMessages(), 403, "AuthorizationProtocolMismatch");
});

conform("Authentication", "queue_sas_with_changed_permissions_is_refused", async (t) => {
  const { queue } = await queueWithMessage(t);
  const sas = queueSas(queue.name, "r").replace("sp=r", "sp=raup");
  await refused(queueWithSas(queue.name, sas).peekMessages(), 403, "AuthenticationFailed");
});

conform("Authentication", "queue_sas_opens_no_other_queue", async (t) => {
  const [{ queue }, other] = [await queueWithMessage(t), await freshQueue(t)];
  await refused(queueWithSas(other.name, queueSas(queue.name, "raup")).peekMessages(), 403, "AuthenticationFailed");
});

conform("Authentication", "queue_sas_made_by_the_client_itself_works", async (t) => {
  const { queue } = await queueWithMessage(t);
  const url = await queue.generateSasUrl({ permissions: "r", expiresOn: hoursFromNow(1) });
  const client = new queue.constructor(url, undefined, { ...clientOptions });
  assert.deepEqual(texts(await client.peekMessages()), ["text"]);
});

conform("SetQueueACL", "queue_policies_are_read_back", async (t) => {
  const queue = await freshQueue(t);
  const accessPolicy = {
    startsOn: new Date("2031-01-02T03:04:05Z"), expiresOn: new Date("2032-01-02T03:04:05Z"), permissions: "raup",
  };
  assert.equal((await queue.setAccessPolicy([{ id: "policy", accessPolicy }]))._response.status, 204);
  assert.deepEqual((await queue.getAccessPolicy()).signedIdentifiers, [{ id: "policy", accessPolicy }]);
  await queue.setAccessPolicy([]);
  assert.deepEqual((await queue.getAccessPolicy()).signedIdentifiers, []);
});

conform("Authentication", "queue_policy_gives_a_sas_its_terms", async (t) => {
  const { queue } = await queueWithMessage(t);
  const accessPolicy = { startsOn: hoursFromNow(-1), expiresOn: hoursFromNow(1), permissions: "r" };
  await queue.setAccessPolicy([{ id: "reader", accessPolicy }]);
  const terms = { identifier: "reader", permissions: undefined, expiresOn: undefined };
  const client = queueWithSas(queue.name, queueSas(queue.name, "r", terms));
  assert.deepEqual(texts(await client.peekMessages()), ["text"]);
  await refused(client.sendMessage("more"), 403, "AuthorizationPermissionMismatch");
  await queue.setAccessPolicy([]);
  await refused(client.peekMessages(), 403, "AuthenticationFailed");
});

for (const [label, letters, types, call, code] of [
  ["lists_queues", "l", "s", (service) => drain(service.listQueues().byPage({ maxPageSize: 1 }))],
  ["reads_properties", "r", "s", (service) => service.getProperties()],
  ["without_l_lists_none", "rwdacup", "s", (service) => drain(service.listQueues()), "AuthorizationPermissionMismatch"],
  ["for_objects_lists_none", "l", "o", (service) => drain(service.listQueues()), "AuthorizationResourceTypeMismatch"],
]) {
  conform("Authentication", `account_sas_at_queues_${label}`, async () => {
    const outcome = call(serviceWithSas(accountSas(letters, types)));
    await (code ? refused(outcome, 403, code) : outcome);
  });
}

conform("Authentication", "account_sas_for_blobs_is_refused_at_queues", async () => {
  const service = serviceWithSas(accountSas("l", "s", { services: "b" }));
  await refused(drain(service.listQueues()), 403, "AuthorizationServiceMismatch");
});

conform("Authentication", "account_sas_carries_a_message_all_the_way", async (t) => {
  const name = freshQueueName();
  const queue = queueWithSas(name, accountSas("rwdlacup", "sco"));
  t.after(() => queueClient(name).deleteIfExists());
  await queue.create({ metadata: { a: "1" } });
  await queue.sendMessage("text");
  const [message] = (await queue.receiveMessages()).receivedMessageItems;
  const { popReceipt } = await queue.updateMessage(message.messageId, message.popReceipt, "new", 1);
  await queue.deleteMessage(message.messageId, popReceipt);
  await queue.clearMessages();
  await queue.delete();
});

conform("Authentication", "wrong_key_is_refused_at_queues", async () => {
  const service = queueService(undefined, new StorageSharedKeyCredential(account.name, WRONG_KEY));
  await refused(drain(service.listQueues()), 403, "AuthenticationFailed");
});

conform("Authentication", "connection_string_for_queues_works", async (t) => {
  const service = QueueServiceClient.fromConnectionString(connectionString, { ...clientOptions });
  const name = freshQueueName();
  t.after(() => queueClient(name).deleteIfExists());
  await service.createQueue(name);
  assert.equal(await service.getQueueClient(name).exists(), true);
});

conform("Authentication", "use_development_storage_stands_for_queues", async () => {
  if (!isDevelopmentDefault) skip("the target is not the development account on its own ports");
  const service = QueueServiceClient.fromConnectionString("UseDevelopmentStorage=true", { ...clientOptions });
  await drain(service.listQueues({ prefix: "no-such-queue" }));
});

conform("Authentication", "metadata_names_with_odd_order_are_signed_alike_at_queues", async (t) => {
  const metadata = { aa: "1", a_b: "2", a1: "3", ab: "4", _: "5" };
  assert.deepEqual((await (await freshQueue(t, { metadata })).getProperties()).metadata, metadata);
});
