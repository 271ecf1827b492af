import { join } from "node:path";
import { output } from "../support/processes.ts";
import { root } from "../support/runtime.ts";

/**
 * Writes our `./install` as one module into a folder, for programs of Deno that have an import map of their own: the
 * checkout's, which ours needs, cannot be given beside that.
 *
 * @returns its path.
 */
export async function bundledInstall(folder: string): Promise<string> {
  const file = join(folder, "install.js");
  const words = ["lib/streams/install.ts", "--bundle", "--format=esm", "--platform=node", `--outfile=${file}`];
  await output(join(root, "node_modules/.bin/esbuild"), [...words, "--log-level=error"], root);
  return file;
}
