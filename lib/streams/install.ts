/**
 * Replaces the stream classes among the runtime's globals and the exports of `node:stream/web` by those of this
 * package, as a side effect of being imported. Import it first: modules that captured a class earlier keep the
 * runtime's.
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
import { INSTALLED } from "./language/native_classes.ts";
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

const classes: Classes = {
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

// Node creates its fetch at this look-up, and takes the global ReadableStream of that moment as the class of bodies.
void globalThis.Response;

/** The function of `process` that returns Node's own modules without an import, on Bun and Deno, too. */
interface BuiltinModules {
  readonly getBuiltinModule?: (name: string) => unknown;
}

const { getBuiltinModule } = (globalThis as { process?: BuiltinModules }).process ?? {};
/** The exports of `node:stream/web`: the same classes under the same names. */
const streamWeb = getBuiltinModule?.("node:stream/web") as object | undefined;

type Classes = Readonly<Record<string, object>>;

/** All copies of the package that have installed their classes in this process, in whatever version. */
interface Installed {
  /** The descriptors of the runtime's properties before the classes replaced them. */
  readonly before: readonly (readonly [place: object, name: string, descriptor: PropertyDescriptor | undefined])[];
  readonly natives: Classes;
  /** The classes of each copy; those of the last copy are the globals. */
  readonly copies: Classes[];
}

const places = [globalThis, ...(streamWeb ? [streamWeb] : [])];

const installed: Installed = (globalThis as { [INSTALLED]?: Installed })[INSTALLED] ?? {
  before: places.flatMap((place) =>
    Object.keys(classes).map((name) => [place, name, Object.getOwnPropertyDescriptor(place, name)] as const)
  ),
  natives: Object.fromEntries(Object.keys(classes).map((name) => [name, Reflect.get(globalThis, name)])),
  copies: [],
};
Object.defineProperty(globalThis, INSTALLED, { value: installed, configurable: true });
installed.copies.push(classes);
for (const [name, ours] of Object.entries(classes)) takeInstances(name, ours);
putInPlace();

/** Makes the classes of the last installed copy the globals, or the runtime's if no copy is left. */
function putInPlace(): void {
  const last = installed.copies.at(-1);
  for (const [place, name, descriptor] of installed.before) {
    const value = last?.[name];
    if (value !== undefined) {
      const enumerable = place !== globalThis && descriptor?.enumerable === true;
      Object.defineProperty(place, name, { value, writable: true, enumerable, configurable: true });
    } else if (descriptor !== undefined) Object.defineProperty(place, name, descriptor);
    else Reflect.deleteProperty(place, name);
  }
  tellImporters();
}

/** Updates the bindings of modules that imported a class from `node:stream/web` by its name. */
function tellImporters(): void {
  const module = getBuiltinModule?.("node:module") as { syncBuiltinESMExports?: () => void } | undefined;
  try {
    module?.syncBuiltinESMExports?.();
  } catch {
    // Deno 2.4 has the function and throws "not implemented"; importers see the runtime's classes there, as on later ones
  }
}

/** Makes objects of the runtime and of other copies `instanceof` the global class; subclasses keep their own check. */
function takeInstances(name: string, ours: object): void {
  const { [Symbol.hasInstance]: ordinary } = Function.prototype;
  Object.defineProperty(ours, Symbol.hasInstance, {
    value(this: unknown, value: unknown): boolean {
      const others = this === ours ? [installed.natives, ...installed.copies].map((copy) => copy[name]) : [];
      return [this, ...others].some((each) => ordinary.call(each as () => void, value));
    },
    configurable: true,
  });
}

/**
 * Puts the runtime's own classes back, or those of another copy of the package that is still installed. Existing
 * streams keep working.
 *
 * @example Existing streams keep working
 * ```ts
 * import { uninstall } from "@millrace/streams/install";
 *
 * const ours = new ReadableStream({ start: (controller) => controller.close() });
 * uninstall();
 * console.log((await ours.getReader().read()).done); // true
 * ```
 */
export function uninstall(): void {
  const at = installed.copies.indexOf(classes);
  if (at < 0) return;
  installed.copies.splice(at, 1);
  for (const ours of Object.values(classes)) Reflect.deleteProperty(ours, Symbol.hasInstance);
  putInPlace();
  if (installed.copies.length === 0) Reflect.deleteProperty(globalThis, INSTALLED);
}
