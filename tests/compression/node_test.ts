import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import test from "node:test";
import { DecompressionStream } from "../../lib/codecs/mod.ts";
import { fromNodeReadable } from "../../lib/node/mod.ts";
import { pipeTo } from "../../lib/streams/mod.ts";
import { openDecoder } from "../../lib/codecs/internal.ts";
import { CODINGS, loaded, soon, textOf } from "./responses.ts";
import { get, type Handler, protocols, textOfGot } from "./served.ts";

const PAGE = textOf(20_000);
const compression = await loaded();

/** Has what a handler writes compressed. */
function compressed(handle: Handler): Handler {
  return (req, res) => {
    let isNext = false;
    compression.node(req, res, () => isNext = true);
    assert.ok(isNext);
    handle(req, res);
  };
}

const html = (res: ServerResponse): void => void res.setHeader("content-type", "text/html");

for (const [protocol, serve] of Object.entries(protocols)) {
  for (const coding of CODINGS) {
    test(`${protocol}: a page that is sent at once is compressed with ${coding}, and has its length`, async () => {
      await using served = await serve(compressed((_, res) => {
        html(res);
        res.setHeader("etag", '"1"');
        res.setHeader("Content-Length", PAGE.length);
        res.end(PAGE);
      }));
      const got = await get(served, { accepted: coding });
      assert.equal(got.headers["content-encoding"], coding);
      assert.equal(got.headers["content-length"], String(got.bytes.length));
      assert.equal(got.headers.etag, 'W/"1"');
      assert.equal(got.headers.vary, "Accept-Encoding");
      assert.ok(got.bytes.length < 2000);
      assert.equal(await textOfGot(got), PAGE);
      const plain = await get(served, {});
      assert.equal(plain.headers["content-encoding"], undefined);
      assert.equal(plain.headers["content-length"], String(PAGE.length));
      assert.equal(plain.headers.etag, '"1"');
      assert.equal(await textOfGot(plain), PAGE);
    });
  }

  const heads: Readonly<Record<string, (res: ServerResponse) => void>> = {
    "an object": (res) => void res.writeHead(201, { "Content-Type": "text/html", "X-A": ["1", "2"] }),
    "a status text and an object": (res) =>
      void res.writeHead(201, "Made", { "content-type": "text/html", "x-a": "1, 2" }),
    "a flat array": (res) => void res.writeHead(201, ["Content-Type", "text/html", "X-A", "1", "X-A", "2"]),
  };
  for (const [name, writeHead] of Object.entries(heads)) {
    // The compatible side of node:http2 takes objects only.
    if (protocol === "h2" && name === "a flat array") continue;
    test(`${protocol}: writeHead() with ${name} is understood`, async () => {
      await using served = await serve(compressed((_, res) => {
        writeHead(res);
        res.end(PAGE);
      }));
      const got = await get(served, { accepted: "gzip" });
      assert.equal(got.status, 201);
      assert.equal(got.headers["content-encoding"], "gzip");
      assert.equal(got.headers["x-a"], "1, 2");
      assert.equal(await textOfGot(got), PAGE);
    });
  }

  test(`${protocol}: a head that is written in advance with a length does not keep it`, async () => {
    await using served = await serve(compressed((_, res) => {
      res.writeHead(200, { "content-type": "text/html", "content-length": PAGE.length });
      res.write(PAGE.slice(0, 5000));
      res.end(PAGE.slice(5000));
    }));
    const got = await get(served, { accepted: "br" });
    assert.equal(got.headers["content-length"], undefined);
    assert.equal(await textOfGot(got), PAGE);
  });

  test(`${protocol}: what was written can be read while the handler pauses`, async () => {
    for (const accepted of CODINGS) {
      const steps: (() => void)[] = [];
      await using served = await serve(compressed((_, res) => {
        res.writeHead(200, { "content-type": "text/event-stream" });
        res.flushHeaders();
        for (let i = 0; i < 3; i++) {
          steps.push(() => {
            res.write(`id: ${i}\n`);
            res.write(`data: ${i}\n\n`);
          });
        }
        steps.push(() => void res.end());
      }));
      const { headers, body } = await soon(served.open({ accepted }), "the head does not come");
      assert.equal(headers["content-encoding"], accepted);
      const decoder = await openDecoder(accepted === "br" ? "brotli" : accepted);
      let seen = "";
      body.on("data", (chunk: Uint8Array) => {
        decoder.write(chunk);
        const target = new Uint8Array(4096);
        do seen += new TextDecoder().decode(target.subarray(0, decoder.read(target))); while (decoder.more);
      });
      for (let i = 0; i < 3; i++) {
        steps[i]();
        const isThere = async (): Promise<void> => {
          while (!seen.endsWith(`data: ${i}\n\n`)) await new Promise((resolve) => setTimeout(resolve, 1));
        };
        await soon(isThere(), `only ${seen} has arrived`);
      }
      steps[3]();
      await soon(once(body, "end"), "the end does not come");
      decoder.close();
    }
  });

  test(`${protocol}: flush() sends what was written, and changes nothing where nothing is compressed`, async () => {
    await using served = await serve(compressed((_, res) => {
      html(res);
      const flush = (): void => (res as ServerResponse & { flush(): void }).flush();
      flush();
      res.write(PAGE.slice(0, 3000));
      flush();
      flush();
      res.end(PAGE.slice(3000));
      flush();
    }));
    for (const accepted of [undefined, "gzip", "br", "zstd"]) {
      assert.equal(await textOfGot(await get(served, { accepted })), PAGE);
    }
  });

  test(`${protocol}: HEAD, 204 and 304 have no body, and the fields of GET`, async () => {
    await using served = await serve(compressed((req, res) => {
      html(res);
      res.setHeader("etag", '"1"');
      if (req.url === "/204") res.writeHead(204).end();
      else if (req.url === "/304") res.writeHead(304).end();
      else res.end(PAGE);
    }));
    const head = await get(served, { method: "HEAD", accepted: "gzip" });
    assert.equal(head.headers["content-encoding"], "gzip");
    assert.equal(head.bytes.length, 0);
    const empty = await get(served, { path: "/204", accepted: "gzip" });
    assert.equal(empty.status, 204);
    assert.equal(empty.headers["content-encoding"], undefined);
    const unchanged = await get(served, { path: "/304", accepted: "gzip" });
    assert.equal(unchanged.status, 304);
    assert.equal(unchanged.headers.etag, 'W/"1"');
  });

  test(`${protocol}: a stream that is piped into the response arrives whole, however slow its client`, async () => {
    const piece = Buffer.from(Uint8Array.from({ length: 65_536 }, () => Math.random() * 256));
    const count = 1000; // more than all buffers on the way hold
    let given = 0;
    await using served = await serve(compressed((_, res) => {
      html(res);
      const source = Readable.from((async function* () {
        for (; given < count; given++) yield piece;
      })());
      source.pipe(res);
    }));
    const { body } = await served.open({ accepted: "gzip" });
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.ok(given < count, "all of it was taken before anything was read");
    const decoder = new DecompressionStream("gzip");
    const writing = pipeTo(fromNodeReadable(body), decoder.writable);
    let length = 0;
    for await (const chunk of decoder.readable) {
      const expected = piece.subarray(length % piece.length).subarray(0, chunk.length);
      assert.ok(expected.equals(chunk.subarray(0, expected.length)));
      length += chunk.length;
    }
    await writing;
    assert.equal(length, count * piece.length);
  });

  test(`${protocol}: callbacks of writes are called, and write() after end() fails as it does without`, async () => {
    const called: string[] = [];
    let failed: unknown;
    await using served = await serve(compressed((_, res) => {
      html(res);
      res.on("error", (error) => void (failed ??= error));
      res.write("a".repeat(2000), () => void called.push("first"));
      res.write("b".repeat(2000), "utf8", () => void called.push("second"));
      res.end("c", () => void called.push("end"));
      // It destroys the response of node:http2.
      if (protocol === "http/1.1") res.write("late", (error) => void (failed ??= error));
      else failed = "not tried";
    }));
    const got = await get(served, { accepted: "gzip" });
    assert.equal(await textOfGot(got), "a".repeat(2000) + "b".repeat(2000) + "c");
    const all = async (): Promise<void> => {
      while (called.length < 3 || failed === undefined) await new Promise((resolve) => setTimeout(resolve, 1));
    };
    await soon(all(), `only ${called.join()} were called, and ${failed} failed`);
    assert.deepEqual(called, ["first", "second", "end"]);
  });

  test(`${protocol}: null stands for no encoding and no callback, as Fastify calls it`, async () => {
    await using served = await serve(compressed((_, res) => {
      html(res);
      res.write(PAGE, null as never, null as never);
      res.end(PAGE, null as never, null as never);
    }));
    assert.equal(await textOfGot(await get(served, { accepted: "gzip" })), PAGE + PAGE);
  });

  test(`${protocol}: a client that leaves ends the response`, async () => {
    let closed!: () => void;
    const isClosed = new Promise<void>((resolve) => closed = resolve);
    await using served = await serve(compressed((_, res) => {
      html(res);
      res.on("error", () => {});
      res.on("close", closed);
      res.write(PAGE);
    }));
    const { body } = await served.open({ accepted: "br" });
    body.on("error", () => {});
    await once(body, "data");
    body.destroy();
    await soon(isClosed, "the response goes on");
  });

  test(`${protocol}: random writes, ends and flushes: the client decodes what it gets without compression`, async () => {
    const programs = 150;
    let seed = 7;
    const random = (below: number): number => (seed = seed * 48271 % 2147483647) % below;
    const made = Array.from({ length: programs }, () => {
      const type = ["text/html", "application/json", "image/png", "text/event-stream"][random(4)];
      const steps = Array.from(
        { length: random(7) },
        () => [random(5), textOf(random(3) === 0 ? random(80_000) : random(300))] as const,
      );
      return { type, head: random(3), steps, end: random(3) > 0 ? textOf(random(5000)) : undefined };
    });
    await using served = await serve(compressed(async (req, res) => {
      const { type, head, steps, end } = made[Number(req.url!.slice(1))];
      if (head === 0) res.writeHead(200, { "content-type": type });
      else res.setHeader("Content-Type", type);
      if (head === 1) res.flushHeaders();
      for (const [kind, text] of steps) {
        if (kind === 0) await new Promise((resolve) => setImmediate(resolve));
        else if (kind === 1) (res as ServerResponse & { flush(): void }).flush();
        else if (kind === 2) res.write(Buffer.from(text));
        else if (kind === 3) res.write(text, "utf8");
        else res.write(Buffer.from(text).toString("base64"), "base64");
      }
      if (end === undefined) res.end();
      else res.end(end);
    }));
    for (let i = 0; i < programs; i++) {
      const expected = made[i].steps.filter(([kind]) => kind > 1).map(([, text]) => text).join("") +
        (made[i].end ?? "");
      const got = await get(served, { path: `/${i}`, accepted: [...CODINGS, undefined][random(4)] });
      assert.equal(await textOfGot(got), expected, JSON.stringify(made[i]).slice(0, 500));
    }
  });
}

test("what Express sends is compressed, with its tags, conditions and errors", async () => {
  const { default: express } = await import("express" as string) as { default: () => Application };
  const app = express();
  app.use((req, res, next) => compression.node(req, res, next));
  app.get("/json", (_, res) => void res.json(Array(500).fill({ name: "mill" })));
  await using served = await protocols["http/1.1"](app);
  const got = await get(served, { path: "/json", accepted: "br" });
  assert.equal(got.headers["content-encoding"], "br");
  assert.match(got.headers.etag!, /^W\//);
  assert.equal(JSON.parse(await textOfGot(got)).length, 500);
  const missing = await get(served, { path: "/missing", accepted: "br" });
  assert.equal(missing.status, 404);
  assert.match(await textOfGot(missing), /Cannot GET/);
});

/** What is used here of an application of Express. */
interface Application extends Handler {
  use(middleware: (req: IncomingMessage, res: ServerResponse, next: () => void) => void): void;
  get(path: string, handle: (req: IncomingMessage, res: ServerResponse & { json(value: unknown): void }) => void): void;
}
