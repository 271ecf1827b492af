import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { textOf } from "./memory_transport.ts";
import { Recorder, requestHead } from "./recorder.ts";
import { answerTo, settled, Talk } from "./talk.ts";
import { tries } from "../../support/long_run.ts";

interface Expected {
  method?: string;
  status?: number;
  statusText?: string;
  headers?: string[];
  body?: string;
  trailers?: string[];
  informational?: [number, string[]][];
  /** Whether the connection takes another request. */
  reusable?: boolean;
  /** Whether the end of the connection ends the body. */
  untilClose?: boolean;
}

/** Responses as they may be. */
const responses: Record<string, [text: string, expected: Expected]> = {
  "with a Content-Length": [
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello",
    { statusText: "OK", headers: ["content-type", "text/plain", "content-length", "5"], body: "hello" },
  ],
  "with the same Content-Length several times": [
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\ncontent-length: 5, 05\r\n\r\nhello",
    { body: "hello" },
  ],
  "with an empty body": ["HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", { status: 404 }],
  "without a reason phrase": ["HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", { statusText: "" }],
  "without a reason phrase and the space before it": ["HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", { statusText: "" }],
  "with a reason phrase in latin1": ["HTTP/1.1 200 s\xfcper \t!\r\nContent-Length: 0\r\n\r\n", {
    statusText: "s\xfcper \t!",
  }],
  "without any field, which ends with the connection": [
    "HTTP/1.1 200 OK\r\n\r\nall of it",
    { body: "all of it", headers: [], untilClose: true, reusable: false },
  ],
  "with white space around values, and values with none": [
    "HTTP/1.1 204 No Content\r\nA: \t b c \t\r\nB:\r\nC:d\r\nD: \t \r\n\r\n",
    { status: 204, headers: ["a", "b c", "b", "", "c", "d", "d", ""] },
  ],
  "with bytes above 127 in a value": [
    "HTTP/1.1 204 No Content\r\nX: caf\xe9 \xe2\x82\xac\r\n\r\n",
    { status: 204, headers: ["x", "caf\xe9 \xe2\x82\xac"] },
  ],
  "with all characters that a name may have": [
    "HTTP/1.1 204 No Content\r\n!#$%&'*+-.^_`|~09azAZ: 1\r\n\r\n",
    { status: 204, headers: ["!#$%&'*+-.^_`|~09azaz", "1"] },
  ],
  "with a field that comes twice": [
    "HTTP/1.1 204 No Content\r\nSet-Cookie: a=1\r\nSET-COOKIE: b=2\r\n\r\n",
    { status: 204, headers: ["set-cookie", "a=1", "set-cookie", "b=2"] },
  ],
  "with a folded value": [
    "HTTP/1.1 204 No Content\r\nA: b \r\n \t c\r\n\td\r\nE:\r\n f\r\n\r\n",
    { status: 204, headers: ["a", "b c d", "e", "f"] },
  ],
  "with values that are folded over lines of nothing but space": [
    "HTTP/1.1 204 No Content\r\nA: b\r\n \r\n\t \r\n c\r\nE:\r\n \r\n f \r\n \r\nG:\r\n \r\n \r\n\r\n",
    { status: 204, headers: ["a", "b c", "e", "f", "g", ""] },
  ],
  "in chunks, which a folded field says": [
    "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n \r\n chunked\r\n \r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    { body: "hello" },
  ],
  // Quadratic time would be 16 s here.
  "with a folded value that has a long run of spaces": [
    `HTTP/1.1 204 No Content\r\nA: b${" ".repeat(50_000)}c\r\n d\r\n\r\n`,
    { status: 204, headers: ["a", `b${" ".repeat(50_000)}c d`] },
  ],
  "to HEAD, which has no body whatever its length": [
    "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n",
    { method: "HEAD", headers: ["content-length", "1000"], reusable: false },
  ],
  "to HEAD that says chunked": ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", {
    method: "HEAD",
    reusable: false,
  }],
  "to HEAD of no bytes": ["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", { method: "HEAD", reusable: true }],
  "204 with a length": ["HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n", { status: 204, reusable: false }],
  "to HEAD without a length": ["HTTP/1.1 200 OK\r\n\r\n", { method: "HEAD" }],
  "304 with the length of what it does not send": ["HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n", {
    status: 304,
    reusable: false,
  }],
  "in chunks": [
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1\r\n \r\nA\r\n0123456789\r\n0\r\n\r\n",
    { body: "hello 0123456789" },
  ],
  "in chunks, spelled otherwise": [
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n0000a\r\n0123456789\r\n000\r\n\r\n",
    {
      body: "0123456789",
    },
  ],
  "in no chunk at all": ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", { body: "" }],
  "in chunks with extensions": [
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a\r\nabc\r\n3 ; b="c;d"\t\r\ndef\r\n0;last\r\n\r\n',
    { body: "abcdef" },
  ],
  "in chunks whose data looks like lines": [
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n\r\n0\r\n\r\n\r\n\r\n0\r\n\r\n",
    { body: "\r\n0\r\n\r\n\r\n" },
  ],
  "in chunks with trailers": [
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nDigest: abc\r\nX:y\r\n\r\n",
    { body: "ok", trailers: ["digest", "abc", "x", "y"] },
  ],
  "of the transfer coding identity, which ends with the connection": [
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: Identity\r\n\r\nhello",
    { body: "hello", reusable: false, untilClose: true },
  ],
  "of HTTP/1.0, which ends with the connection": [
    "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nold",
    { body: "old", reusable: false, untilClose: true },
  ],
  "of HTTP/1.0 that keeps the connection": [
    "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 3\r\n\r\nold",
    { body: "old", reusable: true },
  ],
  "of HTTP/1.0 that does not": ["HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nold", { body: "old", reusable: false }],
  "of HTTP/1.0 in chunks, which cannot be trusted with another": [
    "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nold\r\n0\r\n\r\n",
    { body: "old", reusable: false },
  ],
  "after which the server closes": [
    "HTTP/1.1 200 OK\r\nConnection: foo , Close\r\nContent-Length: 2\r\n\r\nok",
    { body: "ok", reusable: false },
  ],
  "after informational ones": [
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    { body: "ok", informational: [[100, []], [103, ["link", "</a>"]]] },
  ],
};

/** Requires the expected outcome of a response. */
async function check(text: string, expected: Expected, cuts: readonly number[]): Promise<void> {
  const talk = await answerTo(expected.method ?? "GET", text, cuts);
  const { recorder, transport, connection } = talk;
  if (expected.untilClose) {
    assert.equal(recorder.calls.includes("onEnd"), false, "ended too early");
    transport.finish();
  }
  assert.equal(recorder.error, undefined);
  assert.equal(recorder.calls.at(-1), "onEnd");
  assert.equal(recorder.head?.status, expected.status ?? 200);
  assert.equal(recorder.body, expected.body ?? "");
  assert.deepEqual(recorder.trailers, expected.trailers);
  assert.deepEqual(recorder.informational, expected.informational ?? []);
  if (expected.statusText !== undefined) assert.equal(recorder.head?.statusText, expected.statusText);
  if (expected.headers !== undefined) assert.deepEqual(recorder.head?.headers, expected.headers);
  assert.equal(connection.free, expected.reusable === false ? 0 : 1);
  assert.equal(transport.destroyed, expected.reusable === false);
  await talk.end();
}

const everyByte = (text: string): number[] => Array.from(text, (_, i) => i);

describe("a response", () => {
  for (const [name, [text, expected]] of Object.entries(responses)) {
    it(`${name} is read in one piece, byte by byte, and however it is cut`, async () => {
      await check(text, expected, []);
      await check(text, expected, everyByte(text));
      const cuts = fc.array(fc.nat(text.length), { maxLength: 6 }).map((cuts) => cuts.sort((a, b) => a - b));
      await fc.assert(fc.asyncProperty(cuts, (cuts) => check(text, expected, cuts)), { numRuns: 25 });
    });
  }

  it("is read the same whatever stands in it and however it is cut", async () => {
    const token = fc.stringMatching(/^[a-z][a-z0-9-]{0,12}$/)
      .filter((name) => !/^(connection|keep-alive|content-length|transfer-encoding)$/.test(name));
    const value = fc.stringMatching(/^(?:[!-~\x80-\xff](?:[ -~\x80-\xff]{0,20}[!-~\x80-\xff])?)?$/);
    const fields = fc.array(fc.tuple(token, value), { maxLength: 8 });
    const chunks = fc.array(
      fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((byte) => String.fromCharCode(byte)), maxLength: 40 }),
    );
    const property = fc.asyncProperty(
      fields,
      chunks,
      fc.boolean(),
      fields,
      fc.array(fc.nat(1000)),
      async (fields, chunks, chunked, trailers, cuts) => {
        const lines = (list: [string, string][]): string =>
          list.map(([name, value]) => `${name}: ${value}\r\n`).join("");
        const body = chunks.join("");
        const pieces = chunks.filter((chunk) => chunk !== "").map((chunk) =>
          `${chunk.length.toString(16)}\r\n${chunk}\r\n`
        );
        const text = chunked
          ? `HTTP/1.1 200 OK\r\n${lines(fields)}transfer-encoding: chunked\r\n\r\n${pieces.join("")}0\r\n${
            lines(trailers)
          }\r\n`
          : `HTTP/1.1 200 OK\r\n${lines(fields)}content-length: ${body.length}\r\n\r\n${body}`;
        const talk = await answerTo("GET", text, cuts.sort((a, b) => a - b));
        const { head, ...seen } = talk.recorder;
        assert.equal(seen.error, undefined);
        assert.equal(seen.body, body);
        assert.deepEqual(head!.headers.slice(0, -2), fields.flat());
        assert.deepEqual(seen.trailers ?? [], chunked ? trailers.flat() : []);
        assert.equal(talk.connection.free, 1);
        await talk.end();
      },
    );
    await fc.assert(property, { numRuns: tries(150) });
  });

  it("in many small chunks is handed out in few pieces, none of which changes later", async () => {
    const talk = new Talk();
    const views: Uint8Array[] = [];
    const recorder = new Recorder();
    recorder.onData = (view) => void views.push(view);
    talk.connection.start(requestHead("GET"), undefined, recorder);
    const words = Array.from({ length: 200 }, (_, i) => `${i};`.repeat(i % 50 + 1)).concat("large".repeat(1000), "end");
    const chunks = words.map((word) => `${word.length.toString(16)};x=y\r\n${word}\r\n`).join("");
    const text = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`;
    talk.transport.giveCut(text, [5000, 10_000]);
    assert.equal(views.map(textOf).join(""), words.join(""));
    assert.ok(views.length <= 5, `${views.length} pieces`);
    await talk.end();
  });

  it("that is like the last one byte by byte is a new one all the same", async () => {
    const talk = new Talk();
    const text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: y\r\n\r\n";
    const first = talk.send();
    talk.transport.give(`${text}ab`);
    first.head!.headers.length = 0;
    const second = talk.send();
    await settled();
    talk.transport.give(`${text}cd`);
    const third = talk.send();
    await settled();
    talk.transport.give(`${text.replace("y", "z")}ef`);
    assert.equal(second.body, "cd");
    assert.deepEqual(second.head!.headers, ["content-length", "2", "x", "y"]);
    assert.equal(third.body, "ef");
    assert.deepEqual(third.head!.headers, ["content-length", "2", "x", "z"]);
    await talk.end();
  });
});

const OK = "HTTP/1.1 200 OK\r\n";
const IN_CHUNKS = `${OK}Transfer-Encoding: chunked\r\n\r\n`;

/** Texts that are no valid response. */
const malformed: Record<string, string> = {
  "another protocol's greeting": "SSH-2.0-OpenSSH_9.6\r\n",
  "a TLS alert": "\x15\x03\x01\x00\x02\x02\x46",
  "frames of HTTP/2": "\x00\x00\x12\x04\x00\x00\x00\x00\x00",
  "HTTP/0.9": "<html>",
  "another version": "HTTP/2.0 200 OK\r\n\r\n",
  "a version in lower case": "http/1.1 200 OK\r\n\r\n",
  "a version that is too long": "HTTP/1.10 200 OK\r\n\r\n",
  "a space before the status line": " HTTP/1.1 200 OK\r\n\r\n",
  "an empty line before the status line": "\r\nHTTP/1.1 200 OK\r\n\r\n",
  "two spaces before the status": "HTTP/1.1  200 OK\r\n\r\n",
  "a status with two digits": "HTTP/1.1 20 OK\r\n\r\n",
  "a status with four digits": "HTTP/1.1 2000 OK\r\n\r\n",
  "a status that is no number": "HTTP/1.1 2x0 OK\r\n\r\n",
  "a status below 100": "HTTP/1.1 099 OK\r\n\r\n",
  "a NUL in the reason phrase": "HTTP/1.1 200 O\0K\r\n\r\n",
  "a bare CR in the reason phrase": "HTTP/1.1 200 O\rK\r\n\r\n",
  "a bare LF after the status line": "HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n",
  "bare LFs everywhere": "HTTP/1.1 200 OK\nContent-Length: 0\n\n",
  "a bare LF after a field": `${OK}A: b\nContent-Length: 0\r\n\r\n`,
  "a bare LF as the last line": `${OK}Content-Length: 0\r\n\n`,
  "a bare CR in a value": `${OK}A: b\rc\r\n\r\n`,
  "a bare CR as the last line": `${OK}Content-Length: 0\r\n\rx\r\n\r\n`,
  "two CRs before an LF": `${OK}A: b\r\r\n\r\n`,
  "a NUL in a value": `${OK}A: b\0c\r\n\r\n`,
  "a DEL in a value": `${OK}A: b\x7fc\r\n\r\n`,
  "a NUL in a name": `${OK}A\0: b\r\n\r\n`,
  "a name with a byte above 127": `${OK}caf\xe9: b\r\n\r\n`,
  "white space before the colon": `${OK}Content-Length : 5\r\n\r\nhello`,
  "white space in a name": `${OK}Content Length: 5\r\n\r\nhello`,
  "a name with parentheses": `${OK}A(b): c\r\n\r\n`,
  "no name": `${OK}: b\r\n\r\n`,
  "no colon": `${OK}Content-Length\r\n\r\n`,
  "a first field that begins with white space": `${OK} Content-Length: 5\r\n\r\nhello`,
  "a NUL in a folded value": `${OK}A: b\r\n c\0\r\n\r\n`,
  "Content-Lengths that differ": `${OK}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!`,
  "Content-Lengths in a list that differ": `${OK}Content-Length: 5, 6\r\n\r\nhello!`,
  "a negative Content-Length": `${OK}Content-Length: -5\r\n\r\n`,
  "a Content-Length with a sign": `${OK}Content-Length: +5\r\n\r\nhello`,
  "a hexadecimal Content-Length": `${OK}Content-Length: 0x5\r\n\r\nhello`,
  "a Content-Length with a fraction": `${OK}Content-Length: 5.0\r\n\r\nhello`,
  "an empty Content-Length": `${OK}Content-Length:\r\n\r\nhello`,
  "an empty item of a Content-Length": `${OK}Content-Length: 5,\r\n\r\nhello`,
  "a Content-Length beyond all numbers": `${OK}Content-Length: 99999999999999999999\r\n\r\n`,
  "Content-Length and Transfer-Encoding": `${OK}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  "Transfer-Encoding and Content-Length": `${OK}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n`,
  "a Transfer-Encoding that is not chunked": `${OK}Transfer-Encoding: gzip\r\n\r\nhello`,
  "Content-Length and identity": `${OK}Content-Length: 5\r\nTransfer-Encoding: identity\r\n\r\nhello`,
  "identity and chunked": `${OK}Transfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n`,
  "a Transfer-Encoding that does not end in chunked": `${OK}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`,
  "a Transfer-Encoding that nobody asked for": `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
  "chunked twice": `${OK}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  "chunked with a parameter": `${OK}Transfer-Encoding: chunked;a=b\r\n\r\n0\r\n\r\n`,
  "an empty Transfer-Encoding": `${OK}Transfer-Encoding:\r\n\r\nhello`,
  "a chunk without a size": `${IN_CHUNKS}\r\nhello\r\n0\r\n\r\n`,
  "a chunk's size that is no number": `${IN_CHUNKS}xyz\r\nhello\r\n0\r\n\r\n`,
  "a chunk's size with a sign": `${IN_CHUNKS}+5\r\nhello\r\n0\r\n\r\n`,
  "a negative chunk's size": `${IN_CHUNKS}-5\r\nhello\r\n0\r\n\r\n`,
  "a chunk's size with 0x": `${IN_CHUNKS}0x5\r\nhello\r\n0\r\n\r\n`,
  "a chunk's size after a space": `${IN_CHUNKS} 5\r\nhello\r\n0\r\n\r\n`,
  "a chunk's size before a space": `${IN_CHUNKS}5 \r\nhello\r\n0\r\n\r\n`,
  "a chunk's size that ends with a bare LF": `${IN_CHUNKS}5\nhello\r\n0\r\n\r\n`,
  "a chunk's size that ends with a bare CR": `${IN_CHUNKS}5\rhello\r\n0\r\n\r\n`,
  "a chunk that is longer than its size": `${IN_CHUNKS}4\r\nhello\r\n0\r\n\r\n`,
  "a chunk that ends with a bare LF": `${IN_CHUNKS}5\r\nhello\n0\r\n\r\n`,
  "a chunk that ends with a bare CR": `${IN_CHUNKS}5\r\nhello\r0\r\n\r\n`,
  "an extension with a bare LF": `${IN_CHUNKS}5;a\nb\r\nhello\r\n0\r\n\r\n`,
  "an extension with a NUL": `${IN_CHUNKS}5;a\0b\r\nhello\r\n0\r\n\r\n`,
  "trailers with a bare LF": `${IN_CHUNKS}0\r\nA: b\n\r\n`,
  "a trailer without a colon": `${IN_CHUNKS}0\r\nA\r\n\r\n`,
  "a trailer with white space before the colon": `${IN_CHUNKS}0\r\nA : b\r\n\r\n`,
  "another protocol": "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
};

/** Responses with parts above their limits; heads are limited to 1 KiB. */
const oversized: Record<string, string> = {
  "a head": `${OK}A: ${"b".repeat(2000)}\r\nContent-Length: 0\r\n\r\n`,
  "a head without an end": `${OK}A: ${"b".repeat(2000)}`,
  "a head of many fields": `${OK}${"A: b\r\n".repeat(300)}`,
  "a reason phrase": `HTTP/1.1 200 ${"b".repeat(2000)}`,
  "a chunk's size": `${IN_CHUNKS}${"0".repeat(2000)}5\r\nhello\r\n0\r\n\r\n`,
  "a chunk of 2^56 bytes": `${IN_CHUNKS}100000000000000\r\n`,
  "a chunk's extension": `${IN_CHUNKS}5;${"a".repeat(20_000)}`,
  "white space after a chunk's size": `${IN_CHUNKS}5${" ".repeat(20_000)}`,
  "trailers": `${IN_CHUNKS}0\r\nA: ${"b".repeat(2000)}\r\n\r\n`,
  "trailers without an end": `${IN_CHUNKS}0\r\n${"A: b\r\n".repeat(300)}`,
};

describe("a server that sends", () => {
  const expectFailure = async (text: string, cuts: readonly number[], code: string): Promise<void> => {
    const talk = await answerTo("GET", text, cuts, { maxHeaderSize: 1024 });
    const { recorder, transport, connection, owner } = talk;
    assert.equal(recorder.error?.code, code, recorder.calls.join());
    assert.equal(recorder.error?.origin, "http://example.org");
    assert.equal(recorder.untouched, false);
    assert.equal(transport.destroyed, true);
    assert.equal(connection.free, 0);
    assert.deepEqual(owner.calls, ["onClosing", "onClosed"]);
    await talk.end();
  };
  for (const [name, text] of Object.entries(malformed)) {
    it(`${name} gets no more requests, and the one under way fails`, async () => {
      await expectFailure(text, [], "PROTOCOL_ERROR");
      await expectFailure(text, everyByte(text), "PROTOCOL_ERROR");
    });
  }
  for (const [name, text] of Object.entries(oversized)) {
    it(`${name} that is too large gets no more requests, and the one under way fails`, async () => {
      await expectFailure(text, [], "LIMIT_EXCEEDED");
      await expectFailure(text, everyByte(text), "LIMIT_EXCEEDED");
    });
  }

  it("any bytes whatever makes the request end or fail, and breaks nothing else", async () => {
    const part = fc.constantFrom(
      "HTTP/1.1",
      " ",
      "200",
      "\r\n",
      "\r",
      "\n",
      "Content-Length",
      ":",
      "5",
      "Transfer-Encoding: chunked",
      "\r\n\r\n",
      "0",
      ";",
      "hello",
      "\0",
    );
    const bytes = fc.string({
      unit: fc.integer({ min: 0, max: 255 }).map((byte) => String.fromCharCode(byte)),
      maxLength: 20,
    });
    const text = fc.array(fc.oneof(part, bytes), { maxLength: 30 }).map((parts) => parts.join(""));
    const property = fc.asyncProperty(text, fc.boolean(), fc.array(fc.nat(200)), async (text, begins, cuts) => {
      const whole = begins ? `HTTP/1.1 200 OK\r\n${text}` : text;
      const { recorder, transport, owner } = await answerTo("GET", whole, cuts.sort((a, b) => a - b));
      transport.finish();
      transport.close();
      await owner.closed;
      assert.match(recorder.calls.at(-1)!, /onEnd|onFail/);
    });
    await fc.assert(property, { numRuns: tries(300) });
  });

  it("a head with exactly as many bytes as allowed is understood", async () => {
    const head = (size: number): string => {
      const rest = `${OK}Content-Length: 0\r\nA: \r\n\r\n`;
      return rest.replace("A: ", `A: ${"b".repeat(size - rest.length)}`);
    };
    for (const cuts of [[], [500], everyByte(head(1024))]) {
      const fits = await answerTo("GET", head(1024), cuts, { maxHeaderSize: 1024 });
      assert.equal(fits.recorder.calls.at(-1), "onEnd");
      await fits.end();
      const exceeds = await answerTo("GET", head(1025), cuts, { maxHeaderSize: 1024 });
      assert.equal(exceeds.recorder.error?.code, "LIMIT_EXCEEDED");
    }
  });

  it("only the beginning of a response and then nothing fails the request", async () => {
    const texts = [
      `${OK}Content-Length: 5\r\n\r\nhell`,
      OK,
      `${IN_CHUNKS}5\r\nhello\r\n`,
      `${IN_CHUNKS}0\r\n`,
      `${IN_CHUNKS}0\r\nA: b\r\n`,
      "H",
      "",
    ];
    for (const text of texts) {
      for (const end of ["finish", "close"] as const) {
        const { recorder, transport, owner } = await answerTo("GET", text);
        transport[end]();
        await settled();
        assert.equal(recorder.error?.code, "CONNECTION_LOST");
        assert.equal(recorder.untouched, false);
        assert.deepEqual(owner.calls, ["onClosing", "onClosed"]);
      }
    }
  });

  it("a body that has no length and ends with a broken connection fails the request", async () => {
    const { recorder, transport } = await answerTo("GET", `${OK}\r\nall of`);
    const cause = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
    transport.close(cause);
    assert.equal(recorder.error?.code, "CONNECTION_LOST");
    assert.equal(recorder.error?.cause, cause);
  });
});
