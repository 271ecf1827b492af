import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { ifMatchHolds, ifNoneMatchLists } from "../../lib/semantics/preconditions.ts";

const cases: readonly (readonly [field: string, tag: string, strong: boolean, weak: boolean])[] = [
  // RFC 9110, section 8.8.3.2: the table of comparisons.
  ['W/"1"', 'W/"1"', false, true],
  ['W/"1"', 'W/"2"', false, false],
  ['W/"1"', '"1"', false, true],
  ['"1"', '"1"', true, true],
  ['"1"', 'W/"1"', false, true],
  ["*", '"1"', true, true],
  [" *\t", '"1"', true, true],
  ['"a", "1"', '"1"', true, true],
  ['"1","a"', '"1"', true, true],
  ['"a" ,\t"b" , W/"1"', '"1"', false, true],
  ['W/"1", "1"', '"1"', true, true],
  [',, "1",', '"1"', true, true],
  [' "1" ', '"1"', true, true],
  ['""', '""', true, true],
  ['"a,b", "c"', '"a,b"', true, true],
  ['"a,b", "c"', '"b"', false, false],
  ['"a, b"', '"b"', false, false],
  ['"é"', '"é"', true, true],
  ['"a\\", "1"', '"1"', true, true],
  ["", '"1"', false, false],
  ['"11"', '"1"', false, false],
  // Malformed: what is before the fault counts.
  ["1", '"1"', false, false],
  ['w/"1"', '"1"', false, false],
  ['W/ "1"', '"1"', false, false],
  ['"a" "1"', '"1"', false, false],
  ['"a"x, "1"', '"1"', false, false],
  ['"1', '"1"', false, false],
  ['1"', '"1"', false, false],
  ['"a", *', '"1"', false, false],
  ['*, "a"', '"1"', false, false],
  ['"1", oops', '"1"', true, true],
  ['oops, "1"', '"1"', false, false],
  ['"1"x', '"1"', false, false],
  ['x"1"', '"1"', false, false],
];

for (const [field, tag, strong, weak] of cases) {
  test(`If-Match: ${field} ${strong ? "holds" : "does not hold"} for ${tag}`, () => {
    assert.equal(ifMatchHolds(field, tag), strong);
  });
  test(`If-None-Match: ${field} ${weak ? "lists" : "does not list"} ${tag}`, () => {
    assert.equal(ifNoneMatchLists(field, tag), weak);
  });
}

test("tags are found in lists of a megabyte, whatever is around them", () => {
  const fillers = [",", " ", "\t,", '"a",', 'W/"a" , ', '"",', '" ,",'];
  for (const filler of fillers) {
    const long = filler.repeat(1_000_000 / filler.length);
    assert.equal(ifMatchHolds(`${long}"1"`, '"1"'), true, filler);
    assert.equal(ifNoneMatchLists(`${long}W/"1"`, '"1"'), true, filler);
    assert.equal(ifNoneMatchLists(`${long}"2", ""x"1"`, '"1"'), false, filler);
  }
});

test("unbalanced quotes of a megabyte list nothing", () => {
  for (const filler of ['"', "W/", 'W/"', '"1', '1"', "\\", "*"]) {
    const long = filler.repeat(1_000_000 / filler.length);
    assert.equal(ifMatchHolds(`${long}`, '"tag"'), false, filler);
    assert.equal(ifNoneMatchLists(`x${long}"tag"`, '"tag"'), false, filler);
  }
});

test("a list of any tags has those that are in it, compared weakly or strongly", () => {
  const opaque = fc.string({ unit: fc.constantFrom("a", "b", ",", "W", "/", "!", "~"), maxLength: 3 });
  const tag = fc.tuple(fc.boolean(), opaque).map(([weak, text]) => ({ weak, text: `"${text}"` }));
  const separator = fc.constantFrom(",", ", ", " ,\t", ",,", ", ,");
  fc.assert(fc.property(fc.array(tag), tag, separator, (members, sought, between) => {
    const field = members.map(({ weak, text }) => (weak ? "W/" : "") + text).join(between);
    const same = members.filter(({ text }) => text === sought.text);
    const written = (sought.weak ? "W/" : "") + sought.text;
    assert.equal(ifNoneMatchLists(field, written), same.length > 0);
    assert.equal(ifMatchHolds(field, written), !sought.weak && same.some(({ weak }) => !weak));
  }));
});
