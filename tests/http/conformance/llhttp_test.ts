import assert from "node:assert/strict";
import process from "node:process";
import test from "node:test";
import { isDeepStrictEqual } from "node:util";
import { ResponseFault } from "../../../lib/http/h1/header_section.ts";
import { ResponseReader } from "../../../lib/http/h1/response_reader.ts";
import { type LlhttpCase, llhttpCases } from "./llhttp.ts";

const root = process.env.LLHTTP_ROOT;

const OTHERS = "another protocol than HTTP/1.0 and HTTP/1.1";
const EMPTY_LINE =
  "an empty line before a response: RFC 9112, section 2.2, has servers pass over one, and clients do not expect any";
const NOT_LAST =
  "`chunked` that is not the last coding is refused rather than read to the connection's end (RFC 9112, 6.1)";
const EXTENSION = "what a chunk's extension says is passed over, up to its CRLF";

/** Responses that are read otherwise, and why. */
const differences: Readonly<Record<string, string>> = {
  "sample: RTSP response": OTHERS,
  "sample: ICE response": OTHERS,
  "sample: HTTP version 0.9": OTHERS,
  "sample: Response starting with CRLF": EMPTY_LINE,
  "connection: HTTP 304 with Content-Length": EMPTY_LINE,
  "connection: HTTP 100 first, then 400": EMPTY_LINE,
  "pipelining: Should parse multiple events": EMPTY_LINE,
  "connection: HTTP/1.1 with keep-alive disabled and 204 status":
    "the connection's owner closes it after `connection: close`, whatever follows",
  "transfer-encoding: `chunked` before other transfer-encoding": NOT_LAST,
  "transfer-encoding: multiple transfer-encoding where chunked is not the last one": NOT_LAST,
  "transfer-encoding: `chunkedchunked` transfer-encoding does not enable chunked enconding": NOT_LAST,
  "transfer-encoding: No extension after semicolon": EXTENSION,
  "transfer-encoding: Unbalanced chunk extensions quoting": EXTENSION,
};

/** Reads a case's input as the responses to successive GET requests, by this package's reader. */
function readByOurs({ input }: LlhttpCase): { statuses: number[]; body: string; isRefused: boolean } {
  const result = { statuses: [] as number[], body: "", isRefused: false };
  const reader: ResponseReader = new ResponseReader({
    onInformational: ({ status }) => void result.statuses.push(status),
    onResponseHead: ({ status }) => void result.statuses.push(status),
    onResponseData: (data) => void (result.body += new TextDecoder().decode(data)),
    onResponseEnd: () => reader.expect("GET"),
    onSurplus: () => {},
  }, 65_536);
  reader.expect("GET");
  try {
    reader.read(input);
  } catch (error) {
    if (!(error instanceof ResponseFault)) throw error;
    result.isRefused = true;
  }
  return result;
}

test("llhttp's responses are read as llhttp does, but for named differences", {
  skip: root ? false : "LLHTTP_ROOT names no checkout of llhttp",
}, () => {
  const cases = llhttpCases(root!);
  assert.ok(cases.length >= 60, `only ${cases.length} cases`);
  const differing = cases.flatMap((each) => {
    const ours = readByOurs(each);
    const { statuses, body, isRefused } = each;
    // The events before that depend on how many bytes are parsed together: a head is reported when it is whole.
    if (isRefused && (ours.isRefused || ours.statuses.length === 0)) return [];
    return isDeepStrictEqual(ours, { statuses, body, isRefused }) ? [] : [each.name];
  });
  assert.deepEqual(differing.sort(), Object.keys(differences).sort());
});
