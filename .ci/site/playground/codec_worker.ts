/**
 * Compresses files at levels, one after the other, with the codecs of the built package.
 *
 * @module
 */
import { compress, provide } from "../../../lib/codecs/mod.ts";
import type { Codec, Done, Given, Task, ToWorker } from "./tasks.ts";

const MODULES: Readonly<Record<Codec, string>> = {
  brotli: "brotli_encoder",
  dcb: "brotli_encoder",
  zstd: "zstd_encoder",
  dcz: "zstd_encoder",
  gzip: "gzip_encoder",
};
/** The time in ms that repetitions of a task may take. */
const PATIENCE = 12;
const loading = new Map<string, Promise<void>>();
let files: readonly Given[] = [];
/** Tasks take turns, so that each is timed alone on its thread. */
let last: Promise<void> = Promise.resolve();

function load(codec: Codec): Promise<void> {
  const name = MODULES[codec];
  const known = loading.get(name);
  if (known) return known;
  const fresh = fetchModule(name).then(provide);
  loading.set(name, fresh);
  return fresh;
}

/** Compiles a codec, whichever media type the server gives it. */
async function fetchModule(name: string): Promise<WebAssembly.Module> {
  const response = await fetch(new URL(`millrace/wasm/${name}.wasm`, import.meta.url));
  if (!response.ok) throw new Error(`${response.url}: ${response.status}`);
  return await WebAssembly.compile(await response.arrayBuffer());
}

/** Returns the size of the browser's own codec's output; undefined if it has no such codec. */
async function ownSize(bytes: Uint8Array<ArrayBuffer>, format: string): Promise<number | undefined> {
  let stream: CompressionStream;
  try {
    stream = new globalThis.CompressionStream(format as CompressionFormat);
  } catch {
    return undefined;
  }
  return (await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer()).byteLength;
}

async function run({ id, file, codec, level, dictionary }: Task): Promise<Done> {
  try {
    const { bytes } = files[file];
    const own = /^own (.*)$/.exec(codec)?.[1];
    if (own === undefined) await load(codec as Codec);
    const options = {
      format: codec as Codec,
      level,
      ...(dictionary !== undefined && { dictionary: files[dictionary].bytes }),
    };
    let ms = Infinity;
    let size: number | undefined;
    const deadline = performance.now() + PATIENCE;
    // Quick levels are timed several times: the first call compiles, and a busy machine interrupts.
    do {
      const began = performance.now();
      size = own !== undefined ? await ownSize(bytes, own) : (await compress(bytes, options)).length;
      ms = Math.min(ms, performance.now() - began);
    } while (performance.now() < deadline);
    return { id, size, ms };
  } catch (error) {
    return { id, size: undefined, ms: 0, error: String(error) };
  }
}

globalThis.addEventListener("message", ({ data }: MessageEvent<ToWorker>) => {
  if ("files" in data) files = data.files;
  else last = last.then(() => run(data.task)).then((done) => globalThis.postMessage(done));
});
