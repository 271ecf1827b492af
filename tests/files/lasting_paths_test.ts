import assert from "node:assert/strict";
import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import test from "node:test";
import { AtomicFile, copyFileAtomic, followFile, openFileWritable } from "../../lib/files/mod.ts";
import { precompress } from "../../lib/precompress/mod.ts";
import { createStaticHandler } from "../../lib/static/mod.ts";
import { saveForm } from "../../lib/upload/mod.ts";
import { inFolder, writeTree } from "../support/folders.ts";
import { within } from "../support/waits.ts";

/** The files of the folder where each operation begins, and of the one that the process goes to meanwhile. */
const FILES = { tmp: "scratch", source: "content", "site/page.txt": "page", "former/gone.txt": "gone" };

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
  ["saveForm() into a folder", async () => {
    const folder = process.cwd();
    for (const options of [{}, { root: "." }]) {
      process.chdir(folder);
      let sent = 0;
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          if (sent === 1) leave();
          const part = `--B\r\ncontent-disposition: form-data; name="a"; filename="a"\r\n\r\n1\r\n`;
          controller.enqueue(new TextEncoder().encode(sent++ < 2 ? part : "--B--\r\n"));
          if (sent > 2) controller.close();
        },
      }, { highWaterMark: 0 });
      const { files } = await saveForm(body, "site", { contentType: "multipart/form-data; boundary=B", ...options });
      assert.deepEqual(files.map(({ path }) => dirname(path!)), [join(folder, "site"), join(folder, "site")]);
      for (const { path } of files) await rm(path!);
    }
  }, {}],
  ["createStaticHandler()", async () => {
    await using site = await createStaticHandler("site", { previous: "former", immutable: "*.txt" });
    leave();
    await Promise.all([rm("site/page.txt"), rm("former/gone.txt")]);
    try {
      await site.reload();
      for (const path of ["page.txt", "gone.txt"]) {
        assert.equal((await site.fetch(new Request(`http://localhost/${path}`))).status, 200, path);
      }
    } finally {
      await Promise.all([writeFile("site/page.txt", "page"), writeFile("former/gone.txt", "gone")]);
    }
  }, {}],
  ["precompress()", async () => {
    const running = precompress("site", { out: "out", cache: "cache", minSize: 0, formats: ["gzip"] });
    leave();
    assert.deepEqual((await running).problems, []);
    await Promise.all(["out", "cache"].map((path) => rm(join("..", path), { recursive: true })));
  }, {}],
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
