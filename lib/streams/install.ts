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
};

const before = Object.keys(classes).map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const);

for (const [name, ours] of Object.entries(classes)) {
  takeInstancesOf(Reflect.get(globalThis, name), ours);
  Object.defineProperty(globalThis, name, { value: ours, writable: true, enumerable: false, configurable: true });
}

/** What the runtime itself makes is `instanceof` the global, as it was; a class that extends ours has its own objects. */
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
  for (const [name, descriptor] of before) {
    if (descriptor === undefined) Reflect.deleteProperty(globalThis, name);
    else Object.defineProperty(globalThis, name, descriptor);
    Reflect.deleteProperty(classes[name], Symbol.hasInstance);
  }
}
