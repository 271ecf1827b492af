import assert from "node:assert/strict";
import { readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { AtomicFile, copyFileAtomic, followFile, openFileWritable } from "../../lib/files/mod.ts";
import { inFolder, writeTree } from "../support/folders.ts";
import { within } from "../support/waits.ts";

/** The files of the folder where each operation begins, and of the one that the process goes to meanwhile. */
const FILES = { tmp: "scratch", source: "content" };

function leave(): void {
  process.chdir("elsewhere");
}

/** The texts of all files below a folder, by path. */
async function filesIn(folder: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name).slice(folder.length + 1).replaceAll("\\", "/");
    if (entry.isFile()) files[path] = await readFile(join(folder, path), "utf8");
  }
  return files;
}

/** Operations with relative paths during which the process goes elsewhere, and the files after each that differ. */
const operations: readonly (readonly [string, () => Promise<void>, Record<string, string | undefined>])[] = [
  ["AtomicFile with a temporary file, committed", async () => {
    const opening = AtomicFile.open("file", { temporary: "tmp" });
    leave();
    const file = await opening;
    await file.write(new TextEncoder().encode("whole"));
    await file.commit();
  }, { file: "whole", tmp: undefined }],
  ["AtomicFile with a temporary file, discarded", async () => {
    const file = await AtomicFile.open("file", { temporary: "tmp" });
    leave();
    await file.discard();
  }, { tmp: undefined }],
  ["copyFileAtomic() with a temporary file", async () => {
    const copying = copyFileAtomic("source", "file", { temporary: "tmp" });
    leave();
    await copying;
  }, { file: "content", tmp: undefined }],
  ["openFileWritable() that is reopened", async () => {
    const log = await openFileWritable("app.log", { append: true });
    await rename("app.log", "app.1");
    leave();
    await log.reopen();
    const writer = log.getWriter();
    await writer.write("text");
    await writer.close();
  }, { "app.1": "", "app.log": "text" }],
  ["followFile() of a file that comes later", async () => {
    const reader = (await followFile("new.log", { interval: 5 })).getReader();
    leave();
    await writeFile("../new.log", "text");
    const { value } = await within(reader.read(), "the text");
    await reader.cancel();
    assert.equal(new TextDecoder().decode(value), "text");
  }, { "new.log": "text" }],
];

for (const [name, operate, changed] of operations) {
  test(`${name} keeps to its folder when the process goes elsewhere`, () =>
    inFolder(async (folder) => {
      const elsewhere = join(folder, "elsewhere");
      await writeTree(folder, FILES);
      await writeTree(elsewhere, FILES);
      const before = process.cwd();
      process.chdir(folder);
      try {
        await operate();
      } finally {
        process.chdir(before);
      }
      assert.deepEqual(await filesIn(elsewhere), FILES);
      const expected = Object.entries({ ...FILES, ...changed }).filter(([, text]) => text !== undefined);
      const here = Object.entries(await filesIn(folder)).filter(([path]) => !path.startsWith("elsewhere/"));
      assert.deepEqual(Object.fromEntries(here), Object.fromEntries(expected));
    }));
}
