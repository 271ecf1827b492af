/**
 * The parts in which test files run: each file that takes long is one, the others share processes as far as their names
 * and places permit.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { folderOf, longTermNode } from "./fetched_node.ts";
import { chosen as quickTests } from "./minimum/chosen.ts";
import { isWine } from "./systems/windows.ts";
import { costOf } from "./test_costs.ts";
import { type Part, runtimes, searchPath } from "./test_part.ts";

/** The end of the name of a file that shares no process with all others; tests/README.md lists which files must not. */
const ISOLATED = "_isolated_test.ts";

/**
 * Isolated files that share a process with others of their folder: their tests count what is left of it, note its errors
 * or start a browser, leave nothing, and change nothing that others use. Half of their time alone is the start of a
 * process, its modules and functions that are not compiled yet.
 */
const OF_A_KIND =
  /^tests\/(?:e2e\/(?:chromium_|upload_resumable_chromium)|(?:files|http\/(?:call|client|diagnostics|dial|faults|hostile|life|origin|proxy|request|response)|static|upload)\/)/;

/** Exceptions to {@linkcode OF_A_KIND}: they have hooks for a whole process, replace globals, or measure memory or loading. */
const ALONE =
  /\/(?:chaos|chunked_memory|dropped_streams|early_subscribers|fetch_client|form_memory|install|late_modules|local_call|locking_processes|replaced_globals)_isolated_test\.ts$/;

/** The ways in which files run, the parts of each kind in their order, and the highest number of files of a part. */
const KINDS = {
  shared: { isShared: true, most: isWine ? 4 : 20 },
  own: { isShared: false, most: 5 },
  ofAKind: { isShared: true, most: isWine ? 4 : 12 },
} as const;

function kindOf(file: string): keyof typeof KINDS {
  if (!file.endsWith(ISOLATED)) return "shared";
  return OF_A_KIND.test(file) && !ALONE.test(file) ? "ofAKind" : "own";
}

/**
 * The cost from which a file is a separate part: such parts begin first, so that the lanes end at about the same time.
 */
const HIGH_COST = 5;

/**
 * The files of each runtime in parts, those that take longest first. Each runtime begins elsewhere, so that hardly any
 * file runs twice at a time.
 *
 * @param lanes The number of parts that run at a time.
 */
export function partsOf(filesOf: ReadonlyMap<string, readonly string[]>, lanes: number): Part[] {
  const partsEach = [...filesOf].map(([name, files], n) => {
    const costly = files.filter((file) => costOf(file) >= HIGH_COST);
    const others = files.filter((file) => !costly.includes(file));
    return [
      costly.map((file) => ({ name, files: [file], isShared: true })).sort((a, b) => costOfPart(b) - costOfPart(a)),
      ...Object.keys(KINDS).map((kind) => {
        const parts = partsOfKind(name, others, kind as keyof typeof KINDS, Math.ceil(lanes / filesOf.size));
        const start = Math.floor(parts.length * n / filesOf.size);
        return [...parts.slice(start), ...parts.slice(0, start)];
      }),
    ];
  });
  return partsEach[0]?.flatMap((_, i) => inTurn(partsEach.map((kinds) => kinds[i]))) ?? [];
}

/** The tests of code that meets streams, sockets and files of Node itself, which differ between its lines. */
const OF_NODE =
  /^tests\/(?:compression|files|node|http\/(?:connect|request|response)|static\/m|streams\/(?:bridge|install|native|unhandled)|upload\/(?:node|save|form\/save))/;

/**
 * Returns what the oldest versions run, too, of {@linkcode OF_NODE}, in parts for Node's long-term support line; none, unless
 * `.ci/run` has fetched that.
 *
 * @param lanes The number of parts that run at a time.
 */
export function partsOfLongTerm(lanes: number): Part[] {
  const folder = join(folderOf(longTermNode), "bin");
  if (!existsSync(folder)) return [];
  const environment = { PATH: [folder, searchPath].join(delimiter) };
  const files = quickTests.filter((file) => OF_NODE.test(file));
  const least = Math.ceil(lanes / Object.keys(runtimes).length);
  return Object.keys(KINDS).flatMap((kind) => partsOfKind("node", files, kind as keyof typeof KINDS, least))
    .map((part) => ({ ...part, environment }));
}

/**
 * Returns files of a kind in parts of much the same number, at least `least` parts if there are as many files; isolated
 * ones share parts with those of their folder.
 */
function partsOfKind(name: string, files: readonly string[], kind: keyof typeof KINDS, least: number): Part[] {
  const { isShared, most } = KINDS[kind];
  const some = files.filter((file) => kindOf(file) === kind);
  const folders = Map.groupBy(some, (file) => kind === "ofAKind" ? file.split("/")[1] : "");
  return [...folders.values()].flatMap((files) => {
    const count = Math.max(Math.ceil(files.length / most), folders.size > 1 ? 1 : Math.min(files.length, least));
    return Array.from({ length: count }, (_, i) => {
      const part = files.slice(Math.floor(files.length * i / count), Math.floor(files.length * (i + 1) / count));
      return { name, files: part, isShared };
    });
  });
}

function costOfPart({ files }: Part): number {
  return files.reduce((sum, file) => sum + costOf(file), 0);
}

/** Interleaves lists: the first item of each, then the second, and so on. */
function inTurn<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list.slice(i, i + 1))).flat();
}
