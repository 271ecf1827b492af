import { isTemporaryName } from "../files/mod.ts";

/**
 * The manifest's name, in the folder that holds the variants.
 *
 * @example Leave it out of what is uploaded
 * ```ts
 * import { manifestName, precompress } from "@millrace/streams/precompress";
 * import { readdir } from "node:fs/promises";
 *
 * await precompress("dist", { formats: ["gzip"] });
 * const names = await readdir("dist");
 * console.log(names.includes(manifestName), names.filter((name) => name !== manifestName).length > 0); // true true
 * ```
 */
export const manifestName = ".millrace.json";

/** The journal's name: the file beside the manifest that a run writes as it goes. */
export const journalName = ".millrace.journal";

/** Whether `name` is one of the files that runs keep for themselves, which are no part of a site. */
export function isOwnName(name: string): boolean {
  return name === manifestName || name === journalName || isTemporaryName(name);
}
