/**
 * Whose streams the tests see as globals:
 *
 * - `native`: the runtime's own.
 * - `native-pipe-to`: the runtime's own, with piping done by our `pipeTo()` and `pipeThrough()`.
 * - `ours`: ours, by `install.ts`.
 * - `ours-to-native`: ours, but writable streams are the runtime's own.
 * - `native-to-ours`: ours, but readable streams are the runtime's own, with piping done by ours.
 */
export type Mode = "native" | "native-pipe-to" | "ours" | MixedMode;

/** The modes that test pipes between this package's and native streams. */
export type MixedMode = "ours-to-native" | "native-to-ours";

/** All modes, in the order of the table. */
export const modes: readonly Mode[] = ["native", "native-pipe-to", "ours", "ours-to-native", "native-to-ours"];

interface Piping {
  readonly pipeTo: (source: ReadableStream, destination: WritableStream, options?: StreamPipeOptions) => Promise<void>;
  readonly pipeThrough: (
    source: ReadableStream,
    transform: ReadableWritablePair,
    options?: StreamPipeOptions,
  ) => ReadableStream;
}

/** Loads the modules of the package. */
interface Modules {
  readonly streams: () => Promise<Piping>;
  readonly install: () => Promise<unknown>;
}

/** The modules of the sources, which page builds resolve by location. */
const sources: Modules = {
  streams: () => import("../../lib/streams/mod.ts"),
  install: () => import("../../lib/streams/install.ts"),
};

/** Sets the globals of this process for `mode`. */
export async function enter(mode: Mode, modules: Modules = sources): Promise<void> {
  if (mode === "native") return;
  const native = Object.getOwnPropertyDescriptors(globalThis);
  const ours = await modules.streams();
  if (mode !== "native-pipe-to") await modules.install();
  const kept = { "ours-to-native": /^Writable/, "native-to-ours": /^Readable/ }[mode as string];
  for (const [name, descriptor] of Object.entries(native)) {
    if (kept?.test(name)) Object.defineProperty(globalThis, name, descriptor);
  }
  if (mode === "native-pipe-to" || mode === "native-to-ours") replacePiping(ours);
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
