import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { type AcceptedCodings, acceptedCodings } from "../../lib/semantics/mod.ts";

const nothing: AcceptedCodings = { identity: 0.5, br: 0, zstd: 0, gzip: 0, dcb: 0, dcz: 0 };

const cases: readonly (readonly [field: string | undefined, differs: Partial<AcceptedCodings>])[] = [
  [undefined, { identity: 1000 }],
  ["", {}],
  ["gzip", { gzip: 1000 }],
  ["GZip", { gzip: 1000 }],
  ["x-gzip", { gzip: 1000 }],
  ["gzip, deflate, br, zstd", { gzip: 1000, br: 1000, zstd: 1000 }],
  ["gzip, deflate, br, zstd, dcb, dcz", { gzip: 1000, br: 1000, zstd: 1000, dcb: 1000, dcz: 1000 }],
  ["gzip;q=1.0, identity; q=0.5, *;q=0", { gzip: 1000, identity: 500 }],
  ["br;q=0.9,gzip;q=0.123", { br: 900, gzip: 123 }],
  ["br ; q=0.25\t,\tgzip\t;\tQ=1.", { br: 250, gzip: 1000 }],
  ["br;q=0.001", { br: 1 }],
  ["br;q=0", {}],
  ["br;q=0.000", {}],
  ["identity;q=0", { identity: 0 }],
  ["*;q=0", { identity: 0 }],
  ["*;q=0, identity", { identity: 1000 }],
  ["*;q=0, gzip", { identity: 0, gzip: 1000 }],
  ["*", { identity: 1000, br: 1000, zstd: 1000, gzip: 1000 }],
  ["*;q=0.3, br;q=0", { identity: 300, zstd: 300, gzip: 300 }],
  ["br, *;q=0.1", { identity: 100, br: 1000, zstd: 100, gzip: 100 }],
  ["dcb;q=0, dcz;q=0.5", { dcz: 500 }],
  [",, br ,,", { br: 1000 }],
  ["gzip;q=0.2, gzip;q=0.9", { gzip: 200 }],
  ["compress, lzma, brotli, gzip2", {}],
  // Malformed members are skipped.
  ["br;q=1.1, gzip", { gzip: 1000 }],
  ["br;q=1.001", {}],
  ["br;q=0.1234", {}],
  ["br;q=-1", {}],
  ["br;q=.5", {}],
  ["br;q=", {}],
  ["br;q", {}],
  ["br;", {}],
  ["br;q=0.5;x=1", {}],
  ["br;level=4", {}],
  ["br;q =0.5", {}],
  ["br;q= 0.5", {}],
  ["br gzip", {}],
  ['"br"', {}],
  ["br\u00a0", {}],
  ["*;q=2, br", { br: 1000 }],
  ["bŕ, gzip", { gzip: 1000 }],
];

for (const [field, differs] of cases) {
  test(`acceptedCodings(${JSON.stringify(field)}) is ${JSON.stringify(differs)}`, () => {
    assert.deepEqual(acceptedCodings(field), { ...nothing, ...differs });
    assert.deepEqual(acceptedCodings(field), { ...nothing, ...differs }, "a second time, from the cache");
  });
}

test("acceptedCodings() takes a field that is null as absent", () => {
  assert.deepEqual(acceptedCodings(null), acceptedCodings(undefined));
});

test("acceptedCodings() answers a field again with the same object", () => {
  assert.equal(acceptedCodings("br;q=0.7, gzip"), acceptedCodings("br;q=0.7, gzip"));
});

test("acceptedCodings() keeps a field in use at hand while thousands of others come by", () => {
  const accepted = acceptedCodings("br;q=0.71, gzip");
  for (let i = 0; i < 10_000; i++) {
    acceptedCodings(`gzip, x-${i}`);
    if (i % 100 === 0) assert.equal(acceptedCodings("br;q=0.71, gzip"), accepted);
  }
});

test("acceptedCodings() forgets fields that do not come again", () => {
  const accepted = acceptedCodings("br;q=0.72, gzip");
  for (let i = 0; i < 10_000; i++) acceptedCodings(`zstd, y-${i}`);
  assert.notEqual(acceptedCodings("br;q=0.72, gzip"), accepted);
});

test("acceptedCodings() does not keep long fields", () => {
  const field = `br, ${"x,".repeat(1000)}`;
  assert.notEqual(acceptedCodings(field), acceptedCodings(field));
  assert.deepEqual(acceptedCodings(field), { ...nothing, br: 1000 });
});

test("acceptedCodings() reads hostile fields of a megabyte to their end", () => {
  const fillers = [" ", "\t", ",", ";", "q=", "*", "a", ";q=0", "br;q=1 ;", "\u00ff", '"'];
  for (const filler of fillers) {
    const field = `zstd;q=0.5,${filler.repeat(1_000_000 / filler.length)},gzip`;
    const accepted = acceptedCodings(field);
    assert.deepEqual([accepted.zstd, accepted.gzip], [500, 1000], filler);
  }
  const members = Array.from({ length: 10_000 }, (_, i) => `coding-${i};q=0.${i % 1000}`);
  assert.equal(acceptedCodings([...members, "br"].join(", ")).br, 1000);
});

test("acceptedCodings() finds every weight that a well-formed field gives", () => {
  const names = ["identity", "br", "zstd", "gzip", "dcb", "dcz", "*"] as const;
  const weights = fc.record(
    Object.fromEntries(names.map((name) => [name, fc.integer({ min: 0, max: 1000 })])) as Record<
      typeof names[number],
      fc.Arbitrary<number>
    >,
    { requiredKeys: [] },
  );
  const space = fc.constantFrom("", " ", "\t", "  ");
  fc.assert(fc.property(weights, space, space, (given, before, after) => {
    const field = Object.entries(given)
      .map(([name, weight]) => `${before}${name}${after};${before}q=${(weight / 1000).toFixed(3)}${after}`).join(",");
    const rest = given["*"];
    const expected = Object.fromEntries(
      names.filter((name) => name !== "*").map((name) => {
        const unnamed = name === "identity" ? rest ?? 0.5 : name === "dcb" || name === "dcz" ? 0 : rest ?? 0;
        return [name, given[name] ?? unnamed];
      }),
    );
    assert.deepEqual(acceptedCodings(field), expected);
  }));
});
