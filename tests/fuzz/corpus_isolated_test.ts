import assert from "node:assert/strict";
import test from "node:test";
import { bytesOf, knownInputs } from "./corpus.ts";
import { faultOf } from "./fuzzer.ts";
import { targets } from "./targets/mod.ts";

for (const target of targets) {
  test(`inputs that the fuzzer of ${target.name} begins with are dealt with as promised`, async () => {
    const seeds = await target.seeds();
    assert.ok(seeds.length > 0);
    for (const [index, input] of seeds.entries()) {
      const { error } = await faultOf(target, input);
      if (error !== undefined) throw new Error(`seed ${index} of ${target.name}`, { cause: error });
    }
  });

  test(`what the fuzzer of ${target.name} has found ends as its table says`, async () => {
    for (const [index, known] of knownInputs(target.name).entries()) {
      const row = `row ${index + 1} of tests/fuzz/corpus/${target.name}.json (${known.why})`;
      const { error, ending } = await faultOf(target, bytesOf(known));
      if (error !== undefined) throw new Error(row, { cause: error });
      if (known.ending !== null) assert.equal(ending, known.ending, row);
    }
  });
}
