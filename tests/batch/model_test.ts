import { it } from "node:test";
import fc from "fast-check";
import { type Behaviour, Model, type Operation, type Program, type Reentry } from "./model.ts";
import { tries } from "../support/long_run.ts";

const behaviour = (...others: readonly Behaviour[]): fc.Arbitrary<Behaviour> =>
  fc.constantFrom<Behaviour>("returns", "resolves", "is held", "is held", ...others);

const sizes = fc.array(fc.constantFrom(1, 1, 1, 0, 0.5, 2, 7, 40), { minLength: 1, maxLength: 12 });

const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant("write" as const), sizes }) },
  {
    weight: 12,
    arbitrary: fc.record({ kind: fc.constantFrom("microtasks" as const, "turn" as const, "succeed" as const) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        "close" as const,
        "abort" as const,
        "error" as const,
        "fail" as const,
        "change writer" as const,
      ),
    }),
  },
);

const programs: fc.Arbitrary<Program> = fc.record({
  highWaterMark: fc.constantFrom(0, 0.5, 1, 3, 10, 64, Infinity),
  maxBatch: fc.constantFrom(0.5, 1, 2.5, 8, Infinity),
  start: behaviour("rejects"),
  writev: fc.array(
    fc.record({
      behaviour: behaviour("is held", "resolves", "returns", "throws", "rejects"),
      reentry: fc.oneof(
        { weight: 12, arbitrary: fc.constant<Reentry>("nothing") },
        { weight: 4, arbitrary: fc.constant<Reentry>("writes") },
        { weight: 1, arbitrary: fc.constantFrom<Reentry>("closes", "aborts", "errors") },
      ),
    }),
    { minLength: 1, maxLength: 6 },
  ),
  close: behaviour("throws", "rejects"),
  abort: behaviour("throws", "rejects"),
  operations: fc.array(operation, { maxLength: 30 }),
});

it("random programs: chunks go once and in order, and are acknowledged iff their batch is written", async () => {
  await fc.assert(fc.asyncProperty(programs, (program) => new Model(program).run()), { numRuns: tries(400) });
});
