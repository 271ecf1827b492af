import { readdir } from "node:fs/promises";
import { isOwnName } from "../precompress/internal.ts";
import { extensions } from "../precompress/mod.ts";

/** Lists the paths of a folder's files that a server would send by their own names, sorted. */
export async function folderFiles(folder: string): Promise<string[]> {
  const paths: string[] = [];
  const visit = async (below: string): Promise<void> => {
    for (const entry of await readdir(`${folder}/${below}`, { withFileTypes: true })) {
      if (isOwnName(entry.name) || (entry.name.startsWith(".") && entry.name !== ".well-known")) continue;
      if (entry.isDirectory()) await visit(`${below}${entry.name}/`);
      else if (entry.isFile()) paths.push(`${below}${entry.name}`);
    }
  };
  await visit("");
  const all = new Set(paths);
  const isVariant = (path: string): boolean =>
    Object.values(extensions).some((suffix) => path.endsWith(suffix) && all.has(path.slice(0, -suffix.length)));
  return paths.filter((path) => !isVariant(path)).sort();
}
