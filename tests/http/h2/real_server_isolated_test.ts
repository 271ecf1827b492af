import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { createSecureServer, createServer, type Http2Server, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { openTransport } from "../../../lib/http/connect/open_transport.ts";
import type { Http2Options } from "../../../lib/http/h2/http2_stream.ts";
import { certificates } from "../certificates.ts";
import { ask, type Opened, openOn } from "./opened_session.ts";
import { ScriptedBody, WholeBody } from "./scripted_body.ts";

const MEGABYTE = 1024 * 1024;
/** Other tests have the client on Deno, too, against scripted servers and peers. */
const skip = process.versions.deno !== undefined &&
  "Deno's node:http2 server now and then aborts its process when a session closes (an assertion of nghttp2)";
const bytes = Buffer.from(Uint8Array.from({ length: 5 * MEGABYTE + 123 }, (_, i) => (i * 31) ^ (i >> 9)));

/** The servers' responses, by path. */
const ROUTES: Readonly<Record<string, (stream: ServerHttp2Stream) => void>> = {
  "/small": (stream) => {
    stream.respond({ ":status": 200, "content-length": 5 });
    stream.end("small");
  },
  "/large": (stream) => {
    stream.respond({ ":status": 200 });
    stream.end(bytes);
  },
  "/echo": (stream) => {
    stream.respond({ ":status": 200 });
    stream.pipe(stream);
  },
  "/nothing": (stream) => stream.respond({ ":status": 204 }, { endStream: true }),
  "/trailers": (stream) => {
    stream.on("wantTrailers", () => stream.sendTrailers({ "x-sum": "1" }));
    stream.respond({ ":status": 200 }, { waitForTrailers: true });
    stream.end("body");
  },
  "/early": (stream) => {
    stream.respond({ ":status": 413 });
    stream.end("too much");
  },
  "/never": () => {},
};

const servers: Http2Server[] = [];
const sessions: { close(): void }[] = [];
const ports: Record<string, number> = {};

before(async () => {
  const settings = { maxConcurrentStreams: 100, initialWindowSize: 100_000 };
  for (
    const [name, server] of [
      ["h2c", createServer({ settings })],
      ["TLS", createSecureServer({ settings, cert: certificates.cert, key: certificates.key })],
    ] as const
  ) {
    server.on("session", (session) => {
      sessions.push(session);
      session.on("error", () => {});
    });
    server.on("stream", (stream, headers) => {
      stream.on("error", () => {});
      ROUTES[headers[":path"]!](stream);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    servers.push(server as Http2Server);
    ports[name] = (server.address() as AddressInfo).port;
  }
});

after(async () => {
  for (const session of sessions) session.close();
  for (const server of servers) await new Promise((resolve) => server.close(resolve));
});

async function connect(name: string, options: Partial<Http2Options> = {}): Promise<Opened> {
  const target = { secure: name === "TLS", host: "127.0.0.1", port: ports[name] };
  const tls = { ca: certificates.ca };
  return openOn(await openTransport(target, { tls, alpn: ["h2"], timeout: 60_000 }), options);
}

async function finish({ session, owner }: Opened): Promise<void> {
  session.close();
  await owner.closed;
  assert.equal(owner.error, undefined);
}

for (const name of ["h2c", "TLS"]) {
  test(`${name}: responses small and large, with trailers and without a body, are whole`, { skip }, async () => {
    const opened = await connect(name);
    const answers = ["/small", "/large", "/trailers", "/nothing"].map((path) => {
      const answer = ask(opened.session, path);
      answer.whenData = (chunk) => answer.exchange.consumed(chunk.length);
      return answer;
    });
    const head = ask(opened.session, "/small", { method: "HEAD" });
    await Promise.all([...answers, head].map(({ over }) => over));
    const [small, large, trailers, nothing] = answers;
    assert.equal(small.text, "small");
    assert.ok(Buffer.concat(large.chunks).equals(bytes));
    assert.deepEqual([trailers.text, trailers.trailers], ["body", ["x-sum", "1"]]);
    assert.deepEqual([nothing.head?.status, nothing.size, nothing.isEnded], [204, 0, true]);
    assert.deepEqual([head.head?.status, head.size, head.isEnded], [200, 0, true]);
    await finish(opened);
  });

  test(`${name}: bodies go up and come back, in memory and in pieces`, { skip }, async () => {
    const opened = await connect(name);
    const pieces = [1, 70_000, 1, 300_000].map((length, i) => bytes.subarray(i * 1000, i * 1000 + length));
    const bodies = [new WholeBody(bytes), new ScriptedBody().give(...pieces, undefined)];
    const answers = bodies.map((body) => {
      const answer = ask(opened.session, "/echo", { method: "POST", body });
      answer.whenData = (chunk) => answer.exchange.consumed(chunk.length);
      return answer;
    });
    await Promise.all(answers.map(({ over }) => over));
    assert.ok(Buffer.concat(answers[0].chunks).equals(bytes));
    assert.ok(Buffer.concat(answers[1].chunks).equals(Buffer.concat(pieces)));
    await finish(opened);
  });

  test(`${name}: a thousand requests, a hundred at a time, each get their own answer`, { skip }, async () => {
    const opened = await connect(name);
    const { session } = opened;
    await ask(session, "/small").over;
    let left = 1000;
    await Promise.all(Array.from({ length: 100 }, async () => {
      while (left > 0) {
        const number = left--;
        const body = new WholeBody(Buffer.from(createHash("sha1").update(String(number)).digest("hex")));
        const answer = ask(session, "/echo", { method: "POST", body });
        await answer.over;
        assert.equal(answer.text, Buffer.from(body.bytes).toString());
      }
    }));
    assert.equal(session.active, 0);
    await finish(opened);
  });

  test(
    `${name}: an answer before the body's end and a request that is given up leave the session as it was`,
    { skip },
    async () => {
      const opened = await connect(name);
      const { session } = opened;
      const early = ask(session, "/early", { method: "POST", body: new WholeBody(bytes) });
      const never = ask(session, "/never");
      await early.over;
      assert.deepEqual([early.head?.status, early.text], [413, "too much"]);
      never.exchange.cancel(new Error("enough"));
      const after = ask(session, "/small");
      await after.over;
      assert.equal(after.text, "small");
      assert.equal(session.active, 0);
      await finish(opened);
    },
  );

  test(`${name}: a response that is read slowly is held back at its window, and others are not`, { skip }, async () => {
    const opened = await connect(name, { streamWindow: 200_000 });
    const slow = ask(opened.session, "/large");
    const fast = ask(opened.session, "/large");
    fast.whenData = (chunk) => fast.exchange.consumed(chunk.length);
    await fast.over;
    assert.ok(Buffer.concat(fast.chunks).equals(bytes));
    assert.ok(slow.size <= 200_000);
    slow.whenData = (chunk) => slow.exchange.consumed(chunk.length);
    slow.exchange.consumed(slow.size);
    await slow.over;
    assert.ok(Buffer.concat(slow.chunks).equals(bytes));
    await finish(opened);
  });
}

test("a server that shuts down lets requests end, and the session closes", { skip }, async () => {
  const server = createServer();
  const streams: ServerHttp2Stream[] = [];
  const shutDown = new Promise<() => void>((resolve) => {
    server.on("session", (session) => resolve(() => session.close()));
  });
  server.on("stream", (stream: ServerHttp2Stream) => streams.push(stream));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const target = { secure: false, host: "127.0.0.1", port: (server.address() as AddressInfo).port };
  const { session, owner } = openOn(await openTransport(target, { tls: {}, alpn: [], timeout: 60_000 }));
  const answer = ask(session);
  while (streams.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  (await shutDown)();
  while (!session.closing) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(answer.error, undefined);
  streams[0].respond({ ":status": 200 });
  streams[0].end("last words");
  await owner.closed;
  assert.deepEqual([answer.text, answer.isEnded, owner.error], ["last words", true, undefined]);
  await new Promise((resolve) => server.close(resolve));
});
