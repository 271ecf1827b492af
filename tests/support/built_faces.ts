import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { root } from "./runtime.ts";

/**
 * Returns the address of a part's face for a process that tests start: in a whole run that of the build, which loads in a
 * tenth of the time that the sources take.
 *
 * @param part A folder of `lib/`, as `static`.
 * @param face The name of the module.
 */
export function faceOf(part: string, face = "mod"): string {
  const { MILLRACE_BUILT } = process.env;
  const path = MILLRACE_BUILT ? join(MILLRACE_BUILT, `lib/${part}/${face}.js`) : join(root, `lib/${part}/${face}.ts`);
  return pathToFileURL(path).href;
}
