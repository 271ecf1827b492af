import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { opendir, stat, unlink } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { isPermitted, isProcessAlive } from "../runtime/mod.ts";
import { fileFailure } from "./failure.ts";

let space: string | undefined;

/**
 * Eight hexadecimal digits that stand for where process ids mean the same: the machine since it was started, and on
 * Linux the container. A process that may not ask has a space of its own, without a question to its user.
 */
export function processSpace(): string {
  space ??= createHash("sha256").update(describeSpace()).digest("hex").slice(0, 8);
  return space;
}

function describeSpace(): string {
  const isLinux = process.platform === "linux";
  if (!isPermitted(isLinux ? "systemFiles" : "hostname")) return crypto.randomUUID();
  try {
    if (!isLinux) return hostname();
    // The first container of each machine has the same number, and machines may have the same name.
    return readFileSync("/proc/sys/kernel/random/boot_id", "latin1") + readlinkSync("/proc/self/ns/pid");
  } catch {
    return crypto.randomUUID();
  }
}

/** With the space of the process, which names did not have once, and its id. */
const NAME = /^\.millrace-(?:([0-9a-f]{8})\.)?(\d+)-[0-9a-f-]+\.tmp$/;
const DAY = 24 * 60 * 60 * 1000;
/** The file system's clock may be behind the process's by a tick, in ms. */
const TICK = 1000;

/**
 * A path for a temporary file, in the folder of `path` so that a rename puts it in place at once.
 *
 * @example Another program's output, under its name when it is complete
 * ```ts
 * import { temporaryPath } from "@millrace/streams/files";
 * import { rename, writeFile } from "node:fs/promises";
 *
 * const temporary = temporaryPath("uploads/report.txt");
 * await writeFile(temporary, "as another program would write it");
 * await rename(temporary, "uploads/report.txt");
 * ```
 */
export function temporaryPath(path: string): string {
  return join(dirname(path), `.millrace-${processSpace()}.${process.pid}-${crypto.randomUUID()}.tmp`);
}

/**
 * Whether `name` is one that {@linkcode temporaryPath} gives. A name, not a path.
 *
 * @example List a folder without what is being written
 * ```ts
 * import { isTemporaryName, temporaryPath } from "@millrace/streams/files";
 * import { mkdir, readdir, writeFile } from "node:fs/promises";
 *
 * await mkdir("incoming");
 * await writeFile("incoming/a.txt", "complete");
 * await writeFile(temporaryPath("incoming/b.txt"), "not complete yet");
 * const names = (await readdir("incoming")).filter((name) => !isTemporaryName(name));
 * console.log(names.join()); // a.txt
 * ```
 */
export function isTemporaryName(name: string): boolean {
  return NAME.test(name);
}

/**
 * Whether the file at `path` is a temporary one whose process ended without removing it. Of a process of another
 * machine or container nobody can say here whether it runs: its files are abandoned when nothing has touched them for a
 * day.
 *
 * @example A file that this process is writing is not abandoned
 * ```ts
 * import { isAbandonedTemporary, temporaryPath } from "@millrace/streams/files";
 * import { writeFile } from "node:fs/promises";
 *
 * const path = temporaryPath("uploads/film.mp4");
 * await writeFile(path, "the first part");
 * console.log(await isAbandonedTemporary(path)); // false
 * ```
 */
export async function isAbandonedTemporary(path: string): Promise<boolean> {
  const [, space, digits] = NAME.exec(basename(path)) ?? [];
  if (digits === undefined) return false;
  const id = Number(digits);
  const facts = await stat(path).catch(() => undefined);
  if (facts?.isDirectory()) return false; // nobody made it for a temporary file
  const isOurs = space === processSpace();
  if (isOurs && isProcessAlive(id) === false) return true;
  // Another process may have the id by now: in a container it is often this one. The time of change of the file's
  // status tells, since that of its content is set to the original's.
  const touched = facts?.ctimeMs ?? Infinity;
  const spared = isOurs && id === process.pid ? process.uptime() * 1000 + TICK : DAY;
  return touched < Date.now() - spared;
}

/** Entries to read at a time: a folder of uploads may have a million. */
const ENTRIES = 256;

/**
 * Removes the temporary files that killed processes left in a folder, but not in those below it: see
 * {@linkcode isAbandonedTemporary} for which these are.
 *
 * @param directory The folder's path.
 * @returns how many were removed.
 * @throws {Error} what the file system says of the folder, or of the first file that it did not let be removed after
 * it removed the others; with its `code`.
 * @example When a server starts
 * ```ts
 * import { removeAbandonedTemporaries } from "@millrace/streams/files";
 *
 * const removed = await removeAbandonedTemporaries("uploads");
 * console.log(removed); // 0
 * ```
 */
export async function removeAbandonedTemporaries(directory: string): Promise<number> {
  const entries = await opendir(directory, { bufferSize: ENTRIES }).catch((error) => {
    throw fileFailure("read the directory", directory, error);
  });
  let removed = 0;
  let failure: Error | undefined;
  for await (const { name } of entries) {
    const path = join(directory, name);
    if (!isTemporaryName(name) || !(await isAbandonedTemporary(path))) continue;
    try {
      await unlink(path);
      removed++;
    } catch (error) {
      if ((error as { code?: unknown }).code === "ENOENT") continue; // another process was faster
      failure ??= fileFailure("remove", path, error);
    }
  }
  if (failure) throw failure;
  return removed;
}
