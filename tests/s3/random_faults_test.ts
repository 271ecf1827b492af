import assert from "node:assert/strict";
import process from "node:process";
import test from "node:test";
import { S3Error } from "../../lib/s3/mod.ts";
import { randomNumbers } from "../support/random_numbers.ts";
import { FakeStore, type Fault } from "./fake_store.ts";
import { bytesOf, digestOf, streamOf } from "./scene.ts";

/** `MILLRACE_S3_FAULTS` says how many there are, and `MILLRACE_SEED` from which number they are made. */
const FAULTS = Number(process.env.MILLRACE_S3_FAULTS ?? 10);
const SEED = Number(process.env.MILLRACE_SEED ?? Date.now() % 1_000_000);
const MIB = 2 ** 20;
const KINDS: readonly Fault[] = ["reset", "reset after", "stall", "torn", "error in 200", { status: 503 }, {
  status: 500,
}];

test(`uploads end whole or not at all, whatever fails (seed ${SEED})`, { timeout: 3_600_000 }, async () => {
  const store = await FakeStore.start();
  try {
    const random = randomNumbers(SEED);
    let faults = 0;
    let failed = 0;
    let stored = 0;
    // A third of all requests; some uploads meet more than they may.
    store.fails(({ operation }) => {
      if (faults >= FAULTS || random(3) > 0) return undefined;
      faults++;
      const fault = KINDS[random(KINDS.length)];
      // A part has a second for each 128 KiB before it counts as stalled.
      return fault === "stall" && operation.startsWith("Put") ? "reset" : fault;
    });
    const bucket = store.bucket({ timeout: 500, retries: 3 });
    while (faults < FAULTS) {
      await Promise.all(Array.from({ length: 4 }, async (_, i) => {
        const key = `${stored}-${failed}-${i}`;
        const bytes = bytesOf(random(12 * MIB), i);
        try {
          await streamOf(bytes).pipeTo(bucket.writable(key));
          stored++;
          assert.equal(digestOf(store.objects.get(key)?.bytes), digestOf(bytes));
        } catch (error) {
          assert.ok(error instanceof S3Error, String(error));
          assert.equal(error.key, key);
          failed++;
          // A last answer may have been lost; then the object is whole.
          if (store.objects.has(key)) assert.equal(digestOf(store.objects.get(key)!.bytes), digestOf(bytes));
        }
        store.objects.delete(key);
      }));
    }
    store.fails(() => undefined);
    await bucket.removeAbandoned({ olderThan: 0 });
    assert.equal(store.uploads.size, 0);
    if (FAULTS >= 1000) console.log(`${faults} faults: ${stored} uploads stored, ${failed} failed`);
    assert.deepEqual(store.refused, []);
  } finally {
    await store.stop();
  }
});
