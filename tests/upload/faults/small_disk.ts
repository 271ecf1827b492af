import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The reason why no file system can be mounted; false if one can. */
export const cannotMount: string | false = reasonNotToMount();

function mount(folder: string, options: string): boolean {
  return spawnSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder]).status === 0;
}

function reasonNotToMount(): string | false {
  const folder = mkdtempSync(join(tmpdir(), "millrace-mount-"));
  const isMounted = mount(folder, "size=1m");
  if (isMounted) spawnSync("umount", [folder]);
  rmSync(folder, { recursive: true });
  return isMounted ? false : "only root may mount a small disk";
}

/** Mounts a disk in memory below `folder`, with `mebibytes` MiB, while `use` runs. */
export async function onSmallDisk(
  folder: string,
  mebibytes: number,
  use: (disk: string) => Promise<void>,
): Promise<void> {
  await onDisk(folder, `size=${mebibytes}m`, use);
}

/** Uses a disk that holds no more than some files and folders, mounted below `folder`. */
export async function onDiskOfFewFiles(
  folder: string,
  files: number,
  use: (disk: string) => Promise<void>,
): Promise<void> {
  await onDisk(folder, `size=8m,nr_inodes=${files}`, use);
}

async function onDisk(folder: string, options: string, use: (disk: string) => Promise<void>): Promise<void> {
  const disk = join(folder, "disk");
  mkdirSync(disk);
  if (!mount(disk, options)) throw new Error(`cannot mount ${disk}`);
  try {
    await use(disk);
  } finally {
    spawnSync("umount", ["--lazy", disk]);
  }
}
