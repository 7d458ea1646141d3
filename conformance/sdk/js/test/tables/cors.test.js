// CORS rules, and what a browser would see of them: preflights and requests from another origin.

import assert from "node:assert/strict";

import { account, conform, freshTable, refused, serviceClient, tableSas } from "../../harness/index.js";

const ORIGIN = "https://app.example";
const rule = {
  allowedOrigins: ORIGIN,
  allowedMethods: "GET,PUT",
  allowedHeaders: "x-ms-*,content-type",
  exposedHeaders: "x-ms-*,etag",
  maxAgeInSeconds: 200,
};

/** Puts these rules in force until the case ends. */
async function withRules(t, ...cors) {
  const service = serviceClient();
  const before = (await service.getProperties()).cors ?? [];
  t.after(() => service.setProperties({ cors: before }).catch(() => {}));
  await service.setProperties({ cors });
  return service;
}

async function preflight(table, headers) {
  return fetch(`${account.endpoint}/${table.tableName}`, { method: "OPTIONS", headers });
}

const asks = (origin, method, headers) => ({
  Origin: origin,
  "Access-Control-Request-Method": method,
  ...(headers && { "Access-Control-Request-Headers": headers }),
});

/** Reads the table from a page of `origin`, with a SAS as a browser would. */
async function readFrom(table, origin) {
  const url = `${account.endpoint}/${table.tableName}()?${tableSas(table.tableName, "r")}`;
  return fetch(url, { headers: { Origin: origin, Accept: "application/json;odata=nometadata" } });
}

conform("SetTableServiceProperties", "cors_rules_come_back_in_order", async (t) => {
  const rules = [rule, { ...rule, allowedOrigins: "*", allowedMethods: "DELETE,HEAD,MERGE,POST,OPTIONS" }];
  const service = await withRules(t, ...rules);
  assert.deepEqual((await service.getProperties()).cors, rules);
});

conform("SetTableServiceProperties", "cors_rules_are_removed_by_an_empty_list", async (t) => {
  const service = await withRules(t, rule);
  await service.setProperties({ cors: [] });
  assert.deepEqual((await service.getProperties()).cors ?? [], []);
});

conform("SetTableServiceProperties", "six_cors_rules_are_refused", async (t) => {
  const service = await withRules(t);
  await refused(service.setProperties({ cors: Array(6).fill(rule) }), 400);
});

conform("TablePreflightRequest", "preflight_that_matches_a_rule_is_allowed", async (t) => {
  const table = await freshTable(t);
  await withRules(t, rule);
  const response = await preflight(table, asks(ORIGIN, "PUT", "x-ms-version,Content-Type"));
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("access-control-allow-origin"), ORIGIN);
  assert.match(response.headers.get("access-control-allow-methods"), /\bPUT\b/);
  assert.match(response.headers.get("access-control-allow-headers"), /x-ms-version/i);
  assert.equal(response.headers.get("access-control-max-age"), "200");
  assert.equal(response.headers.get("access-control-allow-credentials"), "true");
});

conform("TablePreflightRequest", "preflight_is_allowed_by_a_rule_for_every_origin", async (t) => {
  const table = await freshTable(t);
  await withRules(t, { ...rule, allowedOrigins: "*", allowedHeaders: "*" });
  const response = await preflight(table, asks("http://anywhere.example", "GET", "anything"));
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("access-control-allow-origin"), "*");
});

conform("TablePreflightRequest", "preflight_takes_the_first_rule_that_matches", async (t) => {
  const table = await freshTable(t);
  const rules = [{ allowedMethods: "GET" }, { maxAgeInSeconds: 7 }, { maxAgeInSeconds: 9 }];
  await withRules(t, ...rules.map((difference) => ({ ...rule, ...difference })));
  const response = await preflight(table, asks(ORIGIN, "PUT"));
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("access-control-max-age"), "7");
});

for (const [what, headers] of [
  ["another_origin", asks("https://other.example", "GET")],
  ["an_origin_in_another_case", asks(ORIGIN.toUpperCase(), "GET")],
  ["another_method", asks(ORIGIN, "DELETE")],
  ["another_header", asks(ORIGIN, "GET", "x-ms-date,authorization")],
]) {
  conform("TablePreflightRequest", `preflight_for_${what}_is_refused`, async (t) => {
    const table = await freshTable(t);
    await withRules(t, rule);
    const response = await preflight(table, headers);
    assert.equal(response.status, 403);
    assert.match(await response.text(), /CorsPreflightFailure/);
  });
}

conform("TablePreflightRequest", "preflight_without_any_rule_is_refused", async (t) => {
  const table = await freshTable(t);
  await withRules(t);
  const response = await preflight(table, asks(ORIGIN, "GET"));
  assert.equal(response.status, 403);
  assert.match(await response.text(), /CorsPreflightFailure/);
});

conform("TablePreflightRequest", "preflight_without_an_origin_is_refused", async (t) => {
  const table = await freshTable(t);
  await withRules(t, rule);
  const response = await preflight(table, { "Access-Control-Request-Method": "GET" });
  assert.equal(response.status, 400);
  assert.match(await response.text(), /InvalidHeaderValue/);
});

conform("QueryEntities", "request_from_an_allowed_origin_may_be_read_by_it", async (t) => {
  const table = await freshTable(t);
  await withRules(t, rule);
  const response = await readFrom(table, ORIGIN);
  assert.equal(response.status, 200);
  assert.deepEqual(await response.json(), { value: [] });
  assert.equal(response.headers.get("access-control-allow-origin"), ORIGIN);
  assert.ok(response.headers.get("access-control-expose-headers"));
  assert.match(response.headers.get("vary") ?? "", /origin/i);
});

conform("QueryEntities", "request_from_another_origin_is_answered_without_cors_headers", async (t) => {
  const table = await freshTable(t);
  await withRules(t, rule);
  const response = await readFrom(table, "https://other.example");
  assert.equal(response.status, 200);
  await response.text();
  assert.equal(response.headers.get("access-control-allow-origin"), null);
});
