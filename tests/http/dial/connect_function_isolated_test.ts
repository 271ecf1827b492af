import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { connect, type Socket } from "node:net";
import { Duplex } from "node:stream";
import test from "node:test";
import { ReadableStream } from "../../../lib/streams/mod.ts";
import { type HttpClientOptions, type HttpConnectFunction, HttpError } from "../../../lib/http/mod.ts";
import { Origin, type Protocol } from "../faults/origin.ts";
import { until, within } from "../../support/waits.ts";
import { respond, whenWhole } from "../faults/server_request.ts";
import { newClient, pattern, trial } from "../faults/trial.ts";
import { leavesNothing } from "../leaves_nothing.ts";
import { byProxy } from "../proxy/by_proxy.ts";

const byNode: HttpConnectFunction = ({ hostname, port }) => connect({ host: hostname, port, noDelay: true });
const byNodeOnceConnected: HttpConnectFunction = (target, options) =>
  new Promise((resolve, reject) => {
    const socket = byNode(target, options) as Socket;
    socket.on("connect", () => resolve(socket)).on("error", reject);
  });

/** A stream that is no socket, as libraries give it, with its own way to send. */
const byDuplexThat = (send: (socket: Socket, chunk: Uint8Array, done: () => void) => void): HttpConnectFunction =>
(
  target,
  options,
) => {
  const socket = byNode(target, options) as Socket;
  const stream = new Duplex({
    read: () => void socket.resume(),
    write: (chunk, _, done) => send(socket, chunk, done),
    final: (done) => send(socket, Buffer.alloc(0), () => socket.end(done)),
    destroy: (error, done) => {
      socket.destroy();
      done(error);
    },
  });
  socket.on("data", (chunk) => {
    if (!stream.push(chunk)) socket.pause();
  });
  socket.on("end", () => stream.push(null)).on("error", (error) => stream.destroy(error));
  socket.on("close", () => stream.destroy());
  return stream;
};

/** Yields a body as a source has it that has a piece from time to time. */
async function* piecesOf(body: Uint8Array<ArrayBuffer>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (let start = 0; start < body.length; start += 3000) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    yield body.subarray(start, start + 3000);
  }
}

const byDuplex = byDuplexThat((socket, chunk, done) => void socket.write(chunk, done));

/** Connects by a duplex that forwards its input late, as a throttle or a tunnel does. */
const byLateDuplex = byDuplexThat((socket, chunk, done) => {
  setTimeout(() => socket.write(chunk, chunk.length === 0 ? done : undefined), 10);
  if (chunk.length > 0) done();
});

for (
  const [what, dial] of Object.entries({
    "a socket that connects": byNode,
    "a connected socket": byNodeOnceConnected,
    "a Duplex": byDuplex,
    "a Duplex that sends late": byLateDuplex,
  })
) {
  for (const protocol of ["h2", "http/1.1 over TLS", "h2c", "http/1.1"] as Protocol[]) {
    test(`connect gives ${what}: ${protocol}, small and large bodies both ways`, () => {
      const targets: unknown[] = [];
      const client: HttpClientOptions = {
        connect: (target, options) => {
          targets.push(target);
          return dial(target, options);
        },
      };
      return trial(protocol, { client }, async ({ client, origin, url }) => {
        origin.onRequest = (request) => respond(request, 200, Buffer.from(request.path));
        const texts = await Promise.all([1, 2, 3].map(async (n) => await (await client.fetch(url(`/${n}`))).text()));
        assert.deepEqual(texts, ["/1", "/2", "/3"]);
        assert.deepEqual(targets[0], { origin: origin.url, hostname: "127.0.0.1", port: origin.listener.port });
        origin.onRequest = (request) => whenWhole(request, () => respond(request, 200, pattern));
        const response = await client.fetch(url("/"), { method: "PUT", body: pattern });
        assert.ok(Buffer.from(await response.arrayBuffer()).equals(pattern));
        const part = pattern.subarray(0, 180_000);
        let sent: unknown;
        origin.onRequest = (request) => {
          whenWhole(request, () => {
            sent = [request.received, request.sum];
            respond(request, 200, pattern);
          });
        };
        const body = ReadableStream.from(piecesOf(part));
        await (await client.fetch(url("/"), { method: "PUT", body, duplex: "half" } as RequestInit)).bytes();
        assert.deepEqual(sent, [part.length, part.reduce((sum, byte) => sum + byte)]);
      });
    });
  }

  test(`connect gives ${what}: a reader that stalls holds the server back`, () =>
    trial("http/1.1 over TLS", { client: { connect: dial } }, async ({ client, origin, url }) => {
      const body = Buffer.alloc(1 << 26);
      origin.onRequest = (request) => respond(request, 200, body);
      const response = await client.fetch(url("/"));
      const reader = response.body!.getReader();
      let received = (await reader.read()).value!.length;
      await new Promise((resolve) => setTimeout(resolve, 200));
      const socket = [...origin.listener.sockets][0];
      assert.ok(socket.writableLength > body.length / 4, `the server holds ${socket.writableLength} bytes`);
      for (let part = await reader.read(); !part.done; part = await reader.read()) received += part.value.length;
      assert.equal(received, body.length);
    }));
}

for (const protocol of ["h2c", "http/1.1"] as Protocol[]) {
  test(`connect gives a stream whose write() throws: ${protocol}, the request fails, and nothing is left`, () => {
    let isFirst = true;
    const connect: HttpConnectFunction = (target, options) => {
      if (!isFirst) return byNode(target, options);
      isFirst = false;
      return new Duplex({
        read: () => {},
        write: () => {
          throw new RangeError("not today");
        },
      });
    };
    return trial(protocol, { client: { connect, retries: 0 } }, async ({ client, url }) => {
      const failure = await within(client.fetch(url("/")).then(() => undefined, (error) => error), "the answer");
      assert.ok(failure instanceof HttpError, String(failure));
      assert.match(String(failure.cause), /not today/);
    });
  });
}

test("connect with a proxy: it connects to that", () => {
  const targets: unknown[] = [];
  return byProxy("https", "h2", {
    client: () => ({
      connect: (target, options) => {
        targets.push(target);
        return byNode(target, options);
      },
    }),
  }, async ({ client, proxy, url }) => {
    await (await client.fetch(url)).text();
    assert.deepEqual(targets, [{ origin: url, hostname: "localhost", port: proxy.listener.port }]);
    assert.equal(proxy.tunnels.length, 1);
  });
});

const mine = new Error("not today");
for (
  const [what, dial, says] of [
    ["throws", () => {
      throw mine;
    }, /^Cannot connect to one\.test, port 443: not today$/],
    ["rejects", () => Promise.reject(mine), /not today$/],
    ["rejects with no error", () => Promise.reject("nothing"), /nothing$/],
    ["gives nothing", () => undefined, /gave no stream/],
    ["gives a web stream", () => new ReadableStream(), /gave no stream/],
    [
      "gives a stream that was destroyed",
      () => new Duplex({ read() {} }).on("error", () => {}).destroy(mine),
      /not today|was closed/,
    ],
    ["gives a stream that ended", () => new Duplex({ read() {} }).end(), /was closed/],
    ["gives a stream of objects", () => new Duplex({ read() {}, objectMode: true }), /are no bytes/],
    ["gives a stream of text", () => new Duplex({ read() {}, encoding: "utf8" }), /no bytes/],
    ["gives half a stream", () => ({ write() {}, read() {}, on() {} }), /gave no stream/],
    ["gives a socket that cannot connect", () => connect({ port: 2, host: "127.0.0.1" }), /ECONNREFUSED/],
  ] as [string, () => never, RegExp][]
) {
  test(`connect ${what}: CONNECTION_REFUSED`, () =>
    leavesNothing({ client: { connect: dial } }, async ({ client }) => {
      const error = await client.fetch("https://one.test").catch((error) => error);
      assert.ok(error instanceof HttpError, String(error));
      assert.equal(error.code, "CONNECTION_REFUSED", error.message);
      assert.match(error.message, says);
      assert.equal(error.origin, "https://one.test");
    }));
}

test("connect that never gives anything: CONNECT_TIMEOUT; its signal is aborted, and what comes then is destroyed", async () => {
  let signal: AbortSignal | undefined;
  let give: (socket: Duplex) => void = () => {};
  const dial: HttpConnectFunction = (_, options) => {
    signal = options.signal;
    return new Promise((resolve) => give = resolve);
  };
  await leavesNothing({ client: { connect: dial, connectTimeout: 50 } }, async ({ client, listener }) => {
    const error = await client.fetch("http://one.test").catch((error) => error);
    assert.equal(error.code, "CONNECT_TIMEOUT");
    assert.match(error.message, /the connect function took too long/);
    assert.equal(signal!.aborted, true);
    assert.equal(signal!.reason, error);
    const socket = connect({ port: listener.port, host: "127.0.0.1" });
    give(socket);
    await until(() => socket.destroyed, "the end of a socket that came late");
  });
});

test("connect that gives a stream twice: CONNECTION_REFUSED, as two connections would read each other's answers", () => {
  let stream: Duplex | undefined;
  const connect = (): Duplex => stream ??= new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
  return leavesNothing({ client: { connect } }, async ({ client }) => {
    const abort = new AbortController();
    const first = client.fetch("http://one.test", { signal: abort.signal }).catch((error) => error);
    const error = await client.fetch("http://other.test").catch((error) => error);
    assert.ok(error instanceof HttpError, String(error));
    assert.equal(error.code, "CONNECTION_REFUSED", error.message);
    assert.match(error.message, /a stream that it gave before$/);
    abort.abort("enough");
    assert.equal(await first, "enough");
  });
});

test("connect whose request is aborted: so is its signal, with that reason", async () => {
  let signal: AbortSignal | undefined;
  const dial: HttpConnectFunction = (_, options) => {
    signal = options.signal;
    return new Promise(() => {});
  };
  await leavesNothing({ client: { connect: dial } }, async ({ client }) => {
    const controller = new AbortController();
    const pending = client.fetch("http://one.test", { signal: controller.signal }).catch((error) => error);
    await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(signal!.aborted, false);
    controller.abort(mine);
    assert.equal(await pending, mine);
    assert.equal(signal!.aborted, true);
  });
});

test("connect: the stream's end ends the connection, and its errors are told", async () => {
  const origin = await new Origin("http/1.1", {}).start();
  let stream: Duplex | undefined;
  const client = newClient({ connect: (target, options) => stream = byDuplex(target, options) as Duplex, retries: 0 });
  try {
    const pending = client.fetch(origin.url).catch((error) => error);
    await until(() => origin.requests.length === 1, "the request");
    stream!.destroy(new Error("the tunnel broke"));
    const error = await within(pending, "the failure");
    assert.equal(error.code, "CONNECTION_LOST");
    assert.match(error.message, /the tunnel broke/);
    await within(client.close(), "close()");
  } finally {
    client.destroy();
    await origin.stop();
  }
});

test("connect: a certificate that is refused is told in full", async () => {
  const origin = await new Origin("h2", {}).start();
  const client = newClient({ connect: byDuplex, tls: {} });
  try {
    const error = await client.fetch(origin.url.replace("127.0.0.1", "localhost")).catch((error) => error);
    assert.equal(error.code, "CERTIFICATE_UNTRUSTED");
    assert.match(error.message, /issued by Millrace test CA/);
    await within(client.close(), "close()");
    await until(() => origin.listener.sockets.size === 0, "the end of all sockets");
  } finally {
    client.destroy();
    await origin.stop();
  }
});
