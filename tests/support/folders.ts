import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A folder for a test, removed after it. */
export async function inFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-test-"));
  try {
    await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes files below `folder`, by path. */
export async function writeTree(folder: string, files: Readonly<Record<string, string | Uint8Array>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}

/** Returns the paths of all files below `folder`, with slashes, sorted; symbolic links are not followed. */
export async function listed(folder: string, below = ""): Promise<string[]> {
  const paths: string[] = [];
  for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) paths.push(...await listed(folder, path));
    else if (entry.isFile()) paths.push(path);
  }
  return paths.sort();
}

/** Returns the contents of all files below `folder`, by path. */
export async function contents(folder: string): Promise<Record<string, string>> {
  const result: Record<string, string> = {};
  for (const path of await listed(folder)) result[path] = (await readFile(join(folder, path))).toString("base64");
  return result;
}

/** Returns the time of the last change of the file at `path`, in ms since 1970. */
export async function changedAt(path: string): Promise<number> {
  return (await stat(path)).mtimeMs;
}
