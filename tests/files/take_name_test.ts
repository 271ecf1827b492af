import assert from "node:assert/strict";
import { linkSync, readdirSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { isLockName } from "../../lib/files/names.ts";
import { takeName, takeNameNow } from "../../lib/files/place.ts";
import { isFileName } from "../../lib/files/series/file_series.ts";
import { inFolder } from "../support/folders.ts";

for (const atOnce of [false, true]) {
  const way = atOnce ? "takeName() at once" : "takeName()";

  test(`${way} replaces what has the name only if asked`, () =>
    inFolder(async (folder) => {
      const [from, to] = [join(folder, "from"), join(folder, "to")];
      await writeFile(from, "1");
      await takeName(from, to, { replace: false, atOnce });
      await writeFile(from, "2");
      await assert.rejects(takeName(from, to, { replace: false, atOnce }), { code: "EEXIST" });
      assert.equal(await readFile(to, "utf8"), "1");
      assert.deepEqual((await readdir(folder)).sort(), ["from", "to"]);
      await takeName(from, to, { replace: true, atOnce });
      assert.equal(await readFile(to, "utf8"), "2");
      assert.deepEqual(await readdir(folder), ["to"]);
    }));

  test(`${way} has the name that a file server has given it in an earlier call, whose answer was lost`, () =>
    inFolder(async (folder) => {
      const [from, to] = [join(folder, "from"), join(folder, "to")];
      await writeFile(from, "1");
      linkSync(from, to);
      await takeName(from, to, { replace: false, atOnce });
      if (atOnce) {
        linkSync(to, from);
        takeNameNow(from, to);
      }
      assert.deepEqual(await readdir(folder), ["to"]);
    }));

  test(`${way} renames what can have no second name, and replaces nothing then either`, () =>
    inFolder(async (folder) => {
      // As files of file systems without links: a folder never has two names.
      const [from, to] = [join(folder, "from"), join(folder, "to")];
      await mkdir(from);
      const locks: string[] = [];
      const before = (): unknown => locks.push(...readdirSync(folder).filter(isLockName));
      await takeName(from, to, { replace: false, atOnce, before });
      assert.deepEqual(await readdir(folder), ["to"]);
      const [, name] = /^\.(.*)\.millrace-lock-/.exec(locks.join())!;
      assert.ok(!isFileName(name), "a series may have the lock's name");
      await mkdir(from);
      await assert.rejects(takeName(from, to, { replace: false, atOnce }), { code: "EEXIST" });
      assert.deepEqual((await readdir(folder)).sort(), ["from", "to"]);
    }));
}
