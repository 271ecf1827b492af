import { globSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the installed packages. */
export const nodeModules: string = join(dirname(fileURLToPath(import.meta.url)), "../node_modules");

/** The scripts and styles for browsers in the packages, installed at exact versions: sources and minified files. */
const patterns = [
  "bootstrap/dist/**/*.{css,js}",
  "d3/dist/*.js",
  "d3-*/dist/*.js",
  "lodash/{lodash,core}*.js",
  "react-dom/cjs/*.production.js",
  "react-dom/cjs/react-dom-client.development.js",
  "three/build/three.{core,module,tsl}*.js",
  "three/build/three.webgpu.min.js",
  "vue/dist/*.global*.js",
  "vue/dist/*.esm-browser*.js",
];
const SMALLEST = 1024;

/** A file of the corpus. */
export interface CorpusFile {
  /** The file's path below `node_modules`, with `/`. */
  readonly path: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Reads the corpus, in the order of its paths: the same on every machine that ran `npm ci`. */
export function readCorpus(): CorpusFile[] {
  const paths = globSync(patterns, { cwd: nodeModules }).map((path) => path.replaceAll("\\", "/")).sort();
  return paths.filter((path) => statSync(join(nodeModules, path)).size >= SMALLEST)
    .map((path) => ({ path, bytes: new Uint8Array(readFileSync(join(nodeModules, path))) }));
}

/** Returns the bytes of all files together. */
export function totalBytes(files: readonly { readonly bytes: Uint8Array }[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes.length, 0);
}
