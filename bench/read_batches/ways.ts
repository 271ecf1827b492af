import process from "node:process";
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
];

/** The options of the runtime for a way. */
export function optionsOf(way: string): readonly string[] {
  return way === "node:stream/iter" ? ["--experimental-stream-iter", "--disable-warning=ExperimentalWarning"] : [];
}

/** Loads a way. */
export async function loadWay(way: string): Promise<Read> {
  if (way === "node:stream/iter") return await loadIterables();
  const [name, reader] = way.split(", ");
  const classes: Classes = await loadImplementation(name);
  if (reader === "for await") return (source, count) => iterate(source.stream(classes, count), small.length);
  const { readBatches } = await import("../../lib/batch/mod.ts");
  return (source, count) => countChunks(readBatches(source.stream(classes, count)));
}

/** Node has no types of it yet. */
interface Iterables {
  from(source: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array[]>;
}

async function loadIterables(): Promise<Read> {
  const name = "node:stream/iter";
  const { from } = await import(name) as Iterables;
  return (source, count) => countChunks(from(source.iterable(count)));
}

async function countChunks(batches: AsyncIterable<readonly Uint8Array[]>): Promise<number> {
  let chunks = 0;
  for await (const batch of batches) for (const { byteLength } of batch) chunks += byteLength / small.length;
  return chunks;
}
