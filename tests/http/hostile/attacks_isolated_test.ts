import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import {
  CONTINUATION,
  DATA,
  END_HEADERS,
  END_STREAM,
  GOAWAY,
  HEADERS,
  PADDED,
  PING,
  PRIORITY,
  PUSH_PROMISE,
  RST_STREAM,
  SETTINGS,
  WINDOW_UPDATE,
} from "../../../lib/http/h2/protocol.ts";
import type { HttpRequestInit } from "../../../lib/http/mod.ts";
import { until } from "../../support/waits.ts";
import { field } from "../hpack/blocks.ts";
import { type Attack, attackOne, failureOf, NOTHING, OK, times } from "./encounter.ts";
import { frame, numberFrame, settingsFrame, splitHeaders } from "./hostile_server.ts";

const HEAD: HttpRequestInit = { method: "HEAD" };
const UPLOAD: HttpRequestInit = { method: "POST", body: "x".repeat(200_000) };

interface StreamAttack {
  readonly attack: Attack;
  /** The error's code. Default: PROTOCOL_ERROR. */
  readonly code?: string;
  /** The code of RST_STREAM; undefined: any. */
  readonly reset?: number;
  readonly init?: HttpRequestInit;
}

/** Returns a response with these fields, and a body. */
function whole(...fields: string[]): Attack {
  return (
    { connection, stream },
  ) => [connection.headers(stream, fields), frame(DATA, END_STREAM, stream, Buffer.from("12345"))];
}

/** Returns a response whose block is made by hand. */
function block(...parts: Uint8Array[]): Attack {
  return ({ stream }) => [frame(HEADERS, END_HEADERS | END_STREAM, stream, Buffer.concat(parts))];
}

const STATUS = Buffer.from([0x88]);

/** Attacks that fail their own request only. */
const ON_STREAMS: Record<string, StreamAttack> = {
  "without :status": { attack: whole("content-type", "text/plain"), reset: 1 },
  "with two :status": { attack: block(STATUS, STATUS), reset: 1 },
  "with :status behind a header": { attack: whole("x-first", "1", ":status", "200"), reset: 1 },
  "with :path": { attack: block(STATUS, Buffer.from([0x84])), reset: 1 },
  "with a name in capitals": { attack: block(STATUS, field("Content-Type", "text/plain")), reset: 1 },
  "with a line end in a value": { attack: block(STATUS, field("x-split", "a\r\nset-cookie: b")), reset: 1 },
  "with connection: close": { attack: whole(...OK, "connection", "close"), reset: 1 },
  "with transfer-encoding: chunked": { attack: whole(...OK, "transfer-encoding", "chunked"), reset: 1 },
  "of status 101": { attack: whole(":status", "101"), reset: 1 },
  "of status 1000": { attack: whole(":status", "1000"), reset: 1 },
  "that ends with status 103": {
    attack: ({ connection, stream }) => [connection.headers(stream, [":status", "103"], END_STREAM)],
    reset: 1,
  },
  "with a second head": {
    attack: ({ connection, stream }) => [
      connection.headers(stream, OK),
      connection.headers(stream, OK),
      frame(DATA, END_STREAM, stream, NOTHING),
    ],
    reset: 1,
  },
  "with a second head that ends it": {
    attack: ({ connection, stream }) => [connection.headers(stream, OK), connection.headers(stream, OK, END_STREAM)],
    reset: 1,
  },
  "with an informational head behind the final one": {
    attack: ({ connection, stream }) => [
      connection.headers(stream, OK),
      connection.headers(stream, [":status", "103"]),
      frame(DATA, END_STREAM, stream, NOTHING),
    ],
    reset: 1,
  },
  "with trailers that do not end it": {
    attack: ({ connection, stream }) => [
      connection.headers(stream, OK),
      connection.headers(stream, ["x-sum", "1"]),
      frame(DATA, END_STREAM, stream, NOTHING),
    ],
    reset: 1,
  },
  "with a pseudo-header in its trailers": {
    attack: ({ connection, stream }) => [
      connection.headers(stream, OK),
      frame(DATA, 0, stream, Buffer.from("body")),
      connection.headers(stream, [":path", "/"], END_STREAM),
    ],
    reset: 1,
  },
  "with DATA before its head": {
    attack: (
      { connection, stream },
    ) => [frame(DATA, 0, stream, Buffer.from("x")), connection.headers(stream, OK, END_STREAM)],
    reset: 1,
  },
  "with DATA behind an informational head": {
    attack: ({ connection, stream }) => [
      connection.headers(stream, [":status", "103"]),
      frame(DATA, END_STREAM, stream, Buffer.from("x")),
    ],
    reset: 1,
  },
  "of nothing but END_STREAM": { attack: ({ stream }) => [frame(DATA, END_STREAM, stream, NOTHING)], reset: 1 },
  "to HEAD with a body": { attack: whole(...OK), init: HEAD, reset: 1 },
  "of status 204 with a body": { attack: whole(":status", "204"), reset: 1 },
  "of status 304 with a body": { attack: whole(":status", "304"), reset: 1 },
  "shorter than its Content-Length": { attack: whole(...OK, "content-length", "6"), reset: 1 },
  "longer than its Content-Length": { attack: whole(...OK, "content-length", "4"), reset: 1 },
  "without the body of its Content-Length": {
    attack: ({ connection, stream }) => [connection.headers(stream, [...OK, "content-length", "1"], END_STREAM)],
    reset: 1,
  },
  "that ends by trailers before its Content-Length": {
    attack: ({ connection, stream }) => [
      connection.headers(stream, [...OK, "content-length", "6"]),
      frame(DATA, 0, stream, Buffer.from("12345")),
      connection.headers(stream, ["x-sum", "1"], END_STREAM),
    ],
    reset: 1,
  },
  "with a Content-Length that is no number": { attack: whole(...OK, "content-length", "+5"), reset: 1 },
  "with a negative Content-Length": { attack: whole(...OK, "content-length", "-5"), reset: 1 },
  "with a Content-Length beyond all numbers": { attack: whole(...OK, "content-length", "5".repeat(30)), reset: 1 },
  "with two Content-Lengths": { attack: whole(...OK, "content-length", "5", "content-length", "6"), reset: 1 },
  "with WINDOW_UPDATE of 0": {
    attack: ({ stream }) => [numberFrame(WINDOW_UPDATE, stream, 0)],
    init: UPLOAD,
    reset: 1,
  },
  "with a window beyond 2^31 - 1": {
    attack: (
      { stream },
    ) => [numberFrame(WINDOW_UPDATE, stream, 2 ** 31 - 1), numberFrame(WINDOW_UPDATE, stream, 70_000)],
    init: UPLOAD,
    reset: 3,
  },
  "with more headers than we take": {
    attack: ({ connection, stream }) => {
      const fields = Array.from({ length: 2000 }, (_, i) => i % 2 ? "v".repeat(90) : `x-number-${i}`);
      return [splitHeaders(stream, connection.block([...OK, ...fields]), 8, END_STREAM)];
    },
    code: "LIMIT_EXCEEDED",
  },
  "with one header larger than we take": {
    attack: (
      { connection, stream },
    ) => [splitHeaders(stream, connection.block([...OK, "x-large", "\\".repeat(70_000)]), 9)],
    code: "LIMIT_EXCEEDED",
  },
  "with a bomb of indexes": {
    // The first is added to the table, the others are a byte each: 190 MB.
    attack: ({ connection, stream }) => {
      const bomb = Array<string>(100_000).fill("b".repeat(1900));
      return [
        splitHeaders(stream, connection.block([...OK, ...bomb.flatMap((value) => ["x-bomb", value])]), 10, END_STREAM),
      ];
    },
    code: "LIMIT_EXCEEDED",
  },
  "with trailers larger than we take": {
    attack: ({ connection, stream }) => [
      connection.headers(stream, OK),
      frame(DATA, 0, stream, Buffer.from("body")),
      splitHeaders(stream, connection.block(["x-large", "v".repeat(80_000)]), 9, END_STREAM),
    ],
    code: "LIMIT_EXCEEDED",
  },
  "with an informational head larger than we take": {
    attack: ({ connection, stream }) => [
      splitHeaders(stream, connection.block([":status", "103", "link", "v".repeat(80_000)]), 9),
      connection.headers(stream, OK, END_STREAM),
    ],
    code: "LIMIT_EXCEEDED",
  },
  "that is reset": { attack: ({ stream }) => [numberFrame(RST_STREAM, stream, 2)], code: "RESET" },
  "that is reset within its body": {
    attack: ({ connection, stream }) => [
      connection.headers(stream, OK),
      frame(DATA, 0, stream, Buffer.from("x")),
      numberFrame(RST_STREAM, stream, 0),
    ],
    code: "RESET",
  },
  "that is reset with a code that nobody knows": {
    attack: ({ stream }) => [numberFrame(RST_STREAM, stream, 0xdeadbeef)],
    code: "RESET",
  },
};

for (const [what, { attack, code = "PROTOCOL_ERROR", reset, init = {} }] of Object.entries(ON_STREAMS)) {
  test(`a response ${what} fails its own request only`, () =>
    attackOne(attack, init, async (failure, other, server, { connection, stream }) => {
      assert.equal(failure, code);
      assert.equal(await (await other).text(), "unharmed");
      assert.equal(server.connections.length, 1);
      assert.equal(connection.goaway, undefined);
      if (code !== "RESET") await until(() => connection.resets.has(stream), "RST_STREAM");
      if (reset !== undefined) assert.equal(connection.resets.get(stream), reset);
    }));
}

/** Attacks that must end the connection, with the code of GOAWAY. */
const ON_CONNECTIONS: Record<string, { goaway: number; attack: Attack; code?: string; init?: HttpRequestInit }> = {
  "PUSH_PROMISE": {
    goaway: 1,
    attack: ({ connection, stream }) => [
      frame(
        PUSH_PROMISE,
        END_HEADERS,
        stream,
        Buffer.concat([Buffer.from([0, 0, 0, 2]), connection.block([":path", "/"])]),
      ),
    ],
  },
  "a response on a stream of the server's": {
    goaway: 1,
    attack: ({ connection }) => [connection.headers(2, OK, END_STREAM)],
  },
  "a response on a stream that nobody opened": { goaway: 1, attack: ({ connection }) => [connection.headers(77, OK)] },
  "DATA on a stream that nobody opened": { goaway: 1, attack: () => [frame(DATA, 0, 77, Buffer.from("x"))] },
  "DATA on stream 0": { goaway: 1, attack: () => [frame(DATA, 0, 0, Buffer.from("x"))] },
  "a reset of a stream that nobody opened": { goaway: 1, attack: () => [numberFrame(RST_STREAM, 77, 8)] },
  "a window for a stream that nobody opened": { goaway: 1, attack: () => [numberFrame(WINDOW_UPDATE, 77, 8)] },
  "a frame of 16 MiB": {
    goaway: 6,
    attack: ({ stream }) => [Buffer.concat([Buffer.from([255, 255, 255, 0, 0]), id(stream)])],
  },
  "a PING of 16 MiB": { goaway: 6, attack: () => [Buffer.from([255, 255, 255, PING, 0, 0, 0, 0, 0])] },
  "a frame of 16 MiB whose type nobody knows": {
    goaway: 6,
    attack: () => [Buffer.from([255, 255, 255, 99, 0, 0, 0, 0, 0])],
  },
  "padding longer than DATA": {
    goaway: 1,
    attack: ({ connection, stream }) => [
      connection.headers(stream, OK),
      frame(DATA, PADDED, stream, Buffer.from([4, 0, 0, 0])),
    ],
  },
  "a header block that is no HPACK": {
    goaway: 9,
    attack: ({ stream }) => [frame(HEADERS, END_HEADERS, stream, Buffer.from([0xff, 0xff, 0x7f]))],
  },
  "a header table larger than allowed": {
    goaway: 9,
    attack: ({ stream }) => [frame(HEADERS, END_HEADERS, stream, Buffer.from([0x3f, 0xe2, 0x1f, 0x88]))],
  },
  "a header block that is no HPACK, for a request that is over": {
    goaway: 9,
    attack: () => [frame(HEADERS, END_HEADERS, 1, Buffer.from([0x80]))],
  },
  "HEADERS within HEADERS": {
    goaway: 1,
    attack: ({ connection, stream }) => [
      frame(HEADERS, 0, stream, STATUS),
      connection.headers(stream - 2, OK),
    ],
  },
  "a frame that nobody knows within HEADERS": {
    goaway: 1,
    attack: ({ stream }) => [frame(HEADERS, 0, stream, STATUS), frame(99, 0, stream, NOTHING)],
  },
  "CONTINUATION behind a whole block": {
    goaway: 1,
    attack: (
      { connection, stream },
    ) => [connection.headers(stream, OK), frame(CONTINUATION, END_HEADERS, stream, NOTHING)],
  },
  "SETTINGS of 5 bytes": { goaway: 6, attack: () => [frame(SETTINGS, 0, 0, Buffer.alloc(5))] },
  "SETTINGS that push": { goaway: 1, attack: () => [settingsFrame({ 2: 1 })] },
  "SETTINGS whose windows overflow": {
    goaway: 3,
    // The upload's window was widened already: with this it is beyond 2^31 - 1 (RFC 9113 6.9.2).
    attack: ({ stream }) => [numberFrame(WINDOW_UPDATE, stream, 100_000), settingsFrame({ 4: 2 ** 31 - 1 })],
    init: UPLOAD,
  },
  "a connection window beyond 2^31 - 1": { goaway: 3, attack: () => [numberFrame(WINDOW_UPDATE, 0, 2 ** 31 - 1)] },
  "WINDOW_UPDATE of 0 for the connection": { goaway: 1, attack: () => [numberFrame(WINDOW_UPDATE, 0, 0)] },
  "GOAWAY for a stream": { goaway: 1, attack: ({ stream }) => [frame(GOAWAY, 0, stream, Buffer.alloc(8))] },
  "PING for a stream": { goaway: 1, attack: ({ stream }) => [frame(PING, 0, stream, Buffer.alloc(8))] },
};

/** Floods: frames that cost the server nothing and lead to nothing, over and over. */
const FLOODS: Record<string, Attack> = {
  "PINGs": () => times(20_000, frame(PING, 0, 0, Buffer.alloc(8))),
  "SETTINGS": () => times(20_000, settingsFrame({ 3: 100, 4: 65_535 })),
  "acknowledged SETTINGS": () => times(20_000, frame(SETTINGS, 1, 0, NOTHING)),
  "acknowledged PINGs": () => times(20_000, frame(PING, 1, 0, Buffer.alloc(8))),
  "PRIORITY": ({ stream }) => times(20_000, frame(PRIORITY, 0, stream, Buffer.alloc(5))),
  "frames that nobody knows": () => times(20_000, frame(99, 255, 0, Buffer.from("what?"))),
  "WINDOW_UPDATE": () => times(20_000, numberFrame(WINDOW_UPDATE, 0, 1)),
  "WINDOW_UPDATE of a request that is over": () => times(20_000, numberFrame(WINDOW_UPDATE, 1, 1)),
  "RST_STREAM of a request that is over": () => times(20_000, numberFrame(RST_STREAM, 1, 8)),
  "empty DATA": (
    { connection, stream },
  ) => [connection.headers(stream, OK), ...times(20_000, frame(DATA, 0, stream, NOTHING))],
  "DATA of nothing but padding": ({ connection, stream }) => [
    connection.headers(stream, OK),
    ...times(20_000, frame(DATA, PADDED, stream, Buffer.from([2, 0, 0]))),
  ],
  "informational heads": ({ connection, stream }) => times(20_000, connection.headers(stream, [":status", "103"])),
  "CONTINUATION": ({ stream }) => [
    frame(HEADERS, 0, stream, STATUS),
    ...times(20_000, frame(CONTINUATION, 0, stream, field("x", "y"))),
  ],
  "empty CONTINUATION": ({ stream }) => [
    frame(HEADERS, 0, stream, STATUS),
    ...times(20_000, frame(CONTINUATION, 0, stream, NOTHING)),
  ],
  "large CONTINUATION": ({ stream }) => [
    frame(HEADERS, 0, stream, STATUS),
    ...times(2000, frame(CONTINUATION, 0, stream, Buffer.alloc(16_000))),
  ],
};
ON_CONNECTIONS["DATA of a request that is over"] = { goaway: 5, attack: () => [frame(DATA, 0, 1, NOTHING)] };
ON_CONNECTIONS["HEADERS of a request that is over"] = {
  goaway: 5,
  attack: ({ connection }) => [connection.headers(1, OK)],
};
for (const [what, attack] of Object.entries(FLOODS)) {
  ON_CONNECTIONS[`a flood of ${what}`] = { goaway: 11, code: "LIMIT_EXCEEDED", attack };
}

for (const [what, { goaway, attack, code = "PROTOCOL_ERROR", init = {} }] of Object.entries(ON_CONNECTIONS)) {
  test(`${what} ends the connection, and the next request gets another`, () =>
    attackOne(attack, init, async (failure, other, server, { connection }) => {
      assert.equal(failure, code);
      assert.equal(await failureOf(other), code);
      assert.equal(server.connections.length, 1);
      await until(() => connection.goaway !== undefined || connection.isClosed, "GOAWAY");
      // A socket with unread bytes is closed by a reset, which may overtake GOAWAY.
      if (connection.goaway !== undefined) assert.equal(connection.goaway, goaway);
      await until(() => connection.isClosed, "the socket's end");
    }));
}

function id(stream: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(stream);
  return bytes;
}
