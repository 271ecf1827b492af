/** Feeds a LineStream the input that its argument names, and prints the result and the memory used as JSON. */
import { readFileSync } from "node:fs";
import process from "node:process";
import type * as Streams from "../../lib/streams/mod.ts";
import type * as Text from "../../lib/text/mod.ts";
import { faceOf } from "../support/built_faces.ts";

const { ReadableStream, WritableStream }: typeof Streams = await import(faceOf("streams"));
const { LineStream }: typeof Text = await import(faceOf("text"));

/** The result of a job. */
export interface Fed {
  readonly lines: number;
  /** The lines' characters, all together. */
  readonly characters: number;
  /** The growth of the peak of the resident memory while the lines were made, in MiB. */
  readonly growth: number;
  readonly error?: string;
}

const MEBIBYTE = 2 ** 20;
const LINE_FEED = 10;

/** Returns a stream of repeated `piece`s, cut at `length` bytes. */
function repeated(piece: Uint8Array<ArrayBuffer>, length: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  let sent = 0;
  return new ReadableStream({
    pull(controller): void {
      const part = piece.subarray(0, length - sent);
      sent += part.length;
      controller.enqueue(part);
      if (sent === length) controller.close();
    },
  }, { highWaterMark: 0 });
}

/** Returns a stream of one chunk, all of whose lines have `length` bytes. */
function chunkOf(mebibytes: number, length: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  const chunk = new Uint8Array(mebibytes * MEBIBYTE).fill(97);
  for (let at = length - 1; at < chunk.length; at += length) chunk[at] = LINE_FEED;
  return ReadableStream.from([chunk]);
}

interface Job {
  readonly source: () => ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly options?: Text.LineStreamOptions;
}

const jobs: Readonly<Record<string, Job>> = {
  "a line of 2 MB in chunks of a byte": { source: () => repeated(new Uint8Array([97]), 2e6) },
  "a line of 100 MB in chunks of 64 KiB": { source: () => repeated(new Uint8Array(65_536).fill(97), 100e6) },
  "a chunk of 600 MiB of short lines": { source: () => chunkOf(600, 1024) },
  "a line of 520 MiB": { source: () => repeated(new Uint8Array(MEBIBYTE).fill(97), 520 * MEBIBYTE) },
  "a line of 520 MiB, without a limit": {
    source: () => repeated(new Uint8Array(MEBIBYTE).fill(97), 520 * MEBIBYTE),
    options: { maxLineLength: Infinity },
  },
};

function peakMemory(): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))![1]) / 1024;
}

async function fed({ source, options }: Job): Promise<Fed> {
  const bytes = source();
  let lines = 0;
  let characters = 0;
  const count = new WritableStream<string>({
    write(line): void {
      lines++;
      characters += line.length;
    },
  });
  const before = peakMemory();
  let error: unknown;
  await bytes.pipeThrough(new LineStream(options)).pipeTo(count).catch((reason) => error = reason);
  const growth = peakMemory() - before;
  return { lines, characters, growth, ...(error === undefined ? {} : { error: String(error) }) };
}

const name = process.argv[2];
if (!(name in jobs)) throw new TypeError(`there is no job "${name}"`);
console.log(JSON.stringify(await fed(jobs[name])));
