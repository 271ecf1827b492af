import assert from "node:assert/strict";
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { AtomicFile, type AtomicFileOptions, isTemporaryName, openFileWritable } from "../../lib/files/mod.ts";
import { runCompressJob } from "../../lib/files/series/compress_job.ts";
import { noise } from "../support/bytes.ts";
import { inFolder } from "../support/folders.ts";
import { randomNumbers } from "../support/random_numbers.ts";
import { cannotMount, onSmallDisk, openFilesIn, turns } from "./written.ts";
import { needs } from "../support/needs.ts";

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
    if (!needs("modes")) assert.equal(mode & 0o777, 0o640);
    assert.equal(mtimeMs, 1.7e12 + 250);
  }));

const onWindows = { skip: process.platform !== "win32" && "only Windows has drives" };

test(
  "AtomicFile keeps a path without a drive when the process goes to another one",
  onWindows,
  () =>
    inFolder(async (folder) => {
      const former = process.cwd();
      process.chdir(folder);
      const file = await AtomicFile.open(`${folder.slice(2)}\\file`).finally(() => process.chdir(former));
      await file.commit();
      assert.deepEqual(await readdir(folder), ["file"]);
    }),
);

const timed: Readonly<Record<string, (path: string, mtimeMs: number) => Promise<void>>> = {
  AtomicFile: async (path, mtimeMs) => await (await AtomicFile.open(path, { mtimeMs })).commit(),
  "AtomicFile at once": async (path, mtimeMs) => {
    await (await AtomicFile.open(path, { mtimeMs, atOnce: true, flush: false })).commit();
  },
  "openFileWritable()": async (path, mtimeMs) => await (await openFileWritable(path, { mtimeMs })).close(),
  "the compression of a series": async (path, mtimeMs) => {
    await writeFile(path, "");
    const { dev, ino } = await stat(path, { bigint: true });
    const file = { path, dev, ino };
    const job = { source: file, temporary: file, format: "gzip", level: 1, mtimeMs } as const;
    await runCompressJob(job, (outcome) => assert.deepEqual(outcome, {}), new AbortController().signal);
  },
};

for (const [name, make] of Object.entries(timed)) {
  test(`${name} gives a file its time, to the ms since 1970 and to the second before`, () =>
    inFolder(async (folder) => {
      for (const ms of [0, 1, 1.7e12 + 250, 3e12, ...(needs("past") ? [] : [-1, -1000, -1500.5, -86_400_001, -1e12])]) {
        const path = join(folder, "file");
        await make(path, ms);
        assert.equal((await stat(path)).mtimeMs, ms < 0 ? Math.floor(ms / 1000) * 1000 : ms);
      }
    }));
}

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
    const message = `Cannot write over ${temporary}: there is no such file (ENOENT)`;
    await assert.rejects(AtomicFile.open(path, { temporary }), { code: "ENOENT", message });
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

const ways: Readonly<Record<string, AtomicFileOptions>> = {
  "": {},
  " without a flush": { flush: false },
  " at once": { atOnce: true },
  " at once without a flush": { atOnce: true, flush: false },
};

for (const [way, options] of Object.entries(ways)) {
  test(`AtomicFile${way} writes all pieces, and shows them at commit()`, () =>
    inFolder(async (folder) => {
      const path = join(folder, "file");
      const bytes = noise(5_000_000, 1);
      const file = await AtomicFile.open(path, { ...options, mode: 0o604, mtimeMs: 1.7e12 });
      for (let start = 0; start < bytes.length; start += 1_000_000) {
        // More pieces than a call of the system takes.
        await file.writev(
          Array.from({ length: 2000 }, (_, i) => bytes.subarray(start + i * 500, start + i * 500 + 500)),
        );
      }
      await file.writev([]);
      assert.equal(file.size, bytes.length);
      await file.end();
      assert.deepEqual(openFilesIn(folder), []);
      assert.deepEqual((await readdir(folder)).map(isTemporaryName), [true]);
      await file.commit();
      assert.equal(file.size, bytes.length);
      assert.deepEqual(await readdir(folder), ["file"]);
      assert.ok((await readFile(path)).equals(bytes));
      const { mode, mtimeMs } = await stat(path);
      if (!needs("modes")) assert.equal(mode & 0o777, 0o604);
      assert.equal(mtimeMs, 1.7e12);
    }));

  test(`AtomicFile${way} that is complete can be discarded, and is not written to any more`, () =>
    inFolder(async (folder) => {
      const file = await AtomicFile.open(join(folder, "file"), options);
      await file.end();
      await assert.rejects(file.write(new Uint8Array(1)), { name: "TypeError", message: /file: it is complete$/ });
      await assert.rejects(file.end(), { name: "TypeError", message: /file: it is complete$/ });
      await file.discard();
      assert.deepEqual(await readdir(folder), []);
      await assert.rejects(file.commit(), { name: "TypeError", message: /it is committed or discarded$/ });
    }));

  test(`AtomicFile${way} holds the writes that were fulfilled, whatever is called when, and takes its name once`, () =>
    inFolder(async (folder) => {
      const random = randomNumbers(34);
      const path = join(folder, "file");
      for (let i = 0; i < 60; i++) {
        await rm(path, { force: true });
        const file = await AtomicFile.open(path, options);
        const calls: { name: string; text: string; outcome: unknown }[] = [];
        const ends: Promise<void>[] = [];
        for (let at = 0; at < 6; at++) {
          const name = ["write", "write", "write", "commit", "commit", "end", "discard"][random(at === 0 ? 3 : 7)];
          const text = String.fromCharCode(97 + at).repeat(random(2) ? 10 : 300_000);
          const bytes = new TextEncoder().encode(text);
          const pieces = Array.from(
            { length: 10 },
            (_, i) => bytes.subarray(i * bytes.length / 10, (i + 1) * bytes.length / 10),
          );
          const call = { name, text, outcome: "pending" as unknown };
          calls.push(call);
          const made = name === "write" ? file.writev(pieces) : file[name as "commit" | "end" | "discard"]();
          ends.push(made.then(() => void (call.outcome = "fulfilled"), (error) => void (call.outcome = error)));
          if (random(2)) await ends.at(-1);
          else await turns(random(3));
        }
        await Promise.all(ends);
        await file.discard();
        const program = calls.map(({ name, outcome }) => `${name}: ${outcome}`).join("\n");
        const fulfilled = (name: string) => calls.filter((call) => call.name === name && call.outcome === "fulfilled");
        assert.ok(fulfilled("commit").length <= 1, program);
        for (const { outcome } of calls) assert.ok(outcome === "fulfilled" || outcome instanceof TypeError, program);
        const found = await readFile(path, "utf8").catch(() => undefined);
        const expected = fulfilled("write").map(({ text }) => text).join("");
        assert.ok(found === (fulfilled("commit").length === 1 ? expected : undefined), program);
        assert.deepEqual((await readdir(folder)).filter((name) => name !== "file"), [], program);
      }
      assert.deepEqual(openFilesIn(folder), []);
    }));

  test(`AtomicFile${way} that is discarded while it is written waits for the write, and leaves nothing`, () =>
    inFolder(async (folder) => {
      for (let i = 0; i < 20; i++) {
        const file = await AtomicFile.open(join(folder, "file"), options);
        const writing = file.writev([noise(1_000_000, 1), noise(500_000, 2)]).catch(() => {}); // it may have been done
        await file.discard();
        assert.deepEqual(await readdir(folder), []);
        assert.deepEqual(openFilesIn(folder), []);
        await writing;
      }
    }));

  test(`AtomicFile${way} replaces nothing if it must not, and of several exactly one gets the name`, () =>
    inFolder(async (folder) => {
      const path = join(folder, "file");
      const open = () => AtomicFile.open(path, { ...options, replace: false });
      const files = await Promise.all(Array.from({ length: 8 }, open));
      for (const [i, file] of files.entries()) await file.write(new Uint8Array(i + 1));
      const outcomes = await Promise.allSettled(files.map((file) => file.commit()));
      const winner = outcomes.findIndex(({ status }) => status === "fulfilled");
      for (const [i, outcome] of outcomes.entries()) {
        if (i !== winner) assert.equal((outcome as PromiseRejectedResult).reason.code, "EEXIST");
      }
      assert.deepEqual(await readdir(folder), ["file"]);
      assert.equal((await stat(path)).size, winner + 1);
      const late = await open();
      await assert.rejects(late.commit(), { code: "EEXIST" });
      assert.deepEqual(await readdir(folder), ["file"]);
      if (needs("links")) return;
      await symlink("nowhere", join(folder, "link"));
      const link = await AtomicFile.open(join(folder, "link"), { ...options, replace: false });
      await assert.rejects(link.commit(), { code: "EEXIST" });
    }));

  test(
    `AtomicFile${way} on a disk that fills up rejects, and leaves nothing`,
    { skip: cannotMount },
    () =>
      onSmallDisk(1000, async (disk) => {
        const file = await AtomicFile.open(join(disk, "file"), options);
        await assert.rejects(file.writev([noise(700_000, 1), noise(700_000, 2)]), { code: "ENOSPC" });
        await file.discard();
        assert.deepEqual(await readdir(disk), []);
        assert.deepEqual(openFilesIn(disk), []);
      }),
  );
}

test("AtomicFile that cannot get its name leaves nothing", () =>
  inFolder(async (folder) => {
    await mkdir(join(folder, "name"));
    await assert.rejects(AtomicFile.open(join(folder, "name")), { code: "EISDIR" });
    for (const replace of [true, false]) {
      await assert.rejects(AtomicFile.open(`${join(folder, "new")}/`, { replace }), { code: "EISDIR" });
    }
    const late = await AtomicFile.open(join(folder, "name"), { replace: false });
    await assert.rejects(late.commit(), { code: "EEXIST" });
    assert.deepEqual(await readdir(folder), ["name"]);
    const file = await AtomicFile.open(join(folder, "file"));
    for (const name of (await readdir(folder)).filter(isTemporaryName)) await rm(join(folder, name));
    await assert.rejects(file.commit(), { code: "ENOENT" });
    assert.deepEqual(openFilesIn(folder), []);
  }));
