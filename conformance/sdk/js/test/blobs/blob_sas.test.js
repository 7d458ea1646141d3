// Service SAS of containers, blobs and snapshots, the account SAS at blobs, policies, and keys.

import assert from "node:assert/strict";

import { BlobServiceClient, StorageSharedKeyCredential } from "@azure/storage-blob";

import {
  account, accountSas, blobSas, blobService, blobWithSas, clientOptions, conform, connectionString, containerSas,
  containerWithSas, contentOf, drain, freshBlob, freshContainerName, hoursFromNow, isDevelopmentDefault, isPlainHttp,
  refused, serviceWithSas, skip,
} from "../../harness/blobs.js";

const WRONG_KEY = "d3JvbmcgYnV0IHdlbGwgZm9ybWVkIGtleQ==";

/** Each operation with the letters of which one is enough. */
const operations = [
  ["download", "r", (container) => contentOf(container.getBlobClient("blob"))],
  ["get_properties", "r", (container) => container.getBlobClient("blob").getProperties()],
  ["create", "cw", (container) => container.getBlockBlobClient("new").upload("x", 1)],
  ["overwrite", "w", (container) => container.getBlockBlobClient("blob").upload("x", 1)],
  ["stage", "w", (container) => container.getBlockBlobClient("blob").stageBlock("AAAA", "x", 1)],
  ["set_metadata", "w", (container) => container.getBlobClient("blob").setMetadata({ a: "1" })],
  ["snapshot", "cw", (container) => container.getBlobClient("blob").createSnapshot()],
  ["delete", "d", (container) => container.deleteBlob("blob")],
  ["list", "l", (container) => drain(container.listBlobsFlat())],
];

for (const [label, letters, call] of operations) {
  for (const letter of letters) {
    conform("Authentication", `container_sas_of_${letter}_allows_to_${label}`, async (t) => {
      const { container } = await freshBlob(t);
      await call(containerWithSas(container, containerSas(container.containerName, letter)));
    });
  }

  conform("Authentication", `container_sas_without_${letters}_refuses_to_${label}`, async (t) => {
    const { container } = await freshBlob(t);
    const rest = [..."rawdl"].filter((letter) => !letters.includes(letter)).join("");
    const client = containerWithSas(container, containerSas(container.containerName, rest));
    await refused(call(client), 403, "AuthorizationPermissionMismatch");
  });
}

for (const [label, call] of [
  ["delete_its_container", (container) => container.delete()],
  ["set_metadata_of_its_container", (container) => container.setMetadata({ a: "b" })],
  ["read_policies_of_its_container", (container) => container.getAccessPolicy()],
]) {
  conform("Authentication", `container_sas_does_not_${label}`, async (t) => {
    const { container } = await freshBlob(t);
    await refused(call(containerWithSas(container, containerSas(container.containerName, "racwdl"))), 403);
  });
}

for (const [label, options, code] of [
  ["that_has_expired", { startsOn: hoursFromNow(-2), expiresOn: hoursFromNow(-1) }, "AuthenticationFailed"],
  ["that_has_not_started", { startsOn: hoursFromNow(1), expiresOn: hoursFromNow(2) }, "AuthenticationFailed"],
  ["for_another_address", { ipRange: { start: "203.0.113.7", end: "203.0.113.9" } }, "AuthorizationSourceIPMismatch"],
]) {
  conform("Authentication", `blob_sas_${label}_is_refused`, async (t) => {
    const { blob } = await freshBlob(t);
    await refused(contentOf(blobWithSas(blob, blobSas(blob, "r", options))), 403, code);
  });
}

conform("Authentication", "blob_sas_for_https_only_is_refused_over_http", async (t) => {
  if (!isPlainHttp) skip("the target is reached by https");
  const { blob } = await freshBlob(t);
  const client = blobWithSas(blob, blobSas(blob, "r", { protocol: "https" }));
  await refused(contentOf(client), 403, "AuthorizationProtocolMismatch");
});

conform("Authentication", "blob_sas_with_changed_permissions_is_refused", async (t) => {
  const { blob } = await freshBlob(t);
  const client = blobWithSas(blob, blobSas(blob, "r").replace("sp=r", "sp=rwd"));
  await refused(contentOf(client), 403, "AuthenticationFailed");
});

conform("Authentication", "blob_sas_opens_no_other_blob", async (t) => {
  const { container, blob } = await freshBlob(t);
  const other = container.getBlockBlobClient("other");
  await other.upload("x", 1);
  await refused(contentOf(blobWithSas(other, blobSas(blob, "r"))), 403, "AuthenticationFailed");
});

conform("Authentication", "blob_sas_that_may_only_create_does_not_overwrite", async (t) => {
  const { blob } = await freshBlob(t);
  await refused(blobWithSas(blob, blobSas(blob, "c")).upload("x", 1), 403, "UnauthorizedBlobOverwrite");
});

for (const name of ["a/b c", "Grüße", "100%", "a+b"]) {
  conform("Authentication", `blob_sas_for_the_name_${name}_works`, async (t) => {
    const { container } = await freshBlob(t);
    const blob = container.getBlockBlobClient(name);
    await blob.upload("odd", 3);
    assert.equal(await contentOf(blobWithSas(blob, blobSas(blob, "r"))), "odd");
  });
}

conform("Authentication", "snapshot_sas_opens_the_snapshot_only", async (t) => {
  const { blob } = await freshBlob(t);
  const { snapshot } = await blob.createSnapshot();
  await blob.upload("changed", 7);
  const sas = blobSas(blob, "r", { snapshotTime: snapshot });
  assert.equal(await contentOf(blobWithSas(blob, sas).withSnapshot(snapshot)), "0123456789");
  await refused(contentOf(blobWithSas(blob, sas)), 403);
});

conform("Authentication", "blob_sas_puts_headers_into_the_answer", async (t) => {
  const { blob } = await freshBlob(t);
  const sas = blobSas(blob, "r", {
    cacheControl: "no-cache", contentDisposition: "inline", contentLanguage: "fr", contentType: "text/x-wanted",
  });
  const answer = await blobWithSas(blob, sas).download();
  assert.deepEqual(
    [answer.cacheControl, answer.contentDisposition, answer.contentLanguage, answer.contentType],
    ["no-cache", "inline", "fr", "text/x-wanted"],
  );
});

conform("Authentication", "container_policy_gives_a_sas_its_terms", async (t) => {
  const { container, blob } = await freshBlob(t);
  const accessPolicy = { startsOn: hoursFromNow(-1), expiresOn: hoursFromNow(1), permissions: "r" };
  await container.setAccessPolicy(undefined, [{ id: "reader", accessPolicy }]);
  const terms = { identifier: "reader", permissions: undefined, expiresOn: undefined };
  const client = blobWithSas(blob, blobSas(blob, "r", terms));
  assert.equal(await contentOf(client), "0123456789");
  await refused(client.delete(), 403, "AuthorizationPermissionMismatch");
  await container.setAccessPolicy();
  await refused(contentOf(client), 403, "AuthenticationFailed");
});

const list = (service) => drain(service.listContainers({ prefix: "none" }));

for (const [label, letters, types, call, code] of [
  ["lists_containers", "l", "s", list],
  ["reads_properties", "r", "s", (service) => service.getProperties()],
  ["without_l_lists_none", "rwdac", "s", list, "AuthorizationPermissionMismatch"],
  ["for_objects_lists_none", "l", "o", list, "AuthorizationResourceTypeMismatch"],
]) {
  conform("Authentication", `account_sas_at_blobs_${label}`, async () => {
    const outcome = call(serviceWithSas(accountSas(letters, types)));
    await (code ? refused(outcome, 403, code) : outcome);
  });
}

conform("Authentication", "account_sas_for_queues_is_refused_at_blobs", async () => {
  const service = serviceWithSas(accountSas("l", "s", { services: "q" }));
  await refused(drain(service.listContainers()), 403, "AuthorizationServiceMismatch");
});

conform("Authentication", "account_sas_carries_a_blob_all_the_way", async () => {
  const container = serviceWithSas(accountSas("rwdlac", "sco")).getContainerClient(freshContainerName());
  await container.create();
  await container.getBlockBlobClient("blob").upload("text", 4);
  assert.equal(await contentOf(container.getBlobClient("blob")), "text");
  await container.deleteBlob("blob");
  await container.delete();
});

conform("Authentication", "wrong_key_is_refused_at_blobs", async () => {
  const service = blobService(undefined, new StorageSharedKeyCredential(account.name, WRONG_KEY));
  await refused(drain(service.listContainers()), 403, "AuthenticationFailed");
});

conform("Authentication", "connection_string_for_blobs_works", async (t) => {
  const { container } = await freshBlob(t);
  const service = BlobServiceClient.fromConnectionString(connectionString, { ...clientOptions });
  const blob = service.getContainerClient(container.containerName).getBlobClient("blob");
  assert.equal(await contentOf(blob), "0123456789");
});

conform("Authentication", "use_development_storage_stands_for_blobs", async () => {
  if (!isDevelopmentDefault) skip("the target is not the development account on its own ports");
  const service = BlobServiceClient.fromConnectionString("UseDevelopmentStorage=true", { ...clientOptions });
  await drain(service.listContainers({ prefix: "no-such-container" }));
});

conform("Authentication", "metadata_names_with_odd_order_are_signed_alike_at_blobs", async (t) => {
  const metadata = { aa: "1", a_b: "2", a1: "3", ab: "4", _: "5" };
  const { blob } = await freshBlob(t, { metadata });
  assert.deepEqual((await blob.getProperties()).metadata, metadata);
});
