/**
 * The runtime's own modules, each loaded at its first use: `npm run build` replaces `node:` imports by these. Loading
 * takes 1 to 5 ms for most of them on Node, and 12 ms for `process` on Deno.
 * @module
 */

/** The modules without `node:`; `.ci/late_builtins.ts` reads the list. */
const names = [
  "buffer",
  "crypto",
  "diagnostics_channel",
  "dns",
  "dns/promises",
  "fs",
  "fs/promises",
  "http",
  "net",
  "os",
  "path",
  "stream",
  "timers",
  "timers/promises",
  "tls",
  "url",
  "util",
  "worker_threads",
  "zlib",
] as const;

type Name = typeof names[number];
type Module<N extends Name> = ReturnType<typeof process.getBuiltinModule<`node:${N}`>>;
/** The property name of a module, such as `fsPromises` for `fs/promises`. */
type Property<N extends string> = N extends `${infer A}${"/" | "_"}${infer B}` ? `${A}${Capitalize<B>}` : N;
type Builtins =
  & { readonly [N in Name as Property<N>]: Module<N> }
  & {
    /** The class alone, since most modules need nothing else of `node:buffer`. */
    readonly Buffer: Module<"buffer">["Buffer"];
    readonly process: NodeJS.Process;
  };

/** The globals through which runtimes provide these modules. */
const host = globalThis as { readonly process?: NodeJS.Process; readonly Buffer?: Builtins["Buffer"] };

export const builtins: Builtins = {} as Builtins;

function define(property: string, load: () => unknown): void {
  let loaded: unknown;
  Object.defineProperty(builtins, property, { enumerable: true, get: () => loaded ??= load() });
}

for (const name of names) {
  const property = name.replace(/[/_](\w)/, (_, letter: string) => letter.toUpperCase());
  define(property, () => given(`node:${name}`, host.process?.getBuiltinModule?.(`node:${name}`)));
}
// Detects a bundle's or a test's substitute, which lacks methods of Node's own Buffer.
define("Buffer", () => host.Buffer?.prototype.latin1Slice === undefined ? builtins.buffer.Buffer : host.Buffer);
define("process", () => given("process", host.process));

/** @throws {TypeError} if the host lacks the module, like edge hosts. */
function given<T>(name: string, value: T | undefined): T {
  if (value !== undefined) return value;
  throw new TypeError(
    `${name} is not there: this part of @millrace/streams runs on Node 22.18, Deno 2.4, Bun 1.2.23 or newer`,
  );
}
