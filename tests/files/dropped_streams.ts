/**
 * Opens files below the folder that the first argument names, as often as the second one says, in each of the ways that
 * the others name, and drops what it got. Prints for each way how many files stay open and how many temporary ones are
 * left when garbage has been collected.
 */
import { readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import type * as Files from "../../lib/files/mod.ts";
import { faceOf } from "../support/built_faces.ts";

const {
  AtomicFile,
  followFile,
  isTemporaryName,
  NumberFileWriter,
  openFileReadable,
  openFileWritable,
  RotatingFileWritable,
}: typeof Files = await import(faceOf("files"));

const [folder, rounds, ...names] = process.argv.slice(2);
const file = join(folder, "file");
writeFileSync(file, new Uint8Array(1_500_000));
const bytes = new Uint8Array(100);
let made = 0;
const { signal } = new AbortController();
const openWith: (path: string, options: unknown) => ReturnType<typeof openFileReadable> = openFileReadable;
const fresh = (): string => join(folder, `made-${made++}`);

function release(resource: { releaseLock(): void }): void {
  resource.releaseLock();
}

/** Ways to use a file that keep no reference. */
const ways: Readonly<Record<string, () => Promise<unknown>>> = {
  unread: () => openFileReadable(file),
  response: async () => new Response(await openFileReadable(file)),
  "read response": async () => await new Response(await openFileReadable(file)).body!.getReader().read(),
  reader: async () => await (await openFileReadable(file)).getReader().read(),
  "released reader": async () => {
    const reader = (await openFileReadable(file)).getReader();
    await reader.read();
    release(reader);
  },
  "BYOB reader": async () => {
    const reader = (await openFileReadable(file)).getReader({ mode: "byob" });
    await reader.read(new Uint8Array(1000));
  },
  "reader that did not wait": async () => void (await openFileReadable(file)).getReader().read(),
  "reader, with a signal": async () => await (await openWith(file, { signal })).getReader().read(),
  "followed, with a signal": async () =>
    await (await followFile(file, { start: "beginning", signal })).getReader().read(),
  cancelled: async () => await (await openFileReadable(file)).cancel(),
  "cancelled reader": async () => await (await openFileReadable(file)).getReader().cancel(),
  tee: async () => (await openFileReadable(file)).tee(),
  "read tee": async () => await (await openFileReadable(file)).tee()[0].getReader().read(),
  iterator: async () => await (await openFileReadable(file))[Symbol.asyncIterator]().next(),
  "pipeThrough()": async () => (await openFileReadable(file)).pipeThrough(new TransformStream()),
  "read pipeThrough()": async () =>
    await (await openFileReadable(file)).pipeThrough(new TransformStream()).getReader().read(),
  "no destination": async () => {
    const from = await openFileReadable(file);
    await openFileWritable(join(folder, "none/file")).then((to) => from.pipeTo(to), () => {});
  },
  openFileWritable: async () => {
    await (await openFileWritable(fresh())).getWriter().write(bytes);
  },
  "openFileWritable, atomic": async () => {
    await (await openFileWritable(fresh(), { atomic: true })).getWriter().write(bytes);
  },
  "openFileWritable, not waited for": async () => {
    const writer = (await openFileWritable(fresh(), { atomic: true })).getWriter();
    for (let i = 0; i < 10; i++) void writer.write(bytes);
  },
  RotatingFileWritable: async () => {
    const directory = fresh();
    await new RotatingFileWritable({ directory, maxFileSize: 1000 }).getWriter().write(bytes);
  },
  "RotatingFileWritable, atomic": async () => {
    const directory = fresh();
    await new RotatingFileWritable({ directory, maxFileSize: 1000, atomic: true }).getWriter().write(bytes);
  },
  "NumberFileWriter, atomic": async () => {
    const directory = fresh();
    await new NumberFileWriter({ directory, maxFileSize: 1000, atomic: true }).getWriter().write(1);
  },
  AtomicFile: async () => await (await AtomicFile.open(fresh())).write(bytes),
  "AtomicFile at once": async () => void await AtomicFile.open(fresh(), { atOnce: true }),
  "AtomicFile, complete": async () => await (await AtomicFile.open(fresh())).end(),
};

const { gc, Bun } = globalThis as unknown as { gc?: () => void; Bun?: { gc(force: boolean): void } };
const collect = Bun ? () => Bun.gc(true) : gc!;

for (const name of names) {
  for (let round = 0; round < Number(rounds); round++) {
    await ways[name]();
    if (round % 100 === 99) await collected();
  }
  for (let rest = 300; rest > 0 && (openFiles() > 0 || temporaries() > 0); rest--) await collected();
  console.log(`${name}: ${openFiles()} open, ${temporaries()} temporary`);
}
signal.throwIfAborted(); // the signal is reachable until here

async function collected(): Promise<void> {
  collect();
  await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Returns the number of descriptors that this process has of files below the folder. */
function openFiles(): number {
  return readdirSync("/proc/self/fd").filter((name) => linkOf(name).startsWith(folder)).length;
}

function linkOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return ""; // closed meanwhile, as that of the listing is
  }
}

function temporaries(): number {
  return readdirSync(folder, { recursive: true }).filter((path) => isTemporaryName(String(path).split("/").at(-1)!))
    .length;
}
