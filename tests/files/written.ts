import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { needs } from "../support/needs.ts";

/** Returns the contents of a directory's files, by name. */
export function contents(directory: string): Record<string, string> {
  const entries = existsSync(directory) ? readdirSync(directory, { withFileTypes: true }) : [];
  const names = entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name).sort();
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(directory, name), "latin1")]));
}

/** Returns the expected files of a series: an item that doesn't fit into the last file starts the next one. */
export function expectedFiles(items: readonly string[], maxFileSize: number): string[] {
  const files: string[] = [];
  for (const item of items) {
    const last = files.length - 1;
    if (last < 0 || files[last].length + item.length > maxFileSize) files.push(item);
    else files[last] += item;
  }
  return files;
}

/** The reason why open files cannot be listed; false if they can. */
export const cannotListOpenFiles: string | false = needs("proc");

/** Returns the paths below `folder` that this process has open, removed ones too; none where that cannot be known. */
export function openFilesIn(folder: string): string[] {
  if (cannotListOpenFiles) return [];
  return readdirSync("/proc/self/fd").flatMap((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`);
    } catch {
      return []; // the one of the listing itself
    }
  }).filter((path) => path.startsWith(folder));
}

/**
 * The outcomes of writes: the number of acknowledged ones, and the errors of the others, in the order of their ends.
 */
export class Outcomes {
  acknowledged = 0;
  readonly errors: unknown[] = [];
  readonly #promises: Promise<void>[] = [];

  add(write: Promise<void>): void {
    this.#promises.push(write.then(() => void this.acknowledged++, (error) => void this.errors.push(error)));
  }

  async settled(): Promise<this> {
    await Promise.all(this.#promises);
    return this;
  }
}

/** Waits for `count` turns of the event loop; for less than one turn, for microtasks alone. */
export async function turns(count: number): Promise<void> {
  if (count < 1) { for (let i = 0; i < count * 8; i++) await undefined; }
  for (let i = 1; i <= count; i++) await new Promise((resolve) => setImmediate(resolve));
}

/** Mounts a file system of `kilobytes` for the length of `use`. */
export function onSmallDisk(kilobytes: number, use: (folder: string) => Promise<void>): Promise<void> {
  return onDisk(`size=${kilobytes}k`, use);
}

/** Mounts a file system that holds no more than some files and folders for the length of `use`. */
export function onDiskOfFewFiles(files: number, use: (folder: string) => Promise<void>): Promise<void> {
  return onDisk(`size=1m,nr_inodes=${files}`, use);
}

async function onDisk(options: string, use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-disk-"));
  mount(folder, options);
  try {
    await use(folder);
  } finally {
    execFileSync("umount", ["--lazy", folder]);
    await rm(folder, { recursive: true });
  }
}

/** The reason why {@linkcode onSmallDisk} cannot run; false if it can. */
export const cannotMount: string | false = await (async () => {
  try {
    await onSmallDisk(64, () => Promise.resolve());
    return false;
  } catch (error) {
    return `no small file system can be mounted: ${String((error as Error).message).split("\n")[0]}`;
  }
})();

function mount(folder: string, options: string): void {
  execFileSync("mount", ["-t", "tmpfs", "-o", options, "none", folder], { stdio: "ignore" });
}
