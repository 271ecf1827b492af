import { mkdir, open, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { corpusFolder } from "../corpus_folder.ts";

const methods = ["GET", "GET", "GET", "GET", "POST", "HEAD", "PUT"];
const folders = ["api/v2/products", "assets", "images/thumb", "account/orders", "search", "blog/2026"];
const statuses = [200, 200, 200, 200, 200, 304, 301, 404, 500];
const agents = ["Firefox/145.0", "Chrome/142.0.0.0", "Safari/605.1.15", "curl/8.16.0", "-"];

/** A line of about 100 bytes of a server's access log, without its ending; the same for the same index. */
function lineOf(index: number): string {
  let state = Math.imul(index + 1, 0x9e3779b1) >>> 0;
  const below = (limit: number): number => {
    state = (Math.imul(state ^ state >>> 15, 0x2c1b3c6d) + 0x3c6ef372) >>> 0;
    return (state >>> 8) % limit;
  };
  const oneOf = <T>(list: readonly T[]): T => list[below(list.length)];
  const time = new Date(1_790_000_000_000 + index * 7).toISOString();
  const request = `${oneOf(methods)} /${oneOf(folders)}/${below(1e6).toString(36)}?page=${below(40)} HTTP/2`;
  const address = `10.${below(256)}.${below(256)}.${below(256)}`;
  return `${address} ${time} "${request}" ${oneOf(statuses)} ${below(1e5)} "${oneOf(agents)}"`;
}

/** The path of a log of about `size` bytes; it is made if it is not there. */
export async function logFile(size: number): Promise<string> {
  const path = join(corpusFolder, `access-${size}.log`);
  if (await stat(path).catch(() => undefined)) return path;
  await mkdir(corpusFolder, { recursive: true });
  const unfinished = `${path}.${process.pid}`;
  const file = await open(unfinished, "w");
  let written = 0;
  for (let index = 0; written < size;) {
    const lines: string[] = [];
    for (const end = index + 4096; index < end; index++) lines.push(lineOf(index), "\n");
    const bytes = new TextEncoder().encode(lines.join(""));
    await file.writeFile(bytes);
    written += bytes.length;
  }
  await file.close();
  await rename(unfinished, path);
  return path;
}
