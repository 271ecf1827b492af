import { eventually, failsWith, failure, quiet, sameAsNative } from "./drop_in_comparison.ts";
import { native, type StreamClasses } from "./drop_in_implementations.ts";
import { type Bytes, byteSources, utf8, watched } from "./drop_in_streams.ts";

const pieces = ["first,", "sécond,", "third"];
const text = pieces.join("");
const upper = {
  transform: (chunk: string, controller: TransformStreamDefaultController<string>): void =>
    controller.enqueue(chunk.toUpperCase()),
};

/** Returns a writable of `streams` and the text that arrived in it. */
function collector({ WritableStream }: StreamClasses): { writable: WritableStream<unknown>; arrived: string[] } {
  const arrived: string[] = [];
  const write = (chunk: unknown): void => {
    arrived.push(chunk instanceof Uint8Array ? new TextDecoder().decode(chunk) : String(chunk));
  };
  return {
    writable: new WritableStream({
      write,
      close: () => void arrived.push("close"),
      abort: (reason) => void arrived.push(`abort: ${reason}`),
    }),
    arrived,
  };
}

for (const [kind, make] of Object.entries(byteSources)) {
  sameAsNative(`${kind} is piped through the runtime's own transforms`, async (streams) => {
    const read = async (stream: ReadableStream<string>): Promise<string> => {
      let whole = "";
      for await (const chunk of stream) whole += chunk;
      return whole;
    };
    const decoded = await read(make(streams, pieces).pipeThrough(new TextDecoderStream()));
    const packed = make(streams, pieces).pipeThrough(new CompressionStream("gzip"));
    const unpacked = await new Response(packed.pipeThrough(new DecompressionStream("gzip"))).text();
    return { decoded, unpacked };
  }, { expected: { decoded: text, unpacked: text } });

  sameAsNative(`${kind} is piped by the native pipeTo() called on it`, async (streams) => {
    const { writable, arrived } = collector(native);
    await globalThis.ReadableStream.prototype.pipeTo.call(make(streams, pieces), writable);
    return arrived.join("");
  }, { expected: `${text}close` });
}

sameAsNative("TextEncoderStream and compression are fed by a stream of strings", async (streams) => {
  const strings = (): ReadableStream<string> => watched(streams, pieces).stream;
  const packed = strings().pipeThrough(new TextEncoderStream()).pipeThrough(new CompressionStream("deflate-raw"));
  return [
    await new Response(strings().pipeThrough(new TextEncoderStream())).text(),
    await new Response(packed.pipeThrough(new DecompressionStream("deflate-raw"))).text(),
  ];
}, { expected: [text, text] });

sameAsNative("a native stream goes through a transform and into a writable", async (streams) => {
  const { writable, arrived } = collector(streams);
  await watched(native, pieces).stream.pipeThrough(new streams.TransformStream(upper)).pipeTo(writable);
  return arrived;
}, { expected: ["FIRST,", "SÉCOND,", "THIRD", "close"] });

sameAsNative("native and other streams alternate in a chain of six", async (streams) => {
  const { writable, arrived } = collector(streams);
  let stream: ReadableStream<string> = watched(native, pieces).stream;
  for (let i = 0; i < 3; i++) {
    stream = stream.pipeThrough(new streams.TransformStream(upper)).pipeThrough(
      new native.TransformStream<string, string>(),
    );
  }
  await stream.pipeTo(writable);
  return arrived;
}, { expected: ["FIRST,", "SÉCOND,", "THIRD", "close"] });

sameAsNative("a native pair of streams is a transform for pipeThrough()", async (streams) => {
  const { readable, writable } = new streams.TransformStream<string, string>(upper);
  const { writable: end, arrived } = collector(native);
  await watched(native, pieces).stream.pipeThrough({ readable, writable }).pipeTo(end);
  return arrived;
}, { expected: ["FIRST,", "SÉCOND,", "THIRD", "close"] });

sameAsNative("chunks enqueued by flush() arrive in native pipes", async (streams) => {
  const flushing = new streams.TransformStream<string, string>({
    flush(controller): void {
      for (let i = 0; i < 100; i++) controller.enqueue(`${i}`);
    },
  });
  const { writable, arrived } = collector(native);
  await watched(native, pieces).stream.pipeThrough(flushing).pipeTo(writable);
  return arrived.length;
}, { expected: 104 });

const pairs: Readonly<Record<string, (streams: StreamClasses) => [StreamClasses, StreamClasses]>> = {
  "a stream piped into a native writable": (streams) => [streams, native],
  "a native stream piped into a writable": (streams) => [native, streams],
  "a stream piped into a writable of its kind": (streams) => [streams, streams],
};
for (const [pair, choose] of Object.entries(pairs)) {
  sameAsNative(`${pair} brings every chunk and closes it`, async (streams) => {
    const [from, to] = choose(streams);
    const { writable, arrived } = collector(to);
    const { stream } = watched(from, pieces);
    const piping = stream.pipeTo(writable);
    const locked = [stream.locked, writable.locked];
    await piping;
    return { locked, arrived, unlocked: [stream.locked, writable.locked] };
  }, { expected: { locked: [true, true], arrived: [...pieces, "close"], unlocked: [false, false] } });

  sameAsNative(`${pair} aborts it with the source's own error`, async (streams) => {
    const [from, to] = choose(streams);
    const reason = new RangeError("source broke");
    let aborted: unknown;
    const writable = new to.WritableStream({ abort: (given) => void (aborted = given) });
    const failed = await failsWith(reason, () => watched(from, pieces, { failure: reason }).stream.pipeTo(writable));
    return { failed, aborted: aborted === reason };
  }, { expected: { failed: true, aborted: true } });

  sameAsNative(`${pair} cancels the source with the sink's own error`, async (streams) => {
    const [from, to] = choose(streams);
    const reason = new RangeError("sink broke");
    const write = (): never => {
      throw reason;
    };
    const { stream, cancelled } = watched(from, pieces);
    const failed = await failsWith(reason, () => stream.pipeTo(new to.WritableStream({ write })));
    return { failed, cancelled: await eventually(cancelled) === reason };
  }, { expected: { failed: true, cancelled: true } });

  sameAsNative(`${pair} stops on a signal with its reason`, async (streams) => {
    const [from, to] = choose(streams);
    const reason = { any: "value" };
    const abort = new AbortController();
    const { stream, cancelled } = watched(from, pieces, { delay: 5 });
    let aborted: unknown;
    const writable = new to.WritableStream({ abort: (given) => void (aborted = given) });
    const piping = failsWith(reason, () => stream.pipeTo(writable, { signal: abort.signal }));
    abort.abort(reason);
    return { failed: await piping, cancelled: await cancelled === reason, aborted: aborted === reason };
  }, { expected: { failed: true, cancelled: true, aborted: true } });

  sameAsNative(`${pair} keeps what the prevent options say`, async (streams) => {
    const [from, to] = choose(streams);
    const { writable, arrived } = collector(to);
    await watched(from, ["a"]).stream.pipeTo(writable, { preventClose: true });
    const failing = watched(from, ["b"], { failure: new Error("no") }).stream;
    await failure(() => failing.pipeTo(writable, { preventAbort: true }));
    await watched(from, ["c"]).stream.pipeTo(writable);
    return arrived;
  }, { expected: ["a", "b", "c", "close"] });

  sameAsNative(`${pair} whose sink is slow is read no further ahead than the marks and a chunk`, async (streams) => {
    const [from, to] = choose(streams);
    const { stream, given } = watched(from, Array.from({ length: 100 }, (_, i) => i), { highWaterMark: 2 });
    const { promise: never, resolve } = Promise.withResolvers<void>();
    const writable = new to.WritableStream({ write: () => never }, { highWaterMark: 3 });
    const piping = stream.pipeTo(writable);
    await quiet();
    const ahead = given();
    resolve();
    await piping;
    return { isBounded: ahead === 5 || ahead === 6, given: given() };
  }, { expected: { isBounded: true, given: 100 } });
}

sameAsNative("a locked end is refused by native pipes at once", async (streams) => {
  const locked = new streams.WritableStream();
  locked.getWriter();
  const taken = new streams.ReadableStream();
  taken.getReader();
  return [
    await failure(() => watched(native, pieces).stream.pipeTo(locked)),
    await failure(() => globalThis.ReadableStream.prototype.pipeTo.call(taken, new native.WritableStream())),
    await failure(() => watched(native, pieces).stream.pipeThrough({ readable: taken, writable: locked })),
  ];
}, { expected: ["TypeError", "TypeError", "TypeError"] });

sameAsNative("a chunk of the wrong type fails the runtime's own transforms in both directions", async (streams) => {
  const { stream, cancelled } = watched(streams, [utf8("a"), 5 as unknown as Bytes, ...Array(9).fill(utf8("b"))]);
  const failed = await failure(() => new Response(stream.pipeThrough(new CompressionStream("gzip"))).bytes());
  return { failed, cancelled: ((await eventually(cancelled)) as Error)?.name };
}, { expected: { failed: "TypeError", cancelled: "TypeError" } });
