// Visibility, expiry, and which pop receipt is good for updating and deleting.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { conform, freshQueue, queueWith, refused, texts } from "../../harness/queues.js";

const NEVER = "9999-12-31T23:59:59.000Z";

const receive = async (queue, visibilityTimeout) =>
  (await queue.receiveMessages({ visibilityTimeout })).receivedMessageItems[0];

conform("DeleteMessage", "received_message_is_deleted", async (t) => {
  const queue = await queueWith(t, "text");
  const message = await receive(queue);
  assert.equal((await queue.deleteMessage(message.messageId, message.popReceipt))._response.status, 204);
  assert.equal((await queue.getProperties()).approximateMessagesCount, 0);
});

conform("DeleteMessage", "sender_deletes_with_its_own_receipt", async (t) => {
  const queue = await freshQueue(t);
  const { messageId, popReceipt } = await queue.sendMessage("text");
  await queue.deleteMessage(messageId, popReceipt);
  await refused(queue.deleteMessage(messageId, popReceipt), 404, "MessageNotFound");
});

conform("DeleteMessage", "receipt_ends_when_the_message_is_received_again", async (t) => {
  const queue = await queueWith(t, "text");
  const first = await receive(queue, 1);
  await sleep(2000);
  const second = await receive(queue);
  assert.equal(second.dequeueCount, 2);
  await refused(queue.deleteMessage(first.messageId, first.popReceipt), 404, "MessageNotFound");
  await queue.deleteMessage(second.messageId, second.popReceipt);
});

conform("DeleteMessage", "receipt_outlives_its_visibility_timeout", async (t) => {
  const queue = await queueWith(t, "text");
  const message = await receive(queue, 1);
  await sleep(2000);
  await queue.deleteMessage(message.messageId, message.popReceipt);
  assert.deepEqual(texts(await queue.peekMessages()), []);
});

conform("DeleteMessage", "unknown_message_answers_message_not_found", async (t) => {
  const queue = await freshQueue(t);
  const { popReceipt } = await queue.sendMessage("text");
  await refused(queue.deleteMessage(randomUUID(), popReceipt), 404, "MessageNotFound");
});

conform("DeleteMessage", "malformed_receipt_is_refused", async (t) => {
  const queue = await freshQueue(t);
  const { messageId } = await queue.sendMessage("text");
  await refused(queue.deleteMessage(messageId, "not base64!"), 400);
});

conform("UpdateMessage", "update_gives_a_new_receipt_and_ends_the_old_one", async (t) => {
  const queue = await queueWith(t, "text");
  const message = await receive(queue);
  const updated = await queue.updateMessage(message.messageId, message.popReceipt, "new", 5);
  assert.equal(updated._response.status, 204);
  assert.notEqual(updated.popReceipt, message.popReceipt);
  assert.ok(updated.nextVisibleOn > new Date());
  await refused(queue.deleteMessage(message.messageId, message.popReceipt), 404, "MessageNotFound");
  await queue.deleteMessage(message.messageId, updated.popReceipt);
});

conform("UpdateMessage", "update_without_text_keeps_the_text", async (t) => {
  const queue = await queueWith(t, "kept");
  const message = await receive(queue);
  await queue.updateMessage(message.messageId, message.popReceipt, undefined, 0);
  assert.equal((await receive(queue)).messageText, "kept");
});

conform("UpdateMessage", "update_to_an_empty_text_empties_the_message", async (t) => {
  const queue = await queueWith(t, "old");
  const message = await receive(queue);
  await queue.updateMessage(message.messageId, message.popReceipt, "", 0);
  assert.equal((await receive(queue)).messageText, "");
});

conform("UpdateMessage", "update_keeps_times_and_counts", async (t) => {
  const queue = await queueWith(t, "old");
  const message = await receive(queue);
  await queue.updateMessage(message.messageId, message.popReceipt, "new", 0);
  const again = await receive(queue);
  assert.equal(again.dequeueCount, 2);
  assert.equal(again.insertedOn.getTime(), message.insertedOn.getTime());
  assert.equal(again.expiresOn.getTime(), message.expiresOn.getTime());
});

for (const visibilityTimeout of [-1, 604801]) {
  const label = `${visibilityTimeout}`.replace("-", "minus_");
  conform("UpdateMessage", `update_with_a_timeout_of_${label}_is_refused`, async (t) => {
    const queue = await freshQueue(t);
    const { messageId, popReceipt } = await queue.sendMessage("text", { messageTimeToLive: -1 });
    const call = queue.updateMessage(messageId, popReceipt, "new", visibilityTimeout);
    await refused(call, 400, "OutOfRangeQueryParameterValue");
  });
}

conform("PutMessage", "delayed_message_appears_after_its_delay", async (t) => {
  const queue = await freshQueue(t);
  const sent = await queue.sendMessage("text", { visibilityTimeout: 2 });
  assert.equal(sent.nextVisibleOn - sent.insertedOn, 2000);
  assert.equal(await receive(queue), undefined);
  await sleep(3000);
  assert.equal((await receive(queue)).messageText, "text");
});

for (const visibilityTimeout of [-1, 0, 604801]) {
  const label = `${visibilityTimeout}`.replace("-", "minus_");
  conform("GetMessages", `receiving_with_a_timeout_of_${label}_is_refused`, async (t) => {
    const call = (await freshQueue(t)).receiveMessages({ visibilityTimeout });
    await refused(call, 400, "OutOfRangeQueryParameterValue");
  });
}

for (const messageTimeToLive of [1, 604800, 604801, 31536000]) {
  conform("PutMessage", `time_to_live_of_${messageTimeToLive}_is_accepted`, async (t) => {
    const sent = await (await freshQueue(t)).sendMessage("text", { messageTimeToLive });
    assert.equal(sent.expiresOn - sent.insertedOn, messageTimeToLive * 1000);
  });
}

conform("PutMessage", "time_to_live_of_minus_1_is_for_ever", async (t) => {
  const sent = await (await freshQueue(t)).sendMessage("text", { messageTimeToLive: -1 });
  assert.equal(sent.expiresOn.toISOString(), NEVER);
});

for (const messageTimeToLive of [0, -2]) {
  const label = `${messageTimeToLive}`.replace("-", "minus_");
  conform("PutMessage", `time_to_live_of_${label}_is_refused`, async (t) => {
    const call = (await freshQueue(t)).sendMessage("text", { messageTimeToLive });
    await refused(call, 400, "InvalidQueryParameterValue");
  });
}

conform("PutMessage", "delay_must_end_before_the_message_expires", async (t) => {
  const call = (await freshQueue(t)).sendMessage("text", { visibilityTimeout: 60, messageTimeToLive: 60 });
  await refused(call, 400, "InvalidQueryParameterValue");
});

conform("GetMessages", "expired_message_is_gone", async (t) => {
  const queue = await freshQueue(t);
  const sent = await queue.sendMessage("short", { messageTimeToLive: 1 });
  await queue.sendMessage("long");
  await sleep(2500);
  assert.deepEqual(texts(await queue.peekMessages({ numberOfMessages: 32 })), ["long"]);
  await refused(queue.deleteMessage(sent.messageId, sent.popReceipt), 404, "MessageNotFound");
});
