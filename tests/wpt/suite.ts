import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { output } from "../support/processes.ts";
import { root } from "../support/runtime.ts";

/** The web platform tests at the commit that ours are measured against. */
const pinned = {
  repository: "https://github.com/web-platform-tests/wpt",
  commit: "2bd26e124cf17b2f0a25c150794d640b07b2a870",
};
/** The folders of them that the tests of streams and text streams need. */
const folders = ["streams", "encoding", "resources", "common", "interfaces"];

const cache = join(root, `node_modules/.cache/wpt-${pinned.commit.slice(0, 8)}`);
/** Brings the same tests where that repository is out of reach. */
const script = join(root, "../shared/tools/get-wpt.sh");

/** The folder of the suite if it is on this machine: `WPT_ROOT` or what {@linkcode getSuite} has got before. */
export function findSuite(): string | undefined {
  const given = process.env.WPT_ROOT;
  if (given) {
    if (!existsSync(join(given, "streams"))) throw new TypeError(`WPT_ROOT is ${given}, which has no folder streams`);
    return resolve(given);
  }
  return existsSync(cache) ? cache : undefined;
}

/** The folder of the suite, which is got first if need be. */
export async function getSuite(): Promise<string> {
  const found = findSuite();
  if (found !== undefined) return found;
  await mkdir(dirname(cache), { recursive: true });
  const folder = await mkdtemp(`${cache}-`);
  try {
    if (hasScript()) await output("bash", [script, folder], root);
    else await checkOut(folder, pinned);
    await rename(folder, cache);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    if (!existsSync(cache)) throw error; // else somebody was faster
  }
  return cache;
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
