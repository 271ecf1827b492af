/**
 * Runs a test file, several with commas between, or all of compression, in this process:
 * `child.ts ROOT FILES MODE SECONDS`.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { inflateRawSync, unzipSync } from "node:zlib";
import { faceOf } from "../support/built_faces.ts";
import { runScripts } from "./harness.ts";
import { enter, type Mode } from "./mode.ts";
import { COMPRESSION, compressionScripts, scriptsOf, scriptsTogether } from "./test_file.ts";

const [root, names, mode, seconds] = process.argv.slice(2) as [string, string, Mode, string];
await enter(mode, {
  streams: () => import(faceOf("streams")),
  install: () => import(faceOf("streams", "install")),
});
prepareGlobals();
if (names === COMPRESSION) await prepareCompression();
const files = names.split(",");
const scripts = names === COMPRESSION
  ? compressionScripts(root)
  : files.length === 1
  ? scriptsOf(root, names)
  : scriptsTogether(root, files);
runScripts(scripts, Number(seconds));

/** Defines the globals of a worker that the harness or a test looks up. */
function prepareGlobals(): void {
  const { gc, Bun } = globalThis as { gc?: () => void; Bun?: { gc(force: boolean): void } };
  Object.assign(globalThis, {
    self: globalThis,
    META_TITLE: names,
    Window: Object, // idlharness.js wants to know which interfaces this scope should have: a window has all of these
    GLOBAL: { isWindow: () => false, isWorker: () => true, isShadowRealm: () => false },
    fetch: (path: string) => Promise.resolve(new Response(readFileSync(join(root, path)))),
    gc: gc ?? (() => Bun?.gc(true)),
  });
}

/** Defines the codecs' streams as globals, with the runtime's own codecs for the tests' other side. */
async function prepareCompression(): Promise<void> {
  if (mode === "ours") {
    const { CompressionStream, DecompressionStream } = await import("../../lib/codecs/mod.ts");
    for (const value of [CompressionStream, DecompressionStream]) {
      Object.defineProperty(globalThis, value.name, { value, configurable: true, writable: true, enumerable: false });
    }
  }
  const { fetch } = globalThis;
  Object.assign(globalThis, {
    // A long file replaces the media files that are compressed.
    fetch: (path: string) => fetch(path.startsWith("/media/") ? "resources/testharness.js" : path),
    pako: { inflate: unzipSync, inflateRaw: inflateRawSync },
    postMessage: (message: unknown, _: string, transfer: Transferable[]) => structuredClone(message, { transfer }),
  });
}
