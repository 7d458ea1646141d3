// Messages in and out: sending, receiving, peeking, their texts and numbers.

import assert from "node:assert/strict";

import { conform, freshQueue, queueWith, refused, texts } from "../../harness/queues.js";

const WEEK_MS = 7 * 24 * 3_600_000;

conform("PutMessage", "sent_message_is_described", async (t) => {
  const sent = await (await freshQueue(t)).sendMessage("text");
  assert.equal(sent._response.status, 201);
  assert.ok(sent.messageId && sent.popReceipt);
  assert.equal(sent.expiresOn - sent.insertedOn, WEEK_MS);
  assert.equal(sent.nextVisibleOn.getTime(), sent.insertedOn.getTime());
});

conform("GetMessages", "received_message_is_described", async (t) => {
  const queue = await freshQueue(t);
  const sent = await queue.sendMessage("text");
  const [message] = (await queue.receiveMessages()).receivedMessageItems;
  assert.equal(message.messageId, sent.messageId);
  assert.equal(message.messageText, "text");
  assert.equal(message.dequeueCount, 1);
  assert.equal(message.insertedOn.getTime(), sent.insertedOn.getTime());
  assert.equal(message.expiresOn.getTime(), sent.expiresOn.getTime());
  assert.notEqual(message.popReceipt, sent.popReceipt);
  const hiddenSeconds = (message.nextVisibleOn - Date.now()) / 1000;
  assert.ok(hiddenSeconds > 25 && hiddenSeconds < 35, `${hiddenSeconds}`);
});

conform("GetMessages", "empty_queue_gives_nothing", async (t) => {
  const queue = await freshQueue(t);
  assert.deepEqual((await queue.receiveMessages({ numberOfMessages: 32 })).receivedMessageItems, []);
  assert.deepEqual((await queue.peekMessages({ numberOfMessages: 32 })).peekedMessageItems, []);
});

conform("GetMessages", "messages_come_in_the_order_of_sending", async (t) => {
  const sent = Array.from({ length: 12 }, (_, index) => `message ${index}`);
  const queue = await queueWith(t, ...sent);
  assert.deepEqual(texts(await queue.receiveMessages({ numberOfMessages: 12 })), sent);
});

for (const numberOfMessages of [1, 2, 31, 32]) {
  conform("GetMessages", `${numberOfMessages}_messages_come_when_asked_for`, async (t) => {
    const queue = await queueWith(t, ...Array.from({ length: 33 }, (_, index) => `${index}`));
    assert.equal(texts(await queue.receiveMessages({ numberOfMessages })).length, numberOfMessages);
    assert.equal((await queue.getProperties()).approximateMessagesCount, 33);
  });
}

for (const numberOfMessages of [-1, 0, 33]) {
  const label = `${numberOfMessages}`.replace("-", "minus_");
  conform("GetMessages", `receiving_${label}_messages_is_refused`, async (t) => {
    const call = (await freshQueue(t)).receiveMessages({ numberOfMessages });
    await refused(call, 400, "OutOfRangeQueryParameterValue");
  });

  conform("PeekMessages", `peeking_at_${label}_messages_is_refused`, async (t) => {
    await refused((await freshQueue(t)).peekMessages({ numberOfMessages }), 400, "OutOfRangeQueryParameterValue");
  });
}

conform("PeekMessages", "peeking_changes_nothing", async (t) => {
  const queue = await queueWith(t, "text");
  for (let round = 0; round < 3; round += 1) {
    const [message] = (await queue.peekMessages()).peekedMessageItems;
    assert.equal(message.messageText, "text");
    assert.equal(message.dequeueCount, 0);
    assert.equal(message.popReceipt, undefined);
  }
  assert.deepEqual(texts(await queue.receiveMessages()), ["text"]);
  assert.deepEqual(texts(await queue.peekMessages()), []);
});

conform("ClearMessages", "clearing_removes_every_message", async (t) => {
  const queue = await queueWith(t, "a", "b", "c");
  await queue.receiveMessages({ visibilityTimeout: 600 });
  await queue.sendMessage("later", { visibilityTimeout: 600 });
  assert.equal((await queue.clearMessages())._response.status, 204);
  assert.equal((await queue.getProperties()).approximateMessagesCount, 0);
});

const TEXTS = {
  markup: "<a href='x'>&amp;</a>",
  quotes: "\"double\" and 'single'",
  space_at_both_ends: "  text  ",
  only_space: "   ",
  tabs: "\tone\ttwo\t",
  end_of_cdata: "a ]]> b",
  json: '{"a":[1,2,{"b":null}]}',
  german: "Grüße",
  chinese: "你好",
  emoji: "🐘🪨",
  percent_signs: "100%25 +",
  base64: "SGVsbG8=",
};

for (const [label, text] of Object.entries(TEXTS)) {
  conform("PutMessage", `text_with_${label}_comes_back`, async (t) => {
    const queue = await queueWith(t, text);
    assert.deepEqual(texts(await queue.peekMessages()), [text]);
    assert.deepEqual(texts(await queue.receiveMessages()), [text]);
  });

  conform("UpdateMessage", `update_to_a_text_with_${label}_comes_back`, async (t) => {
    const queue = await freshQueue(t);
    const sent = await queue.sendMessage("old");
    await queue.updateMessage(sent.messageId, sent.popReceipt, text, 0);
    assert.deepEqual(texts(await queue.receiveMessages()), [text]);
  });
}

conform("PutMessage", "empty_text_is_legal", async (t) => {
  assert.deepEqual(texts(await (await queueWith(t, "")).receiveMessages()), [""]);
});

conform("PutMessage", "text_of_64_kib_is_accepted", async (t) => {
  const text = "x".repeat(65536);
  assert.deepEqual(texts(await (await queueWith(t, text)).receiveMessages()), [text]);
});

conform("PutMessage", "text_of_64_kib_in_utf8_is_accepted", async (t) => {
  const text = "é".repeat(32768);
  assert.deepEqual(texts(await (await queueWith(t, text)).receiveMessages()), [text]);
});

conform("PutMessage", "text_that_only_escaping_makes_long_is_accepted", async (t) => {
  const text = "<".repeat(30000);
  assert.deepEqual(texts(await (await queueWith(t, text)).receiveMessages()), [text]);
});

for (const size of [65537, 200000]) {
  conform("PutMessage", `text_of_${size}_bytes_is_refused`, async (t) => {
    await refused((await freshQueue(t)).sendMessage("x".repeat(size)), 413, "RequestBodyTooLarge");
  });
}

conform("GetMessages", "concurrent_consumers_share_messages_without_duplicates", async (t) => {
  const queue = await queueWith(t, ...Array.from({ length: 60 }, (_, index) => `${index}`));
  const consume = async () => {
    const taken = [];
    for (;;) {
      const { receivedMessageItems } = await queue.receiveMessages({ numberOfMessages: 3, visibilityTimeout: 120 });
      if (receivedMessageItems.length === 0) return taken;
      for (const message of receivedMessageItems) {
        await queue.deleteMessage(message.messageId, message.popReceipt);
        taken.push(Number(message.messageText));
      }
    }
  };
  const taken = (await Promise.all(Array.from({ length: 8 }, consume))).flat().sort((a, b) => a - b);
  assert.deepEqual(taken, Array.from({ length: 60 }, (_, index) => index));
});
