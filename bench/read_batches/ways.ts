import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { type Classes, loadImplementation } from "../streams/implementation.ts";
import { iterate } from "../streams/scenario.ts";
import { small, type Source } from "./sources.ts";

/** Reads all that a source gives; resolves to the number of chunks. */
export type Read = (source: Source, count: number) => Promise<number>;

/** The ways to read that this runtime has, the runtime's own loop first. */
export const ways: readonly string[] = [
  "native, for await",
  "native, readBatches()",
  "ours, for await",
  "ours, readBatches()",
  ...process.versions.bun || process.versions.deno ? [] : ["node:stream/iter"],
  ...process.env.NEW_STREAMS_ROOT === undefined ? [] : ["new-streams"],
];

/** Returns the options of the runtime for a way. */
export function optionsOf(way: string): readonly string[] {
  return way === "node:stream/iter" ? ["--experimental-stream-iter", "--disable-warning=ExperimentalWarning"] : [];
}

/** Loads a way. */
export async function loadWay(way: string): Promise<Read> {
  if (way === "node:stream/iter") return await loadIterables(way);
  if (way === "new-streams") return await loadIterables(builtNewStreams());
  const [name, reader] = way.split(", ");
  const classes: Classes = await loadImplementation(name);
  if (reader === "for await") return (source, count) => iterate(source.stream(classes, count), small.length);
  const { readBatches } = await import("../../lib/batch/mod.ts");
  return (source, count) => countChunks(readBatches(source.stream(classes, count)));
}

/** The functions common to `node:stream/iter`, which Node has no types for yet, and new-streams. */
interface Iterables {
  from(source: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array[]>;
}

async function loadIterables(name: string): Promise<Read> {
  const { from } = await import(name) as Iterables;
  return (source, count) => countChunks(from(source.iterable(count)));
}

/** jasnell/new-streams, of the checkout that a variable names. */
function builtNewStreams(): string {
  return pathToFileURL(join(process.env.NEW_STREAMS_ROOT!, "dist/index.js")).href;
}

async function countChunks(batches: AsyncIterable<readonly Uint8Array[]>): Promise<number> {
  let chunks = 0;
  for await (const batch of batches) for (const { byteLength } of batch) chunks += byteLength / small.length;
  return chunks;
}
