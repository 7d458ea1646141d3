// The shape of failures and the headers that every answer carries.

import assert from "node:assert/strict";

import { RestError } from "@azure/data-tables";

import { conform, freshTable, freshTableName, refused, responseOf, tableClient } from "../../harness/index.js";

const GUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;

const entity = { partitionKey: "p", rowKey: "r" };

const missing = (table) => table.getEntity("p", "missing");

conform("QueryEntity", "failure_is_a_rest_error_with_status_and_code", async (t) => {
  const error = await refused(missing(await freshTable(t)), 404);
  assert.ok(error instanceof RestError);
  assert.equal(error.details.odataError.code, "ResourceNotFound");
  assert.equal(error.details.odataError.message.lang, "en-US");
});

conform("QueryEntity", "failure_message_names_request_and_time", async (t) => {
  const error = await refused(missing(await freshTable(t)), 404);
  const [text, request, time] = error.details.odataError.message.value.split("\n");
  assert.equal(text, "The specified resource does not exist.");
  assert.equal(request, `RequestId:${error.response.headers.get("x-ms-request-id")}`);
  assert.match(time, /^Time:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z$/);
});

conform("QueryEntity", "failure_body_is_json_when_asked_for", async (t) => {
  const error = await refused(missing(await freshTable(t)), 404);
  assert.match(error.response.headers.get("content-type"), /^application\/json/);
});

for (const [operation, name, call, text] of [
  [
    "InsertEntity",
    "entity_already_exists",
    (table) => table.createEntity(entity),
    "The specified entity already exists.",
  ],
  [
    "UpdateEntity",
    "update_condition_not_satisfied",
    (table) => table.updateEntity(entity, "Replace", { etag: 'W/"other"' }),
    "The update condition specified in the request was not satisfied.",
  ],
  [
    "QueryEntity",
    "table_not_found",
    () => missing(tableClient(freshTableName())),
    "The table specified does not exist.",
  ],
]) {
  conform(operation, `${name}_has_the_text_of_the_service`, async (t) => {
    const table = await freshTable(t);
    await table.createEntity(entity);
    const error = await call(table).catch((reason) => reason);
    assert.equal(error.details.odataError.message.value.split("\n")[0], text);
  });
}

conform("QueryEntity", "every_answer_has_a_request_id_a_version_and_a_date", async (t) => {
  const table = await freshTable(t);
  await table.createEntity(entity);
  for (const rowKey of ["r", "missing"]) {
    const { headers } = await responseOf((options) => table.getEntity("p", rowKey, options));
    assert.match(headers.get("x-ms-request-id"), GUID);
    assert.equal(headers.get("x-ms-version"), "2019-02-02");
    assert.ok(!Number.isNaN(Date.parse(headers.get("date"))));
  }
});

conform("QueryEntity", "every_answer_echoes_the_client_request_id", async (t) => {
  const table = await freshTable(t);
  await table.createEntity(entity);
  for (const rowKey of ["r", "missing"]) {
    const response = await responseOf((options) => table.getEntity("p", rowKey, options));
    const sent = response.request.headers.get("x-ms-client-request-id");
    assert.ok(sent);
    assert.equal(response.headers.get("x-ms-client-request-id"), sent);
  }
});

conform("QueryEntity", "answers_may_not_be_cached_or_sniffed", async (t) => {
  const table = await freshTable(t);
  await table.createEntity(entity);
  const { headers } = await responseOf((options) => table.getEntity("p", "r", options));
  assert.equal(headers.get("cache-control"), "no-cache");
  assert.equal(headers.get("x-content-type-options"), "nosniff");
});
