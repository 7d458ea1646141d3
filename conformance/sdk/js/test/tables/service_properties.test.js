// Logging and metrics settings. CORS has its own file, and each of the two leaves the other's sections alone, so
// that they may run at the same time.

import assert from "node:assert/strict";

import { conform, refused, responseOf, serviceClient } from "../../harness/index.js";

const keptFor = (days) => ({ enabled: true, days });
const off = { version: "1.0", enabled: false, retentionPolicy: { enabled: false } };

/** Puts logging and metrics back as they were when the case ends. */
async function freshService(t) {
  const service = serviceClient();
  const { logging, hourMetrics, minuteMetrics } = await service.getProperties();
  t.after(() => service.setProperties({ logging, hourMetrics, minuteMetrics }).catch(() => {}));
  return service;
}

conform("GetTableServiceProperties", "service_properties_have_every_section", async () => {
  const properties = await serviceClient().getProperties();
  assert.equal(properties.logging.version, "1.0");
  assert.equal(typeof properties.logging.retentionPolicy.enabled, "boolean");
  assert.equal(typeof properties.hourMetrics.enabled, "boolean");
  assert.equal(typeof properties.minuteMetrics.enabled, "boolean");
  assert.ok(Array.isArray(properties.cors ?? []));
});

conform("SetTableServiceProperties", "set_service_properties_answers_202", async (t) => {
  const service = await freshService(t);
  const response = await responseOf((options) => service.setProperties({ minuteMetrics: off }, options));
  assert.equal(response.status, 202);
});

conform("SetTableServiceProperties", "logging_settings_come_back", async (t) => {
  const service = await freshService(t);
  const logging = { version: "1.0", read: true, write: false, delete: true, retentionPolicy: keptFor(5) };
  await service.setProperties({ logging });
  assert.deepEqual((await service.getProperties()).logging, logging);
});

conform("SetTableServiceProperties", "metrics_settings_come_back", async (t) => {
  const service = await freshService(t);
  const hourMetrics = { version: "1.0", enabled: true, includeAPIs: true, retentionPolicy: keptFor(5) };
  const minuteMetrics = { version: "1.0", enabled: true, includeAPIs: false, retentionPolicy: keptFor(1) };
  await service.setProperties({ hourMetrics, minuteMetrics });
  const properties = await service.getProperties();
  assert.deepEqual(properties.hourMetrics, hourMetrics);
  assert.deepEqual(properties.minuteMetrics, minuteMetrics);
});

conform("SetTableServiceProperties", "metrics_may_be_off_without_retention", async (t) => {
  const service = await freshService(t);
  await service.setProperties({ hourMetrics: off, minuteMetrics: off });
  const { hourMetrics, minuteMetrics } = await service.getProperties();
  for (const metrics of [hourMetrics, minuteMetrics]) {
    assert.equal(metrics.enabled, false);
    assert.equal(metrics.retentionPolicy.enabled, false);
    assert.equal(metrics.retentionPolicy.days, undefined);
  }
});

conform("SetTableServiceProperties", "sections_left_out_keep_their_value", async (t) => {
  const service = await freshService(t);
  const hourMetrics = { version: "1.0", enabled: true, includeAPIs: true, retentionPolicy: keptFor(3) };
  await service.setProperties({ hourMetrics });
  await service.setProperties({ minuteMetrics: off });
  assert.deepEqual((await service.getProperties()).hourMetrics, hourMetrics);
});

conform("SetTableServiceProperties", "retention_of_366_days_is_refused", async (t) => {
  const service = await freshService(t);
  const hourMetrics = { version: "1.0", enabled: true, includeAPIs: true, retentionPolicy: keptFor(366) };
  await refused(service.setProperties({ hourMetrics }), 400, "InvalidXmlDocument");
});

conform("SetTableServiceProperties", "retention_of_365_days_is_accepted", async (t) => {
  const service = await freshService(t);
  const hourMetrics = { version: "1.0", enabled: true, includeAPIs: true, retentionPolicy: keptFor(365) };
  await service.setProperties({ hourMetrics });
  assert.equal((await service.getProperties()).hourMetrics.retentionPolicy.days, 365);
});
