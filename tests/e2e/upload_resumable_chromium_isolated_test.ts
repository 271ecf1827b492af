import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createReadStream, readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { inFolder } from "../support/folders.ts";
import { root, runtime } from "../support/runtime.ts";
import { withDisturbedServer } from "../upload/resumable/disturbed_server.ts";
import { noChromium, openBrowser } from "./chromium.ts";

/** `MILLRACE_RESUMABLE=1` sends a gigabyte, cut 50 times, and kills the server 10 times. */
const isFull = process.env.MILLRACE_RESUMABLE === "1";
const PIECE = 1_000_000;
const PIECES = isFull ? 1000 : 8;
const disturbances = { bytes: PIECE * PIECES, cuts: isFull ? 50 : 4, kills: isFull ? 10 : 1 };
const HOUR = 3_600_000;

/** Uploads `pieces` numbered pieces from a page, and resolves when the server has all of them. */
async function upload({ endpoint, pieces }: { endpoint: string; pieces: number }): Promise<void> {
  const { tus } = globalThis as unknown as { tus: typeof import("tus-js-client") };
  const piece = new Uint8Array(await (await fetch("/piece")).arrayBuffer());
  const parts: Blob[] = [];
  for (let i = 0; i < pieces; i++) {
    new DataView(piece.buffer).setUint32(0, i);
    parts.push(new Blob([piece]));
  }
  await new Promise<void>((resolve, reject) => {
    new tus.Upload(new File(parts, "film.bin", { type: "video/mp4" }), {
      endpoint,
      chunkSize: 100_000_000,
      retryDelays: Array.from({ length: 1000 }, () => 50),
      metadata: { filename: "film.bin", filetype: "video/mp4" },
      onShouldRetry: () => true,
      onSuccess: () => resolve(),
      onError: reject,
    }).start();
  });
}

function digestOfPieces(piece: Uint8Array): string {
  const hash = createHash("sha256");
  const copy = Uint8Array.from(piece);
  for (let i = 0; i < PIECES; i++) {
    new DataView(copy.buffer).setUint32(0, i);
    hash.update(copy);
  }
  return hash.digest("hex");
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of createReadStream(path)) hash.update(piece);
  return hash.digest("hex");
}

const name = `a page's upload by tus-js-client arrives, cut ${disturbances.cuts} times, with the server killed`;
test(name, { skip: noChromium, timeout: isFull ? HOUR : 120_000 }, () =>
  inFolder(async (folder) => {
    const piece = randomBytes(PIECE);
    const script = readFileSync(join(root, "node_modules/tus-js-client/dist/tus.min.js"));
    const pages = createServer(({ url }, response) => {
      response.setHeader("content-type", url === "/tus.js" ? "text/javascript" : "text/html");
      response.end(url === "/piece" ? piece : url === "/tus.js" ? script : '<script src="/tus.js"></script>');
    });
    pages.listen(0, "127.0.0.1");
    await once(pages, "listening");
    const browser = await openBrowser(join(folder, "profile"));
    try {
      const origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
      await browser.page.goto(origin);
      const uploads = join(folder, "uploads");
      const options = { resumable: true, allowCrossSite: [origin], maxBytes: disturbances.bytes };
      const { times, received } = await withDisturbedServer(
        uploads,
        "node",
        options,
        disturbances,
        async (port) => {
          await browser.page.evaluate(upload, { endpoint: `http://127.0.0.1:${port}/`, pieces: PIECES });
        },
      );
      assert.ok(times > 1, `it was disturbed ${times} times`);
      const names = (await readdir(uploads)).filter((each) => !each.startsWith("."));
      assert.equal(names.length, 1, names.join());
      assert.equal(await digestOf(join(uploads, names[0]!)), digestOfPieces(piece));
      if (isFull) {
        console.log(`${runtime}: ${times} times disturbed, ${received - disturbances.bytes} bytes sent again`);
      }
    } finally {
      await browser.close();
      pages.close();
    }
  }));
