/**
 * Puts our stream classes, and streams of text on them, in the place of the runtime's globals, and of what
 * `node:stream/web` exports, as a side effect of being imported. Import it first: a module that has taken a class from the globals already keeps that.
 *
 * @example
 * ```ts
 * import { uninstall } from "@millrace/streams/install";
 *
 * new ReadableStream(); // ours
 * uninstall();
 * new ReadableStream(); // the runtime's own
 * ```
 *
 * @module
 */
import { TextDecoderStream } from "./encoding/text_decoder_stream.ts";
import { TextEncoderStream } from "./encoding/text_encoder_stream.ts";
import {
  ByteLengthQueuingStrategy,
  CountQueuingStrategy,
  ReadableByteStreamController,
  ReadableStream,
  ReadableStreamBYOBReader,
  ReadableStreamBYOBRequest,
  ReadableStreamDefaultController,
  ReadableStreamDefaultReader,
  TransformStream,
  TransformStreamDefaultController,
  WritableStream,
  WritableStreamDefaultController,
  WritableStreamDefaultWriter,
} from "./mod.ts";

const classes: Readonly<Record<string, object>> = {
  ReadableStream,
  ReadableStreamDefaultReader,
  ReadableStreamBYOBReader,
  ReadableStreamDefaultController,
  ReadableByteStreamController,
  ReadableStreamBYOBRequest,
  WritableStream,
  WritableStreamDefaultWriter,
  WritableStreamDefaultController,
  TransformStream,
  TransformStreamDefaultController,
  ByteLengthQueuingStrategy,
  CountQueuingStrategy,
  TextEncoderStream,
  TextDecoderStream,
};

// Node makes its fetch when this is looked up, and takes the ReadableStream of that moment for the one that bodies are of.
void globalThis.Response;

/** The function of `process` by which Node, and Bun and Deno after it, give their own modules without an import. */
interface BuiltinModules {
  readonly getBuiltinModule?: (name: string) => unknown;
}

const { getBuiltinModule } = (globalThis as { process?: BuiltinModules }).process ?? {};
/** The exports of `node:stream/web`: the same classes under the same names. */
const streamWeb = getBuiltinModule?.("node:stream/web") as object | undefined;

/** The objects whose properties the classes are, with the properties that were there. */
const places = [globalThis, ...(streamWeb ? [streamWeb] : [])].map((place) => ({
  place,
  before: Object.keys(classes).map((name) => [name, Object.getOwnPropertyDescriptor(place, name)] as const),
}));

for (const [name, ours] of Object.entries(classes)) takeInstancesOf(Reflect.get(globalThis, name), ours);
for (const { place, before } of places) {
  for (const [name, descriptor] of before) {
    const enumerable = place !== globalThis && descriptor?.enumerable === true;
    Object.defineProperty(place, name, { value: classes[name], writable: true, enumerable, configurable: true });
  }
}
tellImporters();

/** Node's modules that have imported a class by its name from `node:stream/web` see the one that is there now. */
function tellImporters(): void {
  const module = getBuiltinModule?.("node:module") as { syncBuiltinESMExports?: () => void } | undefined;
  try {
    module?.syncBuiltinESMExports?.();
  } catch {
    // Deno 2.4 has the function and throws "not implemented"; importers see the runtime's classes there, as on later ones
  }
}

/** Keeps the runtime's own objects `instanceof` the global; a class that extends ours has only its own objects. */
function takeInstancesOf(native: object | undefined, ours: object): void {
  const { [Symbol.hasInstance]: ordinary } = Function.prototype;
  Object.defineProperty(ours, Symbol.hasInstance, {
    value(this: unknown, value: unknown): boolean {
      return ordinary.call(this as () => void, value) ||
        (this === ours && native !== undefined && ordinary.call(native as () => void, value));
    },
    configurable: true,
  });
}

/**
 * Puts the runtime's own classes back. Streams that were made go on working.
 *
 * @example Streams that were made go on working
 * ```ts
 * import { uninstall } from "@millrace/streams/install";
 *
 * const ours = new ReadableStream({ start: (controller) => controller.close() });
 * uninstall();
 * console.log((await ours.getReader().read()).done); // true
 * ```
 */
export function uninstall(): void {
  for (const { place, before } of places) {
    for (const [name, descriptor] of before) {
      if (descriptor === undefined) Reflect.deleteProperty(place, name);
      else Object.defineProperty(place, name, descriptor);
    }
  }
  for (const ours of Object.values(classes)) Reflect.deleteProperty(ours, Symbol.hasInstance);
  tellImporters();
}
