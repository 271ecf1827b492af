/**
 * The exports of fast-webstreams, with the classes of this package: its own tests import this module in its place.
 *
 * @module
 */
import * as ours from "../../../lib/streams/mod.ts";

export {
  ReadableStream as FastReadableStream,
  ReadableStreamBYOBReader as FastReadableStreamBYOBReader,
  ReadableStreamDefaultReader as FastReadableStreamDefaultReader,
  TransformStream as FastTransformStream,
  WritableStream as FastWritableStream,
  WritableStreamDefaultWriter as FastWritableStreamDefaultWriter,
} from "../../../lib/streams/mod.ts";

const names = ["ReadableStream", "WritableStream", "TransformStream"] as const;

type Properties = readonly (PropertyDescriptor | undefined)[];

/** Returns the globals, and the property by which `instanceof` recognises their instances. */
function properties(): Properties {
  return names.flatMap((name) => [
    Object.getOwnPropertyDescriptor(globalThis, name),
    Object.getOwnPropertyDescriptor(ours[name], Symbol.hasInstance),
  ]);
}

function restore(properties: Properties): void {
  names.forEach((name, i) => {
    Object.defineProperty(globalThis, name, properties[2 * i]!);
    const hasInstance = properties[2 * i + 1];
    if (hasInstance) Object.defineProperty(ours[name], Symbol.hasInstance, hasInstance);
    else Reflect.deleteProperty(ours[name], Symbol.hasInstance);
  });
}

const native = properties();
const { uninstall } = await import("../../../lib/streams/install.ts");
const installed = properties();
uninstall();

/** Installs the streams, as `install` does, any number of times. */
export function patchGlobalWebStreams(): void {
  restore(installed);
}

/** Uninstalls the streams, as `uninstall()` does. */
export function unpatchGlobalWebStreams(): void {
  restore(native);
}
