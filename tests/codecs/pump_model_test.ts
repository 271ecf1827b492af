/**
 * Random programs against a model of streams with codecs: CompressionStream, DecompressionStream, and the responses of
 * `./compression`.
 *
 * Invariants, whatever is written, transferred, aborted, cancelled or not read:
 *
 * 1. Only complete output ends: the runtime's own decoder decodes it to all bytes that were written.
 * 2. Output that was read before the end is the beginning of that.
 * 3. A chunk whose bytes have gone before they were read fails both ends with a TypeError.
 * 4. Each write, close, read and cancel settles, once both sides have done what they were to do.
 * 5. An end that fails does so with the reason of the other end.
 * 6. No codec is held afterwards.
 *
 *     MILLRACE_PUMPS=200000 node --test tests/codecs/pump_model_test.ts
 *
 * @module
 */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import process from "node:process";
import test from "node:test";
import * as zlib from "node:zlib";
import { openDecoder, releaseIdleInstances } from "../../lib/codecs/internal.ts";
import {
  CompressionStream,
  compressSync,
  DecompressionStream,
  decompressSync,
  type Format,
  ready,
} from "../../lib/codecs/mod.ts";
import { createCompression } from "../../lib/compression/mod.ts";
import { isLong, tries } from "../support/long_run.ts";

const FORMATS = ["gzip", "deflate", "deflate-raw", "brotli", "zstd"] as const;
const CODINGS = { gzip: "gzip", br: "brotli", zstd: "zstd" } as const;
const KINDS = ["compress", "decompress", "respond", "fetch"] as const;
const ENDS = ["close", "close", "close", "fail", "none"] as const;
const READERS = ["all", "all", "all", "cancel", "absent"] as const;
/** The time at which the buffer of a chunk is detached. */
const GOES = ["never", "before", "at once", "soon", "later"] as const;

class Refusal extends Error {}

/** The n-th number of a sequence, below `below`. */
type Random = (below: number) => number;

function randomFrom(seed: number): Random {
  let state = seed * 2654435761 % 2147483647 || 1;
  return (below) => (state = state * 48271 % 2147483647) % below;
}

const pick = <T>(random: Random, values: readonly T[]): T => values[random(values.length)]!;

interface Program {
  readonly kind: typeof KINDS[number];
  readonly format: typeof FORMATS[number];
  readonly flush: boolean;
  /** The bytes written to the codec. */
  readonly input: Uint8Array<ArrayBuffer>;
  /** The expected output; for compression, the bytes that the output decodes to. */
  readonly content: Uint8Array<ArrayBuffer>;
  readonly damage: "none" | "cut" | "junk";
  /** The ends of the chunks, and the time at which each chunk's buffer is detached. */
  readonly chunks: readonly { readonly end: number; readonly goes: typeof GOES[number]; readonly view: number }[];
  readonly end: typeof ENDS[number];
  readonly reader: typeof READERS[number];
  /** The number of chunks that are read before it cancels or stops. */
  readonly reads: number;
  /** Whether each write waits for the one before. */
  readonly isPatient: boolean;
}

function programOf(random: Random): Program {
  const kind = pick(random, KINDS);
  const format = kind === "respond" || kind === "fetch" ? pick(random, Object.values(CODINGS)) : pick(random, FORMATS);
  const content = contentOf(random, random(12) === 0 ? 300_000 + random(400_000) : pick(random, [0, 10, 3000, 40_000]));
  const damage = kind === "decompress" ? pick(random, ["none", "none", "cut", "junk"] as const) : "none";
  let input = kind === "decompress" ? compressSync(content, { format, level: 1 }) : content;
  if (damage === "cut") input = input.subarray(0, input.length - 1 - random(Math.min(8, input.length - 1)));
  if (damage === "junk") input = new Uint8Array([...input, 7, 7, 7]);
  const ends = Array.from({ length: random(6) }, () => random(input.length + 1)).sort((a, b) => a - b);
  const mayGo = random(3) === 0;
  return {
    kind,
    format,
    flush: random(3) === 0,
    input,
    content,
    damage,
    chunks: [...ends, input.length].map((end) => ({
      end,
      goes: mayGo ? pick(random, GOES) : "never",
      view: random(4),
    })),
    end: pick(random, ENDS),
    reader: pick(random, READERS),
    reads: random(4),
    isPatient: random(2) === 0,
  };
}

/** Bytes that shrink, and bytes that do not. */
function contentOf(random: Random, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  const [from, step] = [random(length + 1), 1 + random(1e6)];
  for (let i = 0; i < length; i++) bytes[i] = i < from ? i >>> 6 : Math.imul(i, step) >>> 7;
  return bytes;
}

/** A chunk over a buffer of its own, which can go away. */
class Chunk {
  readonly length: number;
  readonly value: ArrayBufferView;
  readonly #buffer: ArrayBuffer;

  constructor(bytes: Uint8Array, view: number) {
    this.length = bytes.length;
    this.#buffer = new ArrayBuffer(bytes.length + 3);
    new Uint8Array(this.#buffer, 2).set(bytes);
    const all = new Uint8Array(this.#buffer, 2, bytes.length);
    this.value = view === 0
      ? new DataView(this.#buffer, 2, bytes.length)
      : view === 1
      ? Buffer.from(all.buffer, 2, all.length)
      : all;
  }

  take(): void {
    structuredClone(this.#buffer, { transfer: [this.#buffer] });
  }
}

const microtasks = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await undefined;
};
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

/** The state of a promise, and the reason of its rejection. */
class Outcome {
  state: "waits" | "done" | "failed" = "waits";
  reason: unknown;

  constructor(promise: Promise<unknown>) {
    promise.then(() => this.state = "done", (reason) => {
      this.state = "failed";
      this.reason = reason;
    });
  }
}

/** A program as it runs. */
class Run {
  readonly #program: Program;
  readonly #random: Random;
  readonly #refusal = new Refusal("of the program");
  readonly outcomes = new Map<string, Outcome>();
  readonly output: Uint8Array[] = [];
  /** Whether a chunk's buffer has gone: certainly before it was read, or perhaps. */
  gone: "no" | "perhaps" | "certainly" = "no";
  ended = false;
  failure: unknown;

  constructor(program: Program, random: Random) {
    this.#program = program;
    this.#random = random;
  }

  async go(): Promise<void> {
    const { kind, format, flush } = this.#program;
    if (kind === "compress" || kind === "decompress") {
      const stream = kind === "compress"
        ? new CompressionStream(format, { level: 1, flush })
        : new DecompressionStream(format);
      const writing = this.#write(stream.writable.getWriter() as WritableStreamDefaultWriter<ArrayBufferView>);
      await Promise.all([writing, this.#read(stream.readable.getReader())]);
    } else await this.#respond(kind);
  }

  *#chunks(): Generator<{ chunk: Chunk; goes: typeof GOES[number] }> {
    let start = 0;
    for (const { end, goes, view } of this.#program.chunks) {
      const chunk = new Chunk(this.#program.input.subarray(start, end), view);
      start = end;
      yield { chunk, goes };
    }
  }

  /** Detaches a chunk's buffer at its time after the write. */
  #takeAfter(chunk: Chunk, goes: typeof GOES[number]): void {
    if (goes === "never" || goes === "before") return;
    if (this.gone === "no") this.gone = "perhaps";
    if (goes === "at once") chunk.take();
    else void (goes === "soon" ? microtasks(1 + this.#random(20)) : turn()).then(() => chunk.take());
  }

  #takeBefore(chunk: Chunk, goes: typeof GOES[number]): void {
    if (goes !== "before") return;
    this.gone = "certainly";
    chunk.take();
  }

  async #write(writer: WritableStreamDefaultWriter<ArrayBufferView>): Promise<void> {
    const { isPatient, end } = this.#program;
    writer.closed.catch(() => {});
    writer.ready.catch(() => {});
    await microtasks(this.#random(20)); // in which a stream starts
    let index = 0;
    for (const { chunk, goes } of this.#chunks()) {
      this.#takeBefore(chunk, goes);
      const written = writer.write(chunk.value);
      this.outcomes.set(`write ${index++}`, new Outcome(written));
      this.#takeAfter(chunk, goes);
      if (isPatient && this.#program.reader === "all") await written.catch(() => {});
      else await microtasks(this.#random(30));
    }
    if (end === "close") this.outcomes.set("close", new Outcome(writer.close()));
    if (end === "fail") this.outcomes.set("abort", new Outcome(writer.abort(this.#refusal)));
    if (end === "none") { // once there is nothing left to read, the writer gives up
      for (let i = 0; i < 3; i++) await turn();
      this.outcomes.set("abort", new Outcome(writer.abort(this.#refusal)));
    }
  }

  async #respond(kind: "respond" | "fetch"): Promise<void> {
    const chunks = this.#chunks();
    const { end, isPatient, format } = this.#program;
    const pull = async (controller: ReadableStreamDefaultController<ArrayBufferView>): Promise<void> => {
      if (!isPatient) await (this.#random(2) === 0 ? turn() : microtasks(this.#random(20)));
      const { value, done } = chunks.next();
      if (!done) {
        this.#takeBefore(value.chunk, value.goes);
        controller.enqueue(value.chunk.value);
        return this.#takeAfter(value.chunk, value.goes);
      }
      if (end === "close") return controller.close();
      controller.error(this.#refusal);
    };
    const source = new ReadableStream<ArrayBufferView>({ pull }, { highWaterMark: this.#random(3) });
    const coding = Object.entries(CODINGS).find(([, each]) => each === format)![0];
    const request = new Request("http://localhost/", { headers: { "accept-encoding": coding } });
    const made = new Response(source as BodyInit, { headers: { "content-type": "text/html" } });
    let response: Response;
    try {
      response = kind === "respond" ? compression.respond(request, made) : await compression.fetch(() => made)(request);
    } catch (error) {
      this.failure = error;
      return;
    }
    this.isPlain = !response.headers.has("content-encoding");
    await this.#read(response.body!.getReader());
  }

  /** Whether a response was sent as it is. */
  isPlain = false;

  async #read(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    const { reader: readers, reads } = this.#program;
    reader.closed.catch(() => {});
    try {
      for (let i = 0; readers === "all" || i < reads; i++) {
        if (this.#random(4) === 0) await (this.#random(4) === 0 ? turn() : microtasks(this.#random(40)));
        const { done, value } = await reader.read();
        if (done) {
          this.ended = true;
          return;
        }
        assert.ok(value.length > 0 || this.isPlain, "an empty chunk");
        this.output.push(value);
      }
    } catch (error) {
      this.failure = error;
      return;
    }
    for (let i = 0; i < 3; i++) await turn();
    this.outcomes.set("cancel", new Outcome(reader.cancel(this.#refusal)));
  }

  /** Requires the outcomes that the model predicts. */
  async check(): Promise<void> {
    const { kind, format, content, damage, end, reader } = this.#program;
    for (let i = 0; i < 1000 && this.#waiting().length > 0; i++) await turn();
    assert.deepEqual(this.#waiting(), [], "these wait for ever");
    const got = new Uint8Array(Buffer.concat(this.output));
    const isEncoded = kind !== "decompress" && !this.isPlain;
    const decoded = isEncoded ? await beginningOf(got, format) : got;
    const expected = content.subarray(0, decoded.length);
    assert.ok(Buffer.from(decoded).equals(expected), "what was read is not the beginning of what was given");
    const isWhole = damage === "none" && end === "close" && this.gone !== "certainly";
    if (this.ended) {
      assert.ok(isWhole, `it ended although ${damage}, ${end}, ${this.gone}`);
      const whole = isEncoded ? wholeOf(got, format) : got;
      assert.ok(Buffer.from(whole).equals(content), `${whole.length} bytes of ${content.length}`);
      for (const [name, { state, reason }] of this.outcomes) assert.equal(state, "done", `${name}: ${String(reason)}`);
    } else if (reader === "all") {
      assert.ok(!isWhole || this.gone === "perhaps", `it failed with ${String(this.failure)}`);
      if (this.failure !== this.#refusal) assert.ok(this.failure instanceof TypeError, String(this.failure));
      if (damage === "junk" && this.failure !== this.#refusal && this.gone === "no") {
        assert.ok(Buffer.from(got).equals(content), "content before junk is lost");
      }
    }
    for (const [name, { state, reason }] of this.outcomes) {
      if (state !== "failed" || !/write|close/.test(name)) continue;
      assert.ok(reason === this.#refusal || reason instanceof TypeError, `${name} failed with ${String(reason)}`);
    }
  }

  #waiting(): string[] {
    return [...this.outcomes].filter(([, { state }]) => state === "waits").map(([name]) => name);
  }
}

/** Decodes the start of a stream, as far as it goes. */
async function beginningOf(bytes: Uint8Array, format: Exclude<Format, "dcb" | "dcz">): Promise<Uint8Array> {
  const decoder = await openDecoder(format);
  const pieces: Uint8Array[] = [];
  try {
    decoder.write(bytes);
    while (decoder.more) {
      const target = new Uint8Array(65_536);
      pieces.push(target.subarray(0, decoder.read(target)));
    }
  } finally {
    decoder.close();
  }
  return Buffer.concat(pieces);
}

const native: Readonly<Record<string, ((bytes: Uint8Array) => Uint8Array) | undefined>> = {
  "gzip": zlib.gunzipSync,
  "deflate": zlib.inflateSync,
  "deflate-raw": zlib.inflateRawSync,
  "brotli": zlib.brotliDecompressSync,
  "zstd": (zlib as { zstdDecompressSync?: (bytes: Uint8Array) => Uint8Array }).zstdDecompressSync,
};

/** Decodes a whole stream by the runtime's own decoder, where it has one. */
function wholeOf(bytes: Uint8Array<ArrayBuffer>, format: Format): Uint8Array {
  return native[format]?.(bytes) ?? decompressSync(bytes, { format });
}

const compression = createCompression({ threshold: 1 });

function isAnyInUse(): boolean {
  releaseIdleInstances();
  return releaseIdleInstances();
}

test("whatever is done to both ends, only what is whole ends, everything settles, and no codec is held", async () => {
  await Promise.all([ready(), compression.ready()]);
  const wasInUse = isAnyInUse();
  const count = Number(process.env.MILLRACE_PUMPS ?? (isLong ? 20_000 : tries(1000)));
  const first = Number(process.env.MILLRACE_PUMP_SEED ?? 1);
  for (let seed = first; seed < first + count; seed++) {
    const random = randomFrom(seed);
    const program = programOf(random);
    const run = new Run(program, random);
    try {
      let timer: ReturnType<typeof setTimeout>;
      const late = new Promise<never>((_, reject) => timer = setTimeout(() => reject(new Error("it hangs")), 20_000));
      await Promise.race([run.go(), late]).finally(() => clearTimeout(timer));
      await run.check();
    } catch (cause) {
      const { input, content, ...told } = program;
      const text = JSON.stringify({ ...told, input: input.length, content: content.length });
      throw new Error(`MILLRACE_PUMP_SEED=${seed}: ${(cause as Error).message}\n${text}`, { cause });
    }
  }
  if (!wasInUse) assert.ok(!isAnyInUse(), "a codec is held");
});
