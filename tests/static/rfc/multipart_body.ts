import assert from "node:assert/strict";
import { Buffer } from "node:buffer";

/** A part of a multipart body. */
export interface BodyPart {
  /** The fields by lower-case name. */
  readonly fields: ReadonlyMap<string, string>;
  readonly bytes: Uint8Array;
}

/**
 * Takes a multipart body apart, to the letter of RFC 2046, section 5.1.1.
 *
 * @throws {AssertionError} if it is not a multipart body.
 */
export function bodyParts(body: Uint8Array, boundary: string): BodyPart[] {
  const text = Buffer.from(body).toString("latin1");
  const delimiter = `\r\n--${boundary}`;
  const [preamble, ...pieces] = `\r\n${text}`.split(delimiter);
  assert.equal(preamble, "", "nothing is before the first part");
  assert.match(pieces.pop() ?? "", /^--(?:\r\n)?$/, "the last delimiter closes the body");
  return pieces.map((piece) => {
    const end = piece.indexOf("\r\n\r\n");
    assert.ok(piece.startsWith("\r\n") && end > 0, "a part has fields and content");
    const lines = piece.slice(2, end).split("\r\n").map((line) => /^([\w-]+): (.*)$/.exec(line));
    const fields = new Map(lines.map((line) => [line![1].toLowerCase(), line![2]]));
    assert.equal(fields.size, lines.length, "no field comes twice");
    return { fields, bytes: new Uint8Array(Buffer.from(piece.slice(end + 4), "latin1")) };
  });
}
