import { assertEqual, type Check, type Library, rejection } from "./check.ts";

const Native = { ReadableStream, TransformStream, WritableStream };
/** Whether the browser has byte streams: WebKitGTK 2.50 has none, this package does everywhere. */
const hasByteStreams = "ReadableStreamBYOBReader" in globalThis;
const numbers = Array.from({ length: 1000 }, (_, index) => index);
const sum = 499_500;

interface Classes {
  readonly ReadableStream: typeof ReadableStream;
  readonly TransformStream: typeof TransformStream;
  readonly WritableStream: typeof WritableStream;
}

/** Chunks 0 to 999, then a last one from `flush()`, all added up. */
async function addedUp(readable: Classes, transform: Classes, writable: Classes): Promise<number[]> {
  let [total, chunks] = [0, 0];
  const source = new readable.ReadableStream<number>({
    start(controller) {
      for (const number of numbers) controller.enqueue(number);
      controller.close();
    },
  });
  const flushing = new transform.TransformStream<number, number>({
    transform: (number, controller) => controller.enqueue(number),
    flush: (controller) => controller.enqueue(1_000_000),
  });
  const sink = new writable.WritableStream<number>({
    write(number) {
      total += number;
      chunks++;
    },
  });
  await source.pipeThrough(flushing).pipeTo(sink);
  return [total, chunks];
}

function piping(name: string, ends: (ours: Classes) => readonly [Classes, Classes, Classes]): Check {
  return {
    name: `pipes ${name}`,
    async run({ ReadableStream, TransformStream, WritableStream }) {
      const ours = { ReadableStream, TransformStream, WritableStream };
      assertEqual(await addedUp(...ends(ours)), [sum + 1_000_000, 1001]);
      return "1,000 chunks and the one of flush()";
    },
  };
}

const text = "The mill turns as long as the water runs. ".repeat(5000);

async function throughBothKinds(library: Library): Promise<string> {
  const upper = new library.TransformStream<string, string>({
    transform: (chunk, controller) => controller.enqueue(chunk.toUpperCase()),
  });
  const parts: string[] = [];
  const bytes = new Blob([text]).stream();
  const end = new library.WritableStream<string>({ write: (chunk) => void parts.push(chunk) });
  await library.pipeTo(library.pipeThrough(library.pipeThrough(bytes, new TextDecoderStream()), upper), end);
  assertEqual(parts.join(""), text.toUpperCase());
  return `${text.length} characters`;
}

/** Whether the browser accepts streams as request bodies; Firefox and WebKit convert them to text. */
function takesStreams(): boolean {
  const options = { method: "POST", body: new Native.ReadableStream(), duplex: "half" };
  return !new Request("/echo", options).headers.has("content-type");
}

async function asBody({ ReadableStream }: Library): Promise<string> {
  const stream = ReadableStream.from(["mill", "race"]).pipeThrough(new TextEncoderStream());
  assertEqual(await new Response(stream).text(), "millrace");
  const body = new ReadableStream({
    type: "bytes",
    pull(controller) {
      controller.enqueue(new Uint8Array(100_000).fill(1));
      controller.close();
    },
  });
  const options = { method: "POST", body, duplex: "half" };
  if (takesStreams()) assertEqual((await new Request("/echo", options).bytes()).length, 100_000);
  assertEqual(await new Response(new Response(ReadableStream.from([new Uint8Array([65])])).clone().body).text(), "A");
  return "Response, its clone, Request";
}

async function intoBuffers({ ReadableStream }: Library): Promise<string> {
  const stream = new ReadableStream({
    type: "bytes",
    autoAllocateChunkSize: 1024,
    pull(controller) {
      const view = controller.byobRequest!.view as Uint8Array<ArrayBuffer>;
      view.fill(7);
      controller.byobRequest!.respond(view.byteLength);
    },
  });
  const [one, two] = stream.tee();
  const reader = one.getReader({ mode: "byob" });
  const { value } = await reader.read(new Uint8Array(3000), { min: 2000 });
  assertEqual([...new Set(value)], [7]);
  assertEqual(value!.byteLength >= 2000 && value!.buffer.byteLength === 3000, true);
  assertEqual((await two.getReader().read()).value!.byteLength > 0, true);
  return `${value!.byteLength} bytes into a buffer of ours, tee()`;
}

/** Reads a stream that ends within an element: an error in the page would fail the test. */
async function readOdd(via: (stream: ReadableStream<Uint8Array>) => globalThis.ReadableStream): Promise<void> {
  let source!: ReadableByteStreamController;
  const native = new Native.ReadableStream({ type: "bytes", start: (controller) => void (source = controller) });
  const reader = via(native).getReader({ mode: "byob" });
  const reading = rejection(reader.read(new Uint16Array(4) as unknown as Uint8Array<ArrayBuffer>));
  await new Promise((resolve) => setTimeout(resolve));
  source.enqueue(new Uint8Array(1));
  await new Promise((resolve) => setTimeout(resolve));
  source.close();
  assertEqual((await reading).name, "TypeError");
  await rejection(reader.closed);
}

async function nativeBytes({ fromNative, toNative, ReadableStream }: Library): Promise<string> {
  const bytes = fromNative(new Blob([text]).stream());
  if (hasByteStreams) {
    const byob = bytes.getReader({ mode: "byob" });
    const { value } = await byob.read(new Uint8Array(10));
    assertEqual(new TextDecoder().decode(value), text.slice(0, 10));
    await byob.cancel();
    await readOdd((stream) => fromNative(stream));
    await readOdd((stream) => toNative(fromNative(stream)));
    await readOdd((stream) => fromNative(stream).tee()[1]);
  } else {
    const { value } = await bytes.getReader().read();
    assertEqual(new TextDecoder().decode(value).slice(0, 10), text.slice(0, 10));
  }
  const native = toNative(ReadableStream.from(["a", "b"]));
  assertEqual(native.constructor === Native.ReadableStream, true);
  const reader = native.getReader();
  assertEqual([await reader.read(), await reader.read()].map(({ value }) => value), ["a", "b"]);
  return "fromNative(), toNative()";
}

/** WebKit transfers no streams. */
function transfersStreams(): boolean {
  try {
    const stream = new Native.ReadableStream();
    structuredClone(stream, { transfer: [stream] });
    return true;
  } catch {
    return false;
  }
}

async function toOtherThread({ ReadableStream, TransformStream }: Library): Promise<string> {
  if (!transfersStreams()) return "the browser transfers no streams";
  const { port1, port2 } = new MessageChannel();
  const arrived = new Promise<ReadableStream<number>>((resolve) => port2.onmessage = ({ data }) => resolve(data));
  const stream = ReadableStream.from(numbers);
  port1.postMessage(stream, [stream]);
  let total = 0;
  for await (const number of (await arrived) as unknown as AsyncIterable<number>) total += number;
  assertEqual(total, sum);
  const { writable } = new TransformStream<number, number>();
  assertEqual(structuredClone(writable, { transfer: [writable] }) instanceof Native.WritableStream, true);
  port1.close();
  return "postMessage(), structuredClone()";
}

async function iterated({ ReadableStream }: Library): Promise<string> {
  let total = 0;
  for await (const number of ReadableStream.from(numbers)) total += number;
  assertEqual(total, sum);
  const controller = new AbortController();
  const endless = new ReadableStream({ pull: () => new Promise(() => {}) });
  const piped = endless.pipeTo(new Native.WritableStream(), { signal: controller.signal });
  controller.abort(new TypeError("enough"));
  assertEqual(await piped.catch((error: Error) => error.message), "enough");
  return "from(), for await, an AbortSignal";
}

async function endless({ ReadableStream, WritableStream }: Library): Promise<string> {
  let [chunks, ticks] = [0, 0];
  const source = new ReadableStream<number>({ pull: (controller) => controller.enqueue(chunks++) });
  const ticking = setInterval(() => ticks++, 5);
  const piped = source.pipeTo(new WritableStream({ write(): void {} }), { signal: AbortSignal.timeout(100) });
  assertEqual(await piped.catch((error: Error) => error.name), "TimeoutError");
  clearInterval(ticking);
  assertEqual(ticks > 0, true);
  return `${chunks} chunks and ${ticks} ticks in 100 ms`;
}

/** The checks that load no code of the codecs. */
export const streamChecks: readonly Check[] = [
  piping("ours into ours", (ours) => [ours, ours, ours]),
  piping("native streams through ours, by the native methods", (ours) => [Native, ours, Native]),
  piping("ours through native transforms", (ours) => [ours, Native, ours]),
  piping("native streams into ours", (ours) => [Native, Native, ours]),
  piping("ours into native streams", (ours) => [ours, Native, Native]),
  { name: "pipes a Blob through both kinds with pipeTo() and pipeThrough()", run: throughBothKinds },
  { name: "makes bodies of streams of ours", run: asBody },
  { name: "fills buffers from byte streams", run: intoBuffers },
  { name: "makes streams of the other kind", run: nativeBytes },
  { name: "transfers streams to other threads", run: toOtherThread },
  { name: "iterates and aborts", run: iterated },
  { name: "lets timers have their turn while a pipe never ends", run: endless },
];
