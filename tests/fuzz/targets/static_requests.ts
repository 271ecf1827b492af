import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { createStaticHandler, type StaticHandler } from "../../../lib/static/mod.ts";
import type { Target } from "../target.ts";

const script = Buffer.from("console.log('the mill turns');\n".repeat(40));
const files: Readonly<Record<string, Buffer>> = {
  "index.html": Buffer.from("<!doctype html><title>Mill</title>"),
  "app.js": script,
  "app.js.gz": gzipSync(script),
  "app.js.br": brotliCompressSync(script),
  "docs/index.html": Buffer.from("<!doctype html><title>Manual</title>"),
  "docs/é x.txt": Buffer.from("water"),
  "empty.txt": Buffer.alloc(0),
  ".secret": Buffer.from("SECRET"),
};
const outside = "OUTSIDE";
let handler: Promise<StaticHandler> | undefined;

/** Returns a handler of a small site, with a file beside it that no client may see. */
function open(): Promise<StaticHandler> {
  if (handler) return handler;
  const folder = mkdtempSync(join(tmpdir(), "millrace-fuzz-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "outside.txt"), outside);
  for (const [path, bytes] of Object.entries(files)) {
    const place = join(folder, "site", path);
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, bytes);
  }
  return handler = createStaticHandler(join(folder, "site"));
}

/**
 * Returns the request that lines of text make: method and target, then fields; undefined if the runtime has none such.
 */
function requestOf(input: Uint8Array): Request | undefined {
  const [first = "", ...lines] = Buffer.from(input).toString("latin1").split("\n");
  const [method, ...target] = first.split(" ");
  try {
    const headers = new Headers();
    for (const line of lines.slice(0, 8)) {
      headers.append(line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1));
    }
    return new Request(new URL(target.join(" ") || "/", "http://site.example/"), { method: method || "GET", headers });
  } catch {
    return undefined;
  }
}

/** Checks that an answer is one that this request may have. */
function requireSound(request: Request, { status, headers }: Response, body: Buffer): void {
  assert.ok([200, 204, 206, 301, 304, 400, 404, 405, 412, 416].includes(status), `status ${status}`);
  assert.ok(!body.includes("SECRET") && !body.includes(outside), "a file that is not to be seen");
  const length = headers.get("content-length");
  const hasBody = request.method !== "HEAD" && status !== 204 && status !== 304;
  if (hasBody && length !== null) assert.equal(body.length, Number(length), "another length than told");
  if (!hasBody) assert.equal(body.length, 0, "a body where none may be");
  if (status === 304) assert.ok(request.headers.has("if-none-match") || request.headers.has("if-modified-since"));
  if (status === 206 || status === 416) assert.ok(request.headers.has("range"), `${status} without Range`);
  if (status === 405) assert.ok(headers.has("allow"), "405 without Allow");
  if (request.method !== "GET" || (status !== 200 && status !== 206)) return;
  const coding = headers.get("content-encoding");
  const wanted = request.headers.get("accept-encoding") ?? "";
  if (coding) assert.ok(wanted.toLowerCase().includes(coding) || wanted.includes("*"), `${coding} without being asked`);
  requireContent(new URL(request.url).pathname, coding, status, headers, body);
}

/** Requires that the bytes are those of a file with that name. */
function requireContent(path: string, coding: string | null, status: number, headers: Headers, body: Buffer): void {
  let name: string;
  try {
    name = decodeURIComponent(path).slice(1);
  } catch {
    return assert.fail(`${status} for a malformed path`);
  }
  const suffix = coding === "br" ? ".br" : coding === "gzip" ? ".gz" : "";
  const file = files[name + suffix] ?? files[`${name}index.html`];
  assert.ok(file !== undefined, `${status} for ${path}`);
  if (status === 200) return assert.ok(body.equals(file), "other bytes than the file's");
  const [, start, end, size] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(headers.get("content-range") ?? "") ?? [];
  if (start === undefined) return assert.match(headers.get("content-type") ?? "", /^multipart\/byteranges/);
  assert.equal(Number(size), file.length);
  assert.ok(body.equals(file.subarray(Number(start), Number(end) + 1)), "other bytes than the range's");
}

/** A request: method and target in the first line, fields in those that follow. */
export const staticRequests: Target = {
  name: "static",
  what: "requests to the static handler: sound answers, the right bytes, and nothing from outside the folder",
  maxSize: 500,
  tokens: [
    ..."GET /|HEAD /app.js|OPTIONS *|../|..%2f|%2e%2e/|outside.txt|.secret|app.js|docs|docs/|empty.txt|index.html|\n"
      .split("|"),
    ...'\nRange: bytes=|0-9|-5|,|\nAccept-Encoding: |gzip|br|;q=0|*|\nIf-None-Match: |*|"x"|W/|\nIf-Range: |\nIf-Match: '
      .split("|"),
    ..."\nIf-Modified-Since: Thu, 01 Jan 2099 00:00:00 GMT|\nIf-Unmodified-Since: Thu, 01 Jan 1970 00:00:00 GMT".split(
      "|",
    ),
    ...'\nAvailable-Dictionary: :AA==:|\nDictionary-ID: "x"|%00|%c3%a9%20x.txt|?a|//|\\'.split("|"),
  ],

  seeds(): Uint8Array[] {
    return [
      "GET /app.js\nAccept-Encoding: gzip, br;q=0.5\nRange: bytes=3-10, 20-",
      'GET /\nIf-None-Match: "x", W/"y"\nIf-Modified-Since: Thu, 01 Jan 2099 00:00:00 GMT',
      "HEAD /docs/%C3%A9%20x.txt?q\nRange: bytes=-2",
      "GET /docs/../docs\nAccept-Encoding: br",
      "OPTIONS /empty.txt",
      'GET /empty.txt\nRange: bytes=0-\nIf-Range: "x"\nIf-Match: *',
    ].map((text) => Uint8Array.from(Buffer.from(text, "latin1")));
  },

  async check(input): Promise<string> {
    const request = requestOf(input);
    if (request === undefined) return "no request";
    const response = await (await open()).fetch(request);
    const body = Buffer.from(await response.arrayBuffer());
    requireSound(request, response, body);
    const method = ["GET", "HEAD", "OPTIONS"].find((name) => name === request.method) ?? "other";
    return `${method} ${response.status} ${response.headers.get("content-encoding") ?? ""}`;
  },
};
