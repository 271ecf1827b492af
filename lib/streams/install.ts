/**
 * Puts our stream classes in the place of the runtime's globals, as a side effect of being imported. Import it first: a
 * module that has taken a class from the globals already keeps that.
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
import * as streams from "./mod.ts";

const names = [
  "ReadableStream",
  "ReadableStreamDefaultReader",
  "ReadableStreamBYOBReader",
  "ReadableStreamDefaultController",
  "ReadableByteStreamController",
  "ReadableStreamBYOBRequest",
  "WritableStream",
  "WritableStreamDefaultWriter",
  "WritableStreamDefaultController",
  "TransformStream",
  "TransformStreamDefaultController",
  "ByteLengthQueuingStrategy",
  "CountQueuingStrategy",
] as const;

const before = names.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const);

for (const name of names) {
  Object.defineProperty(globalThis, name, {
    value: streams[name],
    writable: true,
    enumerable: false,
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
  for (const [name, descriptor] of before) {
    if (descriptor === undefined) Reflect.deleteProperty(globalThis, name);
    else Object.defineProperty(globalThis, name, descriptor);
  }
}
