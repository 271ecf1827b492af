import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { formats } from "../../lib/codecs/mod.ts";

/** A module whose process is measured. */
export interface Subject {
  readonly name: string;
  readonly source: string;
  /** Whether the module is left out where it fails. */
  readonly isOptional?: boolean;
}

const { resolve } = createRequire(import.meta.url);
const PEERS: Readonly<Record<string, () => string>> = {
  "web-streams-polyfill": () => import.meta.resolve("web-streams-polyfill"),
  "experimental-fast-webstreams": () => import.meta.resolve("experimental-fast-webstreams"),
  // `import` resolves these two packages to their builds for bundlers.
  "brotli-wasm": () => pathToFileURL(resolve("brotli-wasm")).href,
  "@bokuweb/zstd-wasm": () => pathToFileURL(resolve("@bokuweb/zstd-wasm")).href,
  undici: () => import.meta.resolve("undici"),
};

/** An empty module, the baseline of the others. */
export const empty: Subject = { name: "an empty module", source: "export {};\n" };

/** Returns an import for each subpath that the manifest names, `.` first. */
export function subpathImports(subpaths: readonly string[]): Subject[] {
  const libraries = subpaths.filter((subpath) => subpath !== "./cli" && !subpath.startsWith("./browser/"));
  return libraries.map((subpath) => {
    const specifier = `@millrace/streams${subpath.slice(1)}`;
    return { name: specifier, source: `import ${JSON.stringify(specifier)};\n` };
  });
}

/** Returns an import for each alternative. */
export function peerImports(): Subject[] {
  return Object.entries(PEERS).map(([name, find]) => {
    return { name, source: `import ${JSON.stringify(find())};\n`, isOptional: true };
  });
}

const BYTES = `const bytes = new TextEncoder().encode("round and round the mill wheel goes ".repeat(40));\n`;

/** Returns a first call, which prints how many milliseconds it took. */
function firstCall(name: string, imported: string, call: string): Subject {
  const measured = `const start = performance.now();\n${call};\nconsole.log(performance.now() - start);\n`;
  return { name, source: `${imported}\n${BYTES}${measured}` };
}

/** First calls of this package's and the runtime's own codec, by format. */
export const firstCompress: ReadonlyMap<string, readonly [Subject, Subject]> = new Map(
  formats.filter((format) => ["gzip", "zstd", "brotli"].includes(format)).map((format) => {
    const native = { gzip: "gzipSync", zstd: "zstdCompressSync", brotli: "brotliCompressSync" }[format as "gzip"];
    return [format, [
      firstCall(
        `compress ${format}`,
        `import { compress } from "@millrace/streams";`,
        `await compress(bytes, { format: "${format}" })`,
      ),
      firstCall(`${native}`, `import { ${native} } from "node:zlib";`, `${native}(bytes)`),
    ]];
  }),
);
