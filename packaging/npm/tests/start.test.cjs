// The package as a project uses it, with Microsoft's SDK.
"use strict";

const assert = require("node:assert/strict");
const { execFileSync, spawn } = require("node:child_process");
const fs = require("node:fs");
const { after, before, test } = require("node:test");
const { TableServiceClient, TableClient } = require("@azure/data-tables");
const { start, stop } = require("tablerock");

const insecure = { allowInsecureConnection: true };
let server;
before(async () => {
  server = await start();
});
after(stop);

for (const run of [1, 2]) {
  test(`each test has an account of its own, ${run}`, async () => {
    const { connectionString } = await server.account();
    await TableServiceClient.fromConnectionString(connectionString, insecure).createTable("People");
    const people = TableClient.fromConnectionString(connectionString, "People", insecure);
    await people.createEntity({ partitionKey: "a", rowKey: "1", run });
    assert.equal((await people.getEntity("a", "1")).run, run);
  });
}

test("names are chosen once", async () => {
  assert.equal((await server.account("mine")).name, "mine");
  await assert.rejects(server.account("mine"), /exists/);
});

test("a server keeps a folder", async (context) => {
  const location = fs.mkdtempSync("data-");
  const other = await start({ location });
  context.after(() => fs.rmSync(location, { recursive: true }));
  await other.account();
  await other.stop();
  assert.ok(fs.existsSync(`${location}/tablerock-data`));
});

test("a start that fails says why", async () => {
  await assert.rejects(start({ args: ["--admin-port", "0"] }), /--admin-port/);
});

test("the commands run", () => {
  for (const name of ["tablerock", "azurite", "azurite-blob", "azurite-queue", "azurite-table"]) {
    const printed = execFileSync("npx", ["--offline", name, "--version"], { encoding: "utf8", shell: process.platform === "win32" });
    assert.match(printed, /\d+\.\d+\.\d+/);
  }
});

test("a signal reaches the server behind the command", { skip: process.platform === "win32" }, async () => {
  const ports = ["--blob-port=0", "--queue-port=0", "--table-port=0"];
  const child = spawn("node_modules/.bin/tablerock", ["--in-memory", ...ports], { stdio: ["ignore", "pipe", "ignore"] });
  await new Promise((resolve) => child.stdout.once("data", resolve));
  child.kill("SIGTERM");
  assert.equal(await new Promise((resolve) => child.on("exit", resolve)), 0);
});
