import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { KnownRepresentation } from "./known_site.ts";

/** An answer of either entry point. */
export interface GivenAnswer {
  readonly status: number;
  readonly field: (name: string) => string | undefined;
  readonly body: Uint8Array;
}

/**
 * Checks that an answer fits itself and its file, for any request. It has the right bytes of the right representation,
 * as many as it says, and no body where none is allowed.
 *
 * @throws {AssertionError} if it does not.
 */
export function assertConsistent(known: readonly KnownRepresentation[], method: string, answer: GivenAnswer): void {
  const check = checks[answer.status];
  assert.ok(check, `unexpected status ${answer.status}`);
  const length = answer.field("content-length");
  if (method === "HEAD" || answer.status === 304) assert.equal(answer.body.length, 0);
  else assert.equal(length, String(answer.body.length));
  check(known, method, answer);
  if (known.length > 1 && answer.status !== 416 && answer.status !== 412) assertVary(known, answer);
}

type Check = (known: readonly KnownRepresentation[], method: string, answer: GivenAnswer) => void;

const checks: Readonly<Record<number, Check>> = {
  200: (known, method, answer) => {
    const { bytes, tag } = chosen(known, answer);
    assert.equal(answer.field("etag"), tag);
    assert.equal(answer.field("content-length"), String(bytes.length));
    if (method === "GET") assert.ok(Buffer.from(bytes).equals(answer.body), "not the representation's bytes");
  },
  206: (known, method, answer) => {
    const { bytes, tag } = chosen(known, answer);
    assert.equal(method, "GET");
    assert.equal(answer.field("etag"), tag);
    const boundary = /^multipart\/byteranges; *boundary="?([^"]+)"?$/.exec(answer.field("content-type") ?? "")?.[1];
    if (boundary === undefined) assertSlice(bytes, answer.field("content-range"), answer.body);
    else assertParts(bytes, boundary, answer);
  },
  304: (known, _, answer) => {
    assert.ok(known.some(({ tag }) => tag === answer.field("etag")), "not a tag of the file's");
    assert.equal(answer.field("content-length"), undefined);
  },
  406: (_, __, answer) => assert.equal(answer.field("content-encoding"), undefined),
  412: (_, __, answer) => assert.equal(answer.field("content-range"), undefined),
  416: (known, method, answer) => {
    assert.equal(method, "GET");
    const sizes = known.map(({ bytes }) => `bytes */${bytes.length}`);
    assert.ok(sizes.includes(answer.field("content-range") ?? ""), `${answer.field("content-range")} is not its size`);
  },
};

function chosen(known: readonly KnownRepresentation[], answer: GivenAnswer): KnownRepresentation {
  const coding = answer.field("content-encoding") ?? "identity";
  const representation = known.find((one) => one.coding === coding);
  assert.ok(representation, `there is no ${coding} of this file`);
  return representation;
}

function assertSlice(bytes: Uint8Array, range: string | undefined, slice: Uint8Array): void {
  const [, start, end, size] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(range ?? "") ?? [];
  assert.equal(Number(size), bytes.length, `Content-Range: ${range}`);
  assert.ok(Number(start) <= Number(end) && Number(end) < bytes.length, `Content-Range: ${range}`);
  assert.ok(Buffer.from(bytes.subarray(Number(start), Number(end) + 1)).equals(slice), `not the bytes of ${range}`);
}

/** RFC 9110, section 14.6: each part says which bytes it has. */
function assertParts(bytes: Uint8Array, boundary: string, answer: GivenAnswer): void {
  assert.equal(answer.field("content-range"), undefined);
  const [before, ...parts] = Buffer.from(answer.body).toString("latin1").split(`--${boundary}`);
  assert.equal(before.replace("\r\n", ""), "");
  assert.match(parts.pop()!, /^--(\r\n)?$/);
  assert.ok(parts.length >= 2, "a multipart body of one part");
  for (const part of parts) {
    const [, head, slice] = /^\r\n(.*?)\r\n\r\n([^]*)\r\n$/s.exec(part)!;
    const range = /^content-range: *(.*)$/im.exec(head)?.[1].trim();
    assertSlice(bytes, range, Buffer.from(slice, "latin1"));
  }
}

function assertVary(known: readonly KnownRepresentation[], answer: GivenAnswer): void {
  const vary = (answer.field("vary") ?? "").toLowerCase().split(/ *, */);
  assert.ok(vary.includes("accept-encoding"), `Vary: ${vary} of a file with variants`);
  if (known.some(({ coding }) => coding.startsWith("dc"))) {
    assert.ok(vary.includes("available-dictionary"), `Vary: ${vary} of a file with deltas`);
  }
}
