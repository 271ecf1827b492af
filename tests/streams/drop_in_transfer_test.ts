import { Worker } from "node:worker_threads";
import { isPlain } from "../../lib/streams/language/host.ts";
import { eventually, failure, quiet, sameAsNative } from "./drop_in_comparison.ts";
import { native, type StreamClasses } from "./drop_in_implementations.ts";
import { utf8, watched } from "./drop_in_streams.ts";

const pieces = ["first,", "second,", "third"];
const text = pieces.join("");

/** Returns the reason why the runtime can't transfer the result of `make`, or false if it can. */
function reasonToSkip(name: string, make: () => unknown): string | false {
  try {
    const stream = make();
    structuredClone(stream, { transfer: [stream as Transferable] });
    return false;
  } catch (error) {
    return `this runtime does not transfer its own ${name}: ${(error as Error).message}`;
  }
}

const skip = {
  readable: reasonToSkip("ReadableStream", () => new native.ReadableStream()),
  writable: reasonToSkip("WritableStream", () => new native.WritableStream()),
  transform: reasonToSkip("TransformStream", () => new native.TransformStream()),
};

/** The ways a stream gets to another owner on this thread. */
const ways: Readonly<Record<string, <T extends Transferable>(stream: T) => Promise<T>>> = {
  "structuredClone()": (stream) => Promise.resolve(structuredClone(stream, { transfer: [stream] })),
  "a MessageChannel": async (stream) => {
    const { port1, port2 } = new globalThis.MessageChannel();
    try {
      const { promise, resolve } = Promise.withResolvers<typeof stream>();
      port2.onmessage = ({ data }): void => resolve(data.stream);
      port1.postMessage({ stream }, [stream]);
      return await promise;
    } finally {
      port1.close();
      port2.close();
    }
  },
};

async function joined(stream: ReadableStream<unknown>): Promise<string> {
  let whole = "";
  for await (const chunk of stream) whole += chunk;
  return whole;
}

for (const [way, transfer] of Object.entries(ways)) {
  sameAsNative(`a readable stream that went through ${way} gives the same chunks`, async (streams) => {
    const { stream } = watched(streams, pieces);
    const received = await transfer(stream);
    return { chunks: await joined(received), instance: received instanceof globalThis.ReadableStream };
  }, { skip: skip.readable, expected: { chunks: text, instance: true } });

  sameAsNative(`a readable stream that went through ${way} is locked and cannot go again`, async (streams) => {
    const { stream } = watched(streams, pieces);
    const received = await transfer(stream);
    const state = {
      locked: stream.locked,
      again: await failure(() => structuredClone(stream, { transfer: [stream] })),
    };
    await received.cancel();
    return state;
  }, { skip: skip.readable });

  sameAsNative(`a writable stream that went through ${way} brings chunks, close and abort`, async (streams) => {
    const arrived: unknown[] = [];
    const write = (chunk: unknown): void => void arrived.push(chunk);
    const { promise: closed, resolve: close } = Promise.withResolvers<void>();
    const received = await transfer(new streams.WritableStream({ write, close }));
    const writer = received.getWriter();
    for (const piece of pieces) await writer.write(piece);
    await writer.close();
    await closed;
    const { promise: aborted, resolve: abort } = Promise.withResolvers<unknown>();
    await (await transfer(new streams.WritableStream({ abort }))).abort("enough");
    return { arrived, aborted: await eventually(aborted) };
  }, { skip: skip.writable, expected: { arrived: pieces, aborted: "enough" } });

  sameAsNative(`a transform stream that went through ${way} transforms`, async ({ TransformStream }) => {
    const received = await transfer(
      new TransformStream<string, string>({
        transform: (chunk, controller) => controller.enqueue(chunk.toUpperCase()),
        flush: (controller) => controller.enqueue("END"),
      }),
    );
    return await joined(watched(native, pieces).stream.pipeThrough(received));
  }, { skip: skip.transform, expected: `${text.toUpperCase()}END` });

  sameAsNative(
    `a transform stream that went through ${way} is locked at both ends and cannot go again`,
    async (streams) => {
      const stream = new streams.TransformStream();
      const received = await transfer(stream);
      const state = {
        locked: [stream.readable.locked, stream.writable.locked],
        again: await failure(() => structuredClone(stream, { transfer: [stream] })),
      };
      await received.writable.abort();
      return state;
    },
    { skip: skip.transform },
  );

  sameAsNative(`an error goes through ${way} with its name`, async (streams) => {
    const { stream } = watched(streams, pieces, { failure: new RangeError("source broke") });
    return await failure(async () => joined(await transfer(stream)));
  }, { skip: skip.readable });

  sameAsNative(`cancel() goes back through ${way} with its reason`, async (streams) => {
    const { stream, cancelled } = watched(streams, pieces);
    await (await transfer(stream)).cancel("unwanted");
    return await eventually(cancelled);
  }, { skip: skip.readable, expected: "unwanted" });

  sameAsNative(`a slow reader behind ${way} holds the source back`, async (streams) => {
    const { stream, given } = watched(streams, Array.from({ length: 1000 }, (_, i) => i), { highWaterMark: 2 });
    const received = await transfer(stream);
    const reader = received.getReader();
    await reader.read();
    await quiet();
    const ahead = given();
    await reader.cancel();
    return ahead;
  }, { skip: skip.readable });
}

sameAsNative("a locked stream is not transferred and stays as it is", async (streams) => {
  const { stream } = watched(streams, pieces);
  const reader = stream.getReader();
  const failed = await failure(() => structuredClone(stream, { transfer: [stream] }));
  reader.releaseLock();
  return { failed, chunks: await joined(stream) };
}, { skip: skip.readable, expected: { failed: "DataCloneError", chunks: text } });

sameAsNative("a stream is not cloned without being transferred", async (streams) => {
  return await failure(() => structuredClone(new streams.ReadableStream()));
}, { skip: skip.readable, expected: "DataCloneError" });

sameAsNative("a byte stream that was transferred gives its bytes", async (streams) => {
  const { stream } = watched(streams, pieces.map(utf8), { type: "bytes" });
  return await new Response(structuredClone(stream, { transfer: [stream] })).text();
}, { skip: skip.readable, expected: text });

sameAsNative("a chunk that cannot be cloned fails both sides of a transferred stream", async (streams) => {
  const { stream, cancelled } = watched(streams, [() => {}, 1, 2, 3], { highWaterMark: 0 });
  const received = structuredClone(stream, { transfer: [stream] });
  const failed = await failure(() => received.getReader().read());
  return { failed, cancelled: await eventually(cancelled.then((reason) => (reason as Error).name)) };
}, { skip: skip.readable });

// The code of the other thread: it reads a stream, and writes the text in capitals to another one.
const workerSource = `
  const { parentPort } = require("node:worker_threads");
  parentPort.once("message", async ({ readable, writable }) => {
    const writer = writable.getWriter();
    for await (const chunk of readable) await writer.write(chunk.toUpperCase());
    await writer.close();
  });
`;

async function throughWorker(streams: StreamClasses): Promise<string> {
  const worker = new Worker(workerSource, { eval: true });
  try {
    const { readable, writable } = new streams.TransformStream<string, string>();
    const { stream } = watched(streams, pieces);
    // deno-lint-ignore no-explicit-any -- node's types do not know that streams are transferable
    worker.postMessage({ readable: stream, writable }, [stream, writable] as any);
    return await joined(readable);
  } finally {
    await worker.terminate();
  }
}

sameAsNative("a worker reads one transferred stream and writes another", throughWorker, {
  skip: skip.readable || skip.writable,
  expected: text.toUpperCase(),
});

for (const end of ["readable", "writable"] as const) {
  sameAsNative(
    `a transform stream does not go with its ${end} end as another, nor when that is locked`,
    async (streams) => {
      const both = new streams.TransformStream();
      const locked = new streams.TransformStream();
      if (end === "readable") locked.readable.getReader();
      else locked.writable.getWriter();
      return [
        await failure(() => structuredClone([both, both[end]], { transfer: [both, both[end]] })),
        await failure(() => structuredClone(locked, { transfer: [locked] })),
      ];
    },
    { skip: skip.transform || isPlain && "a side that is made with the stream does not know of that of an end" },
  );
}
