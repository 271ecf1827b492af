/**
 * Whose streams the tests see as globals: `ours`, the runtime's own (`native`), or the runtime's own with piping done by
 * our `pipeTo()` and `pipeThrough()`.
 */
export type Mode = "ours" | "native" | "native-pipe-to";

/** All modes, in the order of the table. */
export const modes: readonly Mode[] = ["native", "native-pipe-to", "ours"];

interface Piping {
  readonly pipeTo: (source: ReadableStream, destination: WritableStream, options?: StreamPipeOptions) => Promise<void>;
  readonly pipeThrough: (
    source: ReadableStream,
    transform: ReadableWritablePair,
    options?: StreamPipeOptions,
  ) => ReadableStream;
}

/** Makes the globals of this process what `mode` asks for. */
export async function enter(mode: Mode): Promise<void> {
  if (mode === "ours") await import("../../lib/streams/install.ts");
  if (mode === "native-pipe-to") replacePiping(await import("../../lib/streams/mod.ts"));
}

/** Methods as WebIDL makes them: enumerable, not constructors, with one parameter that must be given. */
function replacePiping({ pipeTo, pipeThrough }: Piping): void {
  const methods: ThisType<ReadableStream> = {
    pipeTo(destination: WritableStream, options?: StreamPipeOptions): Promise<void> {
      return pipeTo(this, destination, options);
    },
    pipeThrough(transform: ReadableWritablePair, options?: StreamPipeOptions): ReadableStream {
      return pipeThrough(this, transform, options);
    },
  };
  for (const [name, method] of Object.entries(methods)) {
    Object.defineProperty(method, "length", { value: 1, configurable: true });
    Object.defineProperty(ReadableStream.prototype, name, { value: method });
  }
}
