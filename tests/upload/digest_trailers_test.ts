import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import http2, { type Http2ServerRequest } from "node:http2";
import net, { type AddressInfo, type Server } from "node:net";
import test from "node:test";
import { announcedOf } from "../../lib/upload/body/announced.ts";

const sha256 = createHash("sha256").update("abc").digest("base64");
const sha512 = createHash("sha512").update("abc").digest("base64");

/** The digests in the trailers of a request that announces some; undefined if it announces none. */
type Told = Record<string, Record<string, string>> | undefined | Error;

async function told(request: IncomingMessage | Http2ServerRequest): Promise<Told> {
  const { trailerDigests } = announcedOf(request, {});
  for await (const _ of request);
  try {
    const fields = trailerDigests &&
      [...trailerDigests()].map(([name, digests]) => [name, Object.fromEntries(digests)]);
    return fields && Object.fromEntries(fields);
  } catch (error) {
    return error as Error;
  }
}

async function listening(server: Pick<Server, "listen" | "address">): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

/** Returns what a server of node:http gets from a chunked request with these fields before and after its body. */
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
    "Content-Digest": { "sha-256": sha256 },
    "Repr-Digest": { "sha-512": sha512 },
  });
});

test("a digest field on several lines of the trailers is one", async () => {
  const trailer = [`Repr-Digest: sha-256=:${sha256}:`, `Repr-Digest: sha-512=:${sha512}:`];
  assert.deepEqual(await toldByHttp1(["Trailer: Repr-Digest"], trailer), {
    "Repr-Digest": { "sha-256": sha256, "sha-512": sha512 },
  });
});

test("a malformed digest in the trailers is an error", async () => {
  const result = await toldByHttp1(["Trailer: Repr-Digest"], ["Repr-Digest: sha-256=abc"]);
  assert.equal((result as Error & { code?: string }).code, "BAD_DIGEST");
});

test("of a request that announces no digest, the trailers are not looked at", async () => {
  assert.deepEqual(await toldByHttp1([], [`Content-Digest: sha-256=:${sha512}:`]), undefined);
  assert.deepEqual(await toldByHttp1(["Trailer: Repr-Digests"], []), undefined);
});

test("a digest that is announced for the trailers, and does not come, is an error that names it", async () => {
  const result = await toldByHttp1(["Trailer: Repr-Digest, Content-Digest"], [`Content-Digest: sha-256=:${sha256}:`]);
  assert.equal((result as Error & { code?: string }).code, "BAD_DIGEST");
  assert.match((result as Error).message, /Repr-Digest .* did not come/);
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
  assert.deepEqual(await promise, { "Repr-Digest": { "sha-256": sha256 } });
  client.close();
  server.close();
});

const announcing = (field: string, others: Record<string, string> = {}): RequestInit => {
  return { method: "POST", body: "abc", headers: { trailer: field, ...others } };
};

test("a digest that is announced for the trailers of a Request is refused: they cannot be seen", () => {
  for (const field of ["Content-Digest", "x, REPR-DIGEST"]) {
    const request = new Request("http://localhost/", announcing(field));
    assert.throws(() => announcedOf(request, {}), { name: "UploadError", code: "TRAILER_DIGEST", status: 501 });
    assert.equal(announcedOf(request, { verify: false }).trailerDigests, undefined);
  }
});

test("a digest that a Request has in its header may be announced for its trailers too", () => {
  const header = { "content-digest": `sha-256=:${sha256}:` };
  const both = new Request("http://localhost/", announcing("Content-Digest", header));
  assert.deepEqual([...announcedOf(both, {}).digests.keys()], ["Content-Digest"]);
  const other = new Request("http://localhost/", announcing("Content-Digest, Repr-Digest", header));
  assert.throws(() => announcedOf(other, {}), { code: "TRAILER_DIGEST", message: /Repr-Digest/ });
});

test("a download whose server announces a digest for the trailers is taken, and so are bare streams", () => {
  const response = new Response("abc", { headers: { trailer: "Content-Digest" } });
  assert.equal(announcedOf(response, {}).trailerDigests, undefined);
  assert.equal(announcedOf(new ReadableStream(), {}).trailerDigests, undefined);
});
