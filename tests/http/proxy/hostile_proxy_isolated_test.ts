import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import test from "node:test";
import { HttpError, type HttpErrorCode } from "../../../lib/http/mod.ts";
import { certificates } from "../certificates.ts";
import { Listener } from "../faults/listener.ts";
import { until } from "../../support/waits.ts";
import { leavesNothing } from "../leaves_nothing.ts";
import { trusting } from "./by_proxy.ts";

type Scheme = "http" | "https" | "socks5h";
type OnSocket = (socket: Socket) => void;

/** Answers each message of the client with the next of these, and says nothing after them; undefined ends the connection. */
function script(...answers: (string | Uint8Array | undefined)[]): OnSocket {
  return (socket) => {
    const left = [...answers];
    socket.on("data", () => {
      if (left.length === 0) return;
      const answer = left.shift();
      if (answer === undefined) socket.destroy();
      else socket.write(answer);
      if (left.length > 0 && left[0] === undefined) socket.end();
    });
  };
}

/** Reads input without a response. */
const mute: OnSocket = (socket) => void socket.resume();
const bytes = (...all: number[]): Uint8Array => Uint8Array.from(all);
const OK = "HTTP/1.1 200 OK\r\n\r\n";
const CONNECTED = bytes(5, 0, 0, 1, 0, 0, 0, 0, 0, 0);

interface Case {
  readonly what: string;
  readonly proxy: OnSocket;
  readonly code: HttpErrorCode;
  readonly says: RegExp;
  /** The scheme of the origin; default: https. */
  readonly origin?: string;
}

const endless = (unit: string): OnSocket => (socket) => {
  socket.on("data", () => {
    const more = (): void => {
      while (!socket.destroyed && socket.write(unit.repeat(100)));
    };
    socket.on("drain", more);
    more();
  });
};

const http: Case[] = [
  {
    what: "403",
    proxy: script("HTTP/1.1 403 Not you\r\n\r\n"),
    code: "PROXY_REFUSED",
    says: /the proxy localhost, port \d+ answered 403 Not you to CONNECT$/,
  },
  {
    what: "502 with a body",
    proxy: script("HTTP/1.1 502 \r\nContent-Length: 3\r\n\r\nbad"),
    code: "PROXY_REFUSED",
    says: /answered 502 to/,
  },
  {
    what: "a redirect",
    proxy: script("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n"),
    code: "PROXY_REFUSED",
    says: /302 Found/,
  },
  { what: "a status beyond all", proxy: script("HTTP/1.1 999 Odd\r\n\r\n"), code: "PROXY_REFUSED", says: /999 Odd/ },
  {
    what: "407",
    proxy: script("HTTP/1.1 407 Who\r\n\r\n"),
    code: "PROXY_AUTHENTICATION",
    says: /user name and password/,
  },
  {
    what: "401",
    proxy: script("HTTP/1.1 401 Who\r\n\r\n"),
    code: "PROXY_AUTHENTICATION",
    says: /user name and password/,
  },
  {
    what: "the end at once",
    proxy: (socket) => socket.destroy(),
    code: "CONNECTION_LOST",
    says: /closed the connection|was lost/,
  },
  {
    what: "the end instead of an answer",
    proxy: script(undefined),
    code: "CONNECTION_LOST",
    says: /closed the connection|was lost/,
  },
  {
    what: "a half answer",
    proxy: script("HTTP/1.1 200 OK\r\nVia", undefined),
    code: "CONNECTION_LOST",
    says: /closed the connection/,
  },
  {
    what: "a reset",
    proxy: (socket) => socket.on("data", () => "encrypted" in socket ? socket.destroy() : socket.resetAndDestroy()),
    code: "CONNECTION_LOST",
    says: /the proxy/i,
  },
  {
    what: "another protocol",
    proxy: script("SSH-2.0-OpenSSH_9\r\n"),
    code: "PROTOCOL_ERROR",
    says: /not HTTP\/1\.1: "SSH-2\.0/,
  },
  { what: "SOCKS", proxy: script(bytes(5, 0)), code: "PROTOCOL_ERROR", says: /not HTTP\/1\.1/ },
  { what: "another version", proxy: script("HTTP/2 200\r\n\r\n"), code: "PROTOCOL_ERROR", says: /not HTTP\/1\.1/ },
  { what: "no status", proxy: script("HTTP/1.1 OK\r\n\r\n"), code: "PROTOCOL_ERROR", says: /status line/ },
  { what: "a bare line feed", proxy: script("HTTP/1.1 200 OK\n\n"), code: "PROTOCOL_ERROR", says: /without CR/ },
  {
    what: "a malformed field",
    proxy: script("HTTP/1.1 200 OK\r\nbad field: 1\r\n\r\n"),
    code: "PROTOCOL_ERROR",
    says: /field name/,
  },
  {
    what: "a NUL in a field",
    proxy: script("HTTP/1.1 200 OK\r\nVia: \0\r\n\r\n"),
    code: "PROTOCOL_ERROR",
    says: /field value/,
  },
  { what: "101", proxy: script("HTTP/1.1 101 Switching\r\n\r\n"), code: "PROTOCOL_ERROR", says: /101/ },
  {
    what: "a head without end",
    proxy: endless("HTTP/1.1 200 OK\r\nVia: v\r\n"),
    code: "LIMIT_EXCEEDED",
    says: /proxy's answer is larger than 4096 bytes: see maxHeaderSize/,
  },
  {
    what: "1xx without end",
    proxy: endless("HTTP/1.1 100 Continue\r\n\r\n"),
    code: "LIMIT_EXCEEDED",
    says: /proxy's answer is larger than 4096 bytes: see maxHeaderSize/,
  },
  {
    what: "bytes after the answer",
    proxy: script(`${OK}HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged`),
    code: "PROTOCOL_ERROR",
    says: /bytes after its answer/,
  },
  {
    what: "one byte after the answer",
    proxy: script(`${OK}\n`),
    code: "PROTOCOL_ERROR",
    says: /bytes after its answer/,
  },
  {
    what: "what is no TLS, once connected",
    proxy: script(OK, "HTTP/1.1 200 OK\r\n\r\n"),
    code: "TLS_FAILED",
    says: /does not speak TLS/,
  },
  {
    what: "the end, once connected",
    proxy: script(OK, undefined),
    code: "CONNECTION_LOST",
    says: /closed the connection|was lost/,
  },
];

const socks: Case[] = [
  {
    what: "the end at once",
    proxy: (socket) => socket.destroy(),
    code: "CONNECTION_LOST",
    says: /closed the connection|was lost/,
  },
  {
    what: "the end in the middle",
    proxy: script(bytes(5), undefined),
    code: "CONNECTION_LOST",
    says: /closed the connection/,
  },
  {
    what: "the end in its reply",
    proxy: script(bytes(5, 0), bytes(5, 0, 0, 1, 0), undefined),
    code: "CONNECTION_LOST",
    says: /closed/,
  },
  {
    what: "HTTP",
    proxy: script("HTTP/1.1 400 Bad\r\n\r\n"),
    code: "PROTOCOL_ERROR",
    says: /does not speak SOCKS5.*http: proxy/,
  },
  { what: "SOCKS 4", proxy: script(bytes(0, 90, 0, 0)), code: "PROTOCOL_ERROR", says: /begins with the byte 0$/ },
  {
    what: "a method that was not offered",
    proxy: script(bytes(5, 1)),
    code: "PROTOCOL_ERROR",
    says: /not offered \(1\)/,
  },
  {
    what: "a password although none was offered",
    proxy: script(bytes(5, 2)),
    code: "PROXY_AUTHENTICATION",
    says: /put them into/,
  },
  { what: "no method", proxy: script(bytes(5, 255)), code: "PROXY_AUTHENTICATION", says: /put them into/ },
  {
    what: "refused by rules",
    proxy: script(bytes(5, 0), bytes(5, 2)),
    code: "PROXY_REFUSED",
    says: /did not connect to one\.test, port 443: its rules/,
  },
  {
    what: "refused",
    proxy: script(bytes(5, 0), bytes(5, 5, 0, 1)),
    code: "PROXY_REFUSED",
    says: /the connection was refused/,
  },
  { what: "an unknown reason", proxy: script(bytes(5, 0), bytes(5, 77)), code: "PROXY_REFUSED", says: /reason 77/ },
  {
    what: "a reply of another version",
    proxy: script(bytes(5, 0), bytes(4, 0, 0, 1)),
    code: "PROTOCOL_ERROR",
    says: /byte 4/,
  },
  {
    what: "an address of no kind",
    proxy: script(bytes(5, 0), bytes(5, 0, 0, 9)),
    code: "PROTOCOL_ERROR",
    says: /kind 9/,
  },
  {
    what: "bytes after its reply",
    proxy: script(bytes(5, 0), Buffer.concat([CONNECTED, Buffer.from("HTTP/1.1 200 OK\r\n\r\n")])),
    code: "PROTOCOL_ERROR",
    says: /bytes after/,
  },
  {
    what: "a response before the request",
    proxy: script(bytes(5, 0), Buffer.concat([CONNECTED, Buffer.from("HTTP/1.1 200 OK\r\n\r\n")])),
    code: "PROTOCOL_ERROR",
    says: /bytes after/,
    origin: "http://one.test",
  },
  {
    what: "what is no TLS, once connected",
    proxy: script(bytes(5, 0), CONNECTED, "HTTP/1.1 200 OK\r\n\r\n"),
    code: "TLS_FAILED",
    says: /does not speak TLS/,
  },
];

const listeners = {
  http: {},
  https: { certificate: { cert: certificates.cert, key: certificates.key }, alpn: ["http/1.1"] },
  socks5h: {},
};

/** Runs a client by a proxy that behaves so. Whatever happens, nothing is left. */
function meeting(
  scheme: Scheme,
  onSocket: OnSocket,
  client: { connectTimeout?: number },
  act: (scene: Parameters<Parameters<typeof leavesNothing>[1]>[0]) => Promise<void>,
): Promise<void> {
  let port = 0;
  const proxy = (): string => `${scheme}://localhost:${port}`;
  const options = { ...trusting, maxHeaderSize: 4096, proxy, ...client };
  return leavesNothing({ client: options, listener: listeners[scheme], onSocket }, (scene) => {
    port = scene.listener.port;
    return act(scene);
  });
}

for (const scheme of ["http", "https", "socks5h"] as const) {
  for (const { what, proxy, code, says, origin = "https://one.test" } of scheme === "socks5h" ? socks : http) {
    test(`a proxy of ${scheme} that answers with ${what}: ${code}`, () =>
      meeting(scheme, proxy, {}, async ({ client }) => {
        const error = await client.fetch(origin).catch((error) => error);
        assert.ok(error instanceof HttpError, String(error));
        assert.equal(error.code, code, error.message);
        assert.match(error.message, says);
        assert.equal(error.origin, origin);
      }));
  }

  test(`a proxy of ${scheme} where nothing listens: CONNECTION_REFUSED, and it is named`, () =>
    meeting(scheme, () => {}, {}, async ({ client, listener }) => {
      await listener.stop();
      const error = await client.fetch("https://one.test").catch((error) => error);
      assert.equal(error.code, "CONNECTION_REFUSED");
      assert.match(error.message, /^Cannot connect to the proxy localhost, port \d+: /);
      assert.equal(error.origin, "https://one.test");
      await listener.start();
    }));
}

/** Proxies that say nothing from some step on. */
const stalls: [Scheme, string, OnSocket, RegExp][] = [
  ["http", "its answer", mute, /the proxy's answer took too long/],
  ["http", "the middle of its answer", script("HTTP/1.1 200 OK\r\nVi"), /the proxy's answer/],
  ["http", "a 1xx answer", script("HTTP/1.1 100 Continue\r\n\r\n"), /the proxy's answer/],
  ["http", "the tunnel's first byte", script(OK), /TLS took too long/],
  ["https", "its answer", mute, /the proxy's answer/],
  ["https", "the tunnel's first byte", script(OK), /TLS took too long/],
  ["socks5h", "its first answer", mute, /the proxy's answer/],
  ["socks5h", "its reply", script(bytes(5, 0)), /the proxy's answer/],
  ["socks5h", "the middle of its reply", script(bytes(5, 0), bytes(5, 0, 0, 3, 200)), /the proxy's answer/],
  ["socks5h", "the tunnel's first byte", script(bytes(5, 0), CONNECTED), /TLS took too long/],
];

const messages: string[] = [];

for (const [scheme, step, proxy, says] of stalls) {
  test(`a proxy of ${scheme} that stalls before ${step}: CONNECT_TIMEOUT`, () =>
    // On a busy machine the step may not be reached in a short time.
    [150, 1_500, 15_000].reduce((before, connectTimeout) =>
      before.then((found) =>
        found ||
        meeting(scheme, proxy, { connectTimeout }, async ({ client }) => {
          const error = await client.fetch("https://one.test").catch((error) => error);
          assert.equal(error.code, "CONNECT_TIMEOUT");
          if (connectTimeout > 10_000) assert.match(error.message, says);
          messages.push(error.message);
        }).then(() => says.test(messages.at(-1)!))
      ), Promise.resolve(false)).then(() => {}));

  test(`a proxy of ${scheme} that stalls before ${step}: the signal and destroy() end the wait`, () =>
    meeting(scheme, proxy, { connectTimeout: 60_000 }, async ({ client, listener }) => {
      for (const delay of [0, 1, 5, 20, 60]) {
        const controller = new AbortController();
        const reason = new Error("enough");
        const pending = client.fetch("https://one.test", { signal: controller.signal }).catch((error) => error);
        await new Promise((resolve) => setTimeout(resolve, delay));
        controller.abort(reason);
        assert.equal(await pending, reason);
        await until(() => listener.sockets.size === 0, "the end of its socket");
      }
      const pending = client.fetch("https://one.test").catch((error) => error);
      await until(() => listener.sockets.size > 0, "a socket");
      client.destroy();
      assert.equal((await pending).code, "CLIENT_CLOSED");
    }));
}

test("an https: proxy that does not answer TLS: CONNECT_TIMEOUT, which says so", () =>
  meeting("http", mute, { connectTimeout: 100 }, async ({ client, listener }) => {
    const { HttpClient } = await import("../../../lib/http/mod.ts");
    const other = new HttpClient({ proxy: `https://localhost:${listener.port}`, connectTimeout: 100 });
    const error = await other.fetch("https://one.test").catch((error) => error);
    assert.equal(error.code, "CONNECT_TIMEOUT");
    assert.match(error.message, /TLS with the proxy took too long/);
    await other.close();
    await client.close();
  }));

const goodAnswers: [string, string[]][] = [
  ["in single bytes", [..."HTTP/1.1 200 Connection established\r\nVia: 1.1 p\r\n\r\n"]],
  ["of HTTP/1.0", ["HTTP/1.0 200 OK\r\n\r\n"]],
  ["without a reason", ["HTTP/1.1 200\r\n\r\n"]],
  ["of another 2xx", ["HTTP/1.1 204 Fine\r\n\r\n"]],
  // https://www.rfc-editor.org/rfc/rfc9110#section-9.3.6
  ["with lengths, which are ignored", ["HTTP/1.1 200 OK\r\nContent-Length: 7\r\nTransfer-Encoding: chunked\r\n\r\n"]],
  ["after 1xx", ["HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"]],
];

for (const [what, answer] of goodAnswers) {
  test(`a proxy whose answer is ${what}: the tunnel is there`, async () => {
    const { connect } = await import("node:net");
    const certificate = { cert: certificates.twoNames.cert, key: certificates.twoNames.key };
    const server = await new Listener({ certificate, alpn: ["http/1.1"] }, (socket) => {
      socket.on("data", () => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nthere"));
    }).start();
    const onSocket = (socket: Socket): void => {
      socket.once("data", async () => {
        for (const piece of answer) {
          socket.write(piece);
          if (answer.length > 1) await new Promise((resolve) => setImmediate(resolve));
        }
        const upstream = connect({ port: server.port, host: "127.0.0.1" });
        upstream.on("error", () => {}).on("close", () => socket.destroy());
        socket.on("close", () => upstream.destroy());
        socket.pipe(upstream).pipe(socket);
      });
    };
    try {
      await meeting("http", onSocket, {}, async ({ client }) => {
        assert.equal(await (await client.fetch("https://one.test")).text(), "there");
      });
    } finally {
      await server.stop();
    }
  });
}
