import type { Context } from "./context.ts";
import { extensions } from "./formats.ts";
import { Plan, type Work } from "./plan.ts";
import { planExtra, planFile } from "./plan_file.ts";
import { planSiteDictionary } from "./site/site_dictionary.ts";
import { NOT_AS_WRITTEN } from "./target.ts";
import type { Found } from "./walk_site.ts";

/** Plans the changes of a run; changes nothing. */
export async function planSite(found: Found, context: Context): Promise<Plan> {
  const { former, ledger, pool, progress, settings } = context;
  const { signal } = settings;
  const plan = new Plan(found.temporaries);
  let [jobs, bytes] = [0, 0];
  const expectWork = ({ file, variants }: Work): void => {
    for (const { format, record } of variants) {
      if (record) continue;
      progress.expect(format, file.size);
      jobs++;
      bytes += file.size;
    }
  };
  if (settings.siteDictionary) await planSiteDictionary(found, plan, context);
  for (const work of plan.works) expectWork(work);
  // The largest files first, so that no long job is left at the end.
  for (const file of found.files.toSorted((a, b) => b.size - a.size)) {
    signal?.throwIfAborted();
    await planFile(file, found, plan, context).catch((error) => ledger.fail(file.path, error));
    const work = plan.works.at(-1);
    if (work?.file === file) expectWork(work);
    if (!settings.dryRun) pool.prepare(jobs, bytes); // the workers load during the planning
  }
  for (const file of former.isCopy ? found.beside.values() : []) {
    signal?.throwIfAborted();
    await planExtra(file, plan, context);
  }
  for (const path of found.beside.keys()) {
    // A leftover of a run whose manifest was lost; useless without the folder of `previous`.
    if (/\.dc[bz]$/.test(path) && !plan.decided.has(await former.placeOf(path))) ledger.found.push(path);
  }
  await planStale(found, plan, context);
  return plan;
}

const suffixes = Object.values(extensions);

/** Decides about all files in the target that runs wrote and that are no longer needed. */
async function planStale({ unreadable }: Found, plan: Plan, context: Context): Promise<void> {
  const { former, ledger, settings: { followLinks } } = context;
  // A folder that could not be read may still have its files.
  const unknown = [...unreadable, ...plan.unknown];
  /** Whether a path is that of an unknown file, of its variant, or below it, or has a link that is not followed. */
  const isUnknown = (path: string) =>
    !followLinks && path.startsWith("../") ||
    unknown.some((each) => path.startsWith(`${each}/`) || ["", ...suffixes].some((suffix) => path === each + suffix));
  for (const path of former.paths) {
    if (plan.decided.has(await former.placeOf(path))) continue;
    if (isUnknown(path)) {
      ledger.stuck.add(path);
      continue;
    }
    const occupant = await former.look(path);
    // If a folder has the name now, the run's file no longer exists.
    if (occupant.kind === "nothing" || (occupant.kind === "obstacle" && occupant.isFolder)) continue;
    if (occupant.kind === "file" && occupant.isOurs) plan.stale.add(path);
    else ledger.fail(path, new Error(occupant.kind === "file" ? NOT_AS_WRITTEN : occupant.message));
  }
  for (const path of former.records.keys()) if (isUnknown(path)) plan.unknown.add(path);
}
