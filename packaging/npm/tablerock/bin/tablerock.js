#!/usr/bin/env node
// Runs the binary under the name that was called, because it is Azurite under Azurite's names.
"use strict";

const { spawn } = require("node:child_process");
const path = require("node:path");
const { findBinary } = require("../binary.js");

const argv0 = path.basename(process.argv[1], ".js");
const child = spawn(findBinary(), process.argv.slice(2), { stdio: "inherit", argv0 });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`tablerock: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(signal ? 1 : code));
