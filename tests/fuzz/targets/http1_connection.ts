import assert from "node:assert/strict";
import process from "node:process";
import { HttpError } from "../../../lib/http/http_error.ts";
import { llhttpCases } from "../../http/conformance/llhttp.ts";
import { bytesOf } from "../../http/h1/memory_transport.ts";
import { bytesBody, type Recorder } from "../../http/h1/recorder.ts";
import { settled, Talk } from "../../http/h1/talk.ts";
import { choices, cut, type Target } from "../target.ts";
import { http1 } from "./http1.ts";

/**
 * The reported events of a request. Of a fault only that there was one: which of two is seen first depends on where the
 * bytes are cut.
 */
function told({ informational, head, body, trailers, error }: Recorder): string {
  if (error !== undefined) return JSON.stringify([informational, head, "failed"]);
  return JSON.stringify([informational, head, body, trailers]);
}

/**
 * Sends bytes twice to a connection with three pending requests, and a fourth request in between if the connection is
 * free. Returns the reported events.
 */
async function converse(pieces: readonly Uint8Array[]): Promise<string[]> {
  const talk = new Talk({ pipelining: 3, maxHeaderSize: 2000 });
  const recorders = ["GET", "HEAD", "GET"].map((method) => talk.send(method));
  for (const piece of pieces) talk.transport.giveBytes(Uint8Array.from(piece));
  if (talk.connection.free > 0 && talk.connection.active === 0) recorders.push(talk.send("POST", bytesBody("abc")));
  await settled();
  for (const piece of pieces) talk.transport.giveBytes(Uint8Array.from(piece));
  talk.transport.finish();
  await talk.end();
  for (const { calls, error } of recorders) {
    assert.match(calls.at(-1) ?? "", /^on(End|Fail)$/, "a request without an end");
    assert.ok(error === undefined || error instanceof HttpError, `not an HttpError: ${error}`);
  }
  assert.equal(talk.connection.active, 0, "requests are left");
  assert.deepEqual(talk.owner.calls.filter((call) => call === "onClosed"), ["onClosed"]);
  return recorders.map(told);
}

/** Bytes of a server, on a connection of HTTP/1.1 with pending requests; the bytes come twice. */
export const http1Connection: Target = {
  name: "http1-connection",
  what: "a connection of HTTP/1.1: each request is told one end, the same however the bytes are cut",
  maxSize: 4000,
  tokens: http1.tokens,

  async seeds(): Promise<readonly Uint8Array[]> {
    const answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
    const root = process.env.LLHTTP_ROOT;
    const others = root === undefined ? [] : llhttpCases(root).map(({ input }) => input);
    return [...await http1.seeds(), bytesOf(`${answer}hello${answer}${answer}world`), ...others];
  },

  async check(input): Promise<string> {
    const whole = await converse([Uint8Array.from(input)]);
    assert.deepEqual(await converse(cut(input, choices(input))), whole, "another story when cut");
    return whole.map((story) => !story.endsWith('"failed"]') ? "whole" : story.includes("status") ? "cut" : "none")
      .join(" ");
  },
};
