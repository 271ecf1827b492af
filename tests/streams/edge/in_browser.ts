/**
 * The script of a page that runs the cells of the places that browsers have, or a sample of them.
 *
 * @module
 */
import { differences } from "./cells.ts";
import { platformGroups } from "./groups.ts";
import { known } from "./known.ts";

/** The number of cells at once, above which this package's tasks would pause again and again. */
const AT_ONCE = 700;
const every = Number(new URLSearchParams(location.search).get("every") ?? 1);
const unhandled: Record<string, unknown> = {};
addEventListener("unhandledrejection", ({ reason }) => unhandled[`unhandled ${reason}`] = reason?.stack);
const cells = platformGroups.flatMap(({ cells }) => cells).filter((_, index) => index % every === 0);
const all: Record<string, unknown> = {};
for (let from = 0; from < cells.length; from += AT_ONCE) {
  Object.assign(all, (await differences(cells.slice(from, from + AT_ONCE), known, "browser")).unknown);
}
(globalThis as { seen?: unknown }).seen = { count: cells.length, differences: { ...all, ...unhandled } };
