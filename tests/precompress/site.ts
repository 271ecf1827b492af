import { spawn, type SpawnOptions } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { constants, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { noise, sourceText } from "../codecs/samples.ts";

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

/** A small site with files of every kind, all last changed on the same day. */
export async function writeSite(folder: string): Promise<void> {
  await writeTree(folder, {
    "index.html": `<!doctype html>\n<title>Mill</title>\n${"<p>The mill turns.</p>\n".repeat(300)}`,
    "assets/app.4f3a9c1e.js": sourceText(40_000, 1),
    "assets/style.css": "body { margin: 0; color: #123456 }\n".repeat(200),
    "assets/deep/er/data.json": JSON.stringify(Array.from({ length: 500 }, (_, id) => ({ id, name: `wheel ${id}` }))),
    "picture.png": noise(20_000, 2),
    "unknown.bin": noise(20_000, 3),
    "small.txt": "too small to bother\n",
    "empty.txt": "",
  });
  for (const path of await listed(folder)) await utimes(join(folder, path), 1.7e9, 1.7e9);
}

/** The paths of all files below `folder`, sorted; symbolic links are not followed. */
export async function listed(folder: string, below = ""): Promise<string[]> {
  const paths: string[] = [];
  for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
    const path = join(below, entry.name);
    if (entry.isDirectory()) paths.push(...await listed(folder, path));
    else if (entry.isFile()) paths.push(path);
  }
  return paths.sort();
}

/** The contents of all files below `folder`, by path. */
export async function contents(folder: string): Promise<Record<string, string>> {
  const result: Record<string, string> = {};
  for (const path of await listed(folder)) result[path] = (await readFile(join(folder, path))).toString("base64");
  return result;
}

/** When the file at `path` was last changed, in ms since 1970. */
export async function changedAt(path: string): Promise<number> {
  return (await stat(path)).mtimeMs;
}

/** How a command ended. */
export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const cli = fileURLToPath(new URL("../../lib/cli/cli.ts", import.meta.url));
const isDeno = "deno" in process.versions;

/** Runs the command line on the runtime that runs the tests; `during` is given the process once it has started. */
export function millrace(
  words: readonly string[],
  during: (process: ReturnType<typeof spawn>) => void = () => {},
  options: Pick<SpawnOptions, "cwd" | "env"> = {},
): Promise<Ended> {
  return millraceOn(process.execPath, isDeno, words, during, options);
}

/** Runs the command line on the runtime at `path`. */
export function millraceOn(
  path: string,
  isDeno: boolean,
  words: readonly string[],
  during: (process: ReturnType<typeof spawn>) => void = () => {},
  options: Pick<SpawnOptions, "cwd" | "env"> = {},
): Promise<Ended> {
  const child = spawn(path, [...(isDeno ? ["run", "-A", "--no-check"] : []), cli, ...words], {
    ...options,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => stdout += chunk);
  child.stderr.on("data", (chunk) => stderr += chunk);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("spawn", () => during(child));
    // Deno tells an exit status above 128 as the signal that a shell would mean by it.
    child.on("close", (status, signal) => {
      resolve({ status: status ?? (signal && 128 + constants.signals[signal]), stdout, stderr });
    });
  });
}
