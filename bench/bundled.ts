import { execFile } from "node:child_process";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const ESBUILD = join(root, "node_modules/.bin/esbuild");
/** The options of esbuild; splitting keeps dynamic imports lazy. */
const OPTIONS = [
  "--bundle",
  "--splitting",
  "--format=esm",
  "--platform=node",
  "--target=esnext",
  "--log-level=warning",
];

/**
 * Bundles a script and all its imports into JavaScript, and returns its path in the repository. Without this, Node
 * would strip the types at its start and take 50 MiB for it, which would count as the contestant's memory. CommonJS
 * packages must stay external.
 */
export async function bundled(script: string, packages: "in" | "external" = "in"): Promise<string> {
  const folder = join("bench/.corpus/scripts", dirname(script));
  const options = [...OPTIONS, ...(packages === "external" ? ["--packages=external"] : [])];
  await promisify(execFile)(ESBUILD, [...options, "--out-extension:.js=.mjs", `--outdir=${folder}`, script], {
    cwd: root,
  });
  return join(folder, `${basename(script, ".ts")}.mjs`);
}
