/**
 * Stops pipes that never end by a signal's timeout, while an interval ticks and a socket waits for its answer, and prints
 * the outcome of each as JSON. Runs in a separate process: a pipe that blocks timers
 * could not be stopped otherwise.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import process from "node:process";
import { BatchedWritableStream } from "../../lib/batch/mod.ts";
import { pipeThrough, pipeTo, ReadableStream, TransformStream, WritableStream } from "../../lib/streams/mod.ts";
import { isLong } from "../support/long_run.ts";

/** The outcome of a pipe. */
export interface Stopped {
  readonly name: string;
  /** The name of the error that the pipe was rejected with. */
  readonly error: string;
  /** The event sources, "interval" and "socket", that had a turn during the pipe. */
  readonly turns: readonly string[];
}

type Source = () => globalThis.ReadableStream<unknown>;

const sources: Readonly<Record<string, Source>> = {
  "a source that enqueues at once": () => new ReadableStream({ pull: (controller) => controller.enqueue(1) }),
  "a source with a queue": () => {
    return new ReadableStream({ pull: (controller) => controller.enqueue(1) }, { highWaterMark: 100 });
  },
  "a source that returns promises": () => {
    return new ReadableStream({
      pull(controller): Promise<void> {
        controller.enqueue(1);
        return Promise.resolve();
      },
    });
  },
  "a byte source": () => {
    return new ReadableStream({ type: "bytes", pull: (controller) => controller.enqueue(new Uint8Array(1)) });
  },
  "from() a generator": () => {
    return ReadableStream.from((function* () {
      for (;;) yield 1;
    })());
  },
  "from() an async generator": () => {
    return ReadableStream.from((async function* () {
      for (;;) yield await 1;
    })());
  },
  "a source of the runtime": () => new globalThis.ReadableStream({ pull: (controller) => controller.enqueue(1) }),
  "a source that is slow": () => {
    return new ReadableStream({
      pull(controller): void {
        for (const end = performance.now() + 0.1; performance.now() < end;);
        controller.enqueue(1);
      },
    });
  },
  "three transforms": () => {
    const transform = (): TransformStream => {
      return new TransformStream({ transform: (chunk, controller) => controller.enqueue(chunk) });
    };
    const source = sources["a source that enqueues at once"]();
    return pipeThrough(pipeThrough(pipeThrough(source, transform()), transform()), transform());
  },
  "three transforms that return promises": () => {
    const transform = (): TransformStream => {
      return new TransformStream({
        transform(chunk, controller): Promise<void> {
          controller.enqueue(chunk);
          return Promise.resolve();
        },
      });
    };
    const source = sources["a source that enqueues at once"]();
    return pipeThrough(pipeThrough(pipeThrough(source, transform()), transform()), transform());
  },
  "a transform of the runtime": () => {
    return pipeThrough(sources["a source that enqueues at once"](), new globalThis.TransformStream());
  },
};

const sinks: Readonly<Record<string, () => globalThis.WritableStream<unknown>>> = {
  "a sink that returns nothing": () => new WritableStream({ write(): void {} }),
  "a sink that returns promises": () => new WritableStream({ write: () => Promise.resolve() }),
  "a sink with a queue": () => new WritableStream({ write: () => Promise.resolve() }, { highWaterMark: 100 }),
  "a sink that takes batches": () => new BatchedWritableStream({ writev(): void {} }),
  "a sink that takes batches and returns promises": () => {
    return new BatchedWritableStream({ writev: () => Promise.resolve() });
  },
  "a sink of the runtime": () => new globalThis.WritableStream({ write: () => Promise.resolve() }),
};

const echo = createServer((socket) => void socket.pipe(socket));
echo.on("connection", (socket) => socket.on("error", () => {})).listen(0, "127.0.0.1");
await once(echo, "listening");
const { port } = echo.address() as AddressInfo;

/** Pipes until an interval has ticked, and optionally a socket has its response. */
async function stopped(
  name: string,
  source: globalThis.ReadableStream<unknown>,
  sink: globalThis.WritableStream<unknown>,
  wanted: readonly string[],
): Promise<Stopped> {
  const turns = new Set<string>();
  const socket = connect(port, "127.0.0.1").on("error", () => {});
  await once(socket, "connect");
  socket.on("data", () => turns.add("socket"));
  socket.write("?");
  const enough = new AbortController();
  const ticking = setInterval(() => {
    turns.add("interval");
    if (turns.size >= wanted.length) enough.abort(new DOMException("That is enough", "TimeoutError"));
  }, 5);
  const signal = AbortSignal.any([enough.signal, AbortSignal.timeout(30_000)]);
  const error = await pipeTo(source, sink, { signal }).then(() => "none", (error) => (error as Error).name);
  clearInterval(ticking);
  socket.destroy();
  return { name, error, turns: wanted.filter((name) => turns.has(name)) };
}

const results: Stopped[] = [];
for (const [i, [from, source]] of Object.entries(sources).entries()) {
  for (const [j, [to, sink]] of Object.entries(sinks).entries()) {
    // Two streams of the runtime are its own pipe's.
    if (from.endsWith("of the runtime") && to.endsWith("of the runtime")) continue;
    // A short run has each source into two of the sinks.
    if (!isLong && (i + j) % 3 !== 0) continue;
    // Sockets have their turn later than timers on Deno: one kind of sink is enough.
    const wanted = j === 0 && (isLong || i % 6 === 0) ? ["interval", "socket"] : ["interval"];
    results.push(await stopped(`${from} into ${to}`, source(), sink(), wanted));
  }
}
echo.close();
console.log(JSON.stringify(results));
process.exit(0);
