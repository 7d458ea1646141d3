// `npm install --save-dev tablerock` brings the server and these two functions.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { start, stop } from "tablerock";
import { run } from "./todo.mjs";

after(stop);

test("an item from its addition to the archive", async () => {
  const { connectionString } = await (await start()).account();
  const todo = (...command) => run(connectionString, ...command);

  const [tree] = await todo("add", "home", "2026-12-24", "Buy a tree");
  const [milk] = await todo("add", "home", "2026-12-01", "Buy milk");
  await todo("add", "work", "2026-12-02", "Ship it");
  assert.deepEqual(await todo("list", "home"), [`2026-12-01 ${milk} Buy milk`, `2026-12-24 ${tree} Buy a tree`]);

  assert.deepEqual(await todo("done", "home", milk), [`done ${milk}`]);
  assert.deepEqual(await todo("list", "home"), [`2026-12-24 ${tree} Buy a tree`]);
  assert.deepEqual(await todo("done", "home", milk), [`done ${milk}`]);
  assert.deepEqual(await todo("work"), ["archived 1"]);
  assert.deepEqual(await todo("done", "home", milk), [`no item ${milk} in home`]);
  assert.deepEqual(await todo("work"), ["archived 0"]);
  assert.deepEqual(await todo("archive", "home"), ["Buy milk"]);
});
