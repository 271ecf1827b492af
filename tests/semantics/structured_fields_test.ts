import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { parseDictionary } from "../../lib/semantics/structured_fields.ts";
import { tries } from "../support/long_run.ts";

const text = (bytes: Uint8Array | undefined) => bytes && new TextDecoder().decode(bytes);

/** Returns the members of a dictionary, byte sequences as text. */
function parsed(field: string): Record<string, string | undefined> {
  return Object.fromEntries([...parseDictionary(field)].map(([key, value]) => [key, text(value)]));
}

const right: Readonly<Record<string, Record<string, string | undefined>>> = {
  "": {},
  "   ": {},
  "a=:aGVsbG8=:": { a: "hello" },
  "  a=:aGVsbG8=:  ": { a: "hello" },
  "a=:aGVsbG8=:,b=:d29ybGQ=:": { a: "hello", b: "world" },
  "a=:aGVsbG8=: ,\t b=:d29ybGQ=:": { a: "hello", b: "world" },
  "a=:aGVsbG8=:, a=:d29ybGQ=:": { a: "world" },
  "a=:aGVsbG8=:, a": { a: undefined },
  "a=::": { a: "" },
  "a=:aGVsbG8:": { a: "hello" },
  "a=:aGVsbG9=:": { a: "hello" },
  "a=:aA==:": { a: "h" },
  "a=:aP:": { a: "h" },
  "a=:aGVsbG8=:;x=1;y;z=?0;  w=:AA==:": { a: "hello" },
  "*a-b_c.1*=:aGVsbG8=:": { "*a-b_c.1*": "hello" },
  "a": { a: undefined },
  "a;x=1, b": { a: undefined, b: undefined },
  "a=?1": { a: undefined },
  "a=0": { a: undefined },
  "a=-999999999999999": { a: undefined },
  "a=123456789012.125": { a: undefined },
  "a=@1659578233": { a: undefined },
  "a=@-1": { a: undefined },
  'a="a \\"quoted\\" \\\\ string"': { a: undefined },
  'a=%"f%c3%bc%c3%bc"': { a: undefined },
  "a=token/with:all!#$%&'*+-.^_`|~": { a: undefined },
  "a=*": { a: undefined },
  'a=(), b=( 1 2.5  "x";q=1 ?0 );p, c=(:AA==:)': { a: undefined, b: undefined, c: undefined },
};

for (const [field, members] of Object.entries(right)) {
  test(`the dictionary ${JSON.stringify(field)} is read`, () => {
    assert.deepEqual(parsed(field), members);
  });
}

const wrong: readonly string[] = [
  ",",
  "a=:AA==:,",
  "a=:AA==:, ",
  "a=:AA==:,,b",
  ",a",
  "\ta",
  "a=",
  "a= :AA==:",
  "a =:AA==:",
  "a=:AA==: b",
  "a=:AA==:x",
  "A=:AA==:",
  "1a",
  "-a",
  "ä=1",
  "=:AA==:",
  "a=:AA==",
  "a=AA==:",
  "a=:A A==:",
  "a=:AA==\n:",
  "a=:A-_=:",
  "a=:=AAA:",
  "a=:AA=A:",
  "a=:AA===:",
  "a=:AA=:",
  "a=:AAA==:",
  "a=:AAAA=:",
  "a=:A:",
  "a=:A===:",
  "a=:é:",
  "a=:AA==:;",
  "a=:AA==:;X",
  "a=:AA==:;x=",
  "a=:AA==: ;x",
  "a=?2",
  "a=?",
  "a=-",
  "a=1.",
  "a=1.1234",
  "a=1234567890123.1",
  "a=1234567890123456",
  "a=@1.5",
  "a=@",
  'a="x',
  'a="\\x"',
  'a="\u007f"',
  'a="é"',
  'a=%"%c3"',
  'a=%"%C3%BC"',
  'a=%"%"',
  'a=%"é"',
  "a=%x",
  "a=(",
  "a=(1",
  "a=(1,2)",
  "a=(1\t2)",
  "a=(1(2))",
  "a=(()",
  "a=())",
];

for (const field of wrong) {
  test(`the dictionary ${JSON.stringify(field)} is malformed`, () => {
    assert.throws(() => parseDictionary(field), SyntaxError);
  });
}

test("a dictionary may have members named as what every object has", () => {
  const members = parseDictionary("constructor, tostring=:AA==:");
  assert.deepEqual([...members.keys()], ["constructor", "tostring"]);
});

test("what a dictionary lacks is told with its position", () => {
  assert.throws(() => parseDictionary("a=:AA==: b"), { message: '"," is missing at position 9, where "b" is' });
  assert.throws(() => parseDictionary("a="), { message: "a value is missing at position 2, where the end is" });
});

test("any bytes come back from a byte sequence, with padding and without", () => {
  fc.assert(fc.property(fc.uint8Array(), (bytes) => {
    const base64 = btoa(String.fromCharCode(...bytes));
    for (const form of [base64, base64.replaceAll("=", "")]) {
      assert.deepEqual(parseDictionary(`x=:${form}:`).get("x"), bytes);
    }
  }));
});

test("any text is read or refused, in time that grows no faster than the text", () => {
  const characters = fc.constantFrom(...'ab=:;, \t()"\\?%@-.1*A/+é'.split(""));
  fc.assert(
    fc.property(fc.string({ unit: characters, maxLength: 40 }), (field) => {
      try {
        assert.ok(parseDictionary(field) instanceof Map);
      } catch (error) {
        assert.ok(error instanceof SyntaxError, String(error));
      }
    }),
    { numRuns: tries(2000) },
  );
  for (const part of ["a,", "a;", "(", "a=(1 ", " ", 'a="\\\\', "a=:AAAA", "a=1", 'a=%"%c3', "a=b"]) {
    const field = part.repeat(100_000);
    try {
      parseDictionary(field);
    } catch (error) {
      assert.ok(error instanceof SyntaxError, `${part}: ${error}`);
    }
  }
});
