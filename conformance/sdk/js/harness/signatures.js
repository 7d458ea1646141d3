// Shared access signatures for the account under test.

import { generateAccountSas, generateTableSas } from "@azure/data-tables";

import { credential, serviceClientWithSas, tableClientWithSas } from "./clients.js";

const HOUR_MS = 3_600_000;
const PERMISSIONS = { r: "query", w: "write", d: "delete", l: "list", a: "add", u: "update" };
const SERVICES = { b: "blob", q: "queue", t: "table", f: "file" };

const flags = (letters, names) => Object.fromEntries([...letters].map((letter) => [names[letter], true]));

/** The SDK's form of permission letters. */
export const permissionsOf = (letters) => flags(letters, PERMISSIONS);

/** The SDK's form of service letters. */
export const servicesOf = (letters) => flags(letters, SERVICES);

export const hoursFromNow = (hours) => new Date(Date.now() + hours * HOUR_MS);

/** A client of the table that holds a service SAS with these permission letters and options. */
export function withTableSas(table, permissions, options = {}) {
  return tableClientWithSas(table.tableName, tableSas(table.tableName, permissions, options));
}

export function tableSas(tableName, permissions, options = {}) {
  return generateTableSas(tableName, credential, {
    permissions: permissionsOf(permissions),
    expiresOn: hoursFromNow(1),
    ...options,
  });
}

/** A service SAS that leaves to the stored access policy whatever `options` does not say. */
export function withStoredPolicy(table, identifier, options = {}) {
  return tableClientWithSas(table.tableName, generateTableSas(table.tableName, credential, { identifier, ...options }));
}

/** An account SAS with these permission letters and resource types. */
export function accountSas(permissions, resourceTypes, options = {}) {
  return generateAccountSas(credential, {
    permissions: permissionsOf(permissions),
    resourceTypes,
    expiresOn: hoursFromNow(1),
    ...options,
  });
}

export function tableWithAccountSas(table, permissions, resourceTypes, options) {
  return tableClientWithSas(table.tableName, accountSas(permissions, resourceTypes, options));
}

export function serviceWithAccountSas(permissions, resourceTypes, options) {
  return serviceClientWithSas(accountSas(permissions, resourceTypes, options));
}
