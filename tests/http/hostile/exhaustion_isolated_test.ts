import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import process from "node:process";
import test from "node:test";
import { gzipSync } from "node:zlib";
import {
  DATA,
  END_STREAM,
  GOAWAY,
  HAS_PRIORITY,
  HEADERS,
  PADDED,
  PING,
  PRIORITY,
  RST_STREAM,
  SETTINGS,
  WINDOW_UPDATE,
} from "../../../lib/http/h2/protocol.ts";
import type { HttpClientOptions, HttpRequestInit } from "../../../lib/http/mod.ts";
import { pause, until } from "../../support/waits.ts";
import { field } from "../hpack/blocks.ts";
import { encounter, failureOf, NOTHING, OK, times } from "./encounter.ts";
import {
  type Asked,
  frame,
  type HostileConnection,
  numberFrame,
  settingsFrame,
  splitHeaders,
} from "./hostile_server.ts";

const SOON = 200;

/** A server that withholds or delays its response, and the error that must end the request. */
interface Trap {
  readonly code: string;
  readonly options?: HttpClientOptions;
  readonly init?: HttpRequestInit;
  readonly onConnection?: (connection: HostileConnection) => void;
  readonly onRequest?: (asked: Asked) => void;
}

/** Sends bytes repeatedly, as long as the connection is open. */
function drip({ connection }: Asked, next: () => Uint8Array): void {
  const timer = setInterval(() => connection.isClosed ? clearInterval(timer) : connection.send(next()), 20);
}

const TRAPS: Record<string, Trap> = {
  "says nothing at all": {
    code: "HEADERS_TIMEOUT",
    options: { headersTimeout: SOON },
    onConnection: (connection) => connection.isMute = true,
    onRequest: () => {},
  },
  "never opens its window": {
    code: "HEADERS_TIMEOUT",
    options: { headersTimeout: SOON },
    init: { method: "POST", body: "never sent" },
    onConnection: (connection) => connection.send(settingsFrame({ 4: 0 })),
    onRequest: () => {},
  },
  "stops within the head's frame": {
    code: "HEADERS_TIMEOUT",
    options: { headersTimeout: SOON },
    onRequest: ({ connection, stream }) => connection.send(connection.headers(stream, OK).subarray(0, 9)),
  },
  "stops within the head's block": {
    code: "HEADERS_TIMEOUT",
    options: { headersTimeout: SOON },
    onRequest: ({ connection, stream }) => connection.send(frame(HEADERS, 0, stream, Buffer.from([0x88]))),
  },
  "stops within the body": {
    code: "BODY_TIMEOUT",
    options: { bodyTimeout: SOON },
    onRequest: ({ connection, stream }) =>
      connection.send(connection.headers(stream, OK), frame(DATA, 0, stream, Buffer.from("and then"))),
  },
  "drips informational heads": {
    code: "HEADERS_TIMEOUT",
    options: { headersTimeout: SOON },
    onRequest: (asked) => drip(asked, () => asked.connection.headers(asked.stream, [":status", "103"])),
  },
  "drips PINGs instead of a head": {
    code: "HEADERS_TIMEOUT",
    options: { headersTimeout: SOON },
    onRequest: (asked) => drip(asked, () => frame(PING, 0, 0, Buffer.alloc(8))),
  },
  "drips empty DATA": {
    code: "BODY_TIMEOUT",
    options: { bodyTimeout: SOON },
    onRequest: (asked) => {
      asked.connection.send(asked.connection.headers(asked.stream, OK));
      drip(asked, () => frame(DATA, 0, asked.stream, NOTHING));
    },
  },
  "drips padding": {
    code: "BODY_TIMEOUT",
    options: { bodyTimeout: SOON },
    onRequest: (asked) => {
      asked.connection.send(asked.connection.headers(asked.stream, OK));
      drip(asked, () => frame(DATA, PADDED, asked.stream, Buffer.from([2, 0, 0])));
    },
  },
  "answers a body that was encoded six times": {
    code: "DECODING_FAILED",
    onRequest: ({ connection, stream }) =>
      connection.send(
        connection.headers(stream, [...OK, "content-encoding", Array(6).fill("gzip").join()]),
        frame(DATA, END_STREAM, stream, gzipSync("x")),
      ),
  },
  "speaks HTTP/1.1": {
    code: "PROTOCOL_ERROR",
    onConnection: (connection) => speaksOnce(connection, "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n"),
  },
  "speaks TLS": {
    code: "PROTOCOL_ERROR",
    onConnection: (connection) => speaksOnce(connection, Buffer.from([0x15, 3, 3, 0, 2, 2, 70, 0, 0, 0])),
  },
  "begins with something else than SETTINGS": {
    code: "PROTOCOL_ERROR",
    onConnection: (connection) => speaksOnce(connection, frame(PING, 0, 0, Buffer.alloc(8))),
  },
  "closes every connection at once": {
    code: "CONNECTION_LOST",
    onConnection: (connection) => void connection.socket.destroy(),
  },
  "closes every connection after its SETTINGS": {
    code: "CONNECTION_LOST",
    onConnection: (connection) => {
      connection.send(settingsFrame({}));
      connection.socket.end();
    },
  },
  "closes the connection at every request": {
    code: "CONNECTION_LOST",
    onRequest: ({ connection }) => void connection.socket.destroy(),
  },
  "says GOAWAY on every connection at once": {
    code: "REFUSED",
    onConnection: (connection) => connection.send(settingsFrame({}), frame(GOAWAY, 0, 0, Buffer.alloc(8))),
  },
};

function speaksOnce(connection: HostileConnection, words: string | Uint8Array): void {
  connection.isMute = true;
  connection.socket.write(words);
}

for (const [what, { code, options = {}, init = {}, onConnection, onRequest }] of Object.entries(TRAPS)) {
  test(`a server that ${what} holds no request for ever: ${code}`, () =>
    encounter({ retries: 1, ...options }, async (server, client) => {
      const behaved = { onConnection: server.onConnection, onRequest: server.onRequest };
      if (onConnection) server.onConnection = onConnection;
      if (onRequest) server.onRequest = onRequest;
      assert.equal(await failureOf(client.fetch(`${server.url}/trap`, init)), code);
      assert.ok(server.connections.length <= 3, `${server.connections.length} connections`);
      Object.assign(server, behaved);
      for (const connection of server.connections) connection.socket.destroy();
      await until(() => client.stats().connections === 0, "the end of what is broken");
    }));
}

for (const when of ["first", "second"] as const) {
  test(`a server that allows no request after the ${when} SETTINGS holds none for ever: REFUSED`, () =>
    encounter({ connectTimeout: SOON }, async (server, client) => {
      const behaved = server.onConnection;
      if (when === "first") server.onConnection = (connection) => connection.send(settingsFrame({ 3: 0 }));
      server.onRequest = ({ connection, stream }) => {
        connection.send(settingsFrame({ 3: 0 }));
        connection.answer(stream, "the last");
      };
      // One passes before SETTINGS are there.
      assert.equal(await (await client.fetch(`${server.url}/`)).text(), "the last");
      assert.equal(await failureOf(client.fetch(`${server.url}/`)), "REFUSED");
      server.onConnection = behaved;
      server.connections.forEach((connection) => connection.send(settingsFrame({ 3: 100 })));
    }));
}

test("a body in several codings is decoded", () =>
  encounter({}, async (server, client) => {
    server.onRequest = ({ connection, stream }) => {
      const fields = [...OK, "content-encoding", "gzip, gzip", "content-encoding", "gzip"];
      connection.send(
        connection.headers(stream, fields),
        frame(DATA, END_STREAM, stream, gzipSync(gzipSync(gzipSync("thrice")))),
      );
    };
    assert.equal(await (await client.fetch(`${server.url}/`)).text(), "thrice");
  }));

test("a response that nobody reads fails when the server sends more than its window", () =>
  encounter({ streamWindow: 100_000 }, async (server, client) => {
    server.onRequest = ({ connection, stream }) => {
      if (connection.acknowledged === 0) throw new Error("the client's SETTINGS are not acknowledged yet");
      connection.send(connection.headers(stream, OK), ...times(50, frame(DATA, 0, stream, Buffer.alloc(1990))));
      setTimeout(() => connection.send(frame(DATA, 0, stream, Buffer.alloc(1000))), 50);
    };
    await (await client.fetch(`${server.url}/fine`)).text();
    const response = await client.fetch(`${server.url}/`);
    const [connection] = server.connections;
    await until(() => connection.resets.size === 1, "RST_STREAM");
    assert.deepEqual([...connection.resets.values()], [3]);
    assert.equal(await failureOf(Promise.resolve(response)), "PROTOCOL_ERROR");
  }));

test("a million bytes in frames of one byte that nobody reads take little memory", () =>
  encounter({}, async (server, client) => {
    const frames = Buffer.concat(Array<Uint8Array>(10_000).fill(frame(DATA, 0, 1, Buffer.from("x"))));
    server.onRequest = ({ connection, stream }) => connection.send(connection.headers(stream, OK));
    const response = await client.fetch(`${server.url}/`);
    const before = process.memoryUsage.rss();
    const { socket } = server.connections[0];
    for (let i = 0; i < 100; i++) {
      if (!socket.write(frames)) await new Promise((resolve) => socket.once("drain", resolve));
    }
    // All of it is there before the time is read.
    server.connections[0].send(frame(PING, 0, 0, Buffer.alloc(8)));
    await until(() => server.connections[0].acknowledged >= 2, "the answer to the PING");
    const grown = (process.memoryUsage.rss() - before) / 2 ** 20;
    // An object for each would be 150 MiB at least.
    assert.ok(grown < 100, `${grown} MiB`);
    server.connections[0].send(frame(DATA, END_STREAM, 1, NOTHING));
    assert.equal((await response.arrayBuffer()).byteLength, 1_000_000);
  }));

test("a client closes though the server never closes its side", () =>
  encounter({}, async (server, client) => {
    await (await client.fetch(`${server.url}/fine`)).text();
    server.connections[0].socket.allowHalfOpen = true;
  }));

/** Odd but allowed, or wrong but harmless responses to a request. */
const ODDITIES: Record<string, (asked: Asked) => Uint8Array[]> = {
  "frames of unknown types, with any flags": ({ stream }) => [
    frame(0x0a, 255, stream, Buffer.from("altsvc?")),
    frame(0xff, 255, 0, NOTHING),
    frame(0x42, 0, 12_345, Buffer.alloc(16_000)),
  ],
  "PRIORITY for any stream": ({ stream }) => [
    frame(PRIORITY, 0, stream, Buffer.alloc(5)),
    frame(PRIORITY, 0, 4_001, Buffer.alloc(5)),
  ],
  "settings that nobody knows": () => [settingsFrame({ 0: 1, 7: 2, 4242: 2 ** 32 - 1 })],
  "the same setting often":
    () => [settingsFrame({ 3: 5 }), frame(SETTINGS, 0, 0, Buffer.alloc(6 * 100, "\0\x03\0\0\0\x64"))],
  "header tables that come and go":
    () => [settingsFrame({ 1: 0 }), settingsFrame({ 1: 2 ** 32 - 1 }), settingsFrame({ 1: 100 })],
  "unknown flags": ({ connection, stream }) => [
    frame(HEADERS, 0xff & ~(PADDED | HAS_PRIORITY | END_STREAM), stream, connection.block([":status", "103"])),
    frame(PING, 0xfe, 0, Buffer.alloc(8)),
    frame(WINDOW_UPDATE, 0xff, 0, Buffer.from([0, 0, 0, 1])),
  ],
  "the reserved bit of streams and windows": ({ stream }) => [
    frame(WINDOW_UPDATE, 0, 0x80000000 + stream, Buffer.from([0x80, 0, 0, 1])),
  ],
  "frames for a request that is over": () => [numberFrame(WINDOW_UPDATE, 1, 1000), numberFrame(RST_STREAM, 1, 5)],
  "two informational heads": ({ connection, stream }) => [
    connection.headers(stream, [":status", "102"]),
    connection.headers(stream, [":status", "199", "link", "</style.css>; rel=preload"]),
  ],
  "a table that is emptied before the head": ({ stream }) => [
    frame(HEADERS, 4, stream, Buffer.concat([Buffer.from([0x20, 0x3f, 0xe1, 0x1f]), field(8, "103")])),
  ],
};

for (const [what, oddity] of Object.entries(ODDITIES)) {
  test(`the client puts up with ${what}`, () =>
    encounter({}, async (server, client) => {
      await (await client.fetch(`${server.url}/fine/first`)).text();
      server.onRequest = (asked) => {
        asked.connection.send(...oddity(asked));
        // A block of its own, as the encoder knows nothing of what was done to the table.
        const head = Buffer.concat([
          Buffer.from([0x88]),
          field("x-value", " in white space \t"),
          field(28, "4"),
          field(28, "4"),
        ]);
        asked.connection.send(
          frame(HEADERS, 4, asked.stream, head),
          frame(DATA, END_STREAM, asked.stream, Buffer.from("fine")),
        );
      };
      const response = await client.fetch(`${server.url}/odd`);
      assert.equal(response.headers.get("x-value"), "in white space");
      assert.equal(await response.text(), "fine");
      await pause(1);
      assert.equal(server.connections.length, 1);
      assert.equal(server.connections[0].goaway, undefined);
      // Another connection for what comes, as the table is no longer the encoder's.
      server.connections[0].socket.destroy();
      await until(() => client.stats().connections === 0, "the end of the connection");
    }));
}

test("a response that comes before the request's body has ended is whole, whatever RST_STREAM follows", () =>
  encounter({}, async (server, client) => {
    for (const code of [0, 8]) {
      server.onRequest = ({ connection, stream }) => {
        connection.answer(stream, "early");
        connection.send(numberFrame(RST_STREAM, stream, code));
      };
      const response = await client.fetch(`${server.url}/`, { method: "POST", body: "x".repeat(300_000) });
      assert.equal(await response.text(), "early");
    }
  }));

test("requests that a GOAWAY names go on, whatever comes after it", () =>
  encounter({}, async (server, client) => {
    await (await client.fetch(`${server.url}/fine/first`)).text();
    const asked: Asked[] = [];
    server.onRequest = (one) => asked.push(one);
    const responses = ["/a", "/b"].map((path) => client.fetch(server.url + path));
    await until(() => asked.length === 2, "two requests");
    const [connection] = server.connections;
    const goaway = (last: number): Buffer => frame(GOAWAY, 0, 0, Buffer.from([0, 0, 0, last, 0, 0, 0, 0]));
    // One that raises its last stream again is wrong (RFC 9113 6.8), and changes nothing.
    connection.send(goaway(asked[0].stream), goaway(255), frame(PING, 0, 0, Buffer.alloc(8)), goaway(asked[0].stream));
    connection.answer(asked[0].stream, "done");
    assert.equal(await (await responses[0]).text(), "done");
    // The second one was not looked at: it is sent again, on another connection.
    await until(() => asked.length === 3, "the second request again");
    assert.notEqual(asked[2].connection, connection);
    asked[2].connection.answer(asked[2].stream, "again");
    assert.equal(await (await responses[1]).text(), "again");
  }));

test("what the server did wrong is not asked for again", () =>
  encounter({ retries: 5 }, async (server, client) => {
    let count = 0;
    server.onRequest = ({ connection, stream }) => {
      count++;
      connection.send(connection.headers(stream, ["x-no", "status"], END_STREAM));
    };
    assert.equal(await failureOf(client.fetch(`${server.url}/`)), "PROTOCOL_ERROR");
    server.onRequest = ({ connection }) => {
      count++;
      connection.send(frame(PING, 0, 1, Buffer.alloc(8)));
    };
    assert.equal(await failureOf(client.fetch(`${server.url}/`)), "PROTOCOL_ERROR");
    assert.equal(count, 2);
  }));

for (const [size, limit] of [[60_000, 65_536], [900_000, 1_000_000], [1_900_000, 2_000_000]]) {
  test(`a head of ${size} bytes in frames of the usual size is taken if maxHeaderSize is ${limit}`, () =>
    encounter({ maxHeaderSize: limit }, async (server, client) => {
      server.onRequest = ({ connection, stream }) => {
        const block = connection.block([...OK, "x-large", "\\".repeat(size)]);
        connection.send(splitHeaders(stream, block, Math.ceil(block.length / 16_384), END_STREAM));
      };
      assert.equal((await client.fetch(`${server.url}/`)).headers.get("x-large")?.length, size);
    }));
}
