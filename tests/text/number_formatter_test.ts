import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { MAX_LINE_LENGTH, NumberFormatter } from "../../lib/text/internal.ts";
import { tries } from "../support/long_run.ts";

function formatted(numbers: readonly unknown[], formatter = new NumberFormatter()): string {
  const bytes = new Uint8Array((numbers.length + 1) * MAX_LINE_LENGTH);
  formatter.format(numbers, 0, bytes, 0);
  assert.equal(formatter.next, numbers.length);
  return new TextDecoder().decode(bytes.subarray(0, formatter.end));
}

const lines = (numbers: readonly number[]): string => numbers.map((number) => `${number}\n`).join("");

/** Decimals as people write them, of few digits. */
const short = fc.tuple(fc.integer(), fc.integer({ min: 0, max: 9 })).map(([digits, decimals]) =>
  Number(`${digits}e-${decimals}`)
);
const fraction = fc.double({ noNaN: true, min: -(2 ** 53 - 1), max: 2 ** 53 - 1 });
const number = fc.oneof(fc.integer(), fc.maxSafeInteger(), fc.integer({ min: -20_000, max: 20_000 }), short, fraction);

test("NumberFormatter writes numbers as String() does", () => {
  fc.assert(fc.property(fc.array(number), (numbers) => assert.equal(formatted(numbers), lines(numbers))), {
    numRuns: tries(1000),
  });
});

test("NumberFormatter writes every length of integer, at each border", () => {
  const powers = Array.from({ length: 16 }, (_, exponent) => 10 ** exponent);
  const integers = powers.flatMap((power) => [power - 1, power, power + 1, 9 * power]);
  const numbers = [...integers, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 53 - 1].flatMap((number) => [number, -number]);
  assert.equal(formatted(numbers), lines(numbers));
});

test("NumberFormatter writes the longest lines there are within their bound", () => {
  const numbers = [-0.0000012345678901234567, -2.2250738585072014e-308, 5e-324, -(2 ** 53 - 1), -0];
  assert.equal(formatted(numbers), lines(numbers));
  assert.equal(Math.max(...numbers.map((number) => `${number}\n`.length)), MAX_LINE_LENGTH);
});

test("NumberFormatter stops when the bytes are full, and goes on where it stopped", () => {
  fc.assert(fc.property(fc.array(number), fc.integer({ min: MAX_LINE_LENGTH, max: 200 }), (numbers, size) => {
    const formatter = new NumberFormatter();
    let text = "";
    for (let next = 0; next < numbers.length; next = formatter.next) {
      const bytes = new Uint8Array(size + 3).subarray(3);
      formatter.format(numbers, next, bytes, 0);
      assert.ok(formatter.next > next && formatter.end <= size);
      text += new TextDecoder().decode(bytes.subarray(0, formatter.end));
    }
    assert.equal(text, lines(numbers));
  }));
});

test("NumberFormatter names what cannot be written, by its index among all", () => {
  const formatter = new NumberFormatter();
  formatted([1, 2, 3], formatter);
  const bytes = new Uint8Array(100);
  assert.throws(() => formatter.format([4, NaN, 5], 0, bytes, 0), {
    name: "RangeError",
    message: "the number at index 4 is NaN: only finite numbers can be written as lines",
  });
  assert.deepEqual([formatter.next, formatter.end], [1, 2]);
});

test("NumberFormatter takes numbers up to 2^53 - 1 in magnitude, and nothing but numbers", () => {
  const message = (value: unknown): string => {
    try {
      return formatted([value]);
    } catch (error) {
      return `${error}`;
    }
  };
  const beyond = "only numbers up to 2^53 - 1 in magnitude can be written as lines";
  const other = "only numbers can be written as lines";
  assert.equal(message(-Infinity).split(":")[1], " the number at index 0 is -Infinity");
  assert.equal(message(2 ** 53), `RangeError: the number at index 0 is 9007199254740992: ${beyond}`);
  assert.equal(message(-1e300), `RangeError: the number at index 0 is -1e+300: ${beyond}`);
  assert.equal(message("12"), `TypeError: the number at index 0 is "12": ${other}`);
  assert.equal(message(12n), `TypeError: the number at index 0 is the bigint 12: ${other}`);
  assert.equal(message([1]), `TypeError: the number at index 0 is an Array: ${other}`);
  assert.equal(message(undefined), `TypeError: the number at index 0 is undefined: ${other}`);
  assert.equal(message(Object.create(null)), `TypeError: the number at index 0 is an object: ${other}`);
});
