import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import process from "node:process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { removeAbandonedTemporaries, temporaryPath } from "../../lib/files/mod.ts";
import { inFolder } from "../support/folders.ts";
import { cannotMount, onSmallDisk, openFilesIn } from "./written.ts";

/** A path as a process that has ended gave it here. */
function abandonedIn(folder: string): string {
  return temporaryPath(join(folder, "file")).replace(`.${process.pid}-`, `.${dead}-`);
}

const dead = spawnSync("true").pid;

test("removeAbandonedTemporaries() removes what ended processes left in a folder, and nothing else", () =>
  inFolder(async (folder) => {
    const below = join(folder, "below");
    await mkdir(below);
    const kept = ["file", ".millrace-x.tmp", `.millrace-${dead}-1.tmp`, basename(temporaryPath(join(folder, "x")))];
    for (const name of kept) await writeFile(join(folder, name), "");
    await writeFile(abandonedIn(below), "");
    for (let i = 0; i < 600; i++) await writeFile(abandonedIn(folder), "");
    const named = abandonedIn(folder);
    await mkdir(named); // Deno's unlink() would remove it
    assert.equal(await removeAbandonedTemporaries(folder), 600);
    assert.deepEqual((await readdir(folder)).sort(), [...kept, "below", basename(named)].sort());
    assert.equal((await readdir(below)).length, 1);
    assert.equal(await removeAbandonedTemporaries(folder), 0);
    assert.deepEqual(openFilesIn(folder), []);
  }));

test("removeAbandonedTemporaries() counts each file once, whoever else removes them", () =>
  inFolder(async (folder) => {
    for (let i = 0; i < 300; i++) await writeFile(abandonedIn(folder), "");
    const counts = await Promise.all(Array.from({ length: 5 }, () => removeAbandonedTemporaries(folder)));
    assert.equal(counts.reduce((sum, count) => sum + count, 0), 300);
    assert.deepEqual(await readdir(folder), []);
  }));

test("removeAbandonedTemporaries() names a folder that it cannot read", () =>
  inFolder(async (folder) => {
    await writeFile(join(folder, "file"), "");
    for (const [name, code] of [["none", "ENOENT"], ["file", "ENOTDIR"]]) {
      const path = join(folder, name);
      await assert.rejects(removeAbandonedTemporaries(path), (error: Error & { code: string }) => {
        assert.equal(error.code, code);
        assert.ok(error.message.startsWith(`Cannot read the directory ${path}: `), error.message);
        return true;
      });
    }
  }));

test(
  "removeAbandonedTemporaries() names a file that it may not remove",
  { skip: cannotMount },
  () =>
    onSmallDisk(100, async (folder) => {
      const path = abandonedIn(folder);
      await writeFile(path, "");
      spawnSync("mount", ["-o", "remount,ro", folder]);
      await assert.rejects(removeAbandonedTemporaries(folder), {
        code: "EROFS",
        message: `Cannot remove ${path}: the file system is read-only (EROFS)`,
      });
    }),
);

test("a process that is killed while it writes leaves a temporary file, which is removed later", () =>
  inFolder(async (folder) => {
    const program = fileURLToPath(new URL("write_without_end.ts", import.meta.url));
    const words = "deno" in process.versions ? ["run", "-A", "--no-check", program] : [program];
    const child = spawn(process.execPath, [...words, join(folder, "file")], { stdio: ["ignore", "pipe", "inherit"] });
    const ended = new Promise((resolve) => child.on("close", resolve));
    try {
      await new Promise((resolve) => child.stdout.once("data", resolve));
      assert.equal((await readdir(folder)).length, 1);
      assert.equal(await removeAbandonedTemporaries(folder), 0, "it is still written to");
    } finally {
      child.kill("SIGKILL");
      await ended;
    }
    assert.equal((await readdir(folder)).length, 1);
    assert.equal(await removeAbandonedTemporaries(folder), 1);
    assert.deepEqual(await readdir(folder), []);
  }));
