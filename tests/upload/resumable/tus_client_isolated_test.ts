import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { createReadStream, createWriteStream, readFileSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import process from "node:process";
import * as tus from "tus-js-client";
import { S3Bucket, type S3BucketOptions } from "../../../lib/s3/mod.ts";
import { realStores, startStore } from "../../s3/real_stores.ts";
import { inFolder } from "../../support/folders.ts";
import { isLong } from "../../support/long_run.ts";
import { runtime } from "../../support/runtime.ts";
import { LIMIT, within } from "../../support/waits.ts";
import { uploadEntries } from "../faults/upload_process.ts";
import { withDisturbedServer } from "./disturbed_server.ts";
import { readdir } from "node:fs/promises";
import { overlapping } from "../../support/overlapping.ts";

/** `MILLRACE_RESUMABLE=1` sends a gigabyte, cut 50 times, and kills the server 10 times. */
const isFull = process.env.MILLRACE_RESUMABLE === "1";
const BYTES = isFull ? 1_000_000_000 : 6_000_000;
const CUTS = isFull ? 50 : 6;
const KILLS = isFull ? 10 : 1;
const HOUR = 3_600_000;
const test = overlapping(isFull ? 1 : 3);

/**
 * The protocols of the client: tus, and the drafts it implements, which differ in fields alone: except in a long run they
 * are tried on Node.
 */
const protocols = isFull || runtime !== "node" && !isLong
  ? ["tus-v1"] as const
  : ["tus-v1", "ietf-draft-03", "ietf-draft-05"] as const;

/** The places where uploads are stored, for names of tests, and the reason to skip each. */
const places = [{ place: "", isBucket: false, skip: false }, {
  place: ", into three nodes of Garage",
  isBucket: true,
  skip: isFull ? realStores.garage.skip : "MILLRACE_RESUMABLE=1 runs it",
}] as const;

/** Writes random bytes to a file; gives their digest. */
async function writeRandom(path: string, bytes: number): Promise<string> {
  const hash = createHash("sha256");
  const file = createWriteStream(path);
  for (let left = bytes; left > 0;) {
    const piece = randomBytes(Math.min(left, 1_000_000));
    left -= piece.length;
    hash.update(piece);
    if (!file.write(piece)) await once(file, "drain");
  }
  file.end();
  await once(file, "finish");
  return hash.digest("hex");
}

async function digestOf(source: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of source) hash.update(piece);
  return hash.digest("hex");
}

/** Uploads a file; resolves once the server has it. */
function upload(source: string, protocol: typeof protocols[number], port: number): Promise<void> {
  return within(
    new Promise<void>((resolve, reject) => {
      // By the drafts, the client never completes an upload from a file's stream.
      const body = protocol === "tus-v1" ? createReadStream(source) : readFileSync(source);
      const upload = new tus.Upload(body as unknown as Blob, {
        endpoint: `http://127.0.0.1:${port}/`,
        protocol,
        chunkSize: isFull ? 100_000_000 : 4_000_000,
        retryDelays: Array.from({ length: 1000 }, () => 50),
        metadata: { filename: "film.bin" },
        // Deno's node:http may send the rest of a body that was cut on another connection, which is 400 there.
        onShouldRetry: () => true,
        onSuccess: () => resolve(),
        onError: reject,
      } as tus.UploadOptions);
      upload.start();
    }),
    "the upload",
    isFull ? HOUR : LIMIT,
  );
}

for (const entry of uploadEntries) {
  for (const protocol of protocols) {
    for (const { place, isBucket, skip } of places.slice(0, protocol === "tus-v1" ? 2 : 1)) {
      const name = `${entry}: ${protocol} by tus-js-client, cut ${CUTS} times and the server killed ${
        KILLS === 1 ? "once" : `${KILLS} times`
      }${place}`;
      test(name, { skip }, () =>
        inFolder(async (folder) => {
          const source = join(folder, "source.bin");
          const digest = await writeRandom(source, BYTES);
          const store = isBucket ? await startStore("garage", 3) : undefined;
          try {
            const uploads = store === undefined ? join(folder, "uploads") : JSON.stringify(store.options);
            const options = { resumable: true, maxBytes: BYTES, digest: "sha-256" } as const;
            const disturbances = { bytes: BYTES, cuts: CUTS, kills: KILLS };
            const { times, received } = await withDisturbedServer(
              uploads,
              entry,
              options,
              disturbances,
              (port) => upload(source, protocol, port),
            );
            assert.ok(times > 1, `it was disturbed ${times} times`);
            const digests = store === undefined ? await digestsIn(uploads) : await digestsOf(store.options);
            assert.deepEqual(digests, [digest]);
            if (isFull) {
              console.log(
                `${runtime} ${entry}${place}: ${times} times disturbed, ${received - BYTES} bytes sent again`,
              );
            }
          } finally {
            await store?.stop();
          }
        }));
    }
  }
}

/** Returns the digests of the files in a folder. */
async function digestsIn(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => !name.startsWith("."));
  return await Promise.all(names.map((name) => digestOf(createReadStream(join(folder, name)))));
}

/** Returns the digests of the objects in a bucket. */
async function digestsOf(options: S3BucketOptions): Promise<string[]> {
  const bucket = new S3Bucket(options);
  const digests: string[] = [];
  for await (const { key } of bucket.list()) {
    if (!key.startsWith(".")) digests.push(await digestOf(bucket.readable(key)));
  }
  await bucket.close();
  return digests;
}
