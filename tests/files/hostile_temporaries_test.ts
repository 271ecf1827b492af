import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { lstat, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { openWrittenOver } from "../../lib/files/temporary.ts";
import { AtomicFile, copyFileAtomic, openFileWritable } from "../../lib/files/mod.ts";
import { inFolder } from "../support/folders.ts";
import { needs } from "../support/needs.ts";

const bytes = new TextEncoder().encode("whole");

test(
  "a temporary file that is the target, or a link, is refused, and nothing is lost",
  { skip: needs("links") },
  () =>
    inFolder(async (folder) => {
      const target = join(folder, "target");
      await writeFile(target, "former");
      await symlink("target", join(folder, "link"));
      for (const temporary of [target, join(folder, "link"), join(folder, ".", "x", "..", "target")]) {
        await assert.rejects(AtomicFile.open(target, { temporary }), TypeError);
        await assert.rejects(openFileWritable(target, { atomic: true, temporary }), /is the target|symbolic link/);
      }
      assert.equal(await readFile(target, "utf8"), "former");
      assert.deepEqual((await readdir(folder)).sort(), ["link", "target"]);
    }),
);

test("a temporary file that is no regular file is refused, whatever is to be written, and stays as it is", {
  skip: needs("mkfifo"),
}, () =>
  inFolder(async (folder) => {
    const [pipe, source, target] = [join(folder, "pipe"), join(folder, "source"), join(folder, "target")];
    execFileSync("mkfifo", [pipe]);
    await writeFile(source, "whole");
    for (const temporary of [pipe, folder, "/dev/null"]) {
      const refusal = { name: "TypeError", message: /temporary .+ is no regular file: name a file of its own$/ };
      await assert.rejects(AtomicFile.open(target, { temporary }), refusal);
      await assert.rejects(openFileWritable(target, { atomic: true, temporary }), refusal.message);
      await assert.rejects(copyFileAtomic(source, target, { temporary }), refusal);
      await assert.rejects(openWrittenOver(temporary, 0, {}), { code: /EINVAL|EISDIR/ });
    }
    assert.ok((await lstat(pipe)).isFIFO());
    assert.ok((await lstat("/dev/null")).isCharacterDevice());
    assert.deepEqual((await readdir(folder)).sort(), ["pipe", "source"]);
  }));

test("what is in a temporary file before is no part of the file", () =>
  inFolder(async (folder) => {
    const [temporary, target] = [join(folder, "temporary"), join(folder, "target")];
    await writeFile(temporary, "x".repeat(30));
    const file = await AtomicFile.open(target, { temporary });
    await file.write(bytes);
    await file.commit();
    assert.equal(await readFile(target, "utf8"), "whole");
  }));

test("openFileWritable() follows no link where it is not to, and takes no temporary file that it would not use", {
  skip: needs("links"),
}, () =>
  inFolder(async (folder) => {
    await writeFile(join(folder, "elsewhere"), "former");
    const path = join(folder, "link");
    await symlink("elsewhere", path);
    for (const options of [{}, { append: true }, { replace: false }]) {
      const refusal = { code: /ELOOP|EEXIST/, message: /may not be followed|a file of that name/ };
      await assert.rejects(openFileWritable(path, { ...options, followLinks: false }), refusal);
    }
    await assert.rejects(openFileWritable(join(folder, "new"), { temporary: path }), TypeError);
    assert.equal(await readFile(path, "utf8"), "former");
  }));

test("an atomic file takes all kinds of views and buffers whole, and refuses detached ones", () =>
  inFolder(async (folder) => {
    const padded = Uint8Array.from([0, ...bytes, 0]);
    const kinds = [
      bytes,
      padded.subarray(1, -1),
      new DataView(padded.buffer, 1, bytes.length),
      bytes.slice().buffer,
      new Uint16Array(Uint8Array.from([...bytes, ...bytes]).buffer),
    ] as Uint8Array[];
    for (const [i, piece] of kinds.entries()) {
      const text = i === 4 ? "wholewhole" : "whole";
      const path = join(folder, String(i));
      const ways: ((file: AtomicFile) => Promise<unknown>)[] = [
        (file) => file.write(piece),
        (file) => file.writev([piece]),
        (file) => file.writeStream(new Blob([piece as Uint8Array<ArrayBuffer>]).stream()),
      ];
      for (const write of ways) {
        const file = await AtomicFile.open(path);
        await write(file);
        await file.commit();
        assert.equal(await readFile(path, "utf8"), text, `kind ${i}`);
      }
    }
    const detached = bytes.slice();
    structuredClone(detached, { transfer: [detached.buffer] });
    await using file = await AtomicFile.open(join(folder, "detached"));
    await assert.rejects(file.writev([bytes, detached]), { name: "TypeError", message: /detached/ });
    await assert.rejects(file.commit());
  }));
