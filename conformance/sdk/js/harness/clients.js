// Clients of the official SDK for the account under test, and tables that last as long as one case.

import { AzureNamedKeyCredential, AzureSASCredential, TableClient, TableServiceClient } from "@azure/data-tables";

import { account } from "./account.js";
import { freshTableName } from "./names.js";

/** Failures are answers here, so they are asked for only once more and at once. */
export const clientOptions = {
  allowInsecureConnection: true,
  retryOptions: { maxRetries: 1, retryDelayInMs: 20, maxRetryDelayInMs: 50 },
};

export const credential = new AzureNamedKeyCredential(account.name, account.key);

export function serviceClient(endpoint = account.endpoint) {
  return new TableServiceClient(endpoint, credential, { ...clientOptions });
}

export function tableClient(name, endpoint = account.endpoint) {
  return new TableClient(endpoint, name, credential, { ...clientOptions });
}

/** A client of one table that holds nothing but a shared access signature. */
export function tableClientWithSas(name, sas) {
  return new TableClient(account.endpoint, name, new AzureSASCredential(sas), { ...clientOptions });
}

export function serviceClientWithSas(sas) {
  return new TableServiceClient(account.endpoint, new AzureSASCredential(sas), { ...clientOptions });
}

/** Creates a table that is deleted when the case ends. */
export async function freshTable(t, name = freshTableName()) {
  const table = tableClient(name);
  await table.createTable();
  deleteAfter(t, name);
  return table;
}

/** Has a table deleted when the case ends, whether or not the case came to create it. */
export function deleteAfter(t, name) {
  t.after(() => tableClient(name).deleteTable().catch(() => {}));
}
