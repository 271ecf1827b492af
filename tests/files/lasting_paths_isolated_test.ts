import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import test from "node:test";
import {
  AtomicFile,
  copyFileAtomic,
  followFile,
  openFileReadable,
  openFileWritable,
  RotatingFileWritable,
} from "../../lib/files/mod.ts";
import { HeldFolder } from "../../lib/files/internal.ts";
import { precompress } from "../../lib/precompress/mod.ts";
import { createStaticHandler } from "../../lib/static/mod.ts";
import { createUploadHandler, saveBody, saveForm } from "../../lib/upload/mod.ts";
import { inFolder, writeTree } from "../support/folders.ts";
import { needs } from "../support/needs.ts";
import { within } from "../support/waits.ts";
import { cannotMount, onSmallDisk } from "./written.ts";

/** The files of the folder where each operation begins, and of the one that the process goes to meanwhile. */
const FILES = { tmp: "scratch", source: "content", "site/page.txt": "page", "former/gone.txt": "gone" };

/** The folder of an operation: the path of a file in it, as callers give it, and as it is. */
interface Here {
  readonly at: (name: string) => string;
  readonly real: string;
}

/** The folder that the process goes to. */
let elsewhere = "";

function leave(): void {
  process.chdir(elsewhere);
}

/** Returns the texts of all files below a folder, by path. */
async function filesIn(folder: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name).slice(folder.length + 1).replaceAll("\\", "/");
    if (entry.isFile()) files[path] = await readFile(join(folder, path), "utf8");
  }
  return files;
}

/** Operations with relative paths during which the process goes elsewhere, and the files after each that differ. */
const operations: readonly (readonly [string, (here: Here) => Promise<void>, Record<string, string | undefined>])[] = [
  ["AtomicFile with a temporary file, committed", async ({ at }) => {
    const opening = AtomicFile.open(at("file"), { temporary: at("tmp") });
    leave();
    const file = await opening;
    await file.write(new TextEncoder().encode("whole"));
    await file.commit();
  }, { file: "whole", tmp: undefined }],
  ["AtomicFile with a temporary file, discarded", async ({ at }) => {
    const file = await AtomicFile.open(at("file"), { temporary: at("tmp") });
    leave();
    await file.discard();
  }, { tmp: undefined }],
  ["copyFileAtomic() with a temporary file", async ({ at }) => {
    const copying = copyFileAtomic(at("source"), at("file"), { temporary: at("tmp") });
    leave();
    await copying;
  }, { file: "content", tmp: undefined }],
  ["openFileWritable() that is reopened", async ({ at, real }) => {
    const log = await openFileWritable(at("app.log"), { append: true });
    await rename(join(real, "app.log"), join(real, "app.1"));
    leave();
    await log.reopen();
    const writer = log.getWriter();
    await writer.write("text");
    await writer.close();
  }, { "app.1": "", "app.log": "text" }],
  ["followFile() of a file that comes later", async ({ at, real }) => {
    const reader = (await followFile(at("new.log"), { interval: 5 })).getReader();
    leave();
    await writeFile(join(real, "new.log"), "text");
    const { value } = await within(reader.read(), "the text");
    await reader.cancel();
    assert.equal(new TextDecoder().decode(value), "text");
  }, { "new.log": "text" }],
  ["saveForm() into a folder", async ({ at, real }) => {
    const folder = process.cwd();
    for (const [root, site] of [[undefined, at("site")], [at("."), "site"]]) {
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
      const { files } = await saveForm(body, site!, {
        contentType: "multipart/form-data; boundary=B",
        ...root && { root },
      });
      assert.deepEqual(files.map(({ path }) => dirname(path!)), [join(real, "site"), join(real, "site")]);
      for (const { path } of files) await rm(path!);
    }
  }, {}],
  ["createStaticHandler()", async ({ at }) => {
    await using site = await createStaticHandler(at("site"), { previous: at("former"), immutable: "*.txt" });
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
  ["precompress()", async ({ at, real }) => {
    const running = precompress(at("site"), { out: at("out"), cache: at("cache"), minSize: 0, formats: ["gzip"] });
    leave();
    assert.deepEqual((await running).problems, []);
    await Promise.all(["out", "cache"].map((path) => rm(join(real, path), { recursive: true })));
  }, {}],
  ["openFileReadable()", async ({ at }) => {
    const stream = await openFileReadable(at("source"));
    leave();
    assert.equal(await new Response(stream as BodyInit).text(), "content");
  }, {}],
  ["RotatingFileWritable", async ({ at, real }) => {
    const files = [];
    for (const append of [false, true]) {
      const log = new RotatingFileWritable({ directory: at("logs"), maxFileSize: 9, name: `${append}.txt`, append });
      leave();
      const writer = log.getWriter();
      await Promise.all([writer.write("one"), log.rotate(), writer.close()]);
      process.chdir(dirname(elsewhere));
      files.push(...log.files);
    }
    assert.deepEqual(files, ["false", "true"].map((name) => join(real, "logs", `${name}-00001.txt`)));
    await rm(join(real, "logs"), { recursive: true });
  }, {}],
  ["saveBody()", async ({ at, real }) => {
    const saving = saveBody(new Response("text").body!, at("file"));
    leave();
    assert.equal((await saving).path, join(real, "file"));
  }, { file: "text" }],
  ["createUploadHandler()", async ({ at }) => {
    const handler = createUploadHandler({ directory: at("site") });
    leave();
    const response = await handler.fetch(new Request("http://localhost/new.txt", { method: "PUT", body: "text" }));
    assert.equal(response.status, 201);
    await handler.close();
  }, { "site/new.txt": "text" }],
];

/** Runs an operation in `folder`, whose files lie in `inner` of it; `way` leads there. */
async function operateIn(
  folder: string,
  [, operate, changed]: (typeof operations)[number],
  inner: string,
  way: string,
): Promise<void> {
  elsewhere = join(folder, "elsewhere");
  const real = join(folder, inner);
  await Promise.all([folder, real, elsewhere].map((each) => writeTree(each, FILES)));
  const before = process.cwd();
  process.chdir(folder);
  try {
    await operate({ at: (name) => way + name, real });
  } finally {
    process.chdir(before);
  }
  const found = Object.entries(await filesIn(folder));
  const filesOf = (below: string): Record<string, string> => {
    const own = found.filter(([path]) => path.startsWith(below)).map((
      [path, text],
    ) => [path.slice(below.length), text]);
    return Object.fromEntries(own.filter(([path]) => !/^(?:elsewhere|inner)\//.test(path)));
  };
  assert.deepEqual(filesOf("elsewhere/"), FILES);
  const expected = Object.entries({ ...FILES, ...changed }).filter(([, text]) => text !== undefined);
  assert.deepEqual(filesOf(inner && `${inner}/`), Object.fromEntries(expected));
  if (inner !== "") assert.deepEqual(filesOf(""), FILES);
}

for (const operation of operations) {
  test(`${operation[0]} keeps to its folder when the process goes elsewhere`, () =>
    inFolder((folder) => operateIn(folder, operation, "", "")));

  // There `..` is what the words say, for all programs.
  test(`${operation[0]} takes \`..\` behind a link to a folder as the system does`, {
    skip: process.platform === "win32",
  }, () =>
    inFolder(async (folder) => {
      await mkdir(join(folder, "inner/below"), { recursive: true });
      await symlink("inner/below", join(folder, "link"));
      await operateIn(folder, operation, "inner", "link/../");
    }));
}

test("a folder that is held is not taken for the root of a disk that is mounted there", {
  skip: needs("proc") || cannotMount,
}, () =>
  onSmallDisk(64, async (folder) => {
    const covered = HeldFolder.open(folder)!;
    execFileSync("mount", ["-t", "tmpfs", "none", folder]); // whose root has the same inode
    const mounted = HeldFolder.open(folder)!;
    try {
      await writeFile(join(mounted.path, "file"), "");
      assert.deepEqual([await readdir(folder), await readdir(covered.path)], [["file"], []]);
    } finally {
      for (const each of [covered, mounted]) each.release();
      execFileSync("umount", ["--lazy", folder]);
    }
  }));
