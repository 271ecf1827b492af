/**
 * Reads codecs' modules on servers: `npm run build` puts it before the imports of the modules' texts, which stay for
 * hosts without files.
 * @module
 */

/** The runtimes' own ways to files: `node:fs` takes Bun 2 ms to load, and Deno 5. */
interface Hosts {
  readonly Bun?: { file(path: URL): { bytes(): Promise<Uint8Array<ArrayBuffer>> } };
  readonly Deno?: {
    readonly permissions: { querySync(permission: { name: "read"; path: URL }): { readonly state: string } };
    readFileSync(path: URL): Uint8Array<ArrayBuffer>;
  };
  readonly process?: Pick<typeof process, "getBuiltinModule">;
}

/** The globals, of which each runtime has its own. */
const host = globalThis as Hosts;

/** The text of a codec's module, which inflates what is deflated. */
interface Text {
  readonly wasm: string;
  inflate?(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer>;
}

/**
 * Reads a codec's module from its file, or from its text where the file is not there, as in a bundle, or would be read
 * only after a prompt. The file of the largest takes 0.5 ms, its text 10.
 *
 * @param path relative to `base`, the URL of the module that asks; apart, so that bundlers copy no file.
 * @param end of that URL's path, unless the module is part of a bundle: another's file may be at the path then.
 * @param load Imports the text.
 * @throws what `load` rejects with.
 */
export async function wasmAt(
  path: string,
  end: string,
  base: string,
  load: () => Promise<Text>,
): Promise<{ readonly wasm: Uint8Array<ArrayBuffer> }> {
  const wasm = await readBeside(path, end, base).catch(() => undefined); // the text says what fails
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
  // For a DecompressionStream Node loads all of its streams, in 30 ms; for node:zlib Deno takes 7, and edge hosts have none.
  const zlib = host.Deno ? undefined : host.process?.getBuiltinModule?.("node:zlib");
  return zlib?.inflateRawSync(bytes) ?? new Uint8Array(await inflate(bytes));
}
