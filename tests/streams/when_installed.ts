/**
 * A process that prints, as JSON, what a program sees that uses the globals with streams of the runtime's own: with
 * `--installed` as its argument, after ours have taken the globals' place.
 *
 * @module
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { inspect } from "node:util";

/** The runtime's own classes, whatever is installed. Nothing else is touched before: Node makes its fetch on first use. */
const Native = { ReadableStream, WritableStream, TransformStream };

/** The outcomes that the process prints, by attempt. */
export type Seen = Readonly<Record<string, string>>;

if (process.argv.includes("--installed")) await import("../../lib/streams/install.ts");

function letters(...chunks: string[]): ReadableStream<string> {
  return new Native.ReadableStream<string>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

const upper = (): TransformStream<string, string> =>
  new Native.TransformStream<string, string>({
    transform: (chunk, controller) => controller.enqueue(chunk.toUpperCase()),
  });

async function joined(stream: ReadableStream<string>): Promise<string> {
  let text = "";
  const reader = stream.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) text += read.value;
  return text;
}

/** Waits up to 5 s for a promise; returns its value, or `"never"`. */
async function soon<T>(promise: Promise<T>): Promise<T | "never"> {
  const { promise: late, resolve } = Promise.withResolvers<"never">();
  const timer = setTimeout(() => resolve("never"), 5_000);
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Sends the body of a POST to a server, and returns the received text. */
async function sent(body: BodyInit): Promise<string> {
  const server = createServer(async (request, response) => response.end(await Array.fromAsync(request).then(String)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body });
  const text = await response.text();
  server.closeAllConnections();
  server.close();
  return text;
}

async function fileBlob(text: string): Promise<string> {
  const { openAsBlob } = await import("node:fs");
  const folder = await mkdtemp(join(tmpdir(), "millrace-blob-"));
  try {
    await writeFile(join(folder, "file"), text);
    return await new Response(await openAsBlob(join(folder, "file"))).text();
  } finally {
    await rm(folder, { recursive: true });
  }
}

const tries: Record<string, () => unknown> = {
  "a Response of a Blob": () => new Response(new Blob(["blob"])).text(),
  "a Request of a Blob": () => new Request("http://host/", { method: "POST", body: new Blob(["blob"]) }).text(),
  "a Response of a file": () => fileBlob("in a file"),
  "fetch() with a Blob": () => sent(new Blob(["blob"])),
  "fetch() of a Blob's URL": async () => {
    const url = URL.createObjectURL(new Blob(["blob"]));
    return await (await fetch(url)).text();
  },
  "a clone of a Blob's body": async () => {
    const response = new Response(new Blob(["blob"]));
    return await response.clone().text() + await response.text();
  },
  "a native stream is the body itself": () => {
    const stream = new Blob(["blob"]).stream();
    const { body } = new Response(stream);
    return [body === stream, stream.locked];
  },
  "why a body was cancelled": async () => {
    let told: unknown;
    await new Response(new Native.ReadableStream({ cancel: (reason) => void (told = reason) })).body!.cancel(
      "a reason",
    );
    return told;
  },
  "text of an empty body": async () => {
    const empty = new Response(null) as Response & { textStream?: () => ReadableStream };
    return (await (empty.textStream?.() ?? letters()).getReader().read()).done;
  },
  "a reader of a native stream": async () => {
    const reader = new ReadableStreamDefaultReader(letters("a", "b"));
    const read = [await reader.read(), await reader.read(), await reader.read(), await reader.closed];
    return [reader instanceof ReadableStreamDefaultReader, read];
  },
  "a BYOB reader of a native stream": async () => {
    const bytes = new Native.ReadableStream({ type: "bytes", start: (it) => it.enqueue(new Uint8Array([1, 2, 3])) });
    const reader = new ReadableStreamBYOBReader(bytes as ReadableStream<Uint8Array<ArrayBuffer>>);
    const { value } = await reader.read(new Uint8Array(2));
    return [reader instanceof ReadableStreamBYOBReader, value];
  },
  "a writer of a native stream": async () => {
    const written: string[] = [];
    const writer = new WritableStreamDefaultWriter<string>(
      new Native.WritableStream<string>({ write: (chunk) => void written.push(chunk) }),
    );
    await writer.ready;
    void writer.write("a");
    await writer.close();
    return [writer instanceof WritableStreamDefaultWriter, written];
  },
  "a reader of what is no stream": () => new ReadableStreamDefaultReader({} as ReadableStream),
  "a writer of a locked stream": () => {
    const stream = new Native.WritableStream();
    stream.getWriter();
    return new WritableStreamDefaultWriter(stream);
  },
  "locked of a native stream": () => get(ReadableStream.prototype, "locked", letters()),
  "getReader() of a native stream": () => {
    const { getReader }: { getReader(): ReadableStreamDefaultReader<string> } = ReadableStream.prototype;
    return getReader.call(letters("a")).read();
  },
  "pipeThrough() of a native stream": () =>
    joined(ReadableStream.prototype.pipeThrough.call(letters("a", "b"), upper()) as ReadableStream<string>),
  "pipeThrough() of a native stream, by a global": () =>
    joined(
      ReadableStream.prototype.pipeThrough.call(letters("a", "b"), new TransformStream()) as ReadableStream<string>,
    ),
  "pipeTo() of a native stream": async () => {
    let text = "";
    await ReadableStream.prototype.pipeTo.call(
      letters("a", "b"),
      new WritableStream<string>({ write: (chunk) => void (text += chunk) }),
    );
    return text;
  },
  "tee() of a native stream": async () => {
    const [one, two] = ReadableStream.prototype.tee.call(letters("a", "b"));
    return [await joined(one), await joined(two)];
  },
  "cancel() of a native stream": async () => {
    let told: unknown;
    const stream = new Native.ReadableStream({ cancel: (reason) => void (told = reason) });
    await ReadableStream.prototype.cancel.call(stream, "a reason");
    return told;
  },
  "iteration of a native stream": async () => {
    let text = "";
    for await (const chunk of ReadableStream.prototype[Symbol.asyncIterator].call(letters("a", "b"))) text += chunk;
    for await (const chunk of ReadableStream.prototype.values.call(letters("c"))) text += chunk;
    return text;
  },
  "methods of a native reader": async () => {
    const reader = letters("a").getReader();
    const { read, releaseLock, cancel } = ReadableStreamDefaultReader.prototype;
    const first = await read.call(reader);
    await cancel.call(reader);
    await get(ReadableStreamDefaultReader.prototype, "closed", reader);
    releaseLock.call(reader);
    return first;
  },
  "methods of a native writable stream": async () => {
    let log = "";
    const make = () =>
      new Native.WritableStream<string>({
        write: (chunk) => void (log += chunk),
        close: () => void (log += "."),
        abort: (reason) => void (log += reason),
      });
    const writer = WritableStream.prototype.getWriter.call(make());
    const { write, close, releaseLock } = WritableStreamDefaultWriter.prototype;
    log += get(WritableStreamDefaultWriter.prototype, "desiredSize", writer);
    await get(WritableStreamDefaultWriter.prototype, "ready", writer);
    await write.call(writer, "a");
    await close.call(writer);
    await get(WritableStreamDefaultWriter.prototype, "closed", writer);
    releaseLock.call(writer);
    await WritableStreamDefaultWriter.prototype.abort.call(make().getWriter(), "!");
    await WritableStream.prototype.abort.call(make(), "!");
    await WritableStream.prototype.close.call(make());
    return log + get(WritableStream.prototype, "locked", make());
  },
  "both ends of a native transform": async () => {
    const transform = upper();
    const writable = get(TransformStream.prototype, "writable", transform) as WritableStream<string>;
    const readable = get(TransformStream.prototype, "readable", transform) as ReadableStream<string>;
    void letters("a").pipeTo(writable);
    return await joined(readable);
  },
  "methods of what is no stream": async () => {
    const error = await ReadableStream.prototype.cancel.call({} as ReadableStream).catch((error: unknown) => error);
    return error instanceof TypeError && (error as { code?: string }).code;
  },
  "a getter of what is no stream": () => get(ReadableStream.prototype, "locked", {}),
  "inspect() of strategies": () => [
    new CountQueuingStrategy({ highWaterMark: 3 }).highWaterMark,
    inspect(new CountQueuingStrategy({ highWaterMark: 3 })).includes("highWaterMark: 3"),
  ],
  "inspect() of a controller": () => {
    let shown = "";
    new ReadableStream({ start: (controller) => void (shown = inspect(controller)) });
    return shown.startsWith("ReadableStreamDefaultController {");
  },
  "inspect() of transform streams": () => {
    class Derived extends TransformStream {}
    return [inspect(new TransformStream()), inspect(new Derived(), { depth: 0 })];
  },
  "inspect() of text streams": () => [inspect(new TextEncoderStream()), inspect(new TextDecoderStream("latin1"))],
  "members of text streams of what is none": () =>
    [TextEncoderStream, TextDecoderStream].map(({ prototype }) => {
      const errors = ["encoding", "readable", "writable"].map((name) => errorOf(() => get(prototype, name, {})));
      return errors.map((error) => error instanceof TypeError);
    }),
  "require('stream/web')": () => {
    const required = createRequire(import.meta.url)("stream/web");
    return ["ReadableStream", "WritableStream", "CountQueuingStrategy", "ReadableStreamBYOBReader"].map((name) =>
      required[name] === Reflect.get(globalThis, name)
    );
  },
};

function get(prototype: object, name: string, object: object): unknown {
  return Object.getOwnPropertyDescriptor(prototype, name)!.get!.call(object);
}

function errorOf(steps: () => unknown): unknown {
  try {
    return steps();
  } catch (error) {
    return error;
  }
}

const seen: Record<string, string> = {};
process.on("unhandledRejection", (error) => seen.unhandled = String(error));
for (const [name, attempt] of Object.entries(tries)) {
  try {
    const outcome = await soon(Promise.resolve(attempt()));
    seen[name] = JSON.stringify(outcome, (_, value) =>
      ArrayBuffer.isView(value) ? Array.from(value as Uint8Array) : value) ??
      "undefined";
  } catch (error) {
    const { name: kind, code } = error as Error & { code?: unknown };
    seen[name] = `${kind} ${code}`;
  }
}
console.log(JSON.stringify(seen satisfies Seen));
process.exit(0);
