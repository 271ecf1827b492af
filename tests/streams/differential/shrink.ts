import type { Program } from "./program.ts";

/** Whether a program still shows the original difference. */
export type Shows = (program: Program) => Promise<boolean>;

/** Parts of a program that it stays whole without. */
const optional: ReadonlySet<string> = new Set([
  ...["start", "pull", "cancel", "write", "close", "abort", "transform", "flush", "return"],
  ...["highWaterMark", "size", "autoAllocateChunkSize", "min", "error", "stale", "times"],
  ...["preventClose", "preventAbort", "preventCancel", "signal"],
]);

/** The replacements for a part of a program, simplest first. */
const simpler: Readonly<Record<string, readonly unknown[]>> = {
  outcome: [{ kind: "return" }, { kind: "resolve", delay: { microtasks: 0 } }],
  end: [{ kind: "return" }],
  delay: [{ microtasks: 0 }, { microtasks: 1 }],
  chunk: ["fresh", "incoming", { type: "Uint8Array", length: 1, offset: 0, rest: 0 }],
  type: ["Uint8Array", "array"],
  values: [0, 1, 2],
  count: [1, 2, 3, 4, 5],
  bytes: [0, 1, 2],
  times: [2, 5, 20, 100, 130],
  length: [1, 2],
  offset: [0],
  rest: [0],
  highWaterMark: [0, 1],
  results: [[1], [0]],
  view: ["same", { type: "Uint8Array", length: 1, offset: 0, rest: 0 }],
};

type Json = { [key: string]: Json } | Json[] | string | number | boolean | null;

/** Makes a program smaller, part by part, as long as it shows the same; `most` bounds how often it is tried. */
export async function shrink(program: Program, shows: Shows, most = 3000): Promise<Program> {
  let best = program;
  let tries = 0;
  for (let progress = true; progress;) {
    progress = false;
    for (const operations of variants(best.operations as unknown as Json)) {
      if (tries++ >= most) return best;
      const candidate = { ...best, operations } as unknown as Program;
      if (!await shows(candidate)) continue;
      best = candidate;
      progress = true;
      break;
    }
  }
  return best;
}

/** Yields every program that is one step smaller: the big steps first. */
function* variants(value: Json, key = ""): Generator<Json> {
  if (Array.isArray(value)) return yield* arrayVariants(value, key);
  if (typeof value !== "object" || value === null) return;
  for (const name of Object.keys(value)) {
    if (!optional.has(name)) continue;
    const { [name]: _, ...rest } = value;
    yield rest;
  }
  for (const [name, part] of Object.entries(value)) {
    for (const variant of partVariants(name, part)) yield { ...value, [name]: variant };
  }
}

function* partVariants(name: string, part: Json): Generator<Json> {
  const choices = simpler[name] ?? [];
  const here = choices.findIndex((choice) => JSON.stringify(choice) === JSON.stringify(part));
  const better = here < 0 ? choices : choices.slice(0, here);
  for (const choice of better) if (sameKind(part, choice)) yield choice as Json;
  yield* variants(part, name);
}

/** Whether `choice` may replace `part`: strings replace strings, and among those `array` replaces `sync` and `async`. */
function sameKind(part: Json, choice: unknown): boolean {
  if (typeof part === "string" && typeof choice === "string") {
    return (part === "sync" || part === "async") === (choice === "array");
  }
  return !(typeof part === "string" && typeof choice === "object");
}

function* arrayVariants(list: Json[], key: string): Generator<Json> {
  const least = key === "results" ? 1 : 0;
  for (let size = list.length; size >= 1; size = size >> 1) {
    for (let from = 0; from + size <= list.length; from += size) {
      if (list.length - size >= least) yield [...list.slice(0, from), ...list.slice(from + size)];
    }
  }
  for (const [at, item] of list.entries()) {
    for (const variant of variants(item)) yield list.with(at, variant);
  }
}
