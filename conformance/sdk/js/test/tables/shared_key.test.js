// Account keys, connection strings and the hosts a client may be pointed at.

import assert from "node:assert/strict";

import { AzureNamedKeyCredential, TableClient, TableServiceClient } from "@azure/data-tables";

import {
  account, accountSas, clientOptions, conform, connectionString, drain, freshTable, freshTableName, hoursFromNow,
  isDevelopmentDefault, isPathStyle, refused, serviceClient, skip, tableClient,
} from "../../harness/index.js";

const entity = { partitionKey: "o'brien & co", rowKey: "r", value: 1 };

/** Writes and reads through the client; the odd key makes the signed path an encoded one. */
async function exercise(table) {
  await table.createEntity(entity);
  await table.updateEntity({ ...entity, value: 2 }, "Merge");
  await table.submitTransaction([["upsert", { ...entity, rowKey: "s" }]]);
  assert.equal((await table.getEntity(entity.partitionKey, "r")).value, 2);
  assert.equal((await drain(table.listEntities())).length, 2);
  await table.deleteEntity(entity.partitionKey, "r");
}

conform("Authentication", "a_wrong_key_is_refused", async (t) => {
  const { tableName } = await freshTable(t);
  const wrong = new AzureNamedKeyCredential(account.name, Buffer.from("not the key").toString("base64"));
  const table = new TableClient(account.endpoint, tableName, wrong, { ...clientOptions });
  await refused(table.getEntity("p", "r"), 403, "AuthenticationFailed");
});

conform("Authentication", "a_request_without_credentials_is_refused", async (t) => {
  const { tableName } = await freshTable(t);
  const table = new TableClient(account.endpoint, tableName, { ...clientOptions });
  const error = await table.getEntity("p", "r").catch((reason) => reason);
  assert.ok([401, 403, 404].includes(error.statusCode), `answered ${error.statusCode}`);
});

conform("Authentication", "a_request_without_credentials_is_challenged_since_2020_12_06", async (t) => {
  const { tableName } = await freshTable(t);
  const table = new TableClient(account.endpoint, tableName, { ...clientOptions });
  table.pipeline.addPolicy({
    name: "newerVersion",
    sendRequest(request, next) {
      request.headers.set("x-ms-version", "2020-12-06");
      return next(request);
    },
  });
  const error = await refused(table.getEntity("p", "r"), 401, "NoAuthenticationInformation");
  assert.match(error.response.headers.get("www-authenticate"), /^Bearer authorization_uri=\S+ resource_id=\S+/);
});

conform("Authentication", "a_date_an_hour_ago_is_refused", async (t) => {
  const { tableName } = await freshTable(t);
  t.mock.timers.enable({ apis: ["Date"], now: hoursFromNow(-1) });
  // The clock is put right before the case ends, so that the table can be deleted.
  const attempt = tableClient(tableName).getEntity("p", "r").finally(() => t.mock.timers.reset());
  const error = await refused(attempt, 403, "AuthenticationFailed");
  assert.ok(Date.parse(error.request.headers.get("x-ms-date")) < hoursFromNow(-0.9));
});

conform("Authentication", "an_account_connection_string_works", async (t) => {
  const { tableName } = await freshTable(t);
  await exercise(TableClient.fromConnectionString(connectionString, tableName, { ...clientOptions }));
});

conform("Authentication", "a_connection_string_with_a_trailing_slash_works", async (t) => {
  const { tableName } = await freshTable(t);
  await exercise(TableClient.fromConnectionString(`${connectionString}/;`, tableName, { ...clientOptions }));
});

conform("Authentication", "a_connection_string_with_a_signature_works", async (t) => {
  const { tableName } = await freshTable(t);
  const text = `TableEndpoint=${account.endpoint};SharedAccessSignature=${accountSas("rwdlau", "sco")}`;
  await exercise(TableClient.fromConnectionString(text, tableName, { ...clientOptions }));
});

conform("Authentication", "use_development_storage_true_needs_no_other_setting", async (t) => {
  if (!isDevelopmentDefault) skip("the target is not the development account on 127.0.0.1:10002");
  const { tableName } = await freshTable(t);
  await exercise(TableClient.fromConnectionString("UseDevelopmentStorage=true", tableName));
  const service = TableServiceClient.fromConnectionString("UseDevelopmentStorage=true");
  assert.ok((await drain(service.listTables())).some((table) => table.name === tableName));
});

conform("Authentication", "the_host_localhost_works", async (t) => {
  if (!isPathStyle) skip("the target is not an emulator");
  const { tableName } = await freshTable(t);
  await exercise(tableClient(tableName, account.endpoint.replace("127.0.0.1", "localhost")));
});

conform("Authentication", "an_endpoint_with_a_trailing_slash_works_for_the_service", async (t) => {
  const { tableName } = await freshTable(t);
  const tables = await drain(serviceClient(`${account.endpoint}/`).listTables());
  assert.ok(tables.some((table) => table.name === tableName));
});

conform("Authentication", "a_missing_table_is_not_confused_with_missing_rights", async () => {
  await refused(tableClient(freshTableName()).getEntity("p", "r"), 404, "TableNotFound");
});
