/**
 * Measures how fast data passes between `node:stream` and web streams, chunks of 64 KiB and of 100 bytes: by this
 * package's bridges, by Node's `toWeb()` with native streams, and by `pipe()` without a bridge.
 *
 *   node bench/ssr/bridges.ts [--rounds 9]
 *
 * All run in one process, in turns; each counts with its fastest round. For a look: nothing is written to results/.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import process from "node:process";
import { Readable, Writable } from "node:stream";
import { parseArgs } from "node:util";
import { fromNodeReadable, fromNodeWritable } from "../../lib/node/mod.ts";
import * as ours from "../../lib/streams/mod.ts";
import { circumstances, table } from "../results.ts";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "9" } } });

/** Moves all chunks of a readable to a counter, or from a source to a writable. */
interface Way {
  readonly drain: (readable: Readable) => Promise<unknown>;
  readonly fill: (chunk: Uint8Array, count: number, writable: Writable) => Promise<unknown>;
  readonly join: (readable: Readable, writable: Writable) => Promise<unknown>;
}

/** Creates the source of a web stream that enqueues a chunk `count` times. */
function repeat<T>(chunk: T, count: number): { pull(controller: { enqueue(chunk: T): void; close(): void }): void } {
  let left = count;
  return {
    pull(controller): void {
      controller.enqueue(chunk);
      if (--left === 0) controller.close();
    },
  };
}

function toReadable(chunk: Uint8Array, count: number): Readable {
  let left = count;
  return new Readable({
    read(): void {
      this.push(left-- > 0 ? chunk : null);
    },
  });
}

function toNowhere(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}

type Native = ReadableStream<Uint8Array>;
const toWeb = (readable: Readable): Native => Readable.toWeb(readable) as unknown as Native;
const toWebWritable = (writable: Writable): WritableStream<Uint8Array> =>
  Writable.toWeb(writable) as WritableStream<Uint8Array>;

const ways: Readonly<Record<string, Way>> = {
  ours: {
    drain: (readable) => fromNodeReadable(readable).pipeTo(new ours.WritableStream({ write() {} })),
    fill: (chunk, count, writable) => new ours.ReadableStream(repeat(chunk, count)).pipeTo(fromNodeWritable(writable)),
    join: (readable, writable) => fromNodeReadable(readable).pipeTo(fromNodeWritable(writable)),
  },
  "toWeb()": {
    drain: (readable) => toWeb(readable).pipeTo(new WritableStream({ write() {} })),
    fill: (chunk, count, writable) => new ReadableStream(repeat(chunk, count)).pipeTo(toWebWritable(writable)),
    join: (readable, writable) => toWeb(readable).pipeTo(toWebWritable(writable)),
  },
  "pipe()": {
    drain: (readable) => once(readable.pipe(toNowhere()), "finish"),
    fill: (chunk, count, writable) => once(toReadable(chunk, count).pipe(writable), "finish"),
    join: (readable, writable) => once(readable.pipe(writable), "finish"),
  },
};

/** Sends a chunk `count` times to a server that echoes it by the measured way, and drops the response. */
async function echo(way: Way, chunk: Uint8Array, count: number): Promise<void> {
  const server = createServer({ allowHalfOpen: true }, (socket: Socket) => void way.join(socket, socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  toReadable(chunk, count).pipe(socket);
  await once(socket.resume(), "end");
  server.close();
}

const cases: Readonly<Record<string, (way: Way, chunk: Uint8Array, count: number) => Promise<unknown>>> = {
  "from a readable": (way, chunk, count) => way.drain(toReadable(chunk, count)),
  "to a writable": (way, chunk, count) => way.fill(chunk, count, toNowhere()),
  "echo over a socket": echo,
};
const sizes: readonly (readonly [string, Uint8Array, number])[] = [
  ["64 KiB", new Uint8Array(65_536), 2000],
  ["100 bytes", new Uint8Array(100), 100_000],
];

const rows: string[][] = [];
for (const [what, run] of Object.entries(cases)) {
  for (const [name, chunk, count] of sizes) {
    const best = new Map<string, number>();
    for (let round = 0; round < Number(values.rounds); round++) {
      for (const [wayName, way] of Object.entries(ways)) {
        const start = performance.now();
        await run(way, chunk, count);
        const perSecond = chunk.length * count / (performance.now() - start) / 1000;
        best.set(wayName, Math.max(best.get(wayName) ?? 0, perSecond));
      }
    }
    const speeds = [...best.values()].map((speed) => Math.round(speed).toLocaleString("en"));
    rows.push([`${what}, ${name}`, ...speeds, (best.get("ours")! / best.get("toWeb()")!).toFixed(2)]);
  }
}
console.log(`\n${circumstances()}. MB/s, best of ${values.rounds} rounds.\n`);
console.log(table(["", ...Object.keys(ways), "ours / toWeb()"], rows));
process.exit();
