import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import process from "node:process";
import test from "node:test";
import { createUploadHandler } from "../../../lib/upload/mod.ts";
import { BucketSessions } from "../../../lib/upload/session/bucket_sessions.ts";
import { FakeStore, type Fault, stores } from "../../s3/fake_store.ts";
import { bytesOf, digestOf } from "../../s3/scene.ts";
import { isLong } from "../../support/long_run.ts";
import { randomNumbers } from "../../support/random_numbers.ts";
import { within } from "../../support/waits.ts";

/** The number of requests (`MILLRACE_STEPS`) and the seed (`MILLRACE_SEED`). */
const STEPS = Number(process.env.MILLRACE_STEPS ?? (isLong ? 1000 : 20));
const SEED = Number(process.env.MILLRACE_SEED ?? Date.now() % 1_000_000);
const MIB = 2 ** 20;
const TUS = { "tus-resumable": "1.0.0" };
const KINDS: readonly Fault[] = ["reset", "reset after", "torn", "error in 200", { status: 503 }, {
  status: 403,
  code: "QuotaExceeded",
}];
const SIZES = [1, 1000, 100_000, 3 * MIB, 9 * MIB];

const title =
  `in a bucket: nothing that was acknowledged is lost, whatever fails, and from however many servers (seed ${SEED})`;
test(title, { timeout: 3_600_000 }, async () => {
  const store = await FakeStore.start();
  try {
    const random = randomNumbers(SEED);
    const pick = <T>(list: readonly T[]): T => list[random(list.length)];
    let isFailing = true;
    store.fails(() => isFailing && random(7) === 0 ? pick(KINDS) : undefined);
    const serverOver = (): (request: Request) => Promise<Response> => {
      const storage = store.bucket({ retries: random(2), timeout: 5000 });
      return createUploadHandler({ storage, resumable: true, log: () => {} }).fetch;
    };
    const servers = [serverOver(), serverOver()];
    const ask = async (method: string, path: string, headers: Record<string, string>, body?: Uint8Array) => {
      const index = random(2);
      if (random(10) === 0) servers[index] = serverOver(); // another process
      const init = { method, headers: { ...TUS, ...headers }, ...(body && { body: body as BodyInit }) };
      return await within(servers[index](new Request(`http://localhost${path}`, init)), `${method} ${path}`);
    };
    for (let steps = 0; steps < STEPS;) {
      store.rules = pick([{}, ...Object.values(stores)]);
      const whole = bytesOf(pick(isLong ? [1, 5, 13, 18] : [1, 9]) * MIB - random(2), steps + 1);
      isFailing = false;
      const path = (await ask("POST", "/", { "upload-length": String(whole.length) })).headers.get("location")!;
      isFailing = true;
      let told = 0;
      let known = 0;
      const append = async (offset: number, size: number): Promise<void> => {
        const bytes = whole.slice(offset, offset + size);
        const isSummed = isFailing && random(4) === 0;
        const sum = createHash("sha1").update(bytes).digest("base64");
        const isWrong = isSummed && random(2) === 0;
        if (isWrong) bytes[0] ^= 1;
        const headers = {
          "upload-offset": String(offset),
          "content-type": "application/offset+octet-stream",
          ...(isSummed && { "upload-checksum": `sha1 ${sum}` }),
        };
        const answer = await ask("PATCH", path, headers, bytes);
        if (answer.ok) told = Math.max(told, Number(answer.headers.get("upload-offset")));
        assert.ok(!answer.ok || !isWrong, "a wrong checksum");
        assert.ok(answer.status !== 404 && answer.status !== 410, `${answer.status}`);
      };
      const isRemoved = random(5) === 0;
      for (; told < whole.length && !(isRemoved && random(6) === 0); steps++) {
        const appending = Array.from(
          { length: 1 + Number(random(3) === 0) },
          () => append(known, isFailing ? pick(SIZES) : whole.length),
        );
        await Promise.all(appending);
        if (steps > STEPS + 20) isFailing = false;
        const head = await ask("HEAD", path, {});
        assert.ok(steps < STEPS + 60, `it never ends: HEAD answers ${head.status} ${told} of ${whole.length}`);
        if (head.status !== 200) continue;
        known = Number(head.headers.get("upload-offset"));
        assert.ok(known >= told, `${known} bytes are left of ${told}`);
        told = known;
      }
      isFailing = false;
      if (isRemoved) await ask("DELETE", path, {});
      else assert.equal((await ask("HEAD", path, {})).headers.get("upload-offset"), String(whole.length));
      const files = [...store.objects].filter(([key]) => !key.startsWith("."));
      assert.deepEqual(
        files.map(([, { bytes }]) => digestOf(bytes)),
        isRemoved && told < whole.length ? [] : [digestOf(whole)],
      );
      await new BucketSessions(store.bucket(), 3_600_000).removeExpired(-1000);
      await store.bucket().removeAbandoned({ olderThan: 0 }); // removes the remains of a copy whose removal failed
      assert.equal(store.objects.size, files.length, "the file alone");
      assert.equal(store.uploads.size, 0);
      store.objects.clear();
    }
    assert.deepEqual(store.refused, []);
  } finally {
    await store.stop();
  }
});
