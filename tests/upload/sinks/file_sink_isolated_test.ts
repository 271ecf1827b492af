import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, lstat, mkdir, readdir, readFile, readlink, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import fc from "fast-check";
import { isTemporaryName, temporaryPath } from "../../../lib/files/mod.ts";
import { openSink } from "../../../lib/upload/sink/open_sink.ts";
import { noise } from "../../support/bytes.ts";
import { cannotMount, onSmallDisk, openFilesIn } from "../../files/written.ts";
import { inFolder } from "../../support/folders.ts";
import { needs } from "../../support/needs.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

/** Saves a text; returns the path. */
async function save(path: string, text: string, options: Parameters<typeof openSink>[1]): Promise<string> {
  const sink = await openSink(path, options);
  try {
    await sink.write([bytes(text)]);
    await sink.end();
    await sink.commit();
  } catch (error) {
    await sink.discard(error);
    throw error;
  }
  return sink.path!;
}

test("a file appears under its name at commit(), with all bytes in order", () =>
  inFolder((root) =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 5 }), { maxLength: 6 }),
        fc.boolean(),
        async (batches, flush) => {
          const sink = await openSink("file", { root, flush });
          for (const batch of batches) {
            const pieces = batch.map((piece) => piece.slice());
            await sink.write(pieces);
            for (const piece of pieces) piece.fill(0xee); // the memory is used again
          }
          await sink.end();
          assert.deepEqual((await readdir(root)).filter((name) => !isTemporaryName(name)), []);
          assert.deepEqual(openFilesIn(join(root, ".millrace")), []);
          await sink.commit();
          assert.equal(sink.path, join(root, "file"));
          assert.deepEqual(await readdir(root), ["file"]);
          assert.deepEqual(await readFile(join(root, "file")), Buffer.concat(batches.flat()));
          await rm(join(root, "file"));
        },
      ),
      { numRuns: 60 },
    )
  ));

test("a file is written whole however many pieces it comes in", () =>
  inFolder(async (root) => {
    const content = noise(3_000_000, 1);
    const sink = await openSink("file", { root });
    await sink.write([content.subarray(0, 100_000)]);
    await sink.write(Array.from({ length: 2900 }, (_, i) => content.subarray(100_000 + i * 1000, 101_000 + i * 1000)));
    await sink.write([]);
    await sink.write([new Uint8Array(0), new Uint8Array(0)]);
    await sink.end();
    await sink.commit();
    assert.ok((await readFile(join(root, "file"))).equals(content));
  }));

test("nothing is left of a file that is discarded, before and after end(), while a write is under way too", () =>
  inFolder(async (root) => {
    await writeFile(join(root, "there"), "before");
    for (const name of ["new", "there"]) {
      for (const when of ["at once", "writing", "written", "ended"]) {
        const sink = await openSink(name, { root, overwrite: true });
        const pieces = when === "at once" ? [] : [noise(1_000_000, 2), noise(30_000, 3)];
        const writing = sink.write(pieces).catch((error) => assert.equal(when, "writing", error)); // it may be done
        if (when !== "writing") await writing;
        if (when === "ended") await sink.end();
        await sink.discard(new Error("enough"));
        await sink.discard(new Error("again"));
        await writing;
        assert.deepEqual(await readdir(root), ["there"], when);
        assert.deepEqual(openFilesIn(join(root, ".millrace")), []);
        await assert.rejects(sink.write([bytes("x")]), { message: /committed or discarded/ });
      }
    }
    assert.equal(await readFile(join(root, "there"), "utf8"), "before");
  }));

test("discard() takes nothing back after commit()", () =>
  inFolder(async (root) => {
    const sink = await openSink("file", { root });
    await sink.end();
    await sink.commit();
    await sink.discard(new Error("late"));
    assert.deepEqual(await readdir(root), ["file"]);
  }));

test("a file that is there is replaced only if asked; otherwise that is told before anything is written", () =>
  inFolder(async (root) => {
    await save("file", "one", { root });
    const exists = {
      name: "UploadError",
      code: "EXISTS",
      status: 409,
      message: 'Cannot create "file": there is a file of that name already (EEXIST)',
    };
    await assert.rejects(openSink("file", { root }), exists);
    await assert.rejects(openSink(join(root, "file"), {}), exists);
    assert.deepEqual(await readdir(root), ["file"]);
    await save("file", "two", { root, overwrite: true });
    assert.equal(await readFile(join(root, "file"), "utf8"), "two");
  }));

test("of several that save under one name exactly one succeeds", () =>
  inFolder(async (root) => {
    for (let round = 0; round < 20; round++) {
      const name = `file-${round}`;
      const sinks = await Promise.all(Array.from({ length: 8 }, () => openSink(name, { root })));
      await Promise.all(sinks.map((sink, i) => sink.write([bytes(`from ${i}`)])));
      await Promise.all(sinks.map((sink) => sink.end()));
      const outcomes = await Promise.allSettled(sinks.map((sink) => sink.commit()));
      const winners = outcomes.flatMap(({ status }, i) => status === "fulfilled" ? [i] : []);
      assert.equal(winners.length, 1);
      assert.equal(await readFile(join(root, name), "utf8"), `from ${winners[0]}`);
      for (const outcome of outcomes) {
        if (outcome.status === "rejected") assert.equal(outcome.reason.code, "EXISTS");
      }
      for (const sink of sinks) await sink.discard(undefined);
      assert.deepEqual(await readdir(root), [name]);
      await rm(join(root, name));
    }
  }));

test(
  "a file has the permission bits asked for, or else those of the one that it replaces",
  { skip: needs("modes") },
  () =>
    inFolder(async (root) => {
      const modeOf = async (name: string) => (await stat(join(root, name))).mode & 0o7777;
      await save("file", "1", { root });
      assert.equal(await modeOf("file"), 0o666 & ~process.umask());
      await chmod(join(root, "file"), 0o4711);
      await save("file", "2", { root, overwrite: true });
      assert.equal(await modeOf("file"), 0o711, "the owner's rights are not handed on");
      await save("file", "3", { root, overwrite: true, mode: 0o606 });
      assert.equal(await modeOf("file"), 0o606);
      await save("other", "4", { root, mode: 0o777 });
      assert.equal(await modeOf("other"), 0o777, "whatever the umask");
      await save("none", "5", { root, mode: 0 });
      assert.equal(await modeOf("none"), 0);
    }),
);

test(
  "a folder is not replaced, nor a link to one, and a folder that is missing not made",
  { skip: needs("links") },
  () =>
    inFolder(async (root) => {
      await mkdir(join(root, "folder"));
      await symlink("folder", join(root, "link"));
      await writeFile(join(root, "file"), "");
      for (const name of ["folder", "link"]) {
        for (const [path, options] of [[name, { root }], [join(root, name), {}]] as const) {
          await assert.rejects(openSink(path, { ...options, overwrite: true }), {
            code: "EISDIR",
            message: `Cannot create ${join(root, name)}: it is a directory (EISDIR)`,
          });
        }
      }
      await assert.rejects(openSink("none/file", { root }), {
        code: "ENOENT",
        message: /: the directory is missing \(E/,
      });
      await assert.rejects(openSink("file/file", { root }), { code: "ENOTDIR" });
      await assert.rejects(openSink("x".repeat(300), { root }), { name: "UploadError", code: "BAD_NAME", status: 400 });
      await assert.rejects(openSink(join(root, "x".repeat(300)), {}), { name: "Error", code: "ENAMETOOLONG" });
      assert.deepEqual((await readdir(root)).sort(), ["file", "folder", "link"]);
    }),
);

test("a folder that takes the name while a file is received stays, and so does nothing else", () =>
  inFolder(async (root) => {
    const sink = await openSink("name", { root, overwrite: true });
    await sink.end();
    await mkdir(join(root, "name"));
    await assert.rejects(sink.commit(), { message: /^Cannot complete .*name: / });
    assert.deepEqual(await readdir(root), ["name"]);
    assert.ok((await stat(join(root, "name"))).isDirectory());
  }));

test(
  "a link is followed without a root, and replaced with one",
  { skip: needs("links") },
  () =>
    inFolder(async (folder) => {
      const root = join(folder, "root");
      await mkdir(root);
      await writeFile(join(folder, "target"), "kept");
      await symlink("../target", join(root, "link"));
      await symlink("nowhere", join(root, "dangling"));

      await assert.rejects(openSink(join(root, "link"), {}), { code: "EXISTS" });
      assert.equal(await save(join(root, "link"), "through", { overwrite: true }), join(root, "link"));
      assert.equal(await readlink(join(root, "link")), "../target");
      assert.equal(await readFile(join(folder, "target"), "utf8"), "through");

      await assert.rejects(openSink("link", { root }), { code: "EXISTS" });
      await save("link", "in place", { root, overwrite: true });
      assert.ok((await lstat(join(root, "link"))).isFile());
      assert.equal(await readFile(join(folder, "target"), "utf8"), "through");

      for (const options of [{ root }, {}]) {
        const path = options.root ? "dangling" : join(root, "dangling");
        await assert.rejects(openSink(path, options), { code: "EXISTS" });
      }
      await save(join(root, "dangling"), "new", { overwrite: true });
      assert.equal(await readlink(join(root, "dangling")), "nowhere");
      assert.deepEqual((await readdir(root)).sort(), ["dangling", "link", "nowhere"]);
      assert.deepEqual((await readdir(folder)).sort(), ["root", "target"]);
    }),
);

const noDevices = needs("proc");

test(
  "devices and pipes are refused, with a root or a link to them, and stay",
  { skip: noDevices },
  () =>
    inFolder(async (root) => {
      const before = await stat("/dev/null");
      await assert.rejects(save("/dev/null", "gone", {}), { name: "UploadError", code: "EXISTS" });
      await assert.rejects(save("/dev/null", "gone", { overwrite: true }), { code: "EINVAL", message: /is a device/ });
      await symlink("/dev/null", join(root, "link"));
      await assert.rejects(save(join(root, "link"), "x", { overwrite: true }), { code: "EINVAL" });
      assert.equal((await stat("/dev/null")).ino, before.ino);
      assert.ok((await stat("/dev/null")).isCharacterDevice());
      await save("link", "x", { root, overwrite: true });
      assert.equal(await readFile(join(root, "link"), "utf8"), "x");
      assert.deepEqual(await readdir(root), ["link"]);
    }),
);

test(
  "a disk that is full is told as such, and nothing is left on it",
  { skip: cannotMount },
  () =>
    onSmallDisk(1000, async (root) => {
      const sink = await openSink("file", { root });
      await sink.write([noise(600_000, 1)]);
      const failure = { name: "UploadError", code: "NO_SPACE", message: /^Cannot write "file": no space is left on / };
      await assert.rejects(sink.write([noise(300_000, 2), noise(300_000, 3)]), failure);
      await sink.discard(undefined);
      assert.deepEqual(await readdir(root), []);
      assert.deepEqual(openFilesIn(`${root}/`), []);
      await save("file", "x".repeat(900_000), { root });
    }),
);

test("a thousand files that are complete get their names together, and need no descriptors until then", () =>
  inFolder(async (root) => {
    const sinks = [];
    for (let i = 0; i < 1000; i++) {
      const sink = await openSink(`${i}`, { root });
      await sink.write([bytes(`${i}`)]);
      await sink.end();
      sinks.push(sink);
    }
    assert.deepEqual(openFilesIn(join(root, ".millrace")), []);
    assert.ok((await readdir(root)).every(isTemporaryName));
    await Promise.all(sinks.map((sink) => sink.commit()));
    assert.deepEqual((await readdir(root)).map(Number).sort((a, b) => a - b), sinks.map((_, i) => i));
  }));

test("the first file of a folder has what killed processes left there removed, in the background", () =>
  inFolder(async (root) => {
    const { pid } = spawnSync(process.execPath, ["--version"]);
    const left = temporaryPath(join(root, "file")).replace(`.${process.pid}-`, `.${pid}-`);
    await writeFile(left, "");
    const first = await openSink("first", { root });
    const deadline = Date.now() + 60_000;
    while (existsSync(left) && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.ok(!existsSync(left));
    await first.end();
    await first.commit();
    await writeFile(left, "");
    await save("second", "", { root });
    assert.deepEqual((await readdir(root)).filter((name) => !isTemporaryName(name)).sort(), ["first", "second"]);
    assert.ok(existsSync(left), "once is enough");
  }));
