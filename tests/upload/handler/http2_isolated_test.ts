import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { once } from "node:events";
import { type ClientHttp2Session, connect, createServer, type OutgoingHttpHeaders } from "node:http2";
import type { AddressInfo } from "node:net";
import process from "node:process";
import test from "node:test";
import { setImmediate } from "node:timers";
import { createUploadHandler, type UploadHandler, type UploadHandlerOptions } from "../../../lib/upload/mod.ts";
import { contentsOf, inUploads } from "./serving_handler.ts";

const MIB = 1024 * 1024;

/** Serves a handler on node:http2, with a session to it, while `use` runs. */
function sessionTo(
  options: Partial<UploadHandlerOptions>,
  use: (session: ClientHttp2Session, folder: string, logged: number[]) => Promise<void>,
): Promise<void> {
  return inUploads(async (folder) => {
    const logged: number[] = [];
    const handler = createUploadHandler({ directory: folder, log: ({ status }) => logged.push(status), ...options });
    const server = createServer(handler.node as unknown as Parameters<typeof createServer>[1]);
    server.on("checkContinue", handler.checkContinue as unknown as UploadHandler["node"]);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    try {
      await use(session, folder, logged);
    } finally {
      session.destroy();
      server.close();
    }
  });
}

/** Sends up to `size` bytes, as far as the server reads; returns the response, and the number of bytes sent. */
function send(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  size: number,
): Promise<{ status: number; body: string; sent: number }> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ":method": "PUT", ...headers }, { endStream: size === 0 });
    const piece = Buffer.alloc(65_536, "x");
    let [status, body, sent] = [0, "", 0];
    const more = (): void => {
      while (sent < size && stream.writable) {
        const part = piece.subarray(0, size - sent);
        sent += part.length;
        if (!stream.write(part)) return void stream.once("drain", more);
      }
      if (stream.writable) stream.end();
    };
    stream.setEncoding("utf8");
    stream.on("response", (fields) => status = Number(fields[":status"]));
    stream.on("data", (text: string) => body += text);
    stream.on("error", reject);
    // On Node the event of the end may come before the fields.
    stream.on("end", () => setImmediate(() => resolve({ status, body, sent })));
    if (headers.expect === undefined) return void (size > 0 && more());
    stream.on("continue", more);
  });
}

test("http2: uploads of one session at a time are stored, or refused, without regard to each other", () =>
  sessionTo({ maxBytes: 4 * MIB }, async (session, folder, logged) => {
    const sizes = { small: 5, large: 3 * MIB, "too-large": 64 * MIB, empty: 0 };
    const answers = await Promise.all(
      Object.entries(sizes).map(([name, size]) => send(session, { ":path": `/${name}` }, size)),
    );
    assert.deepEqual(answers.map(({ status }) => status), [201, 201, 413, 201]);
    const contents = await contentsOf(folder);
    assert.deepEqual(Object.keys(contents), ["empty", "large", "small"]);
    assert.equal(contents.large.length, 3 * MIB);
    assert.equal(logged.length, 4);
  }));

test("http2: a sender who is refused stops, and its session goes on", () =>
  sessionTo({ maxBytes: 4 * MIB }, async (session, folder) => {
    const refused = await send(session, { ":path": "/a", "content-length": 64 * MIB }, 64 * MIB);
    assert.equal(refused.status, 413);
    assert.equal(JSON.parse(refused.body).code, "TOO_LARGE");
    assert.ok(refused.sent < 16 * MIB, `${refused.sent} bytes were taken`);
    const later = await send(session, { ":path": "/b" }, 64 * MIB);
    assert.equal(later.status, 413);
    assert.ok(later.sent < 32 * MIB, `${later.sent} bytes were taken`);
    assert.equal((await send(session, { ":path": "/c" }, 3 * MIB)).status, 201);
    assert.equal((await send(session, { ":path": "/c", ":method": "GET" }, 0)).status, 405);
    assert.equal((await send(session, { ":path": "/c", ":method": "HEAD" }, 0)).status, 405);
    assert.equal((await send(session, { ":path": "/c", ":method": "OPTIONS" }, 0)).status, 204);
    assert.deepEqual(Object.keys(await contentsOf(folder)), ["c"]);
  }));

test("http2: nothing is printed", async () => {
  const warned: string[] = [];
  const note = ({ message }: Error): void => void warned.push(message);
  process.on("warning", note);
  await sessionTo({}, async (session) => {
    assert.equal((await send(session, { ":path": "/a" }, 5)).status, 201);
    assert.equal((await send(session, { ":path": "/a" }, MIB)).status, 409);
  });
  process.off("warning", note);
  assert.deepEqual(warned.filter((message) => /header|connection/i.test(message)), []);
});

test("http2: checkContinue() asks for what is welcome only", () =>
  sessionTo({ accept: "text/csv" }, async (session, folder) => {
    const expect = { expect: "100-continue" };
    const stored = await send(session, { ":path": "/a", "content-type": "text/csv", ...expect }, 5);
    assert.equal(stored.status, 201);
    const refused = await send(session, { ":path": "/b", "content-type": "image/png", ...expect }, 5);
    assert.deepEqual([refused.status, refused.sent], [415, 0]);
    assert.deepEqual(await contentsOf(folder), { a: "xxxxx" });
  }));

test("http2: a page of another site may not upload, one of the host that is asked may", () =>
  sessionTo({}, async (session, folder) => {
    const put = (path: string, headers: OutgoingHttpHeaders): ReturnType<typeof send> =>
      send(session, { ":path": path, ...headers }, 5);
    assert.equal((await put("/own", { ":authority": "files.example:1", origin: "https://files.example" })).status, 201);
    const other = await put("/other", { ":authority": "files.example:1", origin: "https://evil.example" });
    assert.deepEqual([other.status, JSON.parse(other.body).code], [403, "CROSS_SITE"]);
    assert.deepEqual(await contentsOf(folder), { own: "xxxxx" });
  }));
