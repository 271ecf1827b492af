/**
 * A process that imports `install.ts`: prints what it sees before, while ours are the globals, and after
 * `uninstall()`, as JSON.
 *
 * @module
 */
import { TextDecoderStream as OurTextDecoderStream } from "../../lib/streams/encoding/text_decoder_stream.ts";
import { TextEncoderStream as OurTextEncoderStream } from "../../lib/streams/encoding/text_encoder_stream.ts";
import * as standard from "../../lib/streams/mod.ts";

const streams = { ...standard, TextDecoderStream: OurTextDecoderStream, TextEncoderStream: OurTextEncoderStream };

/** The report that the process prints. */
export interface Installed {
  /** Every global of the standard, with its origin while installed. */
  readonly installed: Readonly<Record<string, "ours" | "native">>;
  /** Globals whose property has other attributes than the standard's classes have. */
  readonly oddAttributes: readonly string[];
  /** The globals that uninstall() did not restore. */
  readonly notRestored: readonly string[];
  /** Whether a second uninstall() leaves all as it is. */
  readonly twice: boolean;
  /** The wrong results of `instanceof`, while installed and afterwards. */
  readonly oddInstances: readonly string[];
  /** The text of a source with Bun's type "direct", or its error. */
  readonly direct: string;
  /** The texts of streams created while installed, read during that time and afterwards. */
  readonly texts: Readonly<Record<string, string>>;
}

const names = Object.keys(streams).filter((name) => /^[A-Z]/.test(name));
const before = descriptors();
const objects: readonly [string, object][] = nativeObjects();
const { uninstall } = await import("../../lib/streams/install.ts");

const installed = Object.fromEntries(names.map((name) => [name, isOurs(name) ? "ours" : "native"] as const));
const oddAttributes = names.filter((name) => {
  const { writable, enumerable, configurable } = Object.getOwnPropertyDescriptor(globalThis, name)!;
  return writable !== true || enumerable !== false || configurable !== true;
});
class Mine extends ReadableStream<string> {}
const oddInstances = [
  ...objects.filter(([name, object]) => !isInstance(object, name)).map(([name]) => `a native ${name}`),
  ...nativeObjects().filter(([name, object]) => !isInstance(object, name)).map(([name]) => `a ${name} of ours`),
  ...objects.filter(([, object]) => object instanceof Mine).map(([name]) => `a ${name} for a class that extends ours`),
  ...(new Mine() instanceof Mine && new Mine() instanceof ReadableStream
    ? []
    : ["a stream of a class that extends ours"]),
  ...[undefined, null, "text", {}, new Blob()].filter((value) => value instanceof ReadableStream).map(String),
];
const direct = await directText().catch((error: unknown) => String(error));
const texts: Record<string, string> = {
  "a Response": await new Response(bytes("sent")).text(),
  "the body of a native Response": await textOf(new Response("bödy").body!.pipeThrough(upper())),
  "a Blob's stream": await textOf(new Blob(["blöb"]).stream().pipeThrough(upper())),
  "native transforms": "CompressionStream" in globalThis // Bun 1.3 has none
    ? await textOf(
      bytes("nätive").pipeThrough(new CompressionStream("gzip")).pipeThrough(new DecompressionStream("gzip")),
    )
    : "nätive",
  "text streams": await joined(
    bytes("täxt").pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Bytes>),
  ),
};
const made = bytes("läter").pipeThrough(upper());
const madeWritable = new WritableStream();

uninstall();
const restored = descriptors();
uninstall();
oddInstances.push(...names.filter((name) => Object.hasOwn(Reflect.get(streams, name), Symbol.hasInstance)));

texts["a stream made before uninstall()"] = await textOf(made);
await new ReadableStream({ start: (controller) => controller.close() }).pipeTo(madeWritable);
const result: Installed = {
  installed,
  oddAttributes,
  notRestored: names.filter((name) => !isSame(before[name], restored[name])),
  oddInstances,
  direct,
  twice: names.every((name) => isSame(restored[name], descriptors()[name])),
  texts,
};
console.log(JSON.stringify(result));

type Bytes = Uint8Array<ArrayBuffer>;

function descriptors(): Record<string, PropertyDescriptor | undefined> {
  return Object.fromEntries(names.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]));
}

function isSame(one: PropertyDescriptor | undefined, other: PropertyDescriptor | undefined): boolean {
  const keys = ["value", "get", "set", "writable", "enumerable", "configurable"] as const;
  return keys.every((key) => one?.[key] === other?.[key]);
}

/** Returns streams of each kind, with their readers and controllers, and streams of the runtime itself. */
function nativeObjects(): [string, object][] {
  const made: object[] = [];
  const transform = new TransformStream({ start: (controller) => void made.push(controller) });
  const readable = new ReadableStream({ start: (controller) => void made.push(controller) });
  const bytes = new ReadableStream({ type: "bytes", start: (controller) => void made.push(controller) });
  const writable = new WritableStream({ start: (controller) => void made.push(controller) });
  made.push(transform, readable, bytes, writable, new Blob(["a"]).stream(), new Response("a").body!);
  made.push(readable.getReader(), bytes.getReader({ mode: "byob" }), writable.getWriter());
  made.push(new TextEncoderStream(), new TextDecoderStream());
  made.push(new CountQueuingStrategy({ highWaterMark: 1 }), new ByteLengthQueuingStrategy({ highWaterMark: 1 }));
  return made.map((object) => [Object.prototype.toString.call(object).slice("[object ".length, -1), object]);
}

function isInstance(object: object, name: string): boolean {
  return object instanceof Reflect.get(globalThis, name);
}

async function directText(): Promise<string> {
  const source = {
    type: "direct",
    pull(controller: { write(text: string): void; end(): void }): void {
      controller.write("direct");
      controller.end();
    },
  };
  return await new Response(new ReadableStream(source as unknown as UnderlyingDefaultSource)).text();
}

function isOurs(name: string): boolean {
  return (globalThis as Record<string, unknown>)[name] === (streams as Record<string, unknown>)[name];
}

function bytes(text: string): ReadableStream<Bytes> {
  return new ReadableStream({
    start(controller): void {
      controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    },
  });
}

/** Upper case for bytes of text. */
function upper(): TransformStream<Bytes, Bytes> {
  return new TransformStream({
    transform(chunk, controller): void {
      controller.enqueue(new TextEncoder().encode(new TextDecoder().decode(chunk).toUpperCase()));
    },
  });
}

async function textOf(stream: ReadableStream<Bytes>): Promise<string> {
  return new TextDecoder().decode(new Uint8Array((await Array.fromAsync(stream, (chunk) => [...chunk])).flat()));
}

async function joined(stream: ReadableStream<string>): Promise<string> {
  return (await Array.fromAsync(stream)).join("");
}
