import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";

/** Stream classes to be measured, as the platform types them: every implementation claims the same interface. */
export interface Classes {
  readonly ReadableStream: typeof ReadableStream & {
    from<T>(source: Iterable<T> | AsyncIterable<T>): ReadableStream<T>; // not in the DOM's types yet
  };
  readonly WritableStream: typeof WritableStream;
  readonly TransformStream: typeof TransformStream;
}

type Pipe = <T>(
  source: ReadableStream<T>,
  destination: WritableStream<T>,
  options?: StreamPipeOptions,
) => Promise<void>;

/** An implementation of web streams. Each is loaded alone in a process of its own. */
export interface Implementation extends Classes {
  readonly name: string;
  readonly pipeTo: Pipe;
  readonly pipeThrough: <T>(source: ReadableStream<T>, transform: ReadableWritablePair<T, T>) => ReadableStream<T>;
}

const ours: string = "../../lib/streams/mod.ts";

/** Returns the columns of a full run, ours and native first. */
export function peersHere(): readonly string[] {
  return ["ours", "native", "fast-webstreams", "polyfill"].filter((name) =>
    name !== "ours" || existsSync(new URL(ours, import.meta.url))
  );
}

const loaders: Readonly<Record<string, () => Promise<Implementation>>> = {
  ours: async () => withMethods("ours", await import(ours) as unknown as Classes),
  native: () => Promise.resolve(withMethods("native", globalThis as unknown as Classes)),
  "fast-webstreams": async () => {
    const fast = await import("experimental-fast-webstreams");
    return withMethods("fast-webstreams", {
      ReadableStream: fast.FastReadableStream as Classes["ReadableStream"],
      WritableStream: fast.FastWritableStream as Classes["WritableStream"],
      TransformStream: fast.FastTransformStream as Classes["TransformStream"],
    });
  },
  polyfill: async () => withMethods("polyfill", await import("web-streams-polyfill") as unknown as Classes),
  // Ours of another checkout, which `MILLRACE_FORMER` names: on request only (`--peers ours,former`).
  former: async () => withMethods("former", await import(formerModule()) as unknown as Classes),
  // Our two functions over the runtime's classes: on request only (`--peers native,native-piped`).
  "native-piped": async () => {
    const { pipeTo, pipeThrough } = await import(ours) as unknown as Implementation;
    return { ...withMethods("native-piped", globalThis as unknown as Classes), pipeTo, pipeThrough };
  },
};

function formerModule(): string {
  const folder = process.env.MILLRACE_FORMER;
  if (folder === undefined) throw new Error("MILLRACE_FORMER names no checkout");
  return pathToFileURL(join(folder, "lib/streams/mod.ts")).href;
}

/** Loads the implementation with that name. */
export function loadImplementation(name: string): Promise<Implementation> {
  if (!Object.hasOwn(loaders, name)) {
    throw new TypeError(`no implementation is named "${name}": use ${Object.keys(loaders).join(", ")}`);
  }
  return loaders[name]();
}

/** Returns the classes with `pipeTo` and `pipeThrough` as methods, which is how callers use them. */
function withMethods(name: string, { ReadableStream, WritableStream, TransformStream }: Classes): Implementation {
  return {
    name,
    ReadableStream,
    WritableStream,
    TransformStream,
    pipeTo: (source, destination, options) => source.pipeTo(destination, options),
    pipeThrough: (source, transform) => source.pipeThrough(transform),
  };
}
