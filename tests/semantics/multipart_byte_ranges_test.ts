import assert from "node:assert/strict";
import test from "node:test";
import { multipartByteRanges } from "../../lib/semantics/byte_ranges.ts";

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

test("multipartByteRanges() frames each range as RFC 9110, section 15.3.7.2, shows", () => {
  const ranges = [{ start: 500, end: 1000 }, { start: 7000, end: 8000 }];
  const { contentType, parts, tail } = multipartByteRanges(ranges, 8000, "application/pdf");
  const boundary = /^multipart\/byteranges; boundary=([0-9a-f]{32})$/.exec(contentType)?.[1];
  assert.ok(boundary);
  assert.deepEqual(parts.map(({ range }) => range), ranges);
  assert.equal(
    text(parts[0].head),
    `--${boundary}\r\nContent-Type: application/pdf\r\nContent-Range: bytes 500-999/8000\r\n\r\n`,
  );
  assert.equal(
    text(parts[1].head),
    `\r\n--${boundary}\r\nContent-Type: application/pdf\r\nContent-Range: bytes 7000-7999/8000\r\n\r\n`,
  );
  assert.equal(text(tail), `\r\n--${boundary}--\r\n`);
});

test("multipartByteRanges() knows the length of the whole body", () => {
  const ranges = [{ start: 0, end: 1 }, { start: 2 ** 40, end: 2 ** 41 }, { start: 5, end: 7 }];
  const { length, parts, tail } = multipartByteRanges(ranges, 2 ** 42, "text/plain; charset=utf-8");
  assert.equal(length, parts.reduce((sum, { head }) => sum + head.length, 0) + tail.length + 3 + 2 ** 40);
});

test("multipartByteRanges() makes a boundary that cannot be foreseen", () => {
  const ranges = [{ start: 0, end: 1 }, { start: 2, end: 3 }];
  const types = Array.from({ length: 100 }, () => multipartByteRanges(ranges, 3, "text/plain").contentType);
  assert.equal(new Set(types).size, 100);
});
