import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** A bare server's response for a path, read before the server starts. */
export interface ReadyAnswer {
  readonly bytes: Buffer<ArrayBuffer>;
  readonly type: string;
  readonly coding: string;
}

const codings: Readonly<Record<string, string>> = { ".br": "br", ".zst": "zstd", ".gz": "gzip" };
const types: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
};

/** Returns the smallest variant of every file of a site, as this package's handler sends it. */
export function readyAnswers(folder: string): Map<string, ReadyAnswer> {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => types[extensionOf(path)] !== undefined);
  return new Map(files.map((path) => [`/${path}`, smallest(join(folder, path))]));
}

function smallest(path: string): ReadyAnswer {
  const [extension] = Object.keys(codings).sort((a, b) => statSync(path + a).size - statSync(path + b).size);
  return { bytes: readBytes(path + extension), type: types[extensionOf(path)], coding: codings[extension] };
}

/** Reads a file into its own memory: a slice of a pool would be copied wherever an ArrayBuffer is needed. */
function readBytes(path: string): Buffer<ArrayBuffer> {
  const read = readFileSync(path);
  const bytes = Buffer.allocUnsafeSlow(read.length);
  bytes.set(read);
  return bytes;
}

function extensionOf(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1);
}
