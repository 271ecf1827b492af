import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import type { S3BucketOptions } from "../../../lib/s3/mod.ts";
import { BucketSessions } from "../../../lib/upload/session/bucket_sessions.ts";
import type { SessionRecord } from "../../../lib/upload/session/session_storage.ts";
import { noise } from "../../support/bytes.ts";
import { tries } from "../../support/long_run.ts";
import { randomNumbers } from "../../support/random_numbers.ts";
import type { FakeStore } from "../../s3/fake_store.ts";
import { digestOf, withStore } from "../../s3/scene.ts";

const PART = 8 * 2 ** 20;
const RECORD: SessionRecord = {
  version: 1,
  protocol: "tus",
  method: "POST",
  path: "",
  contentType: "text/plain",
  name: "film",
  fields: {},
  state: "open",
};

const kinds: readonly Partial<S3BucketOptions>[] = [{ memory: 0 }, { checksums: false }, {}];

test("in a bucket: a session has what was appended, in whatever order it is settled, doubted and cut", async () => {
  for (let seed = 0; seed < tries(12); seed++) {
    await withStore((store) => runProgram(store, kinds[seed % kinds.length], seed));
  }
});

async function runProgram(store: FakeStore, options: Partial<S3BucketOptions>, seed: number): Promise<void> {
  const random = randomNumbers(seed);
  const sessions = new BucketSessions(store.bucket({ retries: 0, ...options }), 3_600_000);
  const id = `${seed}`.padStart(32, "0");
  let hold = await sessions.create(id, RECORD);
  let data = Buffer.alloc(0);
  let verified: number | undefined;
  const log: string[] = [];
  const steps: Readonly<Record<string, () => Promise<void>>> = {
    append: async () => {
      const left = PART - data.length % PART;
      const piece = noise([1 + random(20), 1 + random(300_000), left, left + 1][random(4)], random(1000));
      data = Buffer.concat([data, piece]);
      await hold.append([piece]);
      piece.fill(0); // its memory is the caller's again
    },
    settle: () => hold.settle(),
    doubt: async () => {
      if (verified !== undefined) return;
      verified = data.length;
      await hold.settle();
      await hold.doubt();
    },
    drop: async () => {
      if (verified === undefined) return;
      data = data.subarray(0, verified);
      await hold.dropDoubted();
    },
    vouch: async () => {
      verified = undefined;
      await hold.vouch();
    },
    release: async () => {
      await steps.vouch();
      await hold.release();
      hold = (await sessions.session(id))!;
    },
  };
  for (let i = 0; i < 12; i++) {
    const name = Object.keys(steps)[Math.max(0, random(12) - 6)];
    log.push(name);
    await steps[name]();
    assert.equal(hold.offset, data.length, `${seed}: ${log}`);
  }
  await steps.vouch();
  await hold.save({ ...hold.record, length: data.length, state: "storing", bytes: data.length });
  const read: Uint8Array[] = [];
  for await (const piece of hold.read()) read.push(piece.slice());
  assert.equal(digestOf(Buffer.concat(read)), digestOf(data), `${seed}: ${log}`);
  await hold.store("film", { overwrite: true });
  assert.equal(digestOf(store.objects.get("film")!.bytes), digestOf(data), `${seed}: ${log}`);
  await hold.remove();
  assert.deepEqual([...store.objects.keys()], ["film"]);
}
