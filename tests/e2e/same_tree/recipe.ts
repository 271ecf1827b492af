import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import process from "node:process";
import { output } from "../../support/processes.ts";
import { root, runtime } from "../../support/runtime.ts";

const page = "lib/precompress/deploy.md";

/**
 * Returns a code block of the page on deploying, with replacements such as the folder and port. The block is the one
 * whose first line is a comment that begins with `name`.
 */
export async function recipe(name: string, replacements: Readonly<Record<string, string>>): Promise<string> {
  const blocks = (await readFile(join(root, page), "utf8")).matchAll(/^```\w+\n(?:#|\/\/) ([\w.]+).*\n([^]*?)^```$/gm);
  let text = [...blocks].find(([, named]) => named === name)?.[2];
  if (text === undefined) throw new TypeError(`${page} shows no ${name}: a block must begin with its name`);
  for (const [shown, ours] of Object.entries(replacements)) {
    if (!text.includes(shown)) throw new TypeError(`${name} has no "${shown}"`);
    text = text.replaceAll(shown, ours);
  }
  return text;
}

/** Lists a tree's deltas by the script of the page; `end` is the end of its lines. */
export async function listDeltas(tree: string, folder: string, end: string): Promise<string> {
  const script = join(folder, "list_deltas.ts");
  const ours = pathToFileURL(join(root, "lib/precompress/mod.ts")).href;
  await writeFile(script, await recipe("list_deltas.ts", { "@millrace/streams/precompress": ours }));
  const deno = ["run", "-A", "--no-check", "--config", join(root, "deno.json")];
  const words = [...(runtime === "deno" ? deno : []), script, tree, end];
  const path = join(folder, "dist.deltas");
  await writeFile(path, await output(process.execPath, words, root));
  return path;
}
