import type { Context } from "./context.ts";
import { extensions } from "./options.ts";
import type { Plan } from "./plan.ts";
import { NOT_AS_WRITTEN } from "./target.ts";
import type { Tree } from "./walk.ts";

const suffixes = Object.values(extensions);

/** Decides about all that runs wrote to the target and nothing asks for any more. */
export async function planStale(tree: Tree, plan: Plan, context: Context): Promise<void> {
  const { ledger, target } = context;
  // What is in a folder that could not be read may well be there.
  const unknown = tree.problems.map(({ path }) => path);
  for (const path of plan.unknown) unknown.push(path);
  const isUnknown = (path: string) => unknown.some((each) => isOf(path, each));
  for (const path of target.provenance.paths) {
    if (plan.decided.has(await target.placeOf(path))) continue;
    if (isUnknown(path)) {
      ledger.stuck.add(path);
      continue;
    }
    const occupant = await target.look(path);
    // Where a folder has the name now, nothing is left of what a run wrote.
    if (occupant.kind === "nothing" || (occupant.kind === "obstacle" && occupant.isFolder)) continue;
    if (occupant.kind === "file" && occupant.isOurs) plan.stale.add(path);
    else ledger.fail(path, new Error(occupant.kind === "file" ? NOT_AS_WRITTEN : occupant.message));
  }
  for (const path of target.provenance.records.keys()) if (isUnknown(path)) plan.unknown.add(path);
}

/** Whether `path` is that of a file, of one of its variants, or of something below it. */
function isOf(path: string, file: string): boolean {
  return path === file || path.startsWith(`${file}/`) || suffixes.some((suffix) => path === file + suffix);
}
