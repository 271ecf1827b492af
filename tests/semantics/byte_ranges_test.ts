import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { type ByteRange, parseRange } from "../../lib/semantics/byte_ranges.ts";

type Expected = readonly (readonly [start: number, end: number])[] | "unsatisfiable" | "ignored";

const cases: readonly (readonly [field: string, size: number, expected: Expected])[] = [
  // RFC 9110, section 14.1.2.
  ["bytes=0-499", 10_000, [[0, 500]]],
  ["bytes=500-999", 10_000, [[500, 1000]]],
  ["bytes=-500", 10_000, [[9500, 10_000]]],
  ["bytes=9500-", 10_000, [[9500, 10_000]]],
  ["bytes=0-0,-1", 10_000, [[0, 1], [9999, 10_000]]],
  ["bytes= 0-999, 4500-5499, -1000", 10_000, [[0, 1000], [4500, 5500], [9000, 10_000]]],
  ["bytes=500-600,601-999", 10_000, [[500, 1000]]],
  ["bytes=500-700,601-999", 10_000, [[500, 1000]]],
  ["bytes=0-", 10, [[0, 10]]],
  ["bytes=0-0", 1, [[0, 1]]],
  ["bytes=9-9", 10, [[9, 10]]],
  ["bytes=9-99", 10, [[9, 10]]],
  ["bytes=-10", 10, [[0, 10]]],
  ["bytes=-11", 10, [[0, 10]]],
  ["bytes=5-99999999999999999999999999", 10, [[5, 10]]],
  ["bytes=-99999999999999999999999999", 10, [[0, 10]]],
  [`bytes=${"0".repeat(100)}5-${"0".repeat(100)}6`, 10, [[5, 7]]],
  ["BYTES=0-1", 10, [[0, 2]]],
  ["bytes=,0-1, ,\t3-4,", 10, [[0, 2], [3, 5]]],
  ["bytes=3-4,0-1", 10, [[3, 5], [0, 2]]],
  ["bytes=8-8,0-1,7-7,1-3", 10, [[7, 9], [0, 4]]],
  ["bytes=0-1,5-6,0-9", 10, [[0, 10]]],
  ["bytes=0-1,0-1,0-1", 10, [[0, 2]]],
  ["bytes=20-30,0-1", 10, [[0, 2]]],
  ["bytes=-0,0-1", 10, [[0, 2]]],
  ["bytes=10-", 10, "unsatisfiable"],
  ["bytes=10-20", 10, "unsatisfiable"],
  ["bytes=-0", 10, "unsatisfiable"],
  ["bytes=10-,20-30,-0", 10, "unsatisfiable"],
  ["bytes=99999999999999999999999999-", 10, "unsatisfiable"],
  ["bytes=0-", 0, "unsatisfiable"],
  ["bytes=0-0", 0, "unsatisfiable"],
  ["bytes=-0", 0, "unsatisfiable"],
  ["bytes=-1", 0, "ignored"],
  ["", 10, "ignored"],
  ["bytes", 10, "ignored"],
  ["bytes=", 10, "ignored"],
  ["bytes=,", 10, "ignored"],
  ["bytes=-", 10, "ignored"],
  ["bytes=2-1", 10, "ignored"],
  ["bytes=0-1,2-1", 10, "ignored"],
  ["bytes=20-11", 10, "ignored"],
  ["bytes=a-b", 10, "ignored"],
  ["bytes=0", 10, "ignored"],
  ["bytes=0-1-2", 10, "ignored"],
  ["bytes=0 - 1", 10, "ignored"],
  ["bytes=+0-1", 10, "ignored"],
  ["bytes=--1", 10, "ignored"],
  ["bytes=0x0-0x1", 10, "ignored"],
  ["bytes=1e0-2e0", 10, "ignored"],
  ["bytes=0.0-1.0", 10, "ignored"],
  ["bytes=0-1;2-3", 10, "ignored"],
  ["bytes=٣-٤", 10, "ignored"],
  ["bytes 0-1", 10, "ignored"],
  ["bytes =0-1", 10, "ignored"],
  ["0-1", 10, "ignored"],
  ["items=0-1", 10, "ignored"],
  ["kilobytes=0-1", 10, "ignored"],
  ["none=0-1", 10, "ignored"],
];

for (const [field, size, expected] of cases) {
  test(`Range: ${field} of ${size} bytes is ${JSON.stringify(expected)}`, () => {
    const ranges = parseRange(field, size);
    const pairs = typeof ranges === "object" ? ranges.map(({ start, end }) => [start, end]) : ranges ?? "ignored";
    assert.deepEqual(pairs, expected);
  });
}

test("parseRange() takes up to 100 ranges, satisfiable or not", () => {
  const every = (count: number, step: number) => Array.from({ length: count }, (_, i) => `${i * step}-${i * step}`);
  assert.equal(parseRange(`bytes=${every(100, 2).join()}`, 1000)?.length, 100);
  assert.equal(parseRange(`bytes=${every(101, 2).join()}`, 1000), undefined);
  assert.equal(parseRange(`bytes=${every(101, 2).join()}`, 1), undefined);
  assert.equal(parseRange(`bytes=${every(101, 0).join()}`, 1000), undefined);
});

test("parseRange() takes hostile fields of a megabyte", () => {
  const fillers = [" ", "\t", ",", "0", "-", "0-", "-0,", "9", "0-0,", "1-1, ", "\u00ff", "bytes="];
  for (const filler of fillers) {
    const ranges = parseRange(`bytes=${filler.repeat(1_000_000 / filler.length)}`, 10);
    assert.equal(ranges, undefined, filler);
  }
  assert.deepEqual(parseRange(`bytes=${" ,".repeat(500_000)}1-2`, 10), [{ start: 1, end: 3 }]);
});

test("parseRange() covers the bytes that were asked for, each once, within the representation", () => {
  const position = fc.integer({ min: 0, max: 60 });
  const spec = fc.oneof(
    fc.tuple(position, position).map(([first, length]) => [`${first}-${first + length}`, first, first + length + 1]),
    position.map((first) => [`${first}-`, first, Infinity]),
  ) as fc.Arbitrary<[string, number, number]>;
  fc.assert(
    fc.property(fc.array(spec, { minLength: 1, maxLength: 8 }), fc.integer({ min: 1, max: 50 }), (specs, size) => {
      const asked = Array.from(
        { length: size },
        (_, byte) => specs.some(([, start, end]) => start <= byte && byte < end),
      );
      const ranges = parseRange(`bytes=${specs.map(([text]) => text).join(", ")}`, size);
      if (!asked.includes(true)) return assert.equal(ranges, "unsatisfiable");
      const times = new Array<number>(size).fill(0);
      for (const { start, end } of ranges as readonly ByteRange[]) {
        assert.ok(0 <= start && start < end && end <= size);
        for (let byte = start; byte < end; byte++) times[byte]++;
      }
      assert.deepEqual(times, asked.map(Number));
    }),
  );
});
