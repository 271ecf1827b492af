import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { connect } from "node:net";
import { Duplex } from "node:stream";
import test from "node:test";
import type { HttpConnectFunction } from "../../../lib/http/mod.ts";
import type { Protocol } from "../faults/origin.ts";
import { respond, type ServerRequest } from "../faults/server_request.ts";
import { trial } from "../faults/trial.ts";

/** The content, in which no 64 KiB are repeated. */
const content = Buffer.alloc(6_000_011);
for (let at = 0; at + 4 <= content.length; at += 4) content.writeUInt32LE((at * 2654435761) >>> 0, at);

/** Sent in pieces of many sizes: without a length, in chunks. */
function sendPieces(request: ServerRequest): void {
  request.head(200);
  for (let at = 0, size = 1; at < content.length; at += size, size = size * 3 % 70_001) {
    request.data(content.subarray(at, at + size));
  }
  request.end();
}

for (const protocol of ["h2", "h2c", "http/1.1 over TLS", "http/1.1"] as Protocol[]) {
  test(`a large body comes as it was sent, in chunks that are all of their memory and stay as they are (${protocol})`, () =>
    trial(protocol, {}, async ({ client, origin, url }) => {
      origin.onRequest = (request) => request.path === "/pieces" ? sendPieces(request) : respond(request, 200, content);
      const responses = ["/pieces", "/whole"].map(async (path) => {
        const chunks: Uint8Array[] = [];
        for await (const chunk of (await client.fetch(url(path))).body!) chunks.push(chunk);
        return chunks;
      });
      for (const chunks of await Promise.all(responses)) {
        assert.ok(Buffer.concat(chunks).equals(content));
        for (const { byteOffset, length, buffer } of chunks) {
          assert.deepEqual([byteOffset, length], [0, buffer.byteLength]);
        }
      }
    }));
}

test("the bytes that a user's stream gives are neither changed nor taken", () => {
  const given: [Buffer, string][] = [];
  const byDuplex: HttpConnectFunction = ({ hostname, port }) => {
    const socket = connect({ host: hostname, port });
    const stream = new Duplex({
      read() {},
      write: (chunk, _, done) => void socket.write(chunk, () => done()),
      destroy: (error, done) => {
        socket.destroy();
        done(error);
      },
    });
    socket.on("data", (chunk: Buffer) => {
      given.push([chunk, Buffer.from(chunk).toString("latin1")]);
      stream.push(chunk);
    });
    socket.on("error", (error) => stream.destroy(error)).on("close", () => stream.destroy());
    return stream;
  };
  return trial("http/1.1", { client: { connect: byDuplex } }, async ({ client, origin, url }) => {
    origin.onRequest = (request) => sendPieces(request);
    for await (const chunk of (await client.fetch(url("/"))).body!) assert.ok(chunk.length > 0);
    for (const [chunk, text] of given) assert.ok(chunk.toString("latin1") === text);
  });
});
