import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import type { RequestHead } from "../../../lib/http/connection.ts";
import { HpackDecoder } from "../../../lib/http/h2/hpack/decoder.ts";
import { HpackEncoder } from "../../../lib/http/h2/hpack/encoder.ts";
import { encodeHuffman, huffmanLength } from "../../../lib/http/h2/hpack/huffman.ts";
import { hex } from "./blocks.ts";
import { ReferenceDecoder } from "./reference_decoder.ts";
import { tries } from "../../support/long_run.ts";

const HEADERS = ["accept", "*/*", "accept-encoding", "zstd, br, gzip", "user-agent", "a test", "x-of-mine", "1"];

function request(over: Partial<RequestHead> = {}): RequestHead {
  return { method: "GET", scheme: "https", authority: "example.com", path: "/items", headers: HEADERS, ...over };
}

/** Returns the fields that a server must see, in the encoder's order. */
function seen(head: RequestHead, contentLength?: number): string[] {
  const { method, authority, scheme, path, headers } = head;
  const length = contentLength === undefined ? [] : ["content-length", String(contentLength)];
  return [":method", method, ":authority", authority, ":scheme", scheme, ":path", path, ...headers, ...length];
}

/** An encoder, and a server that decodes its output. */
class Pair {
  readonly encoder = new HpackEncoder();
  readonly server: ReferenceDecoder;

  constructor(maxTableSize = 4096) {
    this.server = new ReferenceDecoder(maxTableSize);
  }

  /** Sends a request, checks that the server sees it, and says how many bytes it took. */
  send(head: RequestHead, contentLength?: number): number {
    const length = this.encoder.encodeRequest(head, contentLength);
    assert.deepEqual(this.server.decode(this.encoder.block.slice(0, length)), seen(head, contentLength));
    return length;
  }

  /** Encodes any fields, and returns their length in bytes. */
  sendFields(fields: string[]): number {
    const length = this.encoder.encodeFields(fields);
    assert.deepEqual(this.server.decode(this.encoder.block.slice(0, length)), fields);
    return length;
  }

  /** Returns the representation in which the field with this name was sent last. */
  how(head: RequestHead, name: string): string {
    return this.server.representations[seen(head).indexOf(name) / 2];
  }
}

test("HpackEncoder writes Huffman code as in RFC 7541 C.4 and C.6", () => {
  for (
    const [text, code] of [
      ["www.example.com", "f1e3 c2e5 f23a 6ba0 ab90 f4ff"],
      ["no-cache", "a8eb 1064 9cbf"],
      ["custom-value", "25a8 49e9 5bb8 e8b4 bf"],
      ["Mon, 21 Oct 2013 20:13:21 GMT", "d07a be94 1054 d444 a820 0595 040b 8166 e082 a62d 1bff"],
    ]
  ) {
    const bytes = new Uint8Array(huffmanLength(text));
    assert.equal(encodeHuffman(text, bytes, 0), bytes.length);
    assert.deepEqual(bytes, new Uint8Array(hex(code)));
  }
});

test("HpackEncoder takes a few bytes for a request that is like the last one", () => {
  const pair = new Pair();
  assert.ok(pair.send(request()) > 40);
  pair.send(request());
  for (let i = 0; i < 3; i++) assert.equal(pair.send(request()), 8);
  // Equal strings and lists, but other objects.
  const copy = JSON.parse(JSON.stringify(request())) as RequestHead;
  for (let i = 0; i < 3; i++) assert.equal(pair.send(copy), 8);
});

test("HpackEncoder sends every part of a head that is not as the last time", () => {
  const variants: [Partial<RequestHead>, number?][] = [
    [{ method: "DELETE" }],
    [{ scheme: "http" }],
    [{ authority: "example.org" }],
    [{ path: "/" }],
    [{ path: "/index.html" }],
    [{ path: "/other" }],
    [{ headers: [] }],
    [{ headers: HEADERS.slice(2) }],
    [{ headers: HEADERS.slice(0, -2) }],
    [{ headers: [...HEADERS, "x-of-mine", "1"] }],
    [{ headers: HEADERS.with(-1, "2") }],
    [{ headers: HEADERS.with(-2, "x-of-yours") }],
    [{}, 0],
    [{}, 17],
    [{}],
  ];
  for (const [first, firstLength] of variants) {
    const pair = new Pair();
    for (const [second, secondLength] of variants) {
      for (let i = 0; i < 3; i++) pair.send(request(first), firstLength);
      pair.send(request(second), secondLength);
    }
  }
});

test("HpackEncoder takes a few bytes for requests of two kinds that take turns, whatever their Content-Length", () => {
  const pair = new Pair();
  const post = request({ method: "POST", headers: [...HEADERS, "content-type", "application/json"] });
  for (let i = 0; i < 4; i++) {
    pair.send(request());
    pair.send(post, 100);
  }
  for (let i = 0; i < 4; i++) {
    assert.equal(pair.send(request()), 8);
    assert.equal(pair.send(post, 1000 + i * 1234), 9 + 6);
  }
});

test("HpackEncoder is not misled by a head that changes after it was sent", () => {
  const pair = new Pair();
  const headers = [...HEADERS];
  for (let i = 0; i < 3; i++) pair.send(request({ headers }));
  headers[1] = "text/html";
  pair.send(request({ headers }));
});

test("HpackEncoder spells a :path out until it comes twice in a row", () => {
  const pair = new Pair();
  for (let i = 0; i < 20; i++) {
    const head = request({ path: `/items/${i}` });
    pair.send(head);
    assert.equal(pair.how(head, ":path"), "plain");
  }
  const head = request({ path: "/items/19" });
  pair.send(head);
  assert.equal(pair.how(head, ":path"), "added");
  pair.send(head);
  assert.equal(pair.how(head, ":path"), "indexed");
  assert.equal(pair.send(head), 8);
});

test("HpackEncoder never indexes authorization and short cookies, also when they are sent again", () => {
  const pair = new Pair();
  const headers = [...HEADERS, "authorization", "Bearer s3cret", "proxy-authorization", "Basic eA==", "cookie", "id=1"];
  const head = request({ headers });
  for (let i = 0; i < 4; i++) {
    pair.send(head);
    for (const name of ["authorization", "proxy-authorization", "cookie"]) {
      assert.equal(pair.how(head, name), "never indexed");
    }
  }
  assert.ok(pair.server.table.every(([name]) => !/authorization|cookie/.test(name)));
});

test("HpackEncoder indexes long cookies", () => {
  const pair = new Pair();
  const head = request({ headers: ["cookie", "session=0123456789abcdef0123456789abcdef"] });
  for (let i = 0; i < 2; i++) pair.send(head);
  assert.equal(pair.how(head, "cookie"), "added");
  for (let i = 0; i < 3; i++) pair.send(head);
  assert.equal(pair.send(head), pair.send(request({ headers: [] })) + 1);
});

test("HpackEncoder stops adding values of a name that never come again, and keeps the others", () => {
  const pair = new Pair();
  for (let i = 0; i < 300; i++) {
    const head = request({ headers: [...HEADERS, "x-request-id", `request ${i}`] });
    pair.send(head);
    if (i > 10) {
      assert.equal(pair.how(head, "x-request-id"), "plain");
      assert.equal(pair.how(head, "x-of-mine"), "indexed");
    }
  }
  // Once it stays, it is worth its place.
  const head = request({ headers: [...HEADERS, "x-request-id", "the same"] });
  for (let i = 0; i < 3; i++) pair.send(head);
  assert.equal(pair.how(head, "x-request-id"), "indexed");
});

test("HpackEncoder does not push everything out of its table for a large value", () => {
  const pair = new Pair();
  for (let i = 0; i < 3; i++) pair.send(request());
  const head = request({ headers: [...HEADERS, "x-large", "v".repeat(3000)] });
  for (let i = 0; i < 3; i++) pair.send(head);
  assert.equal(pair.how(head, "x-large"), "plain");
  assert.equal(pair.how(head, "x-of-mine"), "indexed");
});

test("HpackEncoder writes heads far larger than its block was, and any bytes", () => {
  const pair = new Pair();
  const bytes = String.fromCharCode(...Array.from({ length: 256 }, (_, i) => i));
  for (const size of [100, 1000, 10_000, 300_000]) {
    pair.send(request({ path: `/${"p".repeat(size)}`, headers: ["x-bytes", bytes.repeat(Math.ceil(size / 256))] }));
  }
  pair.send(request({ headers: Array.from({ length: 4000 }, (_, i) => `x${i >> 1}`) }));
  for (let i = 0; i < 3; i++) {
    pair.send(request({ headers: ["x".repeat(5000), "y", "authorization", "z".repeat(5000)] }));
  }
});

test("HpackEncoder keeps to the server's table size, and says so at the next block's start", () => {
  const pair = new Pair(65_536);
  for (let i = 0; i < 3; i++) pair.send(request());
  pair.encoder.setMaxTableSize(100);
  pair.send(request());
  assert.deepEqual(pair.server.updates, [100]);
  assert.ok(pair.server.tableSize <= 100);
  for (let i = 0; i < 5; i++) {
    pair.send(request());
    assert.deepEqual(pair.server.updates, []);
    assert.ok(pair.server.tableSize <= 100);
  }
  // Less, and more again, before anything was sent: both are said, so that the server evicts too.
  pair.encoder.setMaxTableSize(0);
  pair.encoder.setMaxTableSize(65_536);
  pair.send(request());
  assert.deepEqual(pair.server.updates, [0, 4096]);
  for (let i = 0; i < 2; i++) pair.send(request());
  assert.equal(pair.send(request()), 8);
});

test("HpackEncoder says nothing of a table size that is no other for it", () => {
  const pair = new Pair(65_536);
  pair.encoder.setMaxTableSize(4096);
  pair.encoder.setMaxTableSize(65_536);
  pair.send(request());
  assert.deepEqual(pair.server.updates, []);
});

test("HpackEncoder works without a dynamic table", () => {
  const pair = new Pair();
  pair.encoder.setMaxTableSize(0);
  for (let i = 0; i < 5; i++) pair.send(request(), i % 2);
  assert.equal(pair.server.table.length, 0);
});

test("HpackEncoder forgets names that it does not need", () => {
  const pair = new Pair();
  for (let i = 0; i < 3000; i++) pair.sendFields([`x-name-${i}`, "v", "x-always", "there"]);
  assert.equal(pair.sendFields(["x-always", "there"]), 1);
});

test("HpackEncoder's blocks tell a plain decoder the fields, whatever they are and however the table changes", () => {
  const value = fc.oneof(
    fc.constantFrom("", "a", "gzip, deflate", "x".repeat(130), "y".repeat(1500)),
    fc.uint8Array({ maxLength: 40 }).map((bytes) => String.fromCharCode(...bytes)),
  );
  const name = fc.oneof(
    fc.constantFrom("x-a", "x-b", "cookie", "authorization", "etag", "accept", "content-type", "set-cookie"),
    fc.stringMatching(/^[a-z0-9-]{1,60}$/),
  );
  const headers = fc.array(fc.tuple(name, value), { maxLength: 8 }).map((fields) => fields.flat());
  const step = fc.record({
    limit: fc.option(fc.integer({ min: 0, max: 8192 }), { nil: undefined, freq: 4 }),
    method: fc.constantFrom("GET", "POST", "PUT"),
    path: fc.constantFrom("/", "/a", "/b", "/index.html", `/${"long".repeat(50)}`),
    headers,
    times: fc.integer({ min: 1, max: 4 }),
    length: fc.option(fc.nat(), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      const pair = new Pair(8192);
      for (const { limit, method, path, headers, times, length } of steps) {
        if (limit !== undefined) pair.encoder.setMaxTableSize(limit);
        for (let i = 0; i < times; i++) pair.send(request({ method, path, headers }), length);
      }
    }),
    { numRuns: tries(100) },
  );
});

test("HpackDecoder decodes what HpackEncoder made of responses", () => {
  const encoder = new HpackEncoder();
  const decoder = new HpackDecoder();
  const fields = fc.array(
    fc.tuple(fc.stringMatching(/^[a-z0-9-]{1,30}$/), fc.stringMatching(/^[!-~]([ -~]{0,60}[!-~])?$/)),
    { maxLength: 10 },
  ).map((list) => list.filter(([name]) => !/^(te|connection|upgrade|keep-alive)$/.test(name)).flat());
  fc.assert(
    fc.property(fields, fc.integer({ min: 200, max: 599 }), (list, status) => {
      const length = encoder.encodeFields([":status", String(status), ...list]);
      assert.deepEqual(decoder.decodeHead(encoder.block, 0, length), list);
      assert.equal(decoder.status, status);
      assert.equal(decoder.malformed, "");
    }),
    { numRuns: tries(300) },
  );
});
