import assert from "node:assert/strict";
import type { BigIntStats } from "node:fs";
import test from "node:test";
import { fileNumber } from "../../lib/files/internal.ts";
import { runtime } from "../support/runtime.ts";

const NONE = null as unknown as bigint;

test("a file's number is the system's where that is exact, and never fails where the system gives none", () => {
  const numberOf = (ino: number, exact: Partial<BigIntStats>) => fileNumber({ ino }, () => exact as BigIntStats);
  assert.equal(numberOf(12, {}), 12);
  for (const number of [NONE, 0n, ...(runtime === "deno" ? [2n ** 53n + 2n] : [])]) { // Deno rounds
    const ino = Number(number ?? 0);
    for (const ctimeNs of [NONE, 7n]) {
      const one = numberOf(ino, { ino: number, ctimeNs, mtimeNs: 5n });
      assert.ok(Number.isSafeInteger(one) && one >= 0);
      assert.equal(one, numberOf(ino, { ino: number, ctimeNs, mtimeNs: 5n }));
      const changed = { ino: number, ctimeNs: ctimeNs && 8n, mtimeNs: 6n };
      assert.notEqual(one, numberOf(ino, changed), `${number} ${ctimeNs}`);
    }
  }
});
