// Properties, statistics and CORS of the blob service.

import assert from "node:assert/strict";

import { account, blobService, conform, refused, secondaryOf } from "../../harness/blobs.js";

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
  const service = blobService();
  const { blobAnalyticsLogging, hourMetrics, minuteMetrics, cors } = await service.getProperties();
  t.after(() => service.setProperties({ blobAnalyticsLogging, hourMetrics, minuteMetrics, cors: cors ?? [] }));
  return service;
}

conform("GetBlobServiceProperties", "blob_properties_have_every_section", async () => {
  const properties = await blobService().getProperties();
  assert.equal(properties.blobAnalyticsLogging.version, "1.0");
  assert.equal(properties.hourMetrics.version, "1.0");
  assert.equal(properties.minuteMetrics.version, "1.0");
});

conform("SetBlobServiceProperties", "blob_properties_are_read_back", async (t) => {
  const service = await restored(t);
  const answer = await service.setProperties({
    blobAnalyticsLogging: {
      version: "1.0", deleteProperty: true, read: false, write: true, retentionPolicy: retention,
    },
    hourMetrics: { version: "1.0", enabled: true, includeAPIs: true, retentionPolicy: retention },
    minuteMetrics: { version: "1.0", enabled: true, includeAPIs: false, retentionPolicy: retention },
    cors: [rule],
  });
  assert.equal(answer._response.status, 202);
  const { blobAnalyticsLogging: logging, hourMetrics, minuteMetrics, cors } = await service.getProperties();
  assert.deepEqual([logging.deleteProperty, logging.read, logging.write], [true, false, true]);
  assert.deepEqual(logging.retentionPolicy, retention);
  assert.deepEqual([hourMetrics.enabled, hourMetrics.includeAPIs], [true, true]);
  assert.deepEqual([minuteMetrics.enabled, minuteMetrics.includeAPIs], [true, false]);
  assert.deepEqual(cors, [rule]);
});

conform("SetBlobServiceProperties", "section_of_blob_properties_left_out_keeps_its_value", async (t) => {
  const service = await restored(t);
  await service.setProperties({ cors: [rule] });
  await service.setProperties({ hourMetrics: { version: "1.0", enabled: false, retentionPolicy: { enabled: false } } });
  assert.deepEqual((await service.getProperties()).cors, [rule]);
});

conform("SetBlobServiceProperties", "website_is_read_back", async (t) => {
  const service = await restored(t);
  const before = (await service.getProperties()).staticWebsite ?? { enabled: false };
  t.after(() => service.setProperties({ staticWebsite: before }));
  await service.setProperties({
    staticWebsite: { enabled: true, indexDocument: "index.html", errorDocument404Path: "404.html" },
  });
  const { staticWebsite } = await service.getProperties();
  assert.deepEqual([staticWebsite.indexDocument, staticWebsite.errorDocument404Path], ["index.html", "404.html"]);
});

conform("SetBlobServiceProperties", "blob_retention_of_366_days_is_refused", async (t) => {
  const service = await restored(t);
  const retentionPolicy = { enabled: true, days: 366 };
  const hourMetrics = { version: "1.0", enabled: true, includeAPIs: true, retentionPolicy };
  await refused(service.setProperties({ hourMetrics }), 400, "InvalidXmlDocument");
});

conform("BlobPreflightRequest", "blob_preflight_of_an_allowed_origin_is_answered", async (t) => {
  const service = await restored(t);
  await service.setProperties({ cors: [rule] });
  const response = await fetch(`${account.endpoints.blob}/any`, {
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

conform("BlobPreflightRequest", "blob_preflight_of_another_origin_is_refused", async (t) => {
  const service = await restored(t);
  await service.setProperties({ cors: [rule] });
  const response = await fetch(`${account.endpoints.blob}/any`, {
    method: "OPTIONS",
    headers: { origin: "https://b.example", "access-control-request-method": "PUT" },
  });
  assert.equal(response.status, 403);
  assert.match(await response.text(), /CorsPreflightFailure/);
});

conform("GetBlobServiceStats", "secondary_of_blobs_tells_its_statistics", async () => {
  const { geoReplication } = await blobService(secondaryOf("blob")).getStatistics();
  assert.ok(["live", "bootstrap", "unavailable"].includes(geoReplication.status), geoReplication.status);
});

conform("GetBlobServiceStats", "primary_of_blobs_has_no_statistics", async () => {
  await refused(blobService().getStatistics(), 400, "InvalidQueryParameterValue");
});
