/**
 * Chunks of 64 bytes read in batches: `readBatches()` over our streams and native ones, beside `for await` over both, and on
 * Node the experimental `node:stream/iter`, which has no streams but iterables, over sources that give the same. With a
 * built checkout of jasnell/new-streams in `NEW_STREAMS_ROOT` that takes part, too.
 *
 *   npm run bench -- read_batches [--rounds 7]
 *
 * Each way is a process on the runtime measured; they take turns, in changing order, and each counts with its fastest
 * round. `stream/iter` gets the chunks that are queued as an array, which it takes as one batch.
 */
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { LineProcess } from "./line_process.ts";
import { sources } from "./read_batches/sources.ts";
import { optionsOf, ways } from "./read_batches/ways.ts";
import { circumstances, runtimeName, table, writeSection } from "./results.ts";
import type { Rate, Ready } from "./streams/measuring.ts";

const { values } = parseArgs({ options: { rounds: { type: "string" } } });
const rounds = Number(values.rounds ?? 7);
const script = join(dirname(fileURLToPath(import.meta.url)), "read_batches/measuring.ts");
const run: readonly string[] = process.versions.deno ? ["run", "-A", "--no-check"] : [];
const LIMIT = 30_000;

/** A way to read one source, in a process of its own. */
class Reader {
  failure: string | undefined;
  rate = 0;
  readonly #process: LineProcess;

  constructor(way: string, title: string) {
    this.#process = new LineProcess(process.execPath, [...run, ...optionsOf(way), script, way, title], LIMIT);
  }

  async ready(): Promise<void> {
    const answer = await this.#process.answer<Ready>();
    if ("failure" in answer) this.failure = answer.failure;
  }

  async measure(): Promise<void> {
    if (this.failure !== undefined) return;
    const answer = await this.#process.ask<Rate>("measure");
    if ("failure" in answer) this.failure = answer.failure;
    else this.rate = Math.max(this.rate, answer.rate);
  }

  end(): Promise<void> {
    return this.#process.end();
  }
}

const rows: string[][] = [];
for (const { title } of sources) {
  const readers = ways.map((way) => new Reader(way, title));
  await Promise.all(readers.map((reader) => reader.ready()));
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < readers.length; turn++) await readers[(turn + round) % readers.length].measure();
  }
  await Promise.all(readers.map((reader) => reader.end()));
  const [native] = readers;
  rows.push(...readers.map(({ rate, failure }, i) => {
    const name = `${title}: ${ways[i]}`;
    if (failure !== undefined) return [name, `fails: ${failure.replaceAll("|", "\\|")}`, "-"];
    return [name, Math.round(rate).toLocaleString("en"), (rate / native.rate).toFixed(2)];
  }));
  if (readers.some(({ failure }) => failure !== undefined)) process.exitCode = 1;
}
const title = `read batches: ${runtimeName().split(" ")[0]}`;
const body = `${circumstances()}. Chunks/ms, best of ${rounds} rounds.\n\n${
  table(["source: reader", "chunks/ms", "to native `for await`"], rows)
}`;
if (process.exitCode === undefined && values.rounds === undefined) writeSection(title, body);
else console.log(`\n${title}\n\n${body}\n`);
