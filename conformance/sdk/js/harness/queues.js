// What a test file about queues needs, in one import: clients, signatures, and queues that last as long as one case.

import { randomUUID } from "node:crypto";

import {
  AccountSASPermissions, AccountSASResourceTypes, AccountSASServices, QueueClient, QueueSASPermissions,
  QueueServiceClient, StorageSharedKeyCredential, generateAccountSASQueryParameters, generateQueueSASQueryParameters,
} from "@azure/storage-queue";

import { account } from "./account.js";
import { conformFor, skip } from "./conform.js";

export const conform = conformFor("js");
export { skip };
export * from "./account.js";
export { drain, errorCode, refused } from "./answers.js";

const HOUR_MS = 3_600_000;

/** Failures are answers here, so they are asked for only once. */
export const clientOptions = { retryOptions: { maxTries: 1 } };

export const credential = new StorageSharedKeyCredential(account.name, account.key);

export const freshQueueName = (prefix = "js") => `${prefix}-${randomUUID()}`;

export const hoursFromNow = (hours) => new Date(Date.now() + hours * HOUR_MS);

export function queueService(endpoint = account.endpoints.queue, key = credential) {
  return new QueueServiceClient(endpoint, key, { ...clientOptions });
}

export function queueClient(name, endpoint = account.endpoints.queue, key = credential) {
  return new QueueClient(`${endpoint}/${name}`, key, { ...clientOptions });
}

/** Creates a queue that is deleted when the case ends. */
export async function freshQueue(t, options = {}) {
  const queue = queueClient(freshQueueName());
  await queue.create(options);
  t.after(() => queue.deleteIfExists().catch(() => {}));
  return queue;
}

/** A queue with these messages. */
export async function queueWith(t, ...texts) {
  const queue = await freshQueue(t);
  for (const text of texts) await queue.sendMessage(text);
  return queue;
}

export const texts = (response) =>
  (response.receivedMessageItems ?? response.peekedMessageItems).map((message) => message.messageText);

/** A queue's SAS with these permission letters and options. */
export function queueSas(queueName, permissions, options = {}) {
  const terms = { permissions: QueueSASPermissions.parse(permissions), expiresOn: hoursFromNow(1) };
  return generateQueueSASQueryParameters({ queueName, ...terms, ...options }, credential).toString();
}

export function queueWithSas(name, sas) {
  return new QueueClient(`${account.endpoints.queue}/${name}?${sas}`, undefined, { ...clientOptions });
}

/** An account SAS with these permission letters and resource types. */
export function accountSas(permissions, resourceTypes, { services = "bqt", ...options } = {}) {
  const terms = {
    permissions: AccountSASPermissions.parse(permissions),
    resourceTypes: AccountSASResourceTypes.parse(resourceTypes).toString(),
    services: AccountSASServices.parse(services).toString(),
    expiresOn: hoursFromNow(1),
  };
  return generateAccountSASQueryParameters({ ...terms, ...options }, credential).toString();
}

export function serviceWithSas(sas) {
  return new QueueServiceClient(`${account.endpoints.queue}?${sas}`, undefined, { ...clientOptions });
}
