// What a test file about blobs needs, in one import: clients, signatures, and containers that last as long as one case.

import { createHash, randomUUID } from "node:crypto";

import {
  AccountSASPermissions, AccountSASResourceTypes, AccountSASServices, AnonymousCredential, BlobClient,
  BlobSASPermissions, BlobServiceClient, ContainerClient, ContainerSASPermissions, StorageSharedKeyCredential,
  generateAccountSASQueryParameters, generateBlobSASQueryParameters,
} from "@azure/storage-blob";

import { account } from "./account.js";
import { conformFor, skip } from "./conform.js";

export const conform = conformFor("js");
export { skip };
export * from "./account.js";
export { drain, errorCode, refused } from "./answers.js";

const HOUR_MS = 3_600_000;

export const MIB = 1024 * 1024;

/** Failures are answers here, so they are asked for only once. */
export const clientOptions = { retryOptions: { maxTries: 1 } };

export const credential = new StorageSharedKeyCredential(account.name, account.key);

export const freshContainerName = (prefix = "js") => `${prefix}-${randomUUID()}`;

export const hoursFromNow = (hours) => new Date(Date.now() + hours * HOUR_MS);

export function blobService(endpoint = account.endpoints.blob, key = credential) {
  return new BlobServiceClient(endpoint, key, { ...clientOptions });
}

export function containerClient(name, endpoint = account.endpoints.blob, key = credential) {
  return new ContainerClient(`${endpoint}/${name}`, key, { ...clientOptions });
}

export function anonymousContainer(name) {
  return containerClient(name, account.endpoints.blob, new AnonymousCredential());
}

/** Creates a container that is deleted when the case ends, whoever then holds a lease on it. */
export async function freshContainer(t, options = {}) {
  const container = containerClient(freshContainerName());
  await container.create(options);
  t.after(async () => {
    await container.getBlobLeaseClient().breakLease(0).catch(() => {});
    await container.deleteIfExists().catch(() => {});
  });
  return container;
}

/** A block blob that holds the ten digits, in a container of its own. */
export async function freshBlob(t, options = {}) {
  const container = await freshContainer(t);
  const blob = container.getBlockBlobClient("blob");
  await blob.upload("0123456789", 10, options);
  return { container, blob };
}

/** Bytes in which no two places look alike, always the same for one size. */
export function someBytes(size) {
  const bytes = Buffer.alloc(size);
  let state = size + 1;
  for (let at = 0; at < size; at += 1) {
    state = (state * 1103515245 + 12345) & 0x7fffffff;
    bytes[at] = state >> 16;
  }
  return bytes;
}

export const md5Of = (bytes) => createHash("md5").update(bytes).digest();

export async function contentOf(blob, ...range) {
  const { readableStreamBody } = await blob.download(...range);
  const chunks = [];
  for await (const chunk of readableStreamBody) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** The SAS of a container, or of the blob named in `options`. */
export function containerSas(containerName, permissions, options = {}) {
  const parse = options.blobName ? BlobSASPermissions : ContainerSASPermissions;
  const terms = { permissions: parse.parse(permissions), expiresOn: hoursFromNow(1) };
  return generateBlobSASQueryParameters({ containerName, ...terms, ...options }, credential).toString();
}

export const blobSas = (blob, permissions, options = {}) =>
  containerSas(blob.containerName, permissions, { blobName: blob.name, ...options });

export const containerWithSas = (container, sas) =>
  new ContainerClient(`${container.url}?${sas}`, undefined, { ...clientOptions });

export const blobWithSas = (blob, sas) =>
  new BlobClient(`${blob.url}?${sas}`, undefined, { ...clientOptions }).getBlockBlobClient();

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
  return new BlobServiceClient(`${account.endpoints.blob}?${sas}`, undefined, { ...clientOptions });
}
