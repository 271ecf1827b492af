import { stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { isProcessAlive } from "../runtime/mod.ts";
import { processSpace } from "./process_space.ts";

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
