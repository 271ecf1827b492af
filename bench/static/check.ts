import { readFile } from "node:fs/promises";
import { Agent, get, type IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import type { Visit } from "./visitors.ts";

const agent = new Agent({ keepAlive: true, maxSockets: 10 });
const decoders: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  zstd: zstdDecompressSync,
};
/** An entity tag for servers that send nothing but 304s: the header field has to be there, its value is ignored. */
const ANY_TAG = '"47DEQpj8HBSa-_TImW-5JC"';

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Requests the path with that index, with its entity tag if the visit has one. */
export function answerTo({ port, paths, fields, tags }: Visit, index: number): Promise<Answer> {
  const tag = tags?.[index];
  const headers = tag ? { ...fields, "If-None-Match": tag } : fields;
  return new Promise((answered, failed) => {
    get({ agent, host: "127.0.0.1", port, path: paths[index], headers }, async (response) => {
      const body = await buffer(response);
      answered({ status: response.statusCode!, headers: response.headers, body });
    }).on("error", failed);
  });
}

/** Rejects unless every answer is right. Resolves to the entity tags to name from then on. */
export async function checkedTags(visit: Visit, kind: "content" | "revalidation" | "always 304"): Promise<string[]> {
  const { paths } = visit;
  if (kind === "always 304") return await checkedRevalidation(visit, paths.map(() => ANY_TAG));
  const tags: string[] = [];
  for (let i = 0; i < paths.length; i++) tags.push(await checkedContent(visit, i));
  return kind === "content" ? paths.map(() => "") : await checkedRevalidation(visit, tags);
}

/** Requires a 200 with the file's bytes, and returns its entity tag. */
async function checkedContent(visit: Visit, index: number): Promise<string> {
  const { status, headers, body } = await answerTo(visit, index);
  const path = visit.paths[index];
  const coding = headers["content-encoding"];
  if (status !== 200) throw new TypeError(`it answers ${path} with ${status}`);
  if (headers["content-type"] === undefined) throw new TypeError(`it says no type of ${path}`);
  const content = coding === undefined ? body : decoders[coding](body);
  if (!content.equals(await readFile(join(visit.folder, path)))) {
    throw new TypeError(`it sends other bytes for ${path}`);
  }
  return headers.etag ?? "";
}

async function checkedRevalidation(visit: Visit, tags: string[]): Promise<string[]> {
  if (tags.includes("")) throw new TypeError("it sends no ETag");
  for (const [i, path] of visit.paths.entries()) {
    const { status, body } = await answerTo({ ...visit, tags }, i);
    if (status !== 304) throw new TypeError(`it answers ${path} with ${status} where its tag is named`);
    if (body.length > 0) throw new TypeError(`its 304 for ${path} has a body`);
  }
  return tags;
}
