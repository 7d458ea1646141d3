// Stored access policies: kept on the table, and lent to a SAS that names them.

import assert from "node:assert/strict";

import {
  conform, freshTable, freshTableName, hoursFromNow, permissionsOf, refused, responseOf, tableClient, withStoredPolicy,
} from "../../harness/index.js";

const start = new Date("2024-01-01T00:00:00Z");
const expiry = new Date("2099-12-31T23:59:59Z");
const reading = { start, expiry, permission: "r" };
const entity = { partitionKey: "p", rowKey: "r", value: 1 };

const policy = (id) => ({ id, accessPolicy: reading });
const policies = (count) => Array.from({ length: count }, (_, index) => policy(`id${index}`));

/** The policies as plain data: the client hangs response headers on the list. */
// The SDK shows a permission that the service left out as undefined, and leaves the other fields out.
async function readPolicies(table) {
  return (await table.getAccessPolicy()).map(({ id, accessPolicy = {} }) => {
    const { permission, ...times } = accessPolicy;
    return { id, accessPolicy: permission === undefined ? times : { ...times, permission } };
  });
}

conform("GetTableAcl", "a_fresh_table_has_no_policies", async (t) => {
  assert.deepEqual(await readPolicies(await freshTable(t)), []);
});

conform("SetTableAcl", "policies_come_back_as_they_were_set", async (t) => {
  const table = await freshTable(t);
  const list = [
    { id: "all of it", accessPolicy: { start, expiry, permission: "raud" } },
    policy("<markup> & 'quotes'"),
  ];
  await table.setAccessPolicy(list);
  assert.deepEqual(await readPolicies(table), list);
});

conform("SetTableAcl", "policies_may_leave_fields_out", async (t) => {
  const table = await freshTable(t);
  const list = [
    { id: "permission", accessPolicy: { permission: "r" } },
    { id: "expiry", accessPolicy: { expiry } },
    { id: "start", accessPolicy: { start } },
  ];
  await table.setAccessPolicy(list);
  assert.deepEqual(await readPolicies(table), list);
});

conform("SetTableAcl", "a_policy_may_be_only_an_id", async (t) => {
  const table = await freshTable(t);
  await table.setAccessPolicy([{ id: "bare" }]);
  assert.deepEqual((await readPolicies(table)).map(({ id }) => id), ["bare"]);
});

conform("SetTableAcl", "set_policies_answers_204", async (t) => {
  const table = await freshTable(t);
  const response = await responseOf((options) => table.setAccessPolicy(policies(1), options));
  assert.equal(response.status, 204);
});

conform("GetTableAcl", "policy_dates_are_written_with_seven_digits", async (t) => {
  const table = await freshTable(t);
  await table.setAccessPolicy([policy("a")]);
  const response = await responseOf((options) => table.getAccessPolicy(options));
  assert.match(response.bodyAsText, /<Start>2024-01-01T00:00:00\.0000000Z<\/Start>/);
});

conform("SetTableAcl", "policies_are_replaced_as_a_whole", async (t) => {
  const table = await freshTable(t);
  await table.setAccessPolicy(policies(3));
  await table.setAccessPolicy([policy("other")]);
  assert.deepEqual((await readPolicies(table)).map(({ id }) => id), ["other"]);
  await table.setAccessPolicy([]);
  assert.deepEqual(await readPolicies(table), []);
});

conform("SetTableAcl", "five_policies_are_accepted", async (t) => {
  const table = await freshTable(t);
  await table.setAccessPolicy(policies(5));
  assert.equal((await readPolicies(table)).length, 5);
});

conform("SetTableAcl", "six_policies_are_refused", async (t) => {
  await refused((await freshTable(t)).setAccessPolicy(policies(6)), 400, "InvalidXmlDocument");
});

conform("SetTableAcl", "a_policy_id_of_64_characters_is_accepted", async (t) => {
  const table = await freshTable(t);
  await table.setAccessPolicy([policy("i".repeat(64))]);
  assert.equal((await readPolicies(table))[0].id.length, 64);
});

conform("SetTableAcl", "a_policy_id_of_65_characters_is_refused", async (t) => {
  await refused((await freshTable(t)).setAccessPolicy([policy("i".repeat(65))]), 400);
});

conform("GetTableAcl", "policies_of_a_missing_table_are_not_found", async () => {
  await refused(tableClient(freshTableName()).getAccessPolicy(), 404, "TableNotFound", "ResourceNotFound");
});

conform("SetTableAcl", "policies_cannot_be_set_on_a_missing_table", async () => {
  await refused(tableClient(freshTableName()).setAccessPolicy(policies(1)), 404, "TableNotFound", "ResourceNotFound");
});

async function tableWithPolicy(t, accessPolicy) {
  const table = await freshTable(t);
  await table.createEntity(entity);
  await table.setAccessPolicy([{ id: "policy", accessPolicy }]);
  return table;
}

conform("Authentication", "stored_policy_lends_permission_and_dates", async (t) => {
  const table = withStoredPolicy(await tableWithPolicy(t, reading), "policy");
  assert.equal((await table.getEntity("p", "r")).value, 1);
  await refused(table.deleteEntity("p", "r"), 403, "AuthorizationPermissionMismatch");
});

conform("Authentication", "stored_policy_may_leave_the_expiry_to_the_signature", async (t) => {
  const holder = await tableWithPolicy(t, { start, permission: "r" });
  const table = withStoredPolicy(holder, "policy", { expiresOn: hoursFromNow(1) });
  assert.equal((await table.getEntity("p", "r")).value, 1);
});

conform("Authentication", "stored_policy_may_leave_the_permission_to_the_signature", async (t) => {
  const holder = await tableWithPolicy(t, { start, expiry });
  const table = withStoredPolicy(holder, "policy", { permissions: permissionsOf("r") });
  assert.equal((await table.getEntity("p", "r")).value, 1);
});

conform("Authentication", "stored_policy_that_has_expired_is_refused", async (t) => {
  const table = withStoredPolicy(await tableWithPolicy(t, { ...reading, expiry: hoursFromNow(-1) }), "policy");
  await refused(table.getEntity("p", "r"), 403, "AuthenticationFailed");
});

conform("Authentication", "stored_policy_that_is_missing_is_refused", async (t) => {
  const table = withStoredPolicy(await tableWithPolicy(t, reading), "nobody");
  await refused(table.getEntity("p", "r"), 403, "AuthenticationFailed");
});

conform("Authentication", "stored_policy_taken_back_closes_the_table", async (t) => {
  const holder = await tableWithPolicy(t, reading);
  const table = withStoredPolicy(holder, "policy");
  await table.getEntity("p", "r");
  await holder.setAccessPolicy([]);
  await refused(table.getEntity("p", "r"), 403, "AuthenticationFailed");
});

conform("Authentication", "stored_policy_and_signature_may_not_both_give_the_permission", async (t) => {
  const holder = await tableWithPolicy(t, reading);
  const table = withStoredPolicy(holder, "policy", { permissions: permissionsOf("r") });
  await refused(table.getEntity("p", "r"), 403, "AuthenticationFailed");
});
