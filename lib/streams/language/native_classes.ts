// The runtime's own classes and methods, captured when this module loads: `install` and patches have no effect on them.
import { getterOf, hasReadMany, platformClasses } from "#streams/host";
import { hasBrand, isObject } from "./webidl.ts";

/** The name under which `install` keeps the classes that it has replaced. */
export const INSTALLED: unique symbol = Symbol.for("@millrace/streams.installed") as never;

type Classes = Pick<
  typeof globalThis,
  | "ReadableStream"
  | "ReadableStreamBYOBReader"
  | "ReadableStreamDefaultController"
  | "ReadableStreamDefaultReader"
  | "TransformStream"
  | "WritableStream"
  | "WritableStreamDefaultWriter"
>;

/** The globals, or the classes that another copy of the package has replaced. */
const natives: Partial<Classes> = (globalThis as { [INSTALLED]?: { readonly natives: Classes } })[INSTALLED]?.natives ??
  platformClasses();

/** Returns the runtime's class of a name. If a program has extended the global class, this is the base class with the member. */
export function nativeClass<Name extends keyof Classes>(name: Name, member: string): Classes[Name] {
  let found: object = natives[name]!;
  while (!Object.hasOwn((found as Classes[Name]).prototype, member)) found = Object.getPrototypeOf(found);
  return found as Classes[Name];
}

export const NativeReadableStream: Classes["ReadableStream"] = nativeClass("ReadableStream", "getReader");
export const NativeWritableStream: Classes["WritableStream"] = nativeClass("WritableStream", "getWriter");
export const NativeTransformStream: Classes["TransformStream"] = nativeClass("TransformStream", "readable");

const readable: globalThis.ReadableStream = NativeReadableStream.prototype;
const writable: globalThis.WritableStream = NativeWritableStream.prototype;

export const nativeGetReader: globalThis.ReadableStream["getReader"] = readable.getReader;
export const nativePipeThrough: globalThis.ReadableStream["pipeThrough"] = readable.pipeThrough;
export const nativePipeTo: globalThis.ReadableStream["pipeTo"] = readable.pipeTo;
export const nativeGetWriter: globalThis.WritableStream["getWriter"] = writable.getWriter;

const readableLocked = getterOf(readable, "locked");
const writableLocked = getterOf(writable, "locked");

type Reader = globalThis.ReadableStreamDefaultReader;
type ByobReader = globalThis.ReadableStreamBYOBReader;
type Writer = globalThis.WritableStreamDefaultWriter;

export const NativeReadableStreamDefaultReader: Classes["ReadableStreamDefaultReader"] = nativeClass(
  "ReadableStreamDefaultReader",
  "read",
);
export const NativeWritableStreamDefaultWriter: Classes["WritableStreamDefaultWriter"] = nativeClass(
  "WritableStreamDefaultWriter",
  "write",
);

const reader: Reader = NativeReadableStreamDefaultReader.prototype;
const writer: Writer = NativeWritableStreamDefaultWriter.prototype;

/** Whether the runtime has byte streams: WebKitGTK 2.50 has none. */
export const hasNativeByteStreams: boolean = natives.ReadableStreamBYOBReader !== undefined;

/** The class of BYOB readers, or that of other readers: it locks native sides as well. */
export const NativeReadableStreamBYOBReader: Classes["ReadableStreamBYOBReader"] = hasNativeByteStreams
  ? nativeClass("ReadableStreamBYOBReader", "read")
  : NativeReadableStreamDefaultReader as never;

const byobReader: ByobReader = NativeReadableStreamBYOBReader.prototype;

export const nativeReader: Pick<Reader, "cancel" | "read" | "releaseLock"> = {
  cancel: reader.cancel,
  read: reader.read,
  releaseLock: reader.releaseLock,
};

export const nativeByobReader: Pick<ByobReader, "cancel" | "read"> = {
  cancel: byobReader.cancel,
  read: byobReader.read,
};
export const nativeWriter: Pick<Writer, "abort" | "close" | "releaseLock" | "write"> = {
  abort: writer.abort,
  close: writer.close,
  releaseLock: writer.releaseLock,
  write: writer.write,
};

export const nativeReaderClosed: (this: Reader) => Promise<void> = getterOf(reader, "closed");
export const nativeByobReaderClosed: (this: ByobReader) => Promise<void> = getterOf(byobReader, "closed");
export const nativeWriterClosed: (this: Writer) => Promise<void> = getterOf(writer, "closed");
export const nativeWriterDesiredSize: (this: Writer) => number | null = getterOf(writer, "desiredSize");
export const nativeWriterReady: (this: Writer) => Promise<void> = getterOf(writer, "ready");

export function isNativeReadableStreamLocked(stream: object): boolean {
  return readableLocked.call(stream);
}

export function isNativeWritableStreamLocked(stream: object): boolean {
  return writableLocked.call(stream);
}

/** Whether the runtime accepts a value as its own ReadableStream, as it does streams of this package. */
export function isNativeReadableStream(value: unknown): value is globalThis.ReadableStream {
  return isObject(value) && hasBrand(readableLocked, value);
}

/** Whether the runtime accepts a value as its own WritableStream, as it does streams of this package. */
export function isNativeWritableStream(value: unknown): value is globalThis.WritableStream {
  return isObject(value) && hasBrand(writableLocked, value);
}

/** Makes the runtime see the objects of a class as bare dictionaries, without the members of Object.prototype. */
export function inheritNothing({ prototype }: { prototype: object }): void {
  Object.setPrototypeOf(prototype, null);
}

/** The global property that another class has replaced temporarily. */
let replaced: { readonly name: string; readonly before: PropertyDescriptor | undefined } | undefined;

/**
 * Replaces a global by a class until {@linkcode restoreGlobal}, since public classes can only extend public names.
 * Returns whether it did. (To set their prototypes later keeps V8 from compiling constructors: a ReadableStream took
 * 1.6 times as long.)
 */
export function replaceGlobal(name: string, value: object): boolean {
  replaced ??= { name, before: Object.getOwnPropertyDescriptor(globalThis, name) };
  return Reflect.defineProperty(globalThis, name, { value, configurable: true });
}

export function restoreGlobal(): void {
  const { name, before } = replaced!;
  if (before === undefined) Reflect.deleteProperty(globalThis, name);
  else Reflect.defineProperty(globalThis, name, before);
  replaced = undefined;
}

/** The base class of pairs: Bun's `node:stream` accepts only transforms made by TransformStream's constructor. */
export const StreamPair: new () => object = hasReadMany ? /* @__PURE__ */ bunStreamPair() : Object;

function bunStreamPair(): new () => object {
  function BunStreamPair(): object {
    return Reflect.construct(NativeTransformStream, [], new.target!);
  }
  BunStreamPair.prototype = Object.prototype;
  return BunStreamPair as never;
}

/** Makes a pair without a base class an instance of the runtime's TransformStream if {@linkcode hasReadMany}. */
export function asStreamPair<Pair extends object>(pair: Pair, constructor: new (...args: never[]) => Pair): Pair {
  return hasReadMany ? Object.assign(Reflect.construct(NativeTransformStream, [], constructor), pair) : pair;
}
