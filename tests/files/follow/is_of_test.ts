import assert from "node:assert/strict";
import type { BigIntStats } from "node:fs";
import test from "node:test";
import type { FollowedFile } from "../../../lib/files/follow/follow_source.ts";
import { isOf } from "../../../lib/files/follow/growing_file.ts";

/** A status of a file on a disk that numbers no files, in the seconds and bytes given. */
function status(mtime: number, size: number): BigIntStats {
  return { dev: 1n, ino: 0n, mtimeNs: BigInt(mtime) * 1_000_000_000n, size: BigInt(size) } as BigIntStats;
}

test("without numbers, a file is the open one if its status fits between two of the path", () => {
  const isOpen = (before: BigIntStats, own: BigIntStats, after: BigIntStats): boolean =>
    isOf(before, { identity: { file: "1 0" }, status: own } as FollowedFile, () => after);
  for (const [before, own, after] of [[10, 10, 10], [10, 10, 20], [10, 20, 20]] as const) {
    assert.equal(isOpen(status(2, before), status(2, own), status(2, after)), true, `${before} ${own} ${after}`);
  }
  for (const [before, own, after] of [[7, 10, 7], [12, 10, 12], [7, 10, 9], [0, 10, 0]] as const) {
    assert.equal(isOpen(status(2, before), status(2, own), status(2, after)), false, `${before} ${own} ${after}`);
  }
  assert.equal(isOpen(status(4, 10), status(2, 10), status(4, 10)), false);
  assert.equal(
    isOf(status(2, 10), { identity: { file: "1 0" }, status: status(2, 10) } as FollowedFile, () => undefined),
    false,
  );
});
