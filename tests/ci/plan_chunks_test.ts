import assert from "node:assert/strict";
import test from "node:test";
import { type Output, planChunks } from "../../.ci/plan_chunks.ts";

const KB = 1024;

/** Creates an output of one source of the same name, with its size in KB, that imports others. */
function shared(name: string, kilobytes: number, ...imports: string[]): [string, Output] {
  return [name, {
    bytes: kilobytes * KB,
    inputs: { [`${name}.ts`]: { bytesInOutput: kilobytes * KB } },
    imports: imports.map((path) => ({ path, kind: "import-statement" })),
  }];
}

function entry(name: string, ...imports: string[]): [string, Output] {
  const [, output] = shared(name, 1, ...imports);
  return [name, { ...output, entryPoint: name }];
}

const plan = (outputs: [string, Output][], weights: Record<string, number> = {}): string[][] =>
  planChunks(Object.fromEntries(outputs), { weightOf: (source) => weights[source] ?? 1 });

test("planChunks() puts together what the same entries load", () => {
  const chunks = plan([entry("a", "x", "y"), entry("b", "x", "y"), shared("x", 100, "y"), shared("y", 100)]);
  assert.deepEqual(chunks.map((chunk) => chunk.sort()), [["x.ts", "y.ts"]]);
});

test("planChunks() puts what is small to what others need, and keeps apart what is large", () => {
  const outputs = [entry("a", "x"), entry("b", "x", "y"), entry("c", "x", "z"), shared("x", 5)];
  const chunks = plan([...outputs, shared("y", 5, "x"), shared("z", 500, "x")]);
  assert.deepEqual(chunks.map((chunk) => chunk.sort()), [["x.ts", "y.ts"], ["z.ts"]]);
});

test("planChunks() has an entry of more weight load nothing that it does not need", () => {
  const outputs = [entry("a", "x"), entry("b", "x", "y"), shared("x", 5), shared("y", 15, "x")];
  assert.equal(plan(outputs).length, 1);
  assert.equal(plan(outputs, { a: 9 }).length, 2);
});

test("planChunks() makes no chunks that import each other in a circle", () => {
  const outputs = [entry("a", "x", "z"), entry("b", "y"), shared("x", 1, "y"), shared("y", 900, "z"), shared("z", 1)];
  const chunks = plan(outputs, { b: 0.01 });
  const of = (name: string): number => chunks.findIndex((chunk) => chunk.includes(`${name}.ts`));
  assert.ok(of("x") !== of("z") || of("x") === of("y"));
});

test("planChunks() puts all of an entry together on demand", () => {
  const outputs = [
    entry("a", "x", "y"),
    entry("b", "y"),
    entry("c", "x"),
    shared("x", 900, "z"),
    shared("z", 900),
    shared("y", 9),
  ];
  const chunks = planChunks(Object.fromEntries(outputs), { weightOf: () => 1, together: "a" });
  assert.deepEqual(chunks.map((chunk) => chunk.sort()), [["x.ts", "y.ts", "z.ts"]]);
});
