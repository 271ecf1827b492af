import assert from "node:assert/strict";
import test from "node:test";
import { expectedEndings, kept, loadInputs } from "./corpus.ts";
import { faultOf } from "./fuzzer.ts";
import { targets } from "./targets/mod.ts";

for (const target of targets) {
  test(`inputs that the fuzzer of ${target.name} knows are dealt with as promised`, async () => {
    const saved = loadInputs(kept, target.name);
    const expected = expectedEndings(target.name);
    if (expected !== undefined) assert.deepEqual(Object.keys(expected), saved.map(({ name }) => name));
    const seeds = (await target.seeds()).map((input, index) => ({ name: `seed ${index}`, input }));
    assert.ok(seeds.length > 0);
    for (const { name, input } of [...seeds, ...saved]) {
      const { error, ending } = await faultOf(target, input);
      if (error !== undefined) throw new Error(`tests/fuzz/corpus/${target.name}/${name}`, { cause: error });
      if (expected?.[name] !== undefined) {
        assert.equal(ending, expected[name], `tests/fuzz/corpus/${target.name}/${name}`);
      }
    }
  });
}
