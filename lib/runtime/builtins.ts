/**
 * The runtime's own modules, each loaded at its first use: `npm run build` puts these in the place of `node:` imports.
 * Loading most of them takes Node 1 to 5 ms, and `process` takes Deno 12 ms.
 * @module
 */

/** The modules, without `node:`; `.ci/late_builtins.ts` reads the list. */
const names = [
  "buffer",
  "crypto",
  "diagnostics_channel",
  "dns",
  "dns/promises",
  "fs",
  "fs/promises",
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
    /** The class alone, as most modules that use it need nothing else of `node:buffer`. */
    readonly Buffer: Module<"buffer">["Buffer"];
    readonly process: NodeJS.Process;
  };

/** The globals by which runtimes provide these modules. */
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
// Detects a stand-in of a bundle or a test, which lacks methods that Node's own Buffer has.
define("Buffer", () => host.Buffer?.prototype.latin1Slice === undefined ? builtins.buffer.Buffer : host.Buffer);
define("process", () => given("process", host.process));

/** @throws {TypeError} if the host lacks the module, as edge hosts do. */
function given<T>(name: string, value: T | undefined): T {
  if (value !== undefined) return value;
  throw new TypeError(
    `${name} is not there: this part of @millrace/streams runs on Node 22.18, Deno 2.4, Bun 1.2.23 or newer`,
  );
}
