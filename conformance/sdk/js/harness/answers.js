// What a call was answered: errors with their service code, raw responses, and drained listings.

import assert from "node:assert/strict";

/** The service's error code, from wherever the SDK put it: the body, the batch part, or the header. */
export function errorCode(error) {
  const { details, code, response } = error;
  return details?.odataError?.code ?? details?.errorCode ?? code ?? response?.headers.get("x-ms-error-code");
}

/** Asserts that the call fails with this status and one of these codes, and returns the error. */
export async function refused(call, statusCode, ...codes) {
  const error = await call.then(
    () => assert.fail(`expected ${statusCode} ${codes.join(" or ")}, but the call succeeded`),
    (reason) => reason,
  );
  if (error instanceof assert.AssertionError) throw error;
  assert.equal(error.statusCode, statusCode, `status of: ${error.message}`);
  if (codes.length > 0) assert.ok(codes.includes(errorCode(error)), `code ${errorCode(error)}, expected ${codes}`);
  return error;
}

/** Calls `operation` with options that capture the response; resolves to that response, also of a failed call. */
export async function responseOf(operation) {
  let response;
  const keep = (rawResponse) => {
    response = rawResponse;
  };
  await operation({ onResponse: keep }).catch((error) => {
    response ??= error.response;
    if (!response) throw error;
  });
  return response;
}

/** All items of an async iterator. */
export async function drain(items) {
  const all = [];
  for await (const item of items) all.push(item);
  return all;
}

/** The row keys a filter selects, in the order of the answer. */
export async function rowKeys(table, filter, options = {}) {
  const entities = await drain(table.listEntities({ queryOptions: { filter, ...options } }));
  return entities.map((entity) => entity.rowKey);
}

/** The entity's own properties, without keys, timestamp and `odata` members. */
export function properties(entity) {
  const { partitionKey, rowKey, timestamp, etag, ...rest } = entity;
  return Object.fromEntries(Object.entries(rest).filter(([name]) => !name.startsWith("odata.")));
}
