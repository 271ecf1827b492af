import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { squarify } from "../../lib/report/page/treemap.ts";

test("squarify() divides the area by the weights, and nothing overlaps or lies outside", () => {
  const weights = fc.array(fc.integer({ min: 1, max: 1_000_000 }), { maxLength: 60 });
  const side = fc.integer({ min: 10, max: 2000 });
  fc.assert(
    fc.property(weights, side, side, (given, width, height) => {
      const sorted = given.toSorted((a, b) => b - a);
      const parts = squarify(sorted, { x: 0, y: 0, width, height });
      assert.equal(parts.length, sorted.length);
      const total = sorted.reduce((sum, weight) => sum + weight, 0);
      parts.forEach((part, i) => {
        const share = (part.width * part.height) / (width * height);
        assert.ok(Math.abs(share - sorted[i] / total) < 1e-6, `part ${i} has ${share}`);
        assert.ok(part.x >= -1e-6 && part.x + part.width <= width + 1e-6);
        assert.ok(part.y >= -1e-6 && part.y + part.height <= height + 1e-6);
      });
      for (const [i, a] of parts.entries()) {
        for (const b of parts.slice(i + 1)) {
          const across = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
          const along = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
          assert.ok(across < 1e-6 || along < 1e-6);
        }
      }
    }),
    { numRuns: 50 },
  );
});

test("squarify() of an area without size has parts without size", () => {
  const parts = squarify([2, 1], { x: 0, y: 0, width: 0, height: 0 });
  assert.deepEqual(parts.map(({ width, height }) => width * height), [0, 0]);
});
