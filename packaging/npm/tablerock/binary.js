"use strict";

/** The packages with the binary, of which npm installs the one for this machine. */
const name = `tablerock-${process.platform}-${process.arch}`;

/** Returns the path of the binary. The variable TABLEROCK_BINARY chooses another one. */
exports.findBinary = function findBinary() {
  if (process.env.TABLEROCK_BINARY) {
    return process.env.TABLEROCK_BINARY;
  }
  const file = process.platform === "win32" ? "tablerock.exe" : "tablerock";
  try {
    return require.resolve(`${name}/bin/${file}`);
  } catch {
    throw new Error(
      `the package ${name} with the binary is not installed: install tablerock with optional dependencies, ` +
        "or set TABLEROCK_BINARY",
    );
  }
};
