import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { isLong } from "../../../support/long_run.ts";
import { runtime } from "../../../support/runtime.ts";
import { runCurl } from "../../same_tree/curl.ts";
import { type Endpoint, optionsFor, visiting } from "../endpoint.ts";
import { certificateFile } from "../files.ts";
import { pattern } from "../pattern.ts";
import { programPath } from "../processes.ts";
import { sha256 } from "./bodies.ts";

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body?: Uint8Array<ArrayBuffer>;
  readonly fields?: Readonly<Record<string, string>>;
}

interface Answered {
  readonly status: number;
  readonly fields: readonly (readonly [string, string])[];
  readonly sha256: string;
}

const requests: readonly Asked[] = [
  { method: "GET", path: "/hello" },
  { method: "GET", path: "/hello", fields: { "if-none-match": '"hello-1"' } },
  { method: "HEAD", path: "/bytes?n=70000" },
  { method: "GET", path: "/bytes?n=70000" },
  { method: "GET", path: "/stream?n=200000" },
  { method: "GET", path: "/encoded?as=gzip" },
  { method: "GET", path: "/status?code=204" },
  { method: "GET", path: "/nothing/there" },
  { method: "GET", path: "/redirect?code=307&to=/hello" },
  { method: "POST", path: "/mirror", body: pattern(150_000), fields: { "content-type": "application/x-pattern" } },
  { method: "PUT", path: "/digest", body: pattern(3) },
  { method: "DELETE", path: "/mirror" },
];

/** Fields that belong to a connection or a moment. */
const PASSING = new Set(["date", "connection", "keep-alive", "transfer-encoding"]);

const flags: Readonly<Record<Endpoint["kind"], string>> = {
  h2: "--http2",
  h2c: "--http2-prior-knowledge",
  h1: "--http1.1",
  h1s: "--http2",
};

const noCurl: string | false = !programPath("curl")
  ? "curl is not installed"
  : runtime !== "node" && !isLong && "responses are compared with curl's on Node";

/** Tests that curl and this package's client receive the same responses. */
export function testCurl(endpoint: Endpoint): void {
  const { name, kind } = endpoint;
  const skip = endpoint.skip || noCurl;

  test(`${name}: curl has the same statuses, header fields and bytes`, { skip }, async () => {
    const expected = await askedByCurl(endpoint);
    await visiting({ ...optionsFor(kind), decompress: false }, endpoint.origin(), async ({ client, origin }) => {
      for (const [i, { method, path, body, fields }] of requests.entries()) {
        const headers = { accept: "*/*", ...fields };
        const response = await client.fetch(`${origin}${path}`, { method, body, headers, redirect: "manual" });
        const digest = sha256(await response.bytes());
        const actual: Answered = { status: response.status, fields: lasting(response.headers), sha256: digest };
        assert.deepEqual(actual, expected[i], `${method} ${path}`);
      }
    });
  });
}

function lasting(headers: Headers): [string, string][] {
  return [...headers].filter(([name]) => !PASSING.has(name));
}

async function askedByCurl({ kind, origin }: Endpoint): Promise<Answered[]> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-curl-"));
  try {
    const words = await Promise.all(
      requests.map((asked, i) => wordsFor(asked, kind, origin(), join(folder, String(i)))),
    );
    // curl 7.88 reuses no connection that speaks h2 by prior knowledge.
    if (kind === "h2c") await Promise.all(words.map(runCurl));
    else await runCurl(words.flatMap((one, i) => i > 0 ? ["--next", ...one] : one));
    return await Promise.all(requests.map((_, i) => answered(join(folder, String(i)))));
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function wordsFor(asked: Asked, kind: Endpoint["kind"], origin: string, place: string): Promise<string[]> {
  const { method, path, body, fields } = asked;
  const words = ["--silent", "--show-error", "--max-time", "20", "--cacert", certificateFile("ca.pem"), flags[kind]];
  words.push("--dump-header", `${place}.head`);
  words.push(...(method === "HEAD" ? ["--head", "--output", "/dev/null"] : ["--output", `${place}.body`]));
  if (method !== "HEAD") words.push("--request", method);
  if (body) {
    await writeFile(`${place}.sent`, body);
    words.push("--data-binary", `@${place}.sent`, "--header", "content-type:", "--header", "expect:");
  }
  for (const [name, value] of Object.entries(fields ?? {})) words.push("--header", `${name}: ${value}`);
  return [...words, `${origin}${path}`];
}

async function answered(place: string): Promise<Answered> {
  const [statusLine, ...lines] = (await readFile(`${place}.head`, "latin1")).trimEnd().split("\r\n");
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  // curl makes no file for a body that is empty.
  const body = await readFile(`${place}.body`).catch(() => new Uint8Array(0));
  return { status: Number(statusLine.split(" ")[1]), fields: lasting(headers), sha256: sha256(body) };
}
