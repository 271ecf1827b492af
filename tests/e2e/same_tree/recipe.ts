import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import process from "node:process";
import { output, root, runtime } from "../consumer.ts";

const recipes = join(root, "tests/e2e/same_tree/recipes");

/** A server's configuration as the README shows it, for another folder and port. */
export async function recipe(name: string, replacements: Readonly<Record<string, string>>): Promise<string> {
  let text = await readFile(join(recipes, name), "utf8");
  for (const [shown, ours] of Object.entries(replacements)) {
    if (!text.includes(shown)) throw new TypeError(`${name} has no "${shown}"`);
    text = text.replaceAll(shown, ours);
  }
  return text;
}

/** The list of a tree's deltas, made by the script that the README shows; `end` is what its lines end with. */
export async function listDeltas(tree: string, folder: string, end: string): Promise<string> {
  const script = join(folder, "list_deltas.mjs");
  const ours = pathToFileURL(join(root, "lib/precompress/mod.ts")).href;
  await writeFile(script, await recipe("list_deltas.mjs", { "@millrace/streams/precompress": ours }));
  const words = [...(runtime === "deno" ? ["run", "-A", "--no-check"] : []), script, tree, end];
  const path = join(folder, "dist.deltas");
  await writeFile(path, await output(process.execPath, words, root));
  return path;
}
