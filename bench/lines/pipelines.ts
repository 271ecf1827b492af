import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

/** Does a job and returns its counts. `input` is a file's path, or the count of numbers to write. */
export type Pipeline = (input: string) => Promise<string>;

/** The pipelines of a contestant: one for each job it can do. */
export interface Pipelines {
  /** A file to lines, one a call. */
  readonly lines?: Pipeline;
  /** A file of lines to numbers, one a call. */
  readonly numbers?: Pipeline;
  /** Numbers, one a chunk, to bytes of lines. */
  readonly text?: Pipeline;
}

/** The path of the line stream of Deno's standard library, in a checkout of it. */
export const stdLineStream: string | undefined = process.env.DENO_STD_ROOT &&
  join(process.env.DENO_STD_ROOT, "streams/text_line_stream.ts");

const loaders: Readonly<Record<string, () => Promise<Pipelines>>> = {
  "ours": async () => (await import("./ours.ts")).toWritable,
  "ours, BatchedWritableStream": async () => (await import("./ours.ts")).toBatched,
  "ours, for await": async () => (await import("./ours.ts")).iterated,
  "node:readline, events": async () => (await import("./node_readline.ts")).byEvents,
  "node:readline, for await": async () => (await import("./node_readline.ts")).iterated,
  "std TextLineStream": async () => await (await import("./native_streams.ts")).withLineStream(),
  "native": async () => (await import("./native_streams.ts")).byHand,
};

/** Returns the contestants that can run here. */
export function contestantsHere(): string[] {
  const hasStd = stdLineStream !== undefined && existsSync(stdLineStream);
  return Object.keys(loaders).filter((name) => hasStd || !name.startsWith("std"));
}

/** Returns the names of the contestants that can do a job. */
export function ableTo(job: keyof Pipelines, names: readonly string[]): string[] {
  const unable: Readonly<Record<keyof Pipelines, RegExp>> = {
    lines: /^$/,
    numbers: /^node:readline, for/,
    text: /,|^std/,
  };
  return names.filter((name) => !unable[job].test(name));
}

/** Loads a contestant, and nothing of the others. */
export async function loadPipelines(name: string): Promise<Pipelines> {
  const load = loaders[name];
  if (!load) throw new TypeError(`"${name}" is no contestant: use ${Object.keys(loaders).join(", ")}`);
  return await load();
}
