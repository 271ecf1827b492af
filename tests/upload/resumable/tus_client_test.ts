import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { createReadStream, createWriteStream, readFileSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import process from "node:process";
import * as tus from "tus-js-client";
import { inFolder } from "../../support/folders.ts";
import { runtime } from "../../support/runtime.ts";
import { LIMIT, within } from "../../support/waits.ts";
import { uploadEntries, UploadProcess } from "../faults/upload_process.ts";
import { CuttingRelay } from "./cutting_relay.ts";
import { readdir } from "node:fs/promises";
import { overlapping } from "../../support/overlapping.ts";

/** `MILLRACE_RESUMABLE=1` sends a gigabyte, cut 50 times, and kills the server 10 times. */
const isFull = process.env.MILLRACE_RESUMABLE === "1";
const BYTES = isFull ? 1_000_000_000 : 6_000_000;
const CUTS = isFull ? 50 : 6;
const KILLS = isFull ? 10 : 1;
const HOUR = 3_600_000;
const test = overlapping(isFull ? 1 : 3);

/** What the client speaks: tus, and the drafts that it knows. */
const protocols = isFull ? ["tus-v1"] as const : ["tus-v1", "ietf-draft-03", "ietf-draft-05"] as const;

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

async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of createReadStream(path)) hash.update(piece);
  return hash.digest("hex");
}

/** Random offsets at which the upload is disturbed, in order; each one says how. */
function disturbances(): { readonly at: number; readonly how: "cut" | "kill" }[] {
  const at = (): number => Math.floor(Math.random() * BYTES * 0.95);
  return [
    ...Array.from({ length: CUTS }, () => ({ at: at(), how: "cut" as const })),
    ...Array.from({ length: KILLS }, () => ({ at: at(), how: "kill" as const })),
  ].sort((a, b) => a.at - b.at);
}

for (const entry of uploadEntries) {
  for (const protocol of protocols) {
    const name = `${entry}: ${protocol} by tus-js-client, cut ${CUTS} times and the server killed ${
      KILLS === 1 ? "once" : `${KILLS} times`
    }`;
    test(name, () =>
      inFolder(async (folder) => {
        const source = join(folder, "source.bin");
        const digest = await writeRandom(source, BYTES);
        const uploads = join(folder, "uploads");
        const options = { resumable: true, maxBytes: BYTES, digest: "sha-256" } as const;
        let server = await UploadProcess.start(uploads, entry, options);
        const relay = await CuttingRelay.open(server.port);
        const planned = disturbances();
        let cuts = 0;
        let restarting: Promise<void> | undefined;
        const restart = async (): Promise<void> => {
          await server.kill();
          relay.cut();
          server = await UploadProcess.start(uploads, entry, options);
          relay.target = server.port;
          restarting = undefined;
        };
        relay.onReceived = () => {
          if (restarting !== undefined || planned.length === 0 || relay.received < planned[0].at) return;
          const { how } = planned.shift()!;
          cuts++;
          if (how === "cut") relay.cut();
          else restarting = restart();
        };
        try {
          await within(
            new Promise<void>((resolve, reject) => {
              // Of a file's stream, the client never says by the drafts that it is complete.
              const body = protocol === "tus-v1" ? createReadStream(source) : readFileSync(source);
              const upload = new tus.Upload(body as unknown as Blob, {
                endpoint: `http://127.0.0.1:${relay.port}/`,
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
          await restarting;
          assert.ok(cuts > 1, `it was disturbed ${cuts} times`);
          const names = await namesIn(uploads);
          assert.equal(names.length, 1, names.join());
          assert.equal(await digestOf(join(uploads, names[0])), digest);
          if (isFull) {
            console.log(`${runtime} ${entry}: ${cuts} times disturbed, ${relay.received - BYTES} bytes sent again`);
          }
        } finally {
          await relay.close();
          await server.stop();
        }
      }));
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => !name.startsWith("."));
}
