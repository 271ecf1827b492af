import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type RunningServer, serve } from "../../lib/runtime/mod.ts";
import { saveBody, type SaveBodyOptions, type SavedBody, UploadError } from "../../lib/upload/mod.ts";

/** The outcome of the last upload. */
let result: SavedBody | UploadError | undefined;
let options: SaveBodyOptions = {};
let server: RunningServer;
let root: string;

before(async () => {
  root = await mkdtemp(join(tmpdir(), "millrace-followed-"));
  const save = async (source: Request | import("node:http").IncomingMessage): Promise<number> => {
    try {
      result = await saveBody(source, "file", { ...options, root, overwrite: true });
      return 201;
    } catch (error) {
      result = error as UploadError;
      return result.status;
    }
  };
  server = await serve({
    fetch: async (request) => new Response(null, { status: await save(request), headers: { connection: "close" } }),
    node: (request, response) => {
      void save(request).then((status) => response.writeHead(status, { connection: "close" }).end());
    },
    hostname: "127.0.0.1",
    port: 0,
  });
});

after(async () => {
  await server.stop(1000);
  await rm(root, { recursive: true });
});

/** Sends pieces, each after a pause; resolves to the status. */
async function send(pieces: readonly Uint8Array[], fields: Record<string, string> = {}): Promise<number> {
  const length = String(pieces.reduce((sum, { length }) => sum + length, 0));
  const headers = fields["transfer-encoding"] ? fields : { "content-length": length, ...fields };
  const request = httpRequest(server.url, { method: "PUT", headers, agent: false });
  const answered = new Promise<number>((resolve, reject) => {
    request.on("response", (response) => {
      resolve(response.statusCode!);
      response.resume();
    });
    request.on("error", reject);
  });
  answered.catch(() => {});
  for (const piece of pieces) {
    if (request.destroyed) break;
    request.write(piece);
    const pause = new Promise((resolve) => setTimeout(resolve, 40));
    await Promise.race([pause, answered.catch(() => {})]);
  }
  request.end();
  return await answered;
}

const pieces = Array.from({ length: 6 }, (_, i) => new Uint8Array(300_000).fill(i));
const digestOf = (algorithm: string): string => {
  const hash = createHash(algorithm);
  for (const piece of pieces) hash.update(piece);
  return hash.digest("base64");
};

test("saveBody() makes digests of a body that comes in pieces, and verifies the announced", async () => {
  options = { digest: "sha-256", maxBytes: 10_000_000 };
  const status = await send(pieces, { "content-digest": `sha-512=:${digestOf("sha512")}:` });
  assert.equal(status, 201);
  assert.equal((result as SavedBody).digest, `sha-256=:${digestOf("sha256")}:`);
  assert.deepEqual(await readFile(join(root, "file")), Buffer.concat(pieces));
});

test("saveBody() refuses bytes whose announced digest is another, and leaves the file as it was", async () => {
  options = {};
  await send([new TextEncoder().encode("the file before")]);
  const status = await send(pieces, { "content-digest": `sha-256=:${digestOf("sha512").slice(0, 43)}=:` });
  assert.equal(status, 422);
  assert.equal(await readFile(join(root, "file"), "utf8"), "the file before");
  assert.deepEqual(await readdir(root), ["file"]);
});

test("saveBody() never stores more than maxBytes of a body without a length, however fast it comes", async () => {
  options = { maxBytes: 500_000 };
  result = undefined;
  let most = 0;
  const sizes = (): number[] =>
    readdirSync(root).map((name) => statSync(join(root, name), { throwIfNoEntry: false })?.size ?? 0);
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1").on("error", () => {});
  socket.write("PUT / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
  const chunk = Buffer.concat([Buffer.from("100000\r\n"), Buffer.alloc(0x100000), Buffer.from("\r\n")]);
  for (let sent = 0; result === undefined && !socket.destroyed; sent++) {
    if (sent < 100 && !socket.writableNeedDrain) socket.write(chunk);
    most = Math.max(most, ...sizes());
    await new Promise((resolve) => setImmediate(resolve));
  }
  socket.destroy();
  assert.equal((result as unknown as UploadError).code, "TOO_LARGE");
  assert.ok(most <= 500_000, `${most} bytes were on the disk`);
});

test("saveBody() tells of the bytes received while they come, and of all at the end", async () => {
  const told: number[] = [];
  options = { onProgress: ({ bytes }) => void told.push(bytes) };
  await send(pieces);
  assert.ok(told.length > 1);
  assert.equal(told.at(-1), 1_800_000);
  assert.deepEqual(told, told.toSorted((a, b) => a - b));
});

test("saveBody() is rejected with what onProgress throws", async () => {
  options = {
    onProgress: () => {
      throw new UploadError("UNSUPPORTED", "enough");
    },
  };
  assert.equal(await send(pieces).catch(() => 415), 415);
  assert.equal((result as UploadError).message, "enough");
});
