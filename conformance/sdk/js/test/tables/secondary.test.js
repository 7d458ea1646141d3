// The read-only secondary: statistics and reads. For a path-style endpoint the account's segment carries the suffix.

import assert from "node:assert/strict";

import {
  account, conform, freshTable, isPathStyle, refused, secondaryEndpoint, serviceClient, skip, tableClient,
} from "../../harness/index.js";

// Towards a host-style endpoint the client rewrites the host to the secondary by itself.
const statisticsClient = () => serviceClient(isPathStyle ? secondaryEndpoint : account.endpoint);

conform("GetTableServiceStats", "statistics_of_the_secondary_tell_the_state_of_replication", async () => {
  const { geoReplication } = await statisticsClient().getStatistics();
  assert.ok(["live", "bootstrap", "unavailable"].includes(geoReplication.status), geoReplication.status);
  if (geoReplication.status === "live") {
    assert.ok(geoReplication.lastSyncTime.getTime() <= Date.now() + 60_000);
  }
});

conform("GetTableServiceStats", "statistics_of_the_primary_are_refused", async () => {
  // The SDK's policy for the secondary cannot rewrite an address such as 127.0.0.1; removed, it rewrites none.
  const service = serviceClient();
  service.pipeline.removePolicy({ name: "tablesSecondaryEndpointPolicy" });
  await refused(service.getStatistics(), 400, "InvalidQueryParameterValue");
});

// Replication to a real secondary takes a while; an emulator's is the primary under another name.
const REASON = "a real account's secondary lags behind its primary";

conform("QueryEntity", "secondary_answers_reads", async (t) => {
  if (!isPathStyle) skip(REASON);
  const table = await freshTable(t);
  await table.createEntity({ partitionKey: "p", rowKey: "r", value: 1 });
  assert.equal((await tableClient(table.tableName, secondaryEndpoint).getEntity("p", "r")).value, 1);
});

conform("InsertEntity", "secondary_refuses_writes", async (t) => {
  if (!isPathStyle) skip(REASON);
  const { tableName } = await freshTable(t);
  await refused(tableClient(tableName, secondaryEndpoint).createEntity({ partitionKey: "p", rowKey: "r" }), 403);
});
