// Runs one conformance case in node's test runner and appends its outcome to the results file.

import { appendFileSync } from "node:fs";
import test from "node:test";

const CASE_SECONDS_MAX = 30;
const DETAIL_CHARACTERS_MAX = 400;

class Skipped extends Error {}

/** Ends the running case as skipped; the reason goes into the results. */
export function skip(reason) {
  throw new Skipped(reason);
}

/**
 * The `conform(operation, name, body)` of one suite. `operation` is a name of the service's own, `name` reads as a
 * sentence and is unique within the suite, `body` receives node's test context.
 */
export function conformFor(suite) {
  return function conform(operation, name, body) {
    const record = (outcome, detail) => appendResult({ suite, operation, case: name, outcome, detail });
    test(name, async (t) => {
      try {
        await withinTime(body(t));
        record("passed", "");
      } catch (error) {
        if (error instanceof Skipped) {
          record("skipped", error.message);
          t.skip(error.message);
          return;
        }
        record("failed", describe(error));
        throw error;
      }
    });
  };
}

// Test files run in parallel processes: a line is appended with one call so that lines never interleave.
function appendResult(result) {
  const file = process.env.CONFORMANCE_RESULTS;
  if (file) appendFileSync(file, `${JSON.stringify(result)}\n`);
}

function describe(error) {
  return `${error?.name ?? "Error"}: ${error?.message ?? error}`.slice(0, DETAIL_CHARACTERS_MAX);
}

// The runner's own timeout would end the case without a result line.
async function withinTime(work) {
  let timer;
  const expiry = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${CASE_SECONDS_MAX} s`)), CASE_SECONDS_MAX * 1000);
  });
  try {
    await Promise.race([work, expiry]);
  } finally {
    clearTimeout(timer);
  }
}
