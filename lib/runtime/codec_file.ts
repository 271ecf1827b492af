/**
 * Reads codecs' modules on servers: in the build, it is tried before the imports of the modules' texts, which remain
 * for hosts without files.
 * @module
 */

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

/** The text of a codec's module, which inflates its deflated bytes. */
interface Text {
  readonly wasm: string;
  inflate?(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer>;
}

/**
 * Reads a codec's module from its file, or from its text if the file is missing, as in a bundle, or needs a permission
 * prompt. For the largest module, the file takes 0.5 ms, the text 10 ms.
 *
 * @param path The path relative to `base`, the URL of the calling module; separate, so that bundlers copy no file.
 * @param end The expected end of that URL's path. In a bundle it differs, and the path may be another package's file.
 * @param load Imports the text.
 * @throws the rejection of `load`.
 */
export async function wasmAt(
  path: string,
  end: string,
  base: string,
  load: () => Promise<Text>,
): Promise<{ readonly wasm: Uint8Array<ArrayBuffer> }> {
  const wasm = await readBeside(path, end, base).catch(() => undefined); // the text reports the failure
  return { wasm: wasm ?? await decoded(await load()) };
}

/** Returns the bytes of a file of the package, or `undefined` if the host has none, or might prompt for it. */
async function readBeside(path: string, end: string, base: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const place = new URL(path, base);
  if (place.protocol !== "file:" || !new URL(base).pathname.endsWith(end)) return undefined;
  if (host.Bun) return await host.Bun.file(place).bytes();
  if (host.Deno === undefined) return host.process?.getBuiltinModule("node:fs").readFileSync(place);
  const { state } = host.Deno.permissions.querySync({ name: "read", path: place });
  return state === "granted" ? host.Deno.readFileSync(place) : undefined;
}

/** Returns the bytes of a module's text. */
async function decoded({ wasm, inflate }: Text): Promise<Uint8Array<ArrayBuffer>> {
  const { fromBase64 } = Uint8Array as { fromBase64?(text: string): Uint8Array<ArrayBuffer> };
  const bytes = fromBase64?.call(Uint8Array, wasm) ?? Uint8Array.from(atob(wasm), (letter) => letter.charCodeAt(0));
  if (inflate === undefined) return bytes;
  // For a DecompressionStream, Node loads all of its streams in 30 ms; for node:zlib, Deno takes 7 ms, and edge hosts have none.
  const zlib = host.Deno ? undefined : host.process?.getBuiltinModule?.("node:zlib");
  return zlib?.inflateRawSync(bytes) ?? new Uint8Array(await inflate(bytes));
}
