import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import process from "node:process";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { buildResponse } from "../../../lib/http/response/decoded_body.ts";
import { resolveOptions } from "../../../lib/http/http_client_options.ts";
import { HttpError, type HttpResponse } from "../../../lib/http/mod.ts";
import { readRequest } from "../../../lib/http/request/fetch_request.ts";
import { type BodyControl, type Failure, ResponseBody } from "../../../lib/http/response/response_body.ts";
import { turn, within } from "../../support/waits.ts";

/** Text that hardly compresses. */
const CONTENT = Buffer.from(createHash("shake256", { outputLength: 40_000 }).update("mill").digest("hex"));
const ZIPPED = gzipSync(CONTENT);
const ABORTED = new Error("aborted");
const LOST = new Error("lost");
const CANCELLED = new Error("cancelled");

/** The faults of a body, and their times. */
const TROUBLES = [
  "none",
  "limit",
  "integrity",
  "abort before",
  "abort after clone",
  "abort amid",
  "lost",
  "corrupt",
  "cut coding",
] as const;
type Trouble = (typeof TROUBLES)[number];

/** The time at which the bytes come: all before the response is made, all after it is read, or half and half. */
const ARRIVALS = ["before", "after", "half"] as const;
type Arrival = (typeof ARRIVALS)[number];

const CODINGS = ["identity", "gzip"] as const;
type Coding = (typeof CODINGS)[number];

/** Ways to read all of a response; each gives the bytes that it got, and rejects if the body failed. */
const READERS: Record<string, (response: HttpResponse, got: Uint8Array[]) => Promise<void>> = {
  text: async (response, got) => void got.push(Buffer.from(await response.text())),
  bytes: async (response, got) => void got.push(await response.bytes()),
  arrayBuffer: async (response, got) => void got.push(new Uint8Array(await response.arrayBuffer())),
  blob: async (response, got) => void got.push(new Uint8Array(await (await response.blob()).arrayBuffer())),
  "getReader()": async (response, got) => {
    const reader = response.body!.getReader();
    for (let read = await reader.read(); !read.done; read = await reader.read()) got.push(read.value);
  },
  "a BYOB reader": async (response, got) => {
    const reader = response.body!.getReader({ mode: "byob" });
    for (let view = new Uint8Array(5000);;) {
      const { done, value } = await reader.read(view);
      if (done) return;
      got.push(value.slice());
      view = new Uint8Array(value.buffer);
    }
  },
  "for await": async (response, got) => {
    for await (const chunk of response.body!) got.push(chunk);
  },
  "pipeTo()": async (response, got) => {
    await response.body!.pipeTo(new WritableStream({ write: (chunk) => void got.push(chunk) }));
  },
  "new Response()": async (response, got) => void got.push(await new Response(response.body).bytes()),
  "cancel()": async (response) => {
    const reader = response.body!.getReader();
    await reader.read();
    await Promise.all([reader.cancel(CANCELLED), assert.rejects(response.text(), TypeError)]);
    throw CANCELLED;
  },
  textStream: async (response, got) => {
    const { textStream } = response as unknown as { textStream(): ReadableStream<string> };
    for await (const text of textStream.call(response)) got.push(Buffer.from(text));
  },
};

/** A connection's end of a body. */
class Exchange implements BodyControl {
  readonly body: ResponseBody = new ResponseBody(this);
  aborted = false;

  consumed(): void {}

  cancel(): void {}

  revoked(): Failure | undefined {
    return this.aborted ? { reason: ABORTED } : undefined;
  }

  /** Aborts like a call: pending reads and writes fail, and bytes that have arrived are dropped. */
  abort(): void {
    this.aborted = true;
    this.body.fail(ABORTED);
  }
}

interface Case {
  readonly coding: Coding;
  readonly arrival: Arrival;
  readonly trouble: Trouble;
  /** The number of clones that are made. */
  readonly clones: number;
  readonly asksEarly: boolean;
}

function* cases(): Generator<Case> {
  for (const coding of CODINGS) {
    for (const arrival of ARRIVALS) {
      for (const trouble of TROUBLES) {
        if ((trouble === "corrupt" || trouble === "cut coding") && coding === "identity") continue;
        if (trouble === "lost" && arrival === "before") continue; // it has come already
        for (const clones of [0, 1, 2]) {
          for (const asksEarly of [false, true]) yield { coding, arrival, trouble, clones, asksEarly };
        }
      }
    }
  }
}

/** Returns the bytes the server sends. */
function sent({ coding, trouble }: Case): Uint8Array {
  if (coding === "identity") return CONTENT;
  if (trouble === "cut coding") return ZIPPED.subarray(0, ZIPPED.length - 9);
  if (trouble !== "corrupt") return ZIPPED;
  const corrupt = Buffer.from(ZIPPED);
  corrupt.fill(0xff, corrupt.length >> 1);
  return corrupt;
}

function expectedError({ trouble }: Case): (error: unknown) => boolean {
  if (trouble.startsWith("abort")) return (error) => error === ABORTED;
  if (trouble === "lost") return (error) => error === LOST;
  const codes = { limit: "LIMIT_EXCEEDED", integrity: "INTEGRITY_MISMATCH" } as Record<Trouble, string>;
  return (error) => error instanceof HttpError && error.code === (codes[trouble] ?? "DECODING_FAILED");
}

async function run(each: Case, names: readonly string[]): Promise<void> {
  const { coding, arrival, trouble, clones, asksEarly } = each;
  const what = `${JSON.stringify(each)} ${names}`;
  const bytes = sent(each);
  const half = arrival === "before" ? bytes.length : arrival === "half" ? bytes.length >> 1 : 0;
  const digest = createHash("sha256").update(trouble === "integrity" ? "other" : CONTENT).digest("base64");
  const request = readRequest("http://a/", {
    integrity: trouble === "integrity" || trouble === "none" ? `sha256-${digest}` : "",
    maxResponseSize: trouble === "limit" ? CONTENT.length - 1 : Infinity,
  }, resolveOptions({}));
  const exchange = new Exchange();
  const { body } = exchange;
  const push = (from: number, to: number): void => {
    for (let at = from; at < to; at += 7000) body.push(bytes.subarray(at, Math.min(to, at + 7000)));
  };
  const finish = (): void => trouble === "lost" ? body.fail(LOST) : body.end(["x-sum", "42"]);
  push(0, half);
  if (arrival === "before") finish();
  const headers = coding === "gzip" ? ["content-encoding", "gzip"] : [];
  const terms = { decompress: true, redirected: false };
  const response = buildResponse(request, { status: 200, statusText: "", headers }, body, terms);
  const responses = [response];
  if (trouble === "abort before") exchange.abort();
  for (let made = 0; made < clones; made++) responses.push(responses[made].clone());
  if (trouble === "abort after clone") exchange.abort();
  const early = asksEarly ? responses.map(({ trailers }) => trailers) : [];
  const results = responses.map(async (response, at) => {
    const got: Uint8Array[] = [];
    const error = await READERS[names[at]](response, got).then(() => undefined, (error) => ({ error }));
    return { got: Buffer.concat(got), error };
  });
  if (trouble === "abort amid" && arrival !== "before") exchange.abort();
  await turn();
  push(half, bytes.length);
  if (arrival !== "before") finish();
  const isWhole = trouble === "none" || (trouble === "abort amid" && arrival === "before" && coding === "identity");
  const isExpected = expectedError(each);
  for (const [at, { got, error }] of (await within(Promise.all(results), what)).entries()) {
    // Corrupt content may decode to other bytes before its checksum arrives.
    if (trouble !== "corrupt") assert.ok(CONTENT.subarray(0, got.length).equals(got), `other bytes: ${what}`);
    if (error === undefined) assert.equal(got.length, CONTENT.length, `success with ${got.length} bytes: ${what}`);
    if (error?.error === CANCELLED) continue; // cancelled by its reader; the other readers continue
    if (isWhole) assert.equal(error, undefined, what);
    else if (trouble !== "abort amid") {
      assert.ok(error !== undefined && isExpected(error.error), `${error?.error}: ${what}`);
    }
    const { trailers } = responses[at];
    if (asksEarly) assert.equal(trailers, early[at], `other trailers: ${what}`);
    const outcome = await within(trailers.then((fields) => fields.get("x-sum"), (reason) => ({ reason })), what);
    if (error === undefined) assert.equal(outcome, "42", what);
    // Reads from before the loss may have been served.
    else if (!asksEarly) assert.deepEqual(outcome, { reason: error.error }, what);
  }
}

for (const trouble of TROUBLES) {
  test(`a body is read whole, or fails, in every way to read it, cloned or not: ${trouble}`, async () => {
    const names = Object.keys(READERS).filter((name) => name !== "textStream" || !("deno" in process.versions));
    let at = 0;
    for (const each of cases()) {
      if (each.trouble !== trouble) continue;
      for (const first of names) {
        await run(each, [first, names[++at % names.length], names[(at * 3 + 1) % names.length]]);
      }
    }
  });
}
