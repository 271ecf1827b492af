// Lists which deltas are against which dictionary, for nginx and Caddy: node list_deltas.mjs dist > dist.deltas
import { readManifest } from "@millrace/streams/precompress";

const end = process.argv[3] ?? ""; // ";" for nginx
const manifest = await readManifest(process.argv[2]);
console.log(`"none" ""${end}`); // Caddy takes no empty file
for (const [path, { dictionary, variants }] of Object.entries(manifest?.files ?? {})) {
  const deltas = ["dcb", "dcz"].filter((format) => variants[format]?.state === "kept");
  if (!dictionary || deltas.length === 0) continue;
  const hash = Buffer.from(dictionary.sha256, "hex").toString("base64");
  console.log(`":${hash}: /${encodeURI(path)}" "${deltas.join(" ")}"${end}`);
}
