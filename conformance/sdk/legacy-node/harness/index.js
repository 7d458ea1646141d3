// The retired `azure-storage` client for the account under test, with promises in place of callbacks. Results are
// written, and the account is read, by the harness of the `js` suite.

import azure from "azure-storage";

import { account, secondaryEndpoint } from "../../js/harness/account.js";
import { conformFor } from "../../js/harness/conform.js";
import { freshTableName } from "../../js/harness/names.js";

export { azure, freshTableName };

export const conform = conformFor("legacy-node");
export const { entityGenerator } = azure.TableUtilities;

/**
 * Turns every call into a promise of `{ result, response }`; calls without a result of their own give the response
 * for both. The error it rejects with has `statusCode` and `code`.
 */
export function promising(service) {
  const call = (method) => (...args) =>
    new Promise((resolve, reject) => {
      service[method](...args, (error, ...answer) => {
        if (error) reject(error);
        else resolve({ result: answer[0], response: answer.at(-1) });
      });
    });
  return new Proxy(service, { get: (_, method) => call(method) });
}

const host = { primaryHost: account.endpoint, secondaryHost: secondaryEndpoint };

/** The plain client, for what it does without asking the service. */
export const plain = azure.createTableService(account.name, account.key, host);

export const tables = promising(plain);

/** A client that holds nothing but a shared access signature. */
export function withSas(sas) {
  return promising(azure.createTableServiceWithSas(host, sas));
}

/** Creates a table that is deleted when the case ends. */
export async function freshTable(t) {
  const name = freshTableName("legacy");
  await tables.createTable(name);
  t.after(() => tables.deleteTableIfExists(name).catch(() => {}));
  return name;
}

/** An entity of partition "p" in the client's own form. */
export function entity(row, values = {}) {
  return { PartitionKey: entityGenerator.String("p"), RowKey: entityGenerator.String(row), ...values };
}

/** The values of an entity read, without their types and metadata. */
export function values({ ".metadata": _, PartitionKey, RowKey, Timestamp, ...rest }) {
  return Object.fromEntries(Object.entries(rest).map(([name, property]) => [name, property._]));
}
