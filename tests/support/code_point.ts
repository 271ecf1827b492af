import fc from "fast-check";

/**
 * Any character of Unicode as a unit of `fc.string()`, which for its own `binary` lists all of them first: two seconds of
 * a processor for each process.
 */
export const codePoint: fc.Arbitrary<string> = fc.oneof(
  fc.integer({ min: 0, max: 0xd7ff }),
  fc.integer({ min: 0xe000, max: 0x10ffff }),
).map((number) => String.fromCodePoint(number));
