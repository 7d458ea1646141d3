// Containers: creating, looking, listing, metadata, public access, policies, deleting.

import assert from "node:assert/strict";

import {
  anonymousContainer, blobService, conform, containerClient, contentOf, drain, freshBlob, freshContainer,
  freshContainerName, refused,
} from "../../harness/blobs.js";

conform("CreateContainer", "create_container_makes_an_empty_container", async (t) => {
  const container = containerClient(freshContainerName());
  t.after(() => container.deleteIfExists());
  const created = await container.create({ metadata: { colour: "red" }, access: "blob" });
  assert.equal(created._response.status, 201);
  const properties = await container.getProperties();
  assert.equal(properties.etag, created.etag);
  assert.deepEqual(properties.metadata, { colour: "red" });
  assert.equal(properties.blobPublicAccess, "blob");
  assert.deepEqual([properties.leaseStatus, properties.leaseState], ["unlocked", "available"]);
  assert.deepEqual([properties.hasImmutabilityPolicy, properties.hasLegalHold], [false, false]);
});

conform("CreateContainer", "create_container_again_is_refused", async (t) => {
  const container = await freshContainer(t);
  await refused(container.create(), 409, "ContainerAlreadyExists");
  assert.equal((await container.createIfNotExists()).succeeded, false);
});

for (const [label, name, code] of [
  ["two_characters", "ab", "OutOfRangeInput"],
  ["64_characters", "c".repeat(64), "OutOfRangeInput"],
  ["upper_case", "Upper", "InvalidResourceName"],
  ["an_underscore", "under_score", "InvalidResourceName"],
  ["two_dashes", "a--b", "InvalidResourceName"],
  ["a_trailing_dash", "ab-", "InvalidResourceName"],
]) {
  conform("CreateContainer", `container_name_with_${label}_is_refused`, async () => {
    await refused(containerClient(name).create(), 400, code);
  });
}

conform("GetContainerProperties", "container_exists_when_it_is_there", async (t) => {
  assert.equal(await (await freshContainer(t)).exists(), true);
  assert.equal(await containerClient(freshContainerName()).exists(), false);
});

conform("DeleteContainer", "delete_container_takes_its_blobs_along", async (t) => {
  const { container, blob } = await freshBlob(t);
  assert.equal((await container.delete())._response.status, 202);
  assert.equal(await container.exists(), false);
  await refused(blob.download(), 404, "ContainerNotFound");
  assert.equal((await container.deleteIfExists()).succeeded, false);
});

conform("SetContainerMetadata", "container_metadata_is_replaced_as_a_whole", async (t) => {
  const container = await freshContainer(t, { metadata: { a: "1", b: "2" } });
  const before = await container.getProperties();
  const changed = await container.setMetadata({ b: "3" });
  assert.equal(changed._response.status, 200);
  assert.notEqual(changed.etag, before.etag);
  assert.deepEqual((await container.getProperties()).metadata, { b: "3" });
});

conform("SetContainerACL", "container_policies_are_read_back", async (t) => {
  const container = await freshContainer(t);
  const accessPolicy = {
    startsOn: new Date("2031-01-02T03:04:05Z"), expiresOn: new Date("2032-01-02T03:04:05Z"), permissions: "racwdl",
  };
  assert.equal((await container.setAccessPolicy("container", [{ id: "all", accessPolicy }]))._response.status, 200);
  const { blobPublicAccess, signedIdentifiers } = await container.getAccessPolicy();
  assert.equal(blobPublicAccess, "container");
  assert.deepEqual(signedIdentifiers, [{ id: "all", accessPolicy }]);
  await container.setAccessPolicy();
  const cleared = await container.getAccessPolicy();
  assert.deepEqual([cleared.blobPublicAccess, cleared.signedIdentifiers], [undefined, []]);
});

for (const [access, mayRead, mayList] of [
  ["blob", true, false],
  ["container", true, true],
  [undefined, false, false],
]) {
  conform("Authentication", `anonymous_access_to_a_container_of_${access ?? "nobody"}`, async (t) => {
    const { container } = await freshBlob(t);
    await container.setAccessPolicy(access);
    const anonymous = anonymousContainer(container.containerName);
    const outcomes = await Promise.allSettled([
      contentOf(anonymous.getBlobClient("blob")), drain(anonymous.listBlobsFlat()),
      anonymous.getBlockBlobClient("new").upload("x", 1),
    ]);
    assert.deepEqual(outcomes.map(({ status }) => status === "fulfilled"), [mayRead, mayList, false]);
    for (const { reason } of outcomes) assert.ok([undefined, 401, 403, 404, 409].includes(reason?.statusCode));
  });
}

const COUNT = 5;

async function containers(t) {
  const prefix = freshContainerName("list").slice(0, 50);
  const service = blobService();
  const names = Array.from({ length: COUNT }, (_, index) => `${prefix}-${index}`);
  for (const name of names) await service.createContainer(name, { metadata: { name: name.at(-1) } });
  t.after(() => Promise.all(names.map((name) => service.deleteContainer(name))));
  return { prefix, names };
}

for (const maxPageSize of [1, 2, COUNT, COUNT + 1]) {
  conform("ListContainers", `list_containers_in_pages_of_${maxPageSize}`, async (t) => {
    const { prefix, names } = await containers(t);
    const pages = await drain(blobService().listContainers({ prefix }).byPage({ maxPageSize }));
    assert.deepEqual(pages.flatMap((page) => page.containerItems.map(({ name }) => name)), names);
    assert.ok(pages.every((page) => page.containerItems.length <= maxPageSize));
  });
}

conform("ListContainers", "list_containers_tells_their_properties", async (t) => {
  const container = await freshContainer(t, { metadata: { colour: "red" } });
  const asked = await container.getProperties();
  const options = { prefix: container.containerName, includeMetadata: true };
  const [listed] = await drain(blobService().listContainers(options));
  assert.deepEqual(listed.metadata, { colour: "red" });
  assert.equal(listed.properties.etag, asked.etag);
  assert.equal(listed.properties.lastModified.getTime(), asked.lastModified.getTime());
  assert.equal(listed.properties.leaseState, "available");
});

for (const [operation, verb, call] of [
  ["DeleteContainer", "delete", (container) => container.delete()],
  ["GetContainerProperties", "get_properties", (container) => container.getProperties()],
  ["SetContainerMetadata", "set_metadata", (container) => container.setMetadata({ a: "b" })],
  ["GetContainerACL", "get_access_policy", (container) => container.getAccessPolicy()],
  ["SetContainerACL", "set_access_policy", (container) => container.setAccessPolicy()],
  ["ListBlobs", "list_blobs", (container) => drain(container.listBlobsFlat())],
  ["PutBlob", "upload", (container) => container.getBlockBlobClient("b").upload("x", 1)],
  ["GetBlob", "download", (container) => container.getBlobClient("b").download()],
  ["GetBlobProperties", "get_blob_properties", (container) => container.getBlobClient("b").getProperties()],
  ["DeleteBlob", "delete_blob", (container) => container.deleteBlob("b")],
]) {
  conform(operation, `${verb}_in_a_missing_container_answers_container_not_found`, async () => {
    await refused(call(containerClient(freshContainerName())), 404, "ContainerNotFound");
  });
}
