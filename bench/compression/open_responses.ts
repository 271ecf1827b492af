/**
 * Opens streamed responses in a coding, ends them, makes many short ones, and prints, as JSON, by how many bytes the
 * process's memory has grown at each of these times.
 *
 *   node --expose-gc open_responses.ts CODING COUNT
 */
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { createCompression } from "../../lib/compression/mod.ts";
import { bodies } from "./bodies.ts";

const CHUNK = 4096;
const SHORT_ONES = 100_000;
/** The longest time that unused codecs are kept, in ms, with a margin. */
const PATIENCE = 40_000;

const [, , coding, count] = process.argv;
const compression = createCompression();
await compression.ready();
const page = new TextEncoder().encode(bodies["/page"].text);

/** A response that is read on as far as its source has given, by calls. */
class OpenResponse {
  #source!: ReadableStreamDefaultController<Uint8Array>;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;

  constructor() {
    const body = new ReadableStream<Uint8Array>({ start: (controller) => void (this.#source = controller) });
    const request = new Request("http://localhost/", { headers: { "accept-encoding": coding } });
    const response = new Response(body, { headers: { "content-type": "text/html" } });
    this.#reader = compression.respond(request, response).body!.getReader();
  }

  async give(bytes: Uint8Array): Promise<void> {
    for (let start = 0; start < bytes.length; start += CHUNK) {
      this.#source.enqueue(bytes.subarray(start, start + CHUNK));
      await this.#reader.read();
    }
  }

  async end(): Promise<void> {
    this.#source.close();
    while (!(await this.#reader.read()).done);
  }
}

async function memory(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    (globalThis as { gc?: () => void }).gc?.();
    await sleep(200);
  }
  return process.memoryUsage.rss();
}

async function makeShortOnes(many: number): Promise<void> {
  for (let i = 0; i < many; i++) {
    const response = new OpenResponse();
    await response.give(page.subarray(0, CHUNK));
    await response.end();
  }
}

await makeShortOnes(10);
const before = await memory();
let responses: OpenResponse[] = [];
for (let i = 0; i < Number(count); i++) {
  responses.push(new OpenResponse());
  await responses.at(-1)!.give(page);
}
const open = await memory() - before;
for (const response of responses) await response.end();
responses = [];
await sleep(PATIENCE);
const ended = await memory() - before;
await makeShortOnes(SHORT_ONES);
console.log(JSON.stringify({ open, ended, many: await memory() - before }));
process.exit(0);
