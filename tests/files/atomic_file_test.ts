import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import test from "node:test";
import { AtomicFile, isAbandonedTemporary, isTemporaryName, temporaryPath } from "../../lib/files/mod.ts";
import { noise } from "../codecs/samples.ts";
import { inFolder } from "../precompress/site.ts";

test("AtomicFile puts all bytes under the name at commit(), with the mode and time asked for", () =>
  inFolder(async (folder) => {
    const path = join(folder, "file");
    const file = await AtomicFile.open(path, { mode: 0o640, mtimeMs: 1.7e12 + 250 });
    const bytes = noise(300_000, 1);
    await file.write(bytes.subarray(0, 1000));
    await file.write(bytes.subarray(1000));
    assert.ok(!(await readdir(folder)).includes("file"));
    await file.commit();
    assert.ok((await readFile(path)).equals(bytes));
    const { mode, mtimeMs } = await stat(path);
    assert.equal(mode & 0o777, 0o640);
    assert.equal(mtimeMs, 1.7e12 + 250);
  }));

test("AtomicFile refuses to write once it is committed or discarded", () =>
  inFolder(async (folder) => {
    const file = await AtomicFile.open(join(folder, "file"));
    await file.discard();
    await file.discard();
    await assert.rejects(file.write(new Uint8Array(1)), { name: "TypeError", message: /file: it is committed or/ });
    await assert.rejects(file.commit(), { name: "TypeError" });
    assert.deepEqual(await readdir(folder), []);
  }));

test("AtomicFile is discarded at the end of a block that did not commit it", () =>
  inFolder(async (folder) => {
    const file = await AtomicFile.open(join(folder, "file"));
    await file[Symbol.asyncDispose]();
    assert.deepEqual(await readdir(folder), []);
  }));

test("AtomicFile writes to the caller's temporary file, and does not make one that was removed anew", () =>
  inFolder(async (folder) => {
    const [path, temporary] = [join(folder, "file"), join(folder, "temporary")];
    await assert.rejects(AtomicFile.open(path, { temporary }), { code: "ENOENT" });
    await writeFile(temporary, "");
    const file = await AtomicFile.open(path, { temporary });
    await file.write(new Uint8Array(3));
    assert.equal((await stat(temporary)).size, 3);
    await file.commit();
    assert.deepEqual(await readdir(folder), ["file"]);
  }));

test("AtomicFile of a folder that is missing says so", () =>
  inFolder(async (folder) => {
    await assert.rejects(AtomicFile.open(join(folder, "none/file")), { code: "ENOENT" });
  }));

test("temporaryPath() gives ever new names in the same folder that isTemporaryName() knows", () => {
  const path = temporaryPath("/site/app.js");
  assert.equal(dirname(path), "/site");
  assert.ok(isTemporaryName(basename(path)));
  assert.notEqual(path, temporaryPath("/site/app.js"));
  for (const other of ["app.js", ".millrace.json", ".millrace-1-x.tmp.js", "a.millrace-1-1.tmp"]) {
    assert.ok(!isTemporaryName(other), other);
  }
});

/** A name as a process with that id gives it here. */
function temporaryOf(id: number, folder: string): string {
  return temporaryPath(join(folder, "file")).replace(`.${process.pid}-`, `.${id}-`);
}

/** Does something on another day: when a file was last touched cannot be feigned. */
async function daysLater<T>(days: number, work: () => Promise<T>): Promise<T> {
  const { now } = Date;
  Date.now = () => now() + days * 86_400_000;
  try {
    return await work();
  } finally {
    Date.now = now;
  }
}

test("isAbandonedTemporary() spares files of processes that run", () =>
  inFolder(async (folder) => {
    for (const path of [temporaryPath(join(folder, "file")), temporaryOf(process.ppid, folder)]) {
      await writeFile(path, "");
      assert.equal(await isAbandonedTemporary(path), false);
    }
    assert.equal(await isAbandonedTemporary(join(folder, "file.tmp")), false);
  }));

test("isAbandonedTemporary() sees files of processes that ended, also if another has their id now", () =>
  inFolder(async (folder) => {
    const dead = temporaryOf(spawnSync("true").pid, folder);
    await writeFile(dead, "");
    assert.equal(await isAbandonedTemporary(dead), true);
    // This process's id on a file that is older than this process: its program, by a link.
    const reused = temporaryPath(join(folder, "file"));
    await symlink(process.execPath, reused);
    assert.equal(await isAbandonedTemporary(reused), true);
  }));

test("isAbandonedTemporary() believes no process id of another machine or container, but a day of silence", () =>
  inFolder(async (folder) => {
    const { pid } = spawnSync("true");
    for (const name of [`.millrace-00c0ffee.${pid}-1.tmp`, `.millrace-${pid}-1.tmp`]) {
      const path = join(folder, name);
      assert.ok(isTemporaryName(name));
      await writeFile(path, "");
      assert.equal(await isAbandonedTemporary(path), false);
      assert.equal(await daysLater(1.01, () => isAbandonedTemporary(path)), true);
      await rm(path);
      assert.equal(await daysLater(1.01, () => isAbandonedTemporary(path)), false);
    }
  }));
