import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFile, mkdir, rename, rm, stat, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import type { Representation } from "../../../lib/static/scan/representation.ts";
import { readVerified } from "../../../lib/static/scan/file_content.ts";
import { inFolder } from "../../support/folders.ts";
import { needs } from "../../support/needs.ts";

const content = "what the scan found";

async function representationOf(file: string, bytes: string | Uint8Array): Promise<Representation> {
  await writeFile(file, bytes);
  const { size, mtimeMs, ino } = await stat(file);
  const sha256 = createHash("sha256").update(bytes).digest("base64");
  return { index: 0, file, coding: "identity", size, sha256, isUnhashed: false, mtimeMs, ino, dictionary: undefined };
}

test("readVerified() gives the bytes of a file that is as it was", () =>
  inFolder(async (folder) => {
    for (const bytes of [content, "", new Uint8Array(300_000).fill(7)]) {
      const found = await representationOf(join(folder, "file"), bytes);
      assert.deepEqual(Buffer.from(readVerified(found)!), Buffer.from(bytes));
      assert.deepEqual(
        Buffer.from(readVerified({ ...found, mtimeMs: undefined, ino: undefined })!),
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
