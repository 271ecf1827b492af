import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { closeSync, futimesSync, openSync, statSync, writeSync } from "node:fs";
import { appendFile, mkdir, rename, rm, stat, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import type { Variant } from "../../../lib/static/answer/variant.ts";
import { FileReader } from "../../../lib/static/handler/file_reader.ts";
import type { Representation } from "../../../lib/static/scan/representation.ts";
import { readContent, readVerified } from "../../../lib/static/scan/file_content.ts";
import type { TurnSlicer } from "../../../lib/timers/mod.ts";
import { inFolder } from "../../support/folders.ts";
import { needs } from "../../support/needs.ts";

const content = "what the scan found";

async function representationOf(file: string, bytes: string | Uint8Array): Promise<Representation> {
  await writeFile(file, bytes);
  const { size, mtimeMs, ino } = await stat(file);
  const sha256 = createHash("sha256").update(bytes).digest("base64");
  return {
    index: 0,
    file,
    coding: "identity",
    size,
    sha256,
    isUnhashed: false,
    mtimeMs,
    number: ino,
    dictionary: undefined,
  };
}

test("readVerified() gives the bytes of a file that is as it was", () =>
  inFolder(async (folder) => {
    for (const bytes of [content, "", new Uint8Array(300_000).fill(7)]) {
      const found = await representationOf(join(folder, "file"), bytes);
      assert.deepEqual(Buffer.from(readVerified(found)!), Buffer.from(bytes));
      assert.deepEqual(
        Buffer.from(readVerified({ ...found, mtimeMs: undefined, number: undefined })!),
        Buffer.from(bytes),
      );
    }
  }));

const changes: Readonly<Record<string, (file: string) => Promise<unknown>>> = {
  "is gone": (file) => rm(file),
  "grew": (file) => appendFile(file, "!"),
  "was cut": (file) => truncate(file, 5),
  "is empty": (file) => truncate(file, 0),
  "has other bytes": (file) => writeFile(file, content.toUpperCase()),
  "became a folder": async (file) => (await rm(file), await mkdir(file)),
};
for (const [change, make] of Object.entries(changes)) {
  test(`readVerified() refuses a file that ${change}, also with its former time`, () =>
    inFolder(async (folder) => {
      const found = await representationOf(join(folder, "file"), content);
      await make(found.file);
      await utimes(found.file, found.mtimeMs! / 1000, found.mtimeMs! / 1000).catch(() => {});
      assert.equal(readVerified(found), undefined);
      assert.equal(readVerified({ ...found, mtimeMs: undefined }), undefined);
    }));
}

test("readVerified() gives the bytes of a file that got another time only", () =>
  inFolder(async (folder) => {
    const found = await representationOf(join(folder, "file"), content);
    await utimes(found.file, 1.7e9, 1.7e9);
    assert.equal(new TextDecoder().decode(readVerified(found)), content);
  }));

test(
  "readVerified() follows no link, and waits for no pipe",
  { skip: needs("links", "mkfifo") },
  () =>
    inFolder(async (folder) => {
      const found = await representationOf(join(folder, "file"), content);
      await rename(found.file, join(folder, "elsewhere"));
      await symlink("elsewhere", found.file);
      assert.equal(readVerified(found), undefined);
      await rm(found.file);
      assert.equal(spawnSync("mkfifo", [found.file]).status, 0);
      assert.equal(readVerified(found), undefined);
    }),
);

/** Writes a file over, with its size and its time: only the time of its status, in whole seconds on Deno, is another one. */
function writeOver(file: string, byte: number): void {
  const { size, atimeMs, mtimeMs, ctimeMs } = statSync(file);
  do {
    const descriptor = openSync(file, "r+");
    writeSync(descriptor, new Uint8Array(size).fill(byte));
    futimesSync(descriptor, atimeMs / 1000, mtimeMs / 1000);
    closeSync(descriptor);
  } while (statSync(file).ctimeMs === ctimeMs);
}

test(
  "a file that is written over while it is hashed, and has its time again, is read anew",
  { skip: needs("modes") },
  () =>
    inFolder(async (folder) => {
      const file = join(folder, "file");
      await representationOf(file, new Uint8Array(2_000_000));
      await utimes(file, 1.7e9, 1.7e9);
      let isChanged = false;
      const turns = {
        isOver: true,
        next: (): Promise<void> => {
          if (!isChanged) writeOver(file, 1);
          isChanged = true;
          return Promise.resolve();
        },
      } as unknown as TurnSlicer;
      const { sha256 } = await readContent(file, turns);
      assert.equal(sha256, createHash("sha256").update(new Uint8Array(2_000_000).fill(1)).digest("base64"));
    }),
);

test(
  "a file that is written over while it is sent, and has its time again, is sent whole only if it has the same bytes",
  {
    skip: needs("modes"),
  },
  () =>
    inFolder(async (folder) => {
      const file = join(folder, "file");
      const size = 500_000;
      const representation = await representationOf(file, new Uint8Array(size));
      await utimes(file, 1.7e9, 1.7e9);
      const { mtimeMs, ino } = await stat(file);
      const variant = { mtimeMs, number: ino, representation } as unknown as Variant;
      for (const byte of [0, 1]) {
        const reader = new FileReader({ variant, parts: [{ start: 0, end: size }] });
        const read = async (): Promise<void> => {
          for (let at = 0; at < size;) {
            at += await reader.read(new Uint8Array(reader.ahead));
            if (at < 200_000) writeOver(file, byte);
          }
        };
        if (byte > 0) await assert.rejects(read(), /was changed while it was sent/);
        else await read();
        reader.close();
      }
    }),
);
