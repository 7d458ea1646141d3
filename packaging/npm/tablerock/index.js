"use strict";

const { spawn } = require("node:child_process");
const fs = require("node:fs");
const http = require("node:http");
const os = require("node:os");
const path = require("node:path");
const { setTimeout: sleep } = require("node:timers/promises");
const { findBinary } = require("./binary.js");

const POLL_MS = 5;

class Server {
  #process;
  #ended;
  #folder;
  #addresses;

  constructor(child, ended, folder, addresses) {
    this.#process = child;
    this.#ended = ended;
    this.#folder = folder;
    this.#addresses = addresses;
  }

  async account(name) {
    const query = name === undefined ? "" : `?name=${encodeURIComponent(name)}`;
    const added = JSON.parse(await post(this.#addresses, `/accounts${query}`));
    const { blob, queue, table } = this.#addresses;
    const endpoints = {
      blobEndpoint: `${blob}/${added.name}`,
      queueEndpoint: `${queue}/${added.name}`,
      tableEndpoint: `${table}/${added.name}`,
    };
    const connectionString =
      `DefaultEndpointsProtocol=${table.split(":")[0]};AccountName=${added.name};AccountKey=${added.key};` +
      `BlobEndpoint=${endpoints.blobEndpoint};QueueEndpoint=${endpoints.queueEndpoint};` +
      `TableEndpoint=${endpoints.tableEndpoint};`;
    return { name: added.name, key: added.key, ...endpoints, connectionString };
  }

  async stop() {
    servers.delete(this);
    this.#process.ref();
    this.#process.kill();
    await this.#ended;
    fs.rmSync(this.#folder, { recursive: true, force: true });
  }

  /** For a process that ends without a stop. */
  kill() {
    this.#process.kill();
  }

  async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    await this.stop();
  }
}

/** The servers that run. */
const servers = new Set();
process.on("exit", () => servers.forEach((server) => server.kill()));

async function start({ location, args = [], startTimeoutMs = 60_000 } = {}) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "tablerock-"));
  const adminFile = path.join(folder, "admin.json");
  const log = path.join(folder, "server.log");
  const store = location === undefined ? ["--in-memory"] : ["--location", location];
  const ports = ["--blob-port=0", "--queue-port=0", "--table-port=0"];
  // Settings of the machine do not reach the tests.
  const settings = Object.entries(process.env).filter(([name]) => !/^(TABLEROCK|AZURITE)_/.test(name));
  const output = fs.openSync(log, "w");
  const child = spawn(findBinary(), ["serve", ...store, ...ports, "--admin-file", adminFile, ...args], {
    stdio: ["ignore", output, output],
    env: Object.fromEntries(settings),
  });
  fs.closeSync(output);
  // A server alone does not keep the process of the tests alive.
  child.unref();
  let code;
  const ended = new Promise((resolve) => {
    child.on("error", (error) => resolve((code = error.message)));
    child.on("exit", (status, signal) => resolve((code = signal ?? status)));
  });
  const end = Date.now() + startTimeoutMs;
  while (!fs.existsSync(adminFile)) {
    if (code !== undefined || Date.now() > end) {
      const reason = code === undefined ? "is not ready in time" : `ended with ${code}`;
      const printed = fs.readFileSync(log, "utf8");
      child.ref();
      child.kill();
      await ended;
      fs.rmSync(folder, { recursive: true, force: true });
      throw new Error(`tablerock ${reason}; it printed:\n${printed}`);
    }
    await sleep(POLL_MS);
  }
  const server = new Server(child, ended, folder, JSON.parse(fs.readFileSync(adminFile, "utf8")));
  servers.add(server);
  return server;
}

async function stop() {
  await Promise.all([...servers].map((server) => server.stop()));
}

function post({ admin, token }, target) {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${token}`, "Content-Length": 0 };
    const request = http.request(`http://${admin}${target}`, { method: "POST", headers, agent: false }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (text) => (body += text));
      response.on("end", () => (response.statusCode === 201 ? resolve(body) : reject(new Error(body.trim()))));
    });
    request.on("error", reject).end();
  });
}

module.exports = { start, stop, findBinary };
