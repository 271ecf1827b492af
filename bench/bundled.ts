import { execFile } from "node:child_process";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const ESBUILD = join(root, "node_modules/.bin/esbuild");
/** Splitting leaves what is imported when it is needed to be so. */
const OPTIONS = [
  "--bundle",
  "--splitting",
  "--format=esm",
  "--platform=node",
  "--target=esnext",
  "--log-level=warning",
];

/**
 * Makes JavaScript of a script and all that it imports, and returns its path in the repository. Else the types that Node
 * strips as it starts would take it 50 MiB, which is no contestant's memory.
 */
export async function bundled(script: string): Promise<string> {
  const folder = join("bench/.corpus/scripts", dirname(script));
  await promisify(execFile)(ESBUILD, [...OPTIONS, "--out-extension:.js=.mjs", `--outdir=${folder}`, script], {
    cwd: root,
  });
  return join(folder, `${basename(script, ".ts")}.mjs`);
}
