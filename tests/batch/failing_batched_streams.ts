import { BatchedWritableStream, coalesceBytes } from "../../lib/batch/mod.ts";
import { ReadableStream, toNative } from "../../lib/streams/mod.ts";
import { turn } from "./progress.ts";

/** Causes a failure, and handles every promise that a caller receives. */
type Failure = () => unknown;

const fail = (): never => {
  throw new Error("on purpose");
};
const reject = (): Promise<never> => Promise.reject(new Error("on purpose"));
const rejectLater = (): Promise<never> => turn().then(fail);
const ignore = (): void => {};
const writev = ignore;

/** Returns a stream whose third batch of two fails. */
function failing(end: () => void | Promise<void> = fail): BatchedWritableStream<number> {
  let batches = 0;
  return new BatchedWritableStream<number>({ maxBatch: 2, writev: () => ++batches < 3 ? undefined : end() });
}

function writeTen(stream: BatchedWritableStream<number>): WritableStreamDefaultWriter<number> {
  const writer = stream.getWriter();
  for (let number = 0; number < 10; number++) writer.write(number).catch(ignore);
  return writer;
}

function endless(): ReadableStream<number> {
  return new ReadableStream<number>({ pull: (controller) => turn().then(() => controller.enqueue(1)) });
}

function numbers(end: "closes" | "fails"): ReadableStream<number> {
  return new ReadableStream<number>({
    start(controller): void {
      for (let number = 0; number < 10; number++) controller.enqueue(number);
      if (end === "closes") controller.close();
    },
    pull: fail,
  }, { highWaterMark: 1 });
}

export const failures: Readonly<Record<string, Failure>> = {
  "writev() throws": () => writeTen(failing()),
  "writev() rejects, and ready and closed are looked at": () => {
    const writer = writeTen(failing(reject));
    return [writer.ready, writer.closed];
  },
  "writev() rejects later, and close() and abort() are handled": () => {
    const writer = writeTen(failing(rejectLater));
    writer.close().catch(ignore);
    writer.abort().catch(ignore);
  },
  "one of the writes of each batch is handled": () => {
    const writer = failing(rejectLater).getWriter();
    for (let number = 0; number < 10; number++) {
      const written = writer.write(number);
      if (number % 2 === 0) written.catch(ignore); // both writes of a batch have one promise
    }
  },
  "start() rejects, with chunks that wait": () =>
    writeTen(new BatchedWritableStream<number>({ start: rejectLater, writev })),
  "start() rejects, and nothing is written": () => new BatchedWritableStream<number>({ start: reject, writev }),
  "controller.error() while chunks wait": () =>
    writeTen(
      new BatchedWritableStream<number>({ start: (controller) => void turn().then(() => controller.error(1)), writev }),
    ),
  "abort() while a batch is in flight that fails": async () => {
    const writer = writeTen(new BatchedWritableStream<number>({ writev: rejectLater }));
    await new Promise((resolve) => setImmediate(resolve));
    await writer.abort();
  },
  "close() of the sink fails": () => new BatchedWritableStream({ close: reject, writev }).close().catch(ignore),
  "abort() of the sink fails": () => new BatchedWritableStream({ abort: fail, writev }).abort().catch(ignore),
  "a size that is none": () => {
    const writer = new BatchedWritableStream<number>(undefined, { size: () => NaN }).getWriter();
    return writer.write(1).catch(ignore);
  },
  "our pipe into a sink that fails": () =>
    Promise.all(
      [fail, reject, rejectLater].flatMap((end) =>
        [numbers("closes"), numbers("fails"), endless()].map((source) => source.pipeTo(failing(end)).catch(ignore))
      ),
    ),
  "our pipe of a source that fails": () => numbers("fails").pipeTo(new BatchedWritableStream<number>()).catch(ignore),
  "our pipe that is aborted": async () => {
    const controller = new AbortController();
    const sink = new BatchedWritableStream<number>({ writev: turn, abort: reject });
    const piped = endless().pipeTo(sink, { signal: controller.signal });
    await turn();
    controller.abort();
    await piped.catch(ignore);
  },
  "our pipe of an iterable that aborts it and then gives a promise that rejects": () => {
    const controller = new AbortController();
    const values = function* (): Generator<number | Promise<number>> {
      yield 1;
      controller.abort();
      yield reject();
    };
    const { signal } = controller;
    return ReadableStream.from(values()).pipeTo(new BatchedWritableStream<number>(), { signal }).catch(ignore);
  },
  "our pipe into toNative() of a sink that fails": () => numbers("closes").pipeTo(toNative(failing())).catch(ignore),
  "a native writer of a sink that fails": () => {
    const writer = toNative(failing(rejectLater)).getWriter();
    for (let number = 0; number < 10; number++) writer.write(number).catch(ignore);
    return writer.abort().catch(ignore);
  },
  "coalesceBytes() of bad chunks, read": async () => {
    const { readable, writable } = coalesceBytes({ size: 4 });
    const writer = (writable as BatchedWritableStream<unknown>).getWriter();
    writer.write("text").catch(ignore);
    writer.close().catch(ignore);
    await readable.getReader().read().catch(ignore);
  },
  "coalesceBytes() that is cancelled while a batch waits": async () => {
    const { readable, writable } = coalesceBytes({ size: 1 });
    const writer = writable.getWriter();
    for (let count = 0; count < 5; count++) writer.write(new Uint8Array(2)).catch(ignore);
    await turn();
    await readable.cancel().catch(ignore);
  },
  "coalesceBytes() that is aborted while a batch waits": async () => {
    const { writable } = coalesceBytes({ size: 1 });
    const writer = writable.getWriter();
    for (let count = 0; count < 5; count++) {
      writer.write(new Uint8Array(2)).catch(ignore);
      await turn();
    }
    await writer.abort().catch(ignore);
  },
  "pipeThrough(coalesceBytes()) of a source that fails": async () => {
    const source = new ReadableStream<Uint8Array<ArrayBuffer>>({ pull: reject });
    await source.pipeThrough(coalesceBytes()).getReader().read().catch(ignore);
  },
};

/** Failures whose promises the caller leaves unhandled. */
export const forgotten: Readonly<Record<string, Failure>> = {
  "a forgotten write() whose batch fails": () =>
    void new BatchedWritableStream<number>({ writev: rejectLater }).getWriter().write(1),
  "a forgotten write() that waits as the stream fails": () =>
    void new BatchedWritableStream<number>({ start: reject, writev }).getWriter().write(1),
  "a forgotten close()": () => void new BatchedWritableStream({ close: fail, writev }).close(),
  "a forgotten pipeTo()": () => void numbers("closes").pipeTo(failing()),
};
