import assert from "node:assert/strict";
import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { isOwnName } from "../../lib/precompress/internal.ts";
import { manifestName } from "../../lib/precompress/mod.ts";
import { sourceText } from "../support/bytes.ts";
import { contents, inFolder, listed, writeTree } from "../support/folders.ts";
import { millrace } from "../support/command.ts";
import { isLong } from "../support/long_run.ts";
import { writeSite } from "./site.ts";

/** The number of kills; more by `MILLRACE_KILLS=50 npm test -- node tests/precompress/killed_test.ts`. */
const KILLS = Number(process.env.MILLRACE_KILLS) || (isLong ? 8 : 2);
/** The levels, high enough for runs to be killed at any step. */
const levels = ["--level-brotli", "9", "--level-zstd", "12"];
const nameOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);

test("a run that is killed at any moment leaves nothing truncated, and the next one completes", () =>
  inFolder(async (folder) => {
    const site = join(folder, "site");
    await writeSite(site);
    const scripts = isLong ? 12 : 5;
    for (let i = 0; i < scripts; i++) {
      await writeTree(site, { [`scripts/${i}.js`]: sourceText(20_000 + 9000 * i, i + 11) });
    }
    const whole = join(folder, "whole");
    const started = performance.now();
    assert.equal((await millrace([site, ...levels, "--out", whole])).status, 0);
    const span = performance.now() - started;
    const expected = await contents(whole);

    for (let round = 0; round < KILLS; round++) {
      const target = join(folder, `round-${round}`);
      // In place and elsewhere in turns.
      const words = [...(round % 2 ? [site, "--out", target] : [target]), ...levels];
      if (round % 2 === 0) await cp(site, target, { recursive: true, preserveTimestamps: true });
      const delay = span * Math.random();
      await millrace(words, (child) => setTimeout(() => child.kill("SIGKILL"), delay));
      for (const path of await listed(target).catch(() => [])) {
        if (isOwnName(nameOf(path))) continue;
        const bytes = (await readFile(join(target, path))).toString("base64");
        assert.ok(bytes === expected[path], `${path} after ${delay} ms`);
      }
      const { status, stderr } = await millrace(words);
      assert.equal(status, 0, stderr);
      const after = await contents(target);
      assert.deepEqual(Object.keys(after), Object.keys(expected), `after ${delay} ms`);
      for (const [path, bytes] of Object.entries(expected)) {
        // The manifests differ in whether the files were copied.
        if (path !== manifestName) assert.ok(after[path] === bytes, `${path} after ${delay} ms and a second run`);
      }
    }
  }));
