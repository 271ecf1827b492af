import assert from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { RequestBody } from "../../../lib/http/connection.ts";
import { type RunningServer, serve } from "../../../lib/runtime/mod.ts";
import { startOrigin, type TestOrigin } from "../client/origins.ts";
import { certificates } from "../certificates.ts";
import { RealTalk } from "./real_talk.ts";
import { bytesBody, PiecesBody } from "./recorder.ts";

const MEGABYTE = 1024 * 1024;

/** The responses of a `node:http` server, by path. */
const answers: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
  "/hello": (_, response) => response.end("hello"),
  "/echo": (request, response) => void request.pipe(response),
  "/length": (request, response) => {
    let length = 0;
    request.on("data", (chunk: Uint8Array) => length += chunk.length);
    request.on("end", () => response.end(`${request.headers["content-length"] ?? "chunked"} ${length}`));
  },
  "/empty": (_, response) => response.writeHead(204).end(),
  "/unchanged": (_, response) => response.writeHead(304, { etag: '"a"' }).end(),
  "/hints": (_, response) => {
    response.writeEarlyHints({ link: "</style.css>; rel=preload" });
    response.end("hinted");
  },
  "/trailers": (_, response) => {
    response.writeHead(200, { trailer: "x-digest" });
    response.write("with trailers");
    response.addTrailers({ "x-digest": "abc" });
    response.end();
  },
  "/last": (_, response) => response.writeHead(200, { connection: "close" }).end("last"),
  "/cut": (_, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("half");
    setTimeout(() => response.socket?.destroy(), 20);
  },
  "/refuse": (_, response) => response.writeHead(413, { "content-length": "2", connection: "close" }).end("no"),
  "/slow": (_, response) => setTimeout(() => response.end("slow"), 50),
};

let written = 0;
answers["/endless"] = (_, response) => {
  const piece = new Uint8Array(64 * 1024);
  const fill = (): void => {
    while (!response.destroyed && response.write(piece)) written += piece.length;
  };
  response.on("drain", fill);
  response.on("error", () => {});
  fill();
};

for (const protocol of ["http/1.1", "https/1.1"] as const) {
  describe(`a node server of ${protocol}`, () => {
    let origin: TestOrigin;
    const open = (options = {}): Promise<RealTalk> => RealTalk.open(origin.url, options);
    before(async () => {
      origin = await startOrigin((request, response) => answers[request.url!](request, response), { protocol });
    });
    after(() => origin.stop());

    it("answers many requests of all kinds on one connection", async () => {
      const talk = await open();
      assert.equal((await talk.ask("GET", "/hello")).body, "hello");
      const { sockets } = origin;
      const head = await talk.ask("HEAD", "/hello");
      assert.deepEqual([head.head?.status, head.body, head.calls], [200, "", ["onHead", "onEnd"]]);
      assert.equal((await talk.ask("GET", "/empty")).head?.status, 204);
      assert.equal((await talk.ask("GET", "/unchanged")).head?.status, 304);
      assert.equal((await talk.ask("POST", "/length")).body, "0 0");
      assert.equal((await talk.ask("POST", "/length", bytesBody("hello"))).body, "5 5");
      assert.equal((await talk.ask("PUT", "/length", bytesBody("x".repeat(MEGABYTE)))).body, `${MEGABYTE} ${MEGABYTE}`);
      assert.equal((await talk.ask("PUT", "/length", new PiecesBody(["abc", "de"], 5))).body, "5 5");
      assert.equal((await talk.ask("PATCH", "/length", new PiecesBody(["abc", "de"]))).body, "chunked 5");
      assert.equal((await talk.ask("DELETE", "/length")).head?.status, 200);
      assert.equal(origin.sockets, sockets);
      await talk.end();
    });

    it("tells hints before the response, and trailers after it", async () => {
      const talk = await open();
      const hinted = await talk.ask("GET", "/hints");
      assert.equal(hinted.body, "hinted");
      // Not every runtime's node:http sends them.
      assert.match(hinted.informational.map(([status]) => status).join(), /^(103)?$/);
      const { trailers } = await talk.ask("GET", "/trailers");
      assert.match(String(trailers), /^(x-digest,abc|undefined)$/);
      await talk.end();
    });

    it("echoes a large body while it is still sent", async () => {
      const talk = await open();
      const pieces = Array.from({ length: 64 }, (_, i) => String.fromCharCode(97 + i % 26).repeat(64 * 1024));
      const expected = pieces.join("");
      const { body, error } = await talk.ask("POST", "/echo", new PiecesBody(pieces));
      assert.equal(error, undefined);
      assert.equal(body === expected, true, `${body.length} bytes`);
      await talk.end();
    });

    it("that writes without end is held up by a reader that does not read", async () => {
      const talk = await open({ highWaterMark: 256 * 1024 });
      written = 0;
      const { recorder, exchange } = talk.start("GET", "/endless");
      let before = -1;
      while (written !== before || recorder.body.length === 0) {
        before = written;
        await sleep(100);
      }
      assert.ok(recorder.body.length < MEGABYTE, `${recorder.body.length} bytes came`);
      const came = recorder.body.length;
      exchange.consumed(came);
      while (recorder.body.length === came) await sleep(5);
      exchange.cancel(new Error("enough"));
      await talk.owner.closed;
    });

    it("that closes after a response gets no more requests", async () => {
      const talk = await open();
      assert.equal((await talk.ask("GET", "/last")).body, "last");
      assert.equal(talk.connection.free, 0);
      await talk.owner.closed;
      assert.equal(talk.owner.error, undefined);
    });

    it("that dies in the middle of a response fails it", async () => {
      const talk = await open();
      const { body, error } = await talk.ask("GET", "/cut");
      assert.equal(body, "half");
      assert.equal(error?.code, "CONNECTION_LOST");
      await talk.owner.closed;
    });

    it("that refuses a body is heard, and gets no more of it", async () => {
      const talk = await open();
      const body = new PiecesBody([]);
      body.read = () => sleep(1, new Uint8Array(1000)) as Promise<Uint8Array>; // without end
      const recorder = await talk.ask("POST", "/refuse", body);
      assert.equal(recorder.head?.status, 413);
      assert.equal(recorder.body, "no");
      assert.notEqual(body.cancelled, undefined);
      await talk.owner.closed;
    });

    it("answers requests in a pipeline in their order", async () => {
      const talk = await open({ pipelining: 4 });
      const paths = ["/slow", "/hello", "/empty", "/trailers"];
      const recorders = await Promise.all(paths.map((path) => talk.ask("GET", path)));
      assert.deepEqual(recorders.map(({ body }) => body), ["slow", "hello", "", "with trailers"]);
      await talk.end();
    });
  });
}

for (const tls of [undefined, { cert: certificates.cert, key: certificates.key }]) {
  describe(`this runtime's own server, ${tls ? "with" : "without"} TLS`, () => {
    let server: RunningServer;
    before(async () => {
      server = await serve({
        hostname: "127.0.0.1",
        port: 0,
        tls,
        node: (request, response) => void request.pipe(response),
        fetch: async (request) => new Response(await request.arrayBuffer()),
      });
    });
    after(() => server.stop(0));

    it("answers one request after the other", async () => {
      let talk = await RealTalk.open(server.url);
      const ask = async (method: string, body?: RequestBody): Promise<string> => {
        // Deno closes connections after requests that came in several pieces.
        if (talk.connection.free === 0) {
          await talk.owner.closed;
          talk = await RealTalk.open(server.url);
        }
        const { head, body: received, error } = await talk.ask(method, "/", body);
        assert.equal(head?.status, 200, String(error));
        return received;
      };
      for (const text of ["", "a", "b".repeat(100_000)]) {
        assert.equal((await ask("POST", bytesBody(text))) === text, true);
        assert.equal((await ask("POST", new PiecesBody(text === "" ? [] : [text, text]))) === text + text, true);
        assert.equal(await ask("GET"), "");
      }
      await talk.end();
    });
  });
}
