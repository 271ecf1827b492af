import { mkdir, open, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { corpusFolder } from "../corpus_folder.ts";

const services = ["checkout", "search", "catalogue", "identity", "images", "recommendations"];
const levels = ["info", "info", "info", "info", "debug", "warn", "error"];
const paths = ["/cart", "/api/v2/products", "/login", "/search?q=café+crème", "/images/thumb", "/account/orders"];
const countries = ["DE", "FR", "NO", "PT", "BR", "JP", "IN", "US"];
const messages = [
  "request completed",
  "cache miss, fetched from origin",
  'client sent a header that is not allowed: "x-forwarded-host"',
  "retried after a timeout of the payment provider",
  "naïve résumé upload – 文書を保存しました",
];

/** A record of about 220 bytes, like a service's log; the same for the same index. */
function recordOf(index: number): object {
  let state = Math.imul(index + 1, 0x9e3779b1) >>> 0;
  const below = (limit: number): number => {
    state = (Math.imul(state ^ state >>> 15, 0x2c1b3c6d) + 0x3c6ef372) >>> 0;
    return (state >>> 8) % limit;
  };
  const oneOf = <T>(list: readonly T[]): T => list[below(list.length)];
  return {
    id: index,
    time: new Date(1_790_000_000_000 + index * 37).toISOString(),
    level: oneOf(levels),
    service: oneOf(services),
    path: oneOf(paths),
    status: below(50) === 0 ? 503 : 200,
    duration: below(100_000) / 1000,
    user: below(5) === 0 ? null : { id: below(1e7), country: oneOf(countries), returning: below(2) === 0 },
    tags: Array.from({ length: below(4) }, () => oneOf(services)),
    message: oneOf(messages),
  };
}

/** The path of a file of records, one a line and about `size` bytes together; it is made if it is not there. */
export async function recordsFile(size: number): Promise<string> {
  const path = join(corpusFolder, `records-${size}.ndjson`);
  if (await stat(path).catch(() => undefined)) return path;
  await mkdir(corpusFolder, { recursive: true });
  const unfinished = `${path}.${process.pid}`;
  const file = await open(unfinished, "w");
  let written = 0;
  for (let index = 0; written < size;) {
    const lines: string[] = [];
    for (const end = index + 4096; index < end; index++) lines.push(JSON.stringify(recordOf(index)), "\n");
    const bytes = new TextEncoder().encode(lines.join(""));
    await file.writeFile(bytes);
    written += bytes.length;
  }
  await file.close();
  await rename(unfinished, path);
  return path;
}
