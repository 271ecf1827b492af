/**
 * The bytes a returning visitor downloads for an update: each file with its previous version as dictionary (RFC 9842),
 * compared with the file alone.
 *
 *   npm run bench -- dictionaries
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { compressSync, type Format, ready } from "../lib/codecs/mod.ts";
import { nodeModules } from "./corpus.ts";
import { circumstances, table, writeSection } from "./results.ts";

const updates = [
  { label: "react-dom-client.production 19.1.0 to 19.2.0", path: "react-dom/cjs/react-dom-client.production.js" },
  { label: "three.core.min 0.179.1 to 0.180.0", path: "three/build/three.core.min.js" },
  { label: "vue.global.prod 3.5.20 to 3.5.22", path: "vue/dist/vue.global.prod.js" },
];
const formats: Format[] = ["brotli", "zstd", "dcb", "dcz"];

function read(path: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(join(nodeModules, path)));
}

await ready(formats);
const hash = createHash("sha256");
const rows = updates.map(({ label, path }) => {
  const bytes = read(path);
  const previous = read(path.replace("/", "-prev/"));
  const sizes = formats.map((format) => {
    const dictionary = format === "dcb" || format === "dcz" ? previous : undefined;
    const output = compressSync(bytes, { format, dictionary });
    hash.update(output);
    return output.length;
  });
  return [label, bytes.length, ...sizes].map((cell) => cell.toLocaleString("en"));
});
writeSection(
  "dictionaries",
  `${circumstances()}. Bytes; the header that names the dictionary included.\n\n${
    table(["update", "raw", "brotli 11", "zstd 19", "dcb", "dcz"], rows)
  }\n\nSHA-256 of our outputs: ${hash.digest("hex").slice(0, 16)}.`,
);
