import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { output } from "../support/processes.ts";
import { root } from "../support/runtime.ts";

/** The commit of the web platform tests that this package is tested with. */
const pinned = {
  repository: "https://github.com/web-platform-tests/wpt",
  commit: "2bd26e124cf17b2f0a25c150794d640b07b2a870",
};
/** The folders that the tests of streams, text streams and compression need. */
const folders = ["streams", "encoding", "compression", "resources", "common", "interfaces"];

const cache = join(root, `node_modules/.cache/wpt-${pinned.commit.slice(0, 8)}`);
/** Brings the same tests where that repository is out of reach. */
const script = join(root, "../shared/tools/get-wpt.sh");

/** Returns the folder of the suite on this machine: `WPT_ROOT`, or the one {@linkcode getSuite} downloaded before. */
export function findSuite(): string | undefined {
  const given = process.env.WPT_ROOT;
  if (given) {
    if (!existsSync(join(given, "streams"))) throw new TypeError(`WPT_ROOT is ${given}, which has no folder streams`);
    return resolve(given);
  }
  return existsSync(cache) ? cache : undefined;
}

/** Returns the folder of the suite, which is got first if need be. */
export async function getSuite(): Promise<string> {
  return findSuite() ?? await brought(cache, async (folder) => {
    if (hasScript()) await output("bash", [script, folder], root);
    else await checkOut(folder, pinned);
  });
}

/** Returns the folder of a suite that has compression; undefined if it cannot be had here. */
export async function getCompression(): Promise<string | undefined> {
  const folder = hasScript() ? await getSuite() : findSuite();
  if (folder === undefined || existsSync(join(folder, "compression"))) return folder;
  const other = `${cache}-compression`;
  if (existsSync(other)) return other;
  if (!hasScript()) return undefined;
  // The script's default version is too old to have compression.
  return await brought(other, (folder) => output("bash", [script, folder, "forky"], root)).catch(() => undefined);
}

/** Fills a folder, which gets its name once it is complete. */
async function brought(path: string, fill: (folder: string) => Promise<unknown>): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  const folder = await mkdtemp(`${path}-`);
  try {
    await fill(folder);
    await rename(folder, path);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    if (!existsSync(path)) throw error; // otherwise another process was faster
  }
  return path;
}

/** Whether {@linkcode getSuite} needs no more than a script beside the repository. */
export function hasScript(): boolean {
  return existsSync(script);
}

/** Checks out the needed folders at the commit, without the rest and without history. */
async function checkOut(folder: string, { repository, commit }: typeof pinned): Promise<void> {
  const git = (...words: string[]): Promise<string> => output("git", ["-C", folder, ...words], root);
  await git("init", "--quiet");
  await git("sparse-checkout", "set", ...folders);
  await git("fetch", "--quiet", "--depth=1", "--filter=blob:none", repository, commit);
  await git("-c", "advice.detachedHead=false", "checkout", "--quiet", "FETCH_HEAD");
}
