/**
 * Performs the operation of the first argument on the file or folder of the second, and prints the outcome. For processes
 * with few permissions.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import {
  AtomicFile,
  copyFileAtomic,
  isAbandonedTemporary,
  NumberFileWriter,
  openFileReadable,
  openFileWritable,
  removeAbandonedTemporaries,
  RotatingFileWritable,
  temporaryPath,
} from "../../lib/files/mod.ts";
import { precompress } from "../../lib/precompress/mod.ts";
import { isProcessAlive } from "../../lib/runtime/mod.ts";
import { createStaticHandler } from "../../lib/static/mod.ts";
import { saveBody } from "../../lib/upload/mod.ts";

const bytes = new TextEncoder().encode("x");

async function written(stream: WritableStream): Promise<string> {
  const writer = stream.getWriter();
  await writer.write("x");
  await writer.close();
  return "written";
}

async function committed(file: AtomicFile): Promise<string> {
  await file.write(bytes);
  await file.commit();
  return "committed";
}

const operations: Readonly<Record<string, (path: string, other: string) => Promise<unknown>>> = {
  openFileReadable: async (path) => await new Response(await openFileReadable(path)).text(),
  openFileWritable: async (path) => await written(await openFileWritable(path, { flush: true, mtimeMs: 5e11 })),
  "openFileWritable atomic": async (path) => await written(await openFileWritable(path, { atomic: true })),
  AtomicFile: async (path) => await committed(await AtomicFile.open(path)),
  "AtomicFile with a mode": async (path) =>
    await committed(await AtomicFile.open(path, { mode: 0o640, mtimeMs: 5e11 })),
  "AtomicFile without replace": async (path) => await committed(await AtomicFile.open(path, { replace: false })),
  copyFileAtomic: async (path, other) => await copyFileAtomic(other, path).then(() => "copied"),
  RotatingFileWritable: async (path) => await written(new RotatingFileWritable({ directory: path, maxFileSize: 9 })),
  "RotatingFileWritable atomic": async (path) =>
    await written(new RotatingFileWritable({ directory: path, maxFileSize: 9, atomic: true, overwrite: true })),
  NumberFileWriter: async (path) => {
    const writer = new NumberFileWriter({ directory: path, maxFileSize: 9 }).getWriter();
    await writer.write(1);
    await writer.close();
    return "written";
  },
  removeAbandonedTemporaries: async (path) => await removeAbandonedTemporaries(path),
  isAbandonedTemporary: async (path) => await isAbandonedTemporary(path),
  isProcessAlive: (id) => Promise.resolve(isProcessAlive(Number(id))),
  "precompress() with out": async (path) => {
    await writeFile(join(path, "a.txt"), "text".repeat(1000));
    return (await precompress(path, { out: `${path}-made`, cache: `${path}-cache`, formats: ["gzip"] })).problems
      .length;
  },
  "precompress()": async (path) => (await precompress(path, { formats: ["gzip"], minSize: 1 })).problems.length,
  "createStaticHandler()": async (path) => {
    const handler = await createStaticHandler(path);
    const { status } = await handler.fetch(new Request("http://localhost/file"));
    await handler.close();
    return status;
  },
  "saveBody()": async (path) => {
    const request = new Request("http://localhost/", { method: "PUT", body: "x" });
    return (await saveBody(request, path, { overwrite: true, flush: true })).bytes;
  },
  temporaryPath: (path) => Promise.resolve(temporaryPath(path).startsWith(path.slice(0, path.lastIndexOf("/")))),
};

const [name, path, other] = process.argv.slice(2);
console.log(await operations[name](path, other));
