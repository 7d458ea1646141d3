// Properties, statistics and CORS of the queue service.

import assert from "node:assert/strict";

import {
  account, conform, isPathStyle, queueClient, queueService, queueWith, refused, secondaryOf, skip, texts,
} from "../../harness/queues.js";

const retention = { enabled: true, days: 5 };
const rule = {
  allowedOrigins: "https://a.example",
  allowedMethods: "GET,PUT",
  allowedHeaders: "x-ms-meta-*",
  exposedHeaders: "x-ms-*",
  maxAgeInSeconds: 60,
};

// The properties belong to the whole account, so their cases follow one another in one file.
async function restored(t) {
  const service = queueService();
  const { queueAnalyticsLogging, hourMetrics, minuteMetrics, cors } = await service.getProperties();
  t.after(() => service.setProperties({ queueAnalyticsLogging, hourMetrics, minuteMetrics, cors: cors ?? [] }));
  return service;
}

conform("GetQueueServiceProperties", "queue_properties_have_every_section", async () => {
  const properties = await queueService().getProperties();
  assert.equal(properties.queueAnalyticsLogging.version, "1.0");
  assert.equal(properties.hourMetrics.version, "1.0");
  assert.equal(properties.minuteMetrics.version, "1.0");
});

conform("SetQueueServiceProperties", "queue_properties_are_read_back", async (t) => {
  const service = await restored(t);
  const answer = await service.setProperties({
    queueAnalyticsLogging: {
      version: "1.0", deleteProperty: true, read: false, write: true, retentionPolicy: retention,
    },
    hourMetrics: { version: "1.0", enabled: true, includeAPIs: true, retentionPolicy: retention },
    minuteMetrics: { version: "1.0", enabled: true, includeAPIs: false, retentionPolicy: retention },
    cors: [rule],
  });
  assert.equal(answer._response.status, 202);
  const { queueAnalyticsLogging: logging, hourMetrics, minuteMetrics, cors } = await service.getProperties();
  assert.deepEqual([logging.deleteProperty, logging.read, logging.write], [true, false, true]);
  assert.deepEqual(logging.retentionPolicy, retention);
  assert.deepEqual([hourMetrics.enabled, hourMetrics.includeAPIs], [true, true]);
  assert.deepEqual([minuteMetrics.enabled, minuteMetrics.includeAPIs], [true, false]);
  assert.deepEqual(cors, [rule]);
});

conform("SetQueueServiceProperties", "section_of_queue_properties_left_out_keeps_its_value", async (t) => {
  const service = await restored(t);
  await service.setProperties({ cors: [rule] });
  await service.setProperties({ hourMetrics: { version: "1.0", enabled: false, retentionPolicy: { enabled: false } } });
  assert.deepEqual((await service.getProperties()).cors, [rule]);
});

conform("SetQueueServiceProperties", "queue_retention_of_366_days_is_refused", async (t) => {
  const service = await restored(t);
  const retentionPolicy = { enabled: true, days: 366 };
  const hourMetrics = { version: "1.0", enabled: true, includeAPIs: true, retentionPolicy };
  await refused(service.setProperties({ hourMetrics }), 400, "InvalidXmlDocument");
});

conform("QueuePreflightRequest", "queue_preflight_of_an_allowed_origin_is_answered", async (t) => {
  const service = await restored(t);
  await service.setProperties({ cors: [rule] });
  const response = await fetch(`${account.endpoints.queue}/any`, {
    method: "OPTIONS",
    headers: {
      origin: "https://a.example", "access-control-request-method": "PUT",
      "access-control-request-headers": "x-ms-meta-colour",
    },
  });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("access-control-allow-origin"), "https://a.example");
  assert.equal(response.headers.get("access-control-max-age"), "60");
});

conform("QueuePreflightRequest", "queue_preflight_of_another_origin_is_refused", async (t) => {
  const service = await restored(t);
  await service.setProperties({ cors: [rule] });
  const response = await fetch(`${account.endpoints.queue}/any`, {
    method: "OPTIONS",
    headers: { origin: "https://b.example", "access-control-request-method": "PUT" },
  });
  assert.equal(response.status, 403);
  assert.match(await response.text(), /CorsPreflightFailure/);
});

conform("GetQueueServiceStats", "secondary_of_queues_tells_its_statistics", async () => {
  const { geoReplication } = await queueService(secondaryOf("queue")).getStatistics();
  assert.ok(["live", "bootstrap", "unavailable"].includes(geoReplication.status), geoReplication.status);
});

conform("GetQueueServiceStats", "primary_of_queues_has_no_statistics", async () => {
  await refused(queueService().getStatistics(), 400, "InvalidQueryParameterValue");
});

conform("PeekMessages", "secondary_of_queues_serves_reads", async (t) => {
  if (!isPathStyle) skip("replication to a live secondary takes its time");
  const queue = await queueWith(t, "text");
  assert.deepEqual(texts(await queueClient(queue.name, secondaryOf("queue")).peekMessages()), ["text"]);
});
