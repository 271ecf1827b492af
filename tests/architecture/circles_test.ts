import assert from "node:assert/strict";
import test from "node:test";
import { ourModules } from "./module_graph.ts";

/**
 * The accepted circles of imports, including types: objects that consist of each other, and name each other's types.
 */
const known: Readonly<Record<string, readonly string[]>> = {
  "a readable stream, its controller and its reader": [
    "lib/streams/readable/byte_controller_state.ts",
    "lib/streams/readable/controller_state.ts",
    "lib/streams/readable/default_controller_state.ts",
    "lib/streams/readable/stream_state.ts",
  ],
  "a writable stream, its controller, its writer and its batches": [
    "lib/streams/writable/batches/batch.ts",
    "lib/streams/writable/controller_state.ts",
    "lib/streams/writable/stream_state.ts",
    "lib/streams/writable/writer_state.ts",
  ],
  "a resource, its variants and their answers": [
    "lib/static/answer/answer.ts",
    "lib/static/answer/custom_fields.ts",
    "lib/static/answer/fields.ts",
    "lib/static/answer/resource.ts",
    "lib/static/answer/settings.ts",
    "lib/static/answer/variant.ts",
  ],
  "the options of a compression, its dictionaries and what they decide": [
    "lib/compression/dictionaries/dictionaries.ts",
    "lib/compression/options.ts",
    "lib/compression/policy.ts",
  ],
};

test("no modules import each other in a circle, types included, but those that are made of each other", () => {
  const imports = new Map(ourModules().map((module) => [module.path, module.imports]));
  const circles = circlesOf(imports).map((circle) => circle.sort()).sort();
  assert.deepEqual(circles, Object.values(known).map((circle) => [...circle]).sort());
});

/** Returns the strongly connected components of more than one node (Tarjan's algorithm). */
function circlesOf(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const circles: string[][] = [];
  const visit = (node: string): void => {
    order.set(node, order.size);
    let low = order.get(node)!;
    open.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!graph.has(next)) continue;
      if (!order.has(next)) visit(next);
      if (open.includes(next)) low = Math.min(low, lowest.get(next) ?? order.get(next)!);
    }
    lowest.set(node, low);
    if (low !== order.get(node)) return;
    const circle = open.splice(open.indexOf(node));
    if (circle.length > 1) circles.push(circle);
  };
  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return circles;
}

test("circles of any length are found", () => {
  const graph = new Map([["a", ["b"]], ["b", ["c", "d"]], ["c", ["a"]], ["d", ["e"]], ["e", ["d"]], ["f", ["a"]]]);
  assert.deepEqual(circlesOf(graph).map((circle) => circle.sort()).sort(), [["a", "b", "c"], ["d", "e"]]);
});
