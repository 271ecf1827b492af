/**
 * Finds files of the package by the address of the module that asks: workers, and on servers the codecs' modules. In the
 * build, those are tried before the imports of their texts, which remain for hosts without files.
 * @module
 */

/** The source of a {@linkcode Base}, as written here or minified. */
const BASE = /^\(\)\s*=>\s*import\.meta\.url$/;

/** Returns the URL of the calling module, by no other code than `() => import.meta.url`. */
export type Base = () => string;

/**
 * Returns the URL of the calling module, or `undefined` if a bundler has fixed it. Some, as webpack, replace
 * `import.meta.url` by the URL at build time, where other files may be at run time. The source of `base` shows it: only a
 * runtime evaluates the original expression. In other bundles, the path has another end.
 */
export function ownAddress(base: Base): URL | undefined {
  return BASE.test(String(base)) ? new URL(base()) : undefined;
}

/** The runtimes' own file APIs: loading `node:fs` takes 2 ms on Bun, and 5 ms on Deno. */
interface Hosts {
  readonly Bun?: { file(path: URL): { bytes(): Promise<Uint8Array<ArrayBuffer>> } };
  readonly Deno?: {
    readonly permissions: { querySync(permission: { name: "read"; path: URL }): { readonly state: string } };
    readFileSync(path: URL): Uint8Array<ArrayBuffer>;
  };
  readonly process?: Pick<typeof process, "getBuiltinModule">;
}

/** The globals, some of which only one runtime has. */
const host = globalThis as Hosts;

/** The text of a codec's module, and the function that inflates it. */
interface Text {
  readonly wasm: string;
  readonly build: string;
  inflate?(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> | Promise<ArrayBuffer>;
}

/** A compiled module, or the text of one. */
type Loaded = { readonly module: object } | Text;

/** The codecs' folder relative to this module, as the build writes it; separate, so that bundlers copy no file. */
const CODECS = "folder of codecs";
/** The end of this module's path, as the build writes it. */
const END = "end of the path";

/**
 * Compiles a codec's module from its file, or reads its text if the file is missing, as in a bundle, is damaged or of
 * another build, or needs a permission prompt. For the largest module, the file takes 0.5 ms, the text 10 ms.
 *
 * @param build The identity of the codecs' build, which ends the file behind the codec's name.
 * @param load Imports the text.
 * @throws {TypeError} if the text is of another build: a package was replaced below the running program.
 * @throws the rejection of `load`.
 */
export async function wasmAt(name: string, build: string, load: () => Promise<Text>): Promise<Loaded> {
  try {
    const wasm = await readBeside(name);
    const end = `${name} ${build}`;
    const isOwn = wasm && [...end].every((letter, i) => wasm.at(i - end.length) === letter.charCodeAt(0));
    if (isOwn) return { module: await WebAssembly.compile(wasm) };
  } catch {
    // The text reports the failure.
  }
  const text = await load();
  if (text.build !== build) throw new TypeError(`${name} is of another version than the program: restart it`);
  // For a DecompressionStream, Node loads all of its streams in 30 ms; for node:zlib, Deno takes 7 ms, and edge hosts have none.
  const zlib = host.Deno ? undefined : host.process?.getBuiltinModule?.("node:zlib");
  return zlib ? { ...text, inflate: (bytes) => zlib.inflateRawSync(bytes) } : text;
}

/** Returns the bytes of a codec's file, or `undefined` if the host has none, or might prompt for it. */
async function readBeside(name: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const own = ownAddress(() => import.meta.url);
  if (own?.protocol !== "file:" || !own.pathname.endsWith(END)) return undefined;
  const place = new URL(`${CODECS}/${name}.wasm`, own);
  if (host.Bun) return await host.Bun.file(place).bytes();
  if (host.Deno === undefined) return host.process?.getBuiltinModule("node:fs").readFileSync(place);
  const { state } = host.Deno.permissions.querySync({ name: "read", path: place });
  return state === "granted" ? host.Deno.readFileSync(place) : undefined;
}
