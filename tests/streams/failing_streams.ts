import { fromNative, toNative } from "../../lib/streams/mod.ts";
import { nativeSet, type StreamSet } from "./stream_sets.ts";
import { turn } from "../support/waits.ts";

/** Causes a failure, and handles every promise that a caller receives. */
export type Failure = (set: StreamSet) => unknown;

const fail = (): never => {
  throw new Error("on purpose");
};
const reject = (): Promise<never> => Promise.reject(new Error("on purpose"));
const rejectLater = async (): Promise<never> => {
  await new Promise((resolve) => setTimeout(resolve));
  return fail();
};
const ignore = (): void => {};
const nativeLocked = Object.getOwnPropertyDescriptor(globalThis.WritableStream.prototype, "locked")!.get!;

/** Returns a stream of a chunk a pull(), which fails the fourth time. */
function failingSource({ ReadableStream }: StreamSet, end: () => unknown = fail): ReadableStream<number> {
  let count = 0;
  return new ReadableStream<number>({
    pull: (controller) => count++ < 3 ? controller.enqueue(count) : end() as Promise<void>,
  });
}

function endlessSource({ ReadableStream }: StreamSet): ReadableStream<number> {
  return new ReadableStream<number>({ pull: (controller) => controller.enqueue(1) });
}

function failingSink({ WritableStream }: StreamSet, end: () => unknown = fail): WritableStream<number> {
  let count = 0;
  return new WritableStream<number>({ write: () => count++ < 2 ? undefined : end() as Promise<void> });
}

export const readableFailures: Readonly<Record<string, Failure>> = {
  "start() rejects": ({ ReadableStream }) => new ReadableStream({ start: reject }),
  "start() rejects later, and closed is looked at": ({ ReadableStream }) =>
    void new ReadableStream({ start: rejectLater }).getReader().closed,
  "pull() throws, and nobody reads": ({ ReadableStream }) => new ReadableStream({ pull: fail }),
  "pull() rejects, and closed is looked at": (set) => void failingSource(set, reject).getReader().closed,
  "controller.error() without a reader": ({ ReadableStream }) =>
    new ReadableStream({ start: (controller) => controller.error(new Error("on purpose")) }),
  "a read that fails is handled": async (set) => {
    const reader = failingSource(set, rejectLater).getReader();
    while (await reader.read().then(() => true, () => false));
    void reader.closed;
  },
  "cancel() that fails is handled": ({ ReadableStream }) => new ReadableStream({ cancel: fail }).cancel().catch(ignore),
  "a released reader's closed": ({ ReadableStream }) => {
    const reader = new ReadableStream().getReader();
    const { closed } = reader;
    reader.read().catch(ignore);
    reader.releaseLock();
    return void [closed, reader.closed];
  },
  "a byte stream fails while a view waits": ({ ReadableStream }) => {
    const stream = new ReadableStream({ type: "bytes", pull: rejectLater });
    return stream.getReader({ mode: "byob" }).read(new Uint8Array(4)).catch(ignore);
  },
  "a loop is left, and cancel() fails": async ({ ReadableStream }) => {
    const stream = new ReadableStream<number>({ pull: (controller) => controller.enqueue(1), cancel: reject });
    try {
      for await (const _ of stream) break;
    } catch { /* what cancel() rejected with */ }
  },
  "a loop over a stream that fails": async (set) => {
    try {
      for await (const _ of failingSource(set));
    } catch { /* what pull() threw */ }
  },
  "an iterable fails, and nobody reads": (set) => {
    const { from } = set.ReadableStream as unknown as { from(source: AsyncIterable<number>): ReadableStream<number> };
    const stream = from.call(set.ReadableStream, { [Symbol.asyncIterator]: () => ({ next: reject, return: reject }) });
    return stream.getReader().read().catch(ignore);
  },
  "both branches of a stream that fails are left alone": (set) => failingSource(set).tee(),
  "one branch is cancelled, and then the stream fails": async (set) => {
    const [one, other] = failingSource(set, rejectLater).tee();
    one.cancel().catch(ignore);
    await other.getReader().read().catch(ignore);
  },
  "both branches are cancelled, and cancel() fails": ({ ReadableStream }) => {
    const branches = new ReadableStream({ cancel: reject }).tee();
    return Promise.all(branches.map((branch) => branch.cancel().catch(ignore)));
  },
  "a byte stream fails in the pull() after the one that a branch's view waited for": async ({ ReadableStream }) => {
    let pulls = 0;
    const stream = new ReadableStream({
      type: "bytes",
      pull(controller): void {
        pulls++;
        if (pulls === 1) controller.enqueue(new Uint8Array(1));
        if (pulls === 3) controller.error(new Error("on purpose"));
      },
    }, { highWaterMark: 5 });
    await turn();
    const reader = stream.tee()[0].getReader({ mode: "byob" });
    await turn();
    await reader.read(new Uint8Array(1)).catch(ignore);
  },
};

export const writableFailures: Readonly<Record<string, Failure>> = {
  "start() of a sink rejects": ({ WritableStream }) => new WritableStream({ start: reject }),
  "start() of a sink rejects, and ready and closed are looked at": ({ WritableStream }) => {
    const writer = new WritableStream({ start: rejectLater }).getWriter();
    return void [writer.ready, writer.closed];
  },
  "write() throws, and its promise is handled": (set) => {
    const writer = failingSink(set).getWriter();
    for (let count = 0; count < 5; count++) writer.write(count).catch(ignore);
    return void [writer.ready, writer.closed];
  },
  "write() rejects later, and close() and abort() are handled": (set) => {
    const writer = failingSink(set, rejectLater).getWriter();
    for (let count = 0; count < 5; count++) writer.write(count).catch(ignore);
    writer.close().catch(ignore);
    writer.abort().catch(ignore);
  },
  "close() of a sink fails": ({ WritableStream }) => new WritableStream({ close: fail }).close().catch(ignore),
  "abort() of a sink fails": ({ WritableStream }) => new WritableStream({ abort: reject }).abort().catch(ignore),
  "controller.error() without a writer": ({ WritableStream }) =>
    new WritableStream({ start: (controller) => controller.error(new Error("on purpose")) }),
  "a released writer's ready and closed": ({ WritableStream }) => {
    const writer = new WritableStream({}, { highWaterMark: 0 }).getWriter();
    const promises = [writer.ready, writer.closed];
    writer.releaseLock();
    return void [...promises, writer.ready, writer.closed];
  },
};

export const transformFailures: Readonly<Record<string, Failure>> = {
  "start() of a transformer rejects": ({ TransformStream }) => new TransformStream({ start: reject }),
  "transform() throws, and write() is handled": ({ TransformStream }) => {
    const { readable, writable } = new TransformStream({ transform: fail });
    readable.getReader().read().catch(ignore);
    return writable.getWriter().write(1).catch(ignore);
  },
  "flush() rejects, and close() is handled": ({ TransformStream }) => {
    const { readable, writable } = new TransformStream({ flush: reject });
    readable.getReader().read().catch(ignore);
    return writable.close().catch(ignore);
  },
  "cancel() of a transformer fails": ({ TransformStream }) =>
    new TransformStream({ cancel: reject } as Transformer).readable.cancel().catch(ignore),
  "terminate(), then everything that comes too late": ({ TransformStream }) => {
    let controller: TransformStreamDefaultController | undefined;
    const { readable, writable } = new TransformStream({ start: (given) => void (controller = given) });
    const writer = writable.getWriter();
    writer.write(1).catch(ignore);
    controller?.terminate();
    writer.write(2).catch(ignore);
    writer.close().catch(ignore);
    writer.abort().catch(ignore);
    readable.cancel().catch(ignore);
  },
};

const optionSets: readonly StreamPipeOptions[] = Array.from({ length: 8 }, (_, bits) => ({
  preventClose: Boolean(bits & 1),
  preventAbort: Boolean(bits & 2),
  preventCancel: Boolean(bits & 4),
}));

/** Pipes with each set of options, whose own promise is handled. */
function withEachOptions(pipe: (set: StreamSet, options: StreamPipeOptions) => unknown): Failure {
  return (set) => Promise.all(optionSets.map((options) => pipe(set, options)));
}

function passOn({ TransformStream }: StreamSet): TransformStream<number, number> {
  return new TransformStream<number, number>({ transform: (chunk, controller) => controller.enqueue(chunk) });
}

export const pipeFailures: Readonly<Record<string, Failure>> = {
  "the source of a pipe fails": withEachOptions((set, options) =>
    set.pipeTo(failingSource(set, reject), new set.WritableStream(), options).catch(ignore)
  ),
  "the sink of a pipe fails": withEachOptions((set, options) =>
    set.pipeTo(endlessSource(set), failingSink(set, rejectLater), options).catch(ignore)
  ),
  "both ends of a pipe fail": withEachOptions((set, options) =>
    set.pipeTo(failingSource(set), failingSink(set), options).catch(ignore)
  ),
  "both ends of a pipe fail to be torn down": withEachOptions((set, options) => {
    const controller = new AbortController();
    const source = new set.ReadableStream({ cancel: reject });
    const sink = new set.WritableStream({ abort: rejectLater });
    const piped = set.pipeTo(source, sink, { ...options, signal: controller.signal });
    controller.abort();
    return piped.catch(ignore);
  }),
  "a signal that has been aborted": withEachOptions((set, options) =>
    set.pipeTo(endlessSource(set), new set.WritableStream(), { ...options, signal: AbortSignal.abort() }).catch(ignore)
  ),
  "a signal aborts a pipe under way": withEachOptions(async (set, options) => {
    const controller = new AbortController();
    const sink = new set.WritableStream({ write: turn });
    const piped = set.pipeTo(endlessSource(set), sink, { ...options, signal: controller.signal });
    await turn();
    controller.abort(new Error("on purpose"));
    await piped.catch(ignore);
  }),
  "pipeThrough() of a source that fails": withEachOptions((set, options) =>
    set.pipeThrough(failingSource(set), passOn(set), options)
  ),
  "pipeThrough() with a signal that aborts": withEachOptions(async (set, options) => {
    const controller = new AbortController();
    const through = set.pipeThrough(endlessSource(set), passOn(set), { ...options, signal: controller.signal });
    await turn();
    controller.abort();
    await through.getReader().read().catch(ignore);
  }),
  "pipeThrough() a transform that fails, and nobody reads": withEachOptions((set, options) =>
    set.pipeThrough(endlessSource(set), new set.TransformStream({ transform: fail }, {}, { highWaterMark: 1 }), options)
  ),
  "a chain is cancelled at its end": async (set) => {
    const end = set.pipeThrough(set.pipeThrough(endlessSource(set), passOn(set)), passOn(set));
    const reader = end.getReader();
    await reader.read();
    await reader.cancel(new Error("on purpose"));
  },
};

/** Our streams where the runtime's own are expected. */
export const bridgeFailures: Readonly<Record<string, Failure>> = {
  "toNative() of a source that fails, and nobody reads": (set) => void toNative(failingSource(set, reject)),
  "toNative() of a source that fails is read": async (set) => {
    const reader = toNative(failingSource(set, rejectLater)).getReader();
    while (await reader.read().then(({ done }) => !done, () => false));
  },
  "toNative() of a sink that fails": async (set) => {
    const writer = toNative(failingSink(set)).getWriter();
    for (let count = 0; count < 5; count++) writer.write(count).catch(ignore);
    await writer.abort().catch(ignore);
  },
  "fromNative() of a source that fails, and nobody reads": () => void fromNative(failingSource(nativeSet)),
  "a response's body fails": (set) => new Response(failingBody(set)).text().catch(ignore),
  "a response's body fails, and nobody wants it": (set) => void new Response(failingBody(set)),
  "a response's body is cancelled, and cancel() fails": ({ ReadableStream }) =>
    new Response(new ReadableStream({ cancel: reject })).body!.cancel().catch(ignore),
  "a stream that fails through the runtime's own transform": async (set) => {
    const reader = failingBody(set).pipeThrough(new TextDecoderStream()).getReader();
    while (await reader.read().then(({ done }) => !done, () => false));
  },
};

function failingBody({ ReadableStream }: StreamSet): ReadableStream<Uint8Array<ArrayBuffer>> {
  let count = 0;
  return new ReadableStream({
    pull: (controller) => count++ < 3 ? controller.enqueue(new Uint8Array([65])) : fail(),
  });
}

/** The promises that the caller leaves unhandled: here the standard wants an unhandled rejection. */
export const forgotten: Readonly<Record<string, Failure>> = {
  "a forgotten read()": ({ ReadableStream }) => void new ReadableStream({ pull: fail }).getReader().read(),
  "a forgotten next()": ({ ReadableStream }) => void new ReadableStream({ pull: fail }).values().next(),
  "a forgotten next() behind another": ({ ReadableStream }) => {
    let pulls = 0;
    const iterator = new ReadableStream({
      async pull(controller) {
        await undefined;
        if (pulls++ > 0) fail();
        controller.enqueue(1);
      },
    }, { highWaterMark: 0 }).values();
    void iterator.next();
    void iterator.next();
  },
  "a forgotten write()": ({ WritableStream }) => void new WritableStream({ write: reject }).getWriter().write(1),
  "a forgotten cancel()": ({ ReadableStream }) => void new ReadableStream({ cancel: fail }).cancel(),
  "a forgotten close()": ({ WritableStream }) => void new WritableStream({ close: fail }).close(),
  "a forgotten close() of a stream that the runtime has looked at": ({ WritableStream }) => {
    const stream = new WritableStream({ close: fail });
    nativeLocked.call(stream);
    void stream.close();
  },
};

export const forgottenPipes: Readonly<Record<string, Failure>> = {
  "a forgotten pipeTo()": (set) => void set.pipeTo(failingSource(set), new set.WritableStream()),
};
