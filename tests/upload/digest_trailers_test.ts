import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import http2, { type Http2ServerRequest } from "node:http2";
import net, { type AddressInfo, type Server } from "node:net";
import test from "node:test";
import { announcesTrailerDigests, trailerDigests } from "../../lib/upload/trailer_digests.ts";

const sha256 = createHash("sha256").update("abc").digest("base64");
const sha512 = createHash("sha512").update("abc").digest("base64");

/** What a request says of digests in its trailers: whether it announces them, and those that come. */
type Told = { announced: boolean; digests: Record<string, Record<string, string>> } | Error;

async function told(request: IncomingMessage | Http2ServerRequest): Promise<Told> {
  const announced = announcesTrailerDigests(request);
  for await (const _ of request);
  try {
    const fields = [...trailerDigests(request)].map(([name, digests]) => [name, Object.fromEntries(digests)]);
    return { announced, digests: Object.fromEntries(fields) };
  } catch (error) {
    return error as Error;
  }
}

async function listening(server: Pick<Server, "listen" | "address">): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

/** What a server of node:http is told by a chunked request with these fields before and after its body. */
async function toldByHttp1(header: readonly string[], trailer: readonly string[]): Promise<Told> {
  const { promise, resolve } = Promise.withResolvers<Told>();
  const server = createServer((request, response) => {
    void told(request).then((result) => {
      response.end();
      resolve(result);
    });
  });
  const socket = net.connect(await listening(server), "127.0.0.1");
  const lines = ["POST / HTTP/1.1", "Host: localhost", "Transfer-Encoding: chunked", "Connection: close", ...header];
  socket.on("error", () => {});
  socket.write([...lines, "", "3", "abc", "0", ...trailer, "", ""].join("\r\n"));
  try {
    return await promise;
  } finally {
    socket.destroy();
    server.close();
  }
}

test("digests in the trailers of a chunked request are found", async () => {
  const trailer = [`Content-Digest: sha-256=:${sha256}:`, `REPR-DIGEST: md5=:AA==:, sha-512=:${sha512}:`];
  assert.deepEqual(await toldByHttp1(["Trailer: X-Other ,\tcontent-digest, repr-digest"], trailer), {
    announced: true,
    digests: { "Content-Digest": { "sha-256": sha256 }, "Repr-Digest": { "sha-512": sha512 } },
  });
});

test("a digest field on several lines of the trailers is one", async () => {
  const trailer = [`Repr-Digest: sha-256=:${sha256}:`, `Repr-Digest: sha-512=:${sha512}:`];
  assert.deepEqual(await toldByHttp1(["Trailer: Repr-Digest"], trailer), {
    announced: true,
    digests: { "Repr-Digest": { "sha-256": sha256, "sha-512": sha512 } },
  });
});

test("a malformed digest in the trailers is an error", async () => {
  const result = await toldByHttp1(["Trailer: Repr-Digest"], ["Repr-Digest: sha-256=abc"]);
  assert.equal((result as Error & { code?: string }).code, "BAD_DIGEST");
});

test("a request without trailers has no digests in them, announced or not", async () => {
  assert.deepEqual(await toldByHttp1([], []), { announced: false, digests: {} });
  assert.deepEqual(await toldByHttp1(["Trailer: Repr-Digests"], []), { announced: false, digests: {} });
  assert.deepEqual(await toldByHttp1(["Trailer: Repr-Digest"], []), { announced: true, digests: {} });
});

test("digests in the trailers of an HTTP/2 request are found", async () => {
  const { promise, resolve } = Promise.withResolvers<Told>();
  const server = http2.createServer((request, response) => {
    void told(request).then((result) => {
      response.end();
      resolve(result);
    });
  });
  const client = http2.connect(`http://127.0.0.1:${await listening(server)}`);
  const stream = client.request({ ":method": "POST", trailer: "repr-digest" }, { waitForTrailers: true } as object);
  stream.on("wantTrailers", () => stream.sendTrailers({ "repr-digest": `sha-256=:${sha256}:` }));
  stream.resume();
  stream.end("abc");
  assert.deepEqual(await promise, { announced: true, digests: { "Repr-Digest": { "sha-256": sha256 } } });
  client.close();
  server.close();
});

test("fetch requests and bare streams have no trailers", () => {
  const request = new Request("http://localhost/", { method: "POST", body: "abc" });
  assert.equal(announcesTrailerDigests(request), false);
  assert.deepEqual([...trailerDigests(request)], []);
  assert.equal(announcesTrailerDigests(new ReadableStream()), false);
});
