import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import process from "node:process";
import { Readable } from "node:stream";
import test, { after } from "node:test";
import { decompress, DecompressionStream } from "../../lib/codecs/mod.ts";
import { fromNodeReadable } from "../../lib/node/mod.ts";
import { pipeTo } from "../../lib/streams/mod.ts";
import { openDecoder } from "../../lib/codecs/internal.ts";
import { isLong, tries } from "../support/long_run.ts";
import { CODINGS, loaded, soon, textIn, textOf } from "./responses.ts";
import { closeAll, get, type Handler, protocols, textOfGot } from "./served.ts";

const PAGE = textOf(20_000);
const compression = await loaded();

after(closeAll);

/** Wraps a handler in compression. */
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
      const served = await serve(compressed((_, res) => {
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
      const served = await serve(compressed((_, res) => {
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
    const served = await serve(compressed((_, res) => {
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
      const served = await serve(compressed((_, res) => {
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
    const served = await serve(compressed((_, res) => {
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
    const served = await serve(compressed((req, res) => {
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
    const count = isLong ? 1000 : 250; // more than all buffers on the way hold
    let given = 0;
    const served = await serve(compressed((_, res) => {
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
    const served = await serve(compressed((_, res) => {
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

  const lateCalls: Readonly<Record<string, (res: ServerResponse, failed: (error?: Error | null) => void) => unknown>> =
    {
      "end(text)": (res, failed) => void res.end("late", failed),
      "end()": (res, failed) => void res.end(failed),
      // It destroys the response of node:http2.
      ...(protocol === "http/1.1" ? { "write(text)": (res, failed) => void res.write("late", failed) } : {}),
    };
  for (const [name, call] of Object.entries(lateCalls)) {
    test(`${protocol}: ${name} after end() of a large body fails as it does without, and the body is whole`, async () => {
      const large = textOf(700_000);
      const called: string[] = [];
      const served = await serve(compressed((_, res) => {
        html(res);
        res.on("error", () => {});
        res.end(large, () => void called.push("end"));
        assert.equal(res.writableEnded, true);
        call(res, (error) => void called.push(error ? "refused" : "late"));
      }));
      for (const accepted of [...CODINGS, undefined]) {
        called.length = 0;
        const got = await soon(get(served, { accepted }), "it hangs");
        assert.equal(await textOfGot(got), large);
        const both = async (): Promise<void> => {
          while (called.length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
        };
        await soon(both(), `only ${called.join()} were called`);
        assert.equal(called.filter((each) => each === "end").length, 1, called.join());
      }
    });
  }

  test(`${protocol}: null stands for no encoding and no callback, as Fastify calls it`, async () => {
    const served = await serve(compressed((_, res) => {
      html(res);
      res.write(PAGE, null as never, null as never);
      res.end(PAGE, null as never, null as never);
    }));
    assert.equal(await textOfGot(await get(served, { accepted: "gzip" })), PAGE + PAGE);
  });

  test(`${protocol}: a client that leaves ends the response`, async () => {
    let closed!: () => void;
    const isClosed = new Promise<void>((resolve) => closed = resolve);
    const served = await serve(compressed((_, res) => {
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

  test(`${protocol}: a body that ends before the length that it claims is not taken for whole, a longer one arrives`, async () => {
    const wary = await loaded({ onWarning: () => {} });
    for (const [i, pieces] of [[], [0], [2000], [2000, 0], [0, 70_000], [300_000], [300_000, 300_000]].entries()) {
      const length = pieces.reduce((sum, each) => sum + each, 0);
      for (const claimed of [length - 1, length, length + 1].filter((each) => each >= 1024)) {
        const served = await serve((req, res) => {
          wary.node(req, res, () => {
            res.on("error", () => {});
            res.setHeader("content-type", "text/html");
            res.setHeader("content-length", String(claimed));
            if (i % 2 === 0) res.flushHeaders();
            for (const piece of pieces.slice(0, -1)) res.write("a".repeat(piece));
            res.end("a".repeat(pieces.at(-1) ?? 0));
          });
        });
        const arrived = get(served, { accepted: "gzip" }).then(async (got) => {
          const said = got.headers["content-encoding"] === undefined ? got.headers["content-length"] : length;
          return (await textOfGot(got)).length === Number(said) && Number(said) === length;
        });
        const isWhole = await soon(arrived.catch(() => false), `${pieces.join()}, ${claimed}: the end does not come`);
        assert.equal(isWhole, claimed <= length, `${pieces.join()}, ${claimed}`);
      }
    }
  });

  test(`${protocol}: random writes, ends and flushes: the client decodes what it gets without compression`, async () => {
    const programs = Number(process.env.MILLRACE_RESPONSES ?? tries(400));
    let seed = 7;
    const random = (below: number): number => (seed = seed * 48271 % 2147483647) % below;
    const made = Array.from({ length: programs }, () => {
      const type = ["text/html", "application/json", "image/png", "text/event-stream"][random(4)];
      const steps = Array.from(
        { length: random(7) },
        () => [random(5), textOf(random([300, 300, 80_000, random(10) === 0 ? 600_000 : 300][random(4)]))] as const,
      );
      const end = random(3) > 0 ? textOf(random(random(10) === 0 ? 600_000 : 5000)) : undefined;
      return { type, head: random(3), steps, end, late: random(4), called: [] as number[] };
    });
    const served = await serve(compressed(async (req, res) => {
      const { type, head, steps, end, late, called } = made[Number(req.url!.slice(1))];
      const counted = (): () => void => {
        const at = called.push(0) - 1;
        return () => void called[at]++;
      };
      res.on("error", () => {});
      if (head === 0) res.writeHead(200, { "content-type": type });
      else res.setHeader("Content-Type", type);
      if (head === 1) res.flushHeaders();
      for (const [kind, text] of steps) {
        if (kind === 0) await new Promise((resolve) => setImmediate(resolve));
        else if (kind === 1) (res as ServerResponse & { flush(): void }).flush();
        else if (kind === 2) res.write(Buffer.from(text), counted());
        else if (kind === 3) res.write(text, "utf8", counted());
        else res.write(Buffer.from(text).toString("base64"), "base64", counted());
      }
      if (end === undefined) res.end(counted());
      else res.end(end, counted());
      if (late === 0) res.end();
      if (late === 1) res.end("late");
    }));
    for (let i = 0; i < programs; i++) {
      const expected = made[i].steps.filter(([kind]) => kind > 1).map(([, text]) => text).join("") +
        (made[i].end ?? "");
      const got = await get(served, { path: `/${i}`, accepted: [...CODINGS, undefined][random(4)] });
      assert.equal(await textOfGot(got), expected, JSON.stringify(made[i]).slice(0, 500));
      const all = async (): Promise<void> => {
        while (made[i].called.includes(0)) await new Promise((resolve) => setTimeout(resolve, 1));
      };
      await soon(all(), `callbacks were called ${made[i].called.join()} times`);
      assert.ok(made[i].called.every((times) => times === 1), made[i].called.join());
    }
  });
}

test("callbacks are called, and flush() returns, if the client leaves before the response is wrapped", async () => {
  const { promise: entered, resolve: enter } = Promise.withResolvers<void>();
  const { promise: told, resolve: tell } = Promise.withResolvers<number>();
  const { port } = await protocols["http/1.1"](async (req, res) => {
    res.on("error", () => {});
    enter();
    await once(res, "close");
    compression.node(req, res);
    let called = 0;
    html(res);
    for (const text of ["a little ", "a little ", textOf(400_000), "a little "]) {
      await new Promise<void>((resolve) => res.write(text, () => resolve()));
      called++;
      (res as ServerResponse & { flush(): void }).flush();
    }
    res.end();
    tell(called);
  });
  const socket = connect(port, "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n");
  await entered;
  socket.destroy();
  assert.equal(await soon(told, "a callback was not called"), 4);
});

test("callbacks of writes are called when the client has left, and so are later ones", async () => {
  for (const serve of Object.values(protocols)) {
    let settled = 0;
    let begun = 0;
    const served = await serve(compressed(async (_, res) => {
      html(res);
      res.on("error", () => {});
      for (let i = 0; i < 20; i++) {
        begun++;
        await new Promise<void>((resolve) => res.write("a little ", () => resolve()));
        settled++;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      res.end();
    }));
    for (let client = 0; client < 5; client++) {
      const { body } = await served.open({ accepted: CODINGS[client % 3] });
      body.on("error", () => {});
      await once(body, "data");
      body.destroy();
    }
    const isLate = AbortSignal.timeout(30_000);
    while (settled < 100 && !isLate.aborted) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(settled, 100, `of ${begun} writes`);
  }
});

test("a listener for drain that was there before hears of the room that there is", async () => {
  const served = await protocols["http/1.1"]((req, res) => {
    let left = 80;
    const noise = Buffer.from(Uint8Array.from({ length: 65_536 }, () => Math.random() * 256));
    const more = (): void => {
      while (left-- > 0) if (!res.write(noise)) return;
      res.end();
    };
    res.on("drain", more);
    compression.node(req, res);
    html(res);
    more();
  });
  const got = await soon(get(served, { accepted: "gzip" }), "it hangs");
  assert.equal((await decompress(got.bytes, { format: "gzip" })).length, 80 * 65_536);
});

/** Steps of a handler that adds trailers before its end, in their orders. */
const TRAILING: Readonly<Record<string, (res: ServerResponse, wrap: () => void) => unknown>> = {
  wrap: (_, wrap) => wrap(),
  add: (res) => res.addTrailers({ "x-time": "1" }),
  head: (res) => res.writeHead(200),
  write: (res) => res.write(PAGE),
};
const ORDERS = [
  ...["add", "add/head", "head/add", "add/write", "write/add"],
  ...["add/head/write", "head/add/write", "head/write/add"],
].flatMap((order) => {
  const steps = order.split("/");
  return [...steps.keys(), steps.length].map((at) => [...steps.slice(0, at), "wrap", ...steps.slice(at)].join("/"));
});

test("trailers that arrive without compression arrive with it, and no Content-Length comes beside them", async () => {
  const handlerWith = (wrap: (...given: Parameters<Handler>) => void): Handler => (req, res) => {
    const [, type, field, ...steps] = req.url!.split("/");
    res.setHeader("content-type", type === "html" ? "text/html" : "image/png");
    if (field === "chunked") res.setHeader("transfer-encoding", "chunked");
    if (field === "trailer") res.setHeader("trailer", "x-time");
    for (const step of steps) TRAILING[step](res, () => wrap(req, res));
    res.end(PAGE);
  };
  const handlers = [handlerWith(() => {}), handlerWith((req, res) => compression.node(req, res))];
  const [bare, wrapped] = await Promise.all(handlers.map(protocols["http/1.1"]));
  const fields = ["html", "png"].flatMap((type) => ["none", "chunked", "trailer"].map((field) => `/${type}/${field}/`));
  const paths = fields.flatMap((path) => ORDERS.map((order) => path + order));
  for (const path of paths) {
    const [plain, got] = await Promise.all([bare, wrapped].map((served) => get(served, { path, accepted: "gzip" })));
    assert.equal(await textOfGot(got), await textOfGot(plain), path);
    assert.deepEqual({ ...got.trailers, ...plain.trailers }, got.trailers, path);
    const isChunked = got.headers["transfer-encoding"] !== undefined;
    assert.ok(!isChunked || got.headers["content-length"] === undefined, path);
  }
});

test("a response to HEAD with trailers is sent, though they are not", async () => {
  for (const type of ["text/html", "image/png"]) {
    const handle: Handler = (_, res) => {
      res.setHeader("content-type", type);
      res.addTrailers({ "x-digest": "1" });
      res.write(PAGE);
      res.end(PAGE);
    };
    const got = await get(await protocols["http/1.1"](compressed(handle)), { accepted: "gzip", method: "HEAD" });
    assert.equal(got.status, 200);
    assert.equal(got.headers["content-encoding"], type === "text/html" ? "gzip" : undefined);
  }
});

test("a head that is refused throws where it is sent, and another response can follow", async () => {
  const steps: Readonly<Record<string, (res: ServerResponse) => unknown>> = {
    "/end": (res) => res.end(PAGE),
    "/write": (res) => res.write("a little"),
    "/large": (res) => res.end(textOf(700_000)),
    "/flush": (res) => res.flushHeaders(),
    "/head": (res) => res.writeHead(res.statusCode, res.statusMessage),
  };
  const served = await protocols["http/1.1"](compressed((req, res) => {
    html(res);
    res.statusMessage = "a\r\nb"; // is refused when the head is made
    let refusal: unknown;
    try {
      steps[req.url!](res);
    } catch (error) {
      refusal = error;
    }
    const isRefused = refusal !== undefined && !res.headersSent;
    res.statusMessage = "";
    res.setHeader("content-type", "text/plain");
    res.end(isRefused ? "refused" : "sent");
  }));
  for (const path of Object.keys(steps)) {
    for (const accepted of CODINGS) {
      const got = await soon(get(served, { path, accepted }), `${path} hangs`);
      assert.equal(await textOfGot(got), "refused", path);
    }
  }
});

test("a head whose fields are refused leaves none of them to the next", async () => {
  const fields = [["content-type", "text/html"], ["cache-control", "public"], ["x-title", "a\nb"]] as const;
  const heads = [Object.fromEntries(fields), fields.flat()];
  const served = await protocols["http/1.1"](compressed((req, res) => {
    if (req.url === "/1") res.setHeader("x-before", "1").setHeader("cache-control", "no-store");
    for (const head of heads) assert.throws(() => res.writeHead(200, head as string[]), { code: "ERR_INVALID_CHAR" });
    res.writeHead(500, { "content-type": "text/plain" });
    res.end("failed");
  }));
  for (const [path, control, before] of [["/0", undefined, undefined], ["/1", "no-store", "1"]]) {
    const { status, headers } = await get(served, { path, accepted: "gzip" });
    assert.equal(status, 500);
    assert.equal(headers["content-type"], "text/plain");
    assert.equal(headers["cache-control"], control);
    assert.equal(headers["x-before"], before);
  }
});

test("a head that the runtime refuses is refused, and names keep their case", async () => {
  const heads: [code: string, head: unknown][] = [
    ["ERR_INVALID_ARG_VALUE", ["x-a", "1", "x-b"]],
    ["ERR_HTTP_INVALID_HEADER_VALUE", { "x-a": "1", "x-b": undefined }],
    ["ERR_HTTP_INVALID_HEADER_VALUE", ["x-a", "1", "x-b", undefined]],
  ];
  const handle: Handler = (_, res) => {
    res.setHeader("Content-Type", "text/html");
    for (const [code, head] of heads) assert.throws(() => res.writeHead(200, head as string[]), { code });
    const names = (res as unknown as { getRawHeaderNames(): string[] }).getRawHeaderNames();
    res.writeHead(200, ["X-Names", names.join(), "X-Number", 5, "Set-Cookie", "a=1", "set-cookie", ["b=2", "c=3"]]);
    res.end(PAGE);
  };
  const { headers, ...got } = await get(await protocols["http/1.1"](compressed(handle)), { accepted: "gzip" });
  assert.equal(headers["x-names"], "Content-Type");
  assert.equal(headers["x-number"], "5");
  assert.deepEqual(headers["set-cookie"], ["a=1", "b=2", "c=3"]);
  assert.equal(await textOfGot({ headers, ...got }), PAGE);
});

test("end(false) ends the encoded body where it is taken for no chunk", async () => {
  const served = await protocols["http/1.1"](compressed((_, res) => {
    html(res);
    res.write(PAGE);
    try {
      res.end(false);
    } catch { // on Bun
      res.end();
    }
  }));
  for (const accepted of CODINGS) assert.equal(await textOfGot(await get(served, { accepted })), PAGE);
});

test("what only some runtimes and protocols write is encoded or refused, and never put between encoded bytes", async () => {
  const text = "0123456789abcdef".repeat(200);
  const buffer = new TextEncoder().encode(text).buffer;
  const shared = new SharedArrayBuffer(text.length);
  new Uint8Array(shared).set(new Uint8Array(buffer));
  const chunks: Readonly<Record<string, unknown[]>> = {
    "a view": [new DataView(buffer)],
    "numbers": [new Uint16Array(buffer)],
    "a buffer": [buffer],
    "a shared buffer": [shared],
    "a String": [Object(text)],
    "no chunk": [[1, 2, 3]],
    "an unknown encoding": [text, "bogus"],
    "no encoding": [text, 5],
    "an empty encoding": [text, ""],
  };
  for (const serve of Object.values(protocols)) {
    const served = await serve(compressed((req, res) => {
      const [, name, method, isFirst] = decodeURI(req.url!).split("/");
      html(res);
      if (!isFirst) res.write(PAGE);
      const steps = res as unknown as Record<string, (...given: unknown[]) => unknown>;
      try {
        steps[method](...chunks[name]);
      } catch {
        return void res.end("refused");
      }
      if (method === "write") res.end();
    }));
    for (const name of Object.keys(chunks)) {
      for (const path of [`/${name}/write`, `/${name}/end`, `/${name}/write/first`, `/${name}/end/first`]) {
        // Of these, plain responses send the head and a part before they throw.
        if (path.endsWith("first") && /^(?:no|an unknown) encoding/.test(name)) continue;
        const got = await soon(get(served, { path: encodeURI(path), accepted: "gzip" }), `${path} hangs`);
        const before = path.endsWith("first") ? "" : PAGE;
        assert.ok([before + text, `${before}refused`].includes(await textOfGot(got)), path);
      }
    }
  }
});

test("a small body is sent as it is, with its length, in whichever way its head is made", async () => {
  const heads: Readonly<Record<string, (res: ServerResponse) => void>> = {
    "/set": (res) => res.setHeader("content-type", "application/json"),
    "/object": (res) => void res.writeHead(201, { "content-type": "application/json" }),
    "/array": (res) => void res.writeHead(201, ["Content-Type", "application/json"]),
    "/late": (res) => {
      res.writeHead(201, { "content-type": "application/json" });
      res.statusCode = 500; // too late
    },
  };
  const served = await protocols["http/1.1"](compressed((req, res) => {
    heads[req.url!](res);
    res.end('{"ok":true}');
  }));
  for (const path of Object.keys(heads)) {
    const got = await get(served, { path, accepted: "gzip" });
    assert.equal(got.status, path === "/set" ? 200 : 201);
    assert.equal(got.headers["content-encoding"], undefined, path);
    assert.equal(got.headers["content-length"], "11", path);
    assert.equal(await textOfGot(got), '{"ok":true}');
  }
});

test("between writeHead() and the body, a response looks and refuses as it does without compression", async () => {
  const attempts: Readonly<Record<string, (res: ServerResponse) => unknown>> = {
    setHeader: (res) => res.setHeader("x-late", "1"),
    appendHeader: (res) => res.appendHeader("x-late", "1"),
    setHeaders: (res) => res.setHeaders(new Map([["x-late", "1"]])),
    removeHeader: (res) => res.removeHeader("x-early"),
    writeHead: (res) => res.writeHead(500, { "x-late": "1" }),
    // As express-session looks at it.
    session: (res) => {
      const inner = res as unknown as { _header?: unknown; _implicitHeader?(): void };
      if (!inner._header) inner._implicitHeader?.();
    },
    nothing: () => {},
  };
  const told = async (isCompressed: boolean): Promise<string[]> => {
    const lines: string[] = [];
    const handle: Handler = (req, res) => {
      res.writeHead(201, { "content-type": "text/plain", "x-early": "1" });
      let outcome = String(res.headersSent);
      try {
        attempts[req.url!.slice(1)](res);
      } catch (error) {
        outcome += ` ${(error as { code?: string }).code}`;
      }
      lines.push(`${req.url} ${outcome} ${res.headersSent}`);
      res.end(PAGE);
      lines.push(String(res.headersSent));
    };
    const served = await protocols["http/1.1"](isCompressed ? compressed(handle) : handle);
    for (const name of Object.keys(attempts)) {
      const got = await get(served, { path: `/${name}`, accepted: "gzip" });
      assert.equal(got.headers["content-encoding"], isCompressed ? "gzip" : undefined, name);
      lines.push(
        `${name} ${got.status} ${got.headers["x-early"]} ${got.headers["x-late"]} ${await textOfGot(got) === PAGE}`,
      );
    }
    return lines;
  };
  assert.deepEqual(await told(true), await told(false));
});

test("writeHead() that refuses a status changes nothing", async () => {
  const served = await protocols["http/1.1"](compressed((_, res) => {
    try {
      res.writeHead(99_999, { "content-type": "text/html" });
    } catch {
      res.writeHead(500, { "content-type": "text/plain", "content-length": 5 });
      res.end("oops!");
    }
  }));
  const got = await get(served, { accepted: "gzip" });
  assert.equal(got.status, 500);
  assert.equal(await textOfGot(got), "oops!");
});

test("writes behind a large body that is compressed over many turns arrive after it, in their order", async () => {
  const large = Buffer.from(textOf(2_000_000));
  const served = await protocols["http/1.1"](compressed((_, res) => {
    html(res);
    assert.equal(res.write(large), false);
    res.write("and ");
    res.end("more");
  }));
  for (const accepted of CODINGS) {
    assert.equal(await textOfGot(await get(served, { accepted })), `${large}and more`);
  }
});

test("a response is cut off when a chunk's buffer is transferred before all of it was compressed", async () => {
  const served = await protocols["http/1.1"](compressed((_, res) => {
    html(res);
    const chunks = [0, 1].map(() => new Uint8Array(1_000_000).fill(65));
    for (const chunk of chunks) res.write(chunk);
    globalThis.structuredClone(null, { transfer: chunks.map((chunk) => chunk.buffer) });
    res.end("the end");
  }));
  await assert.rejects(get(served, { accepted: "gzip" }));
});

test("a chunk whose buffer is detached is refused, and the response can go on", async () => {
  const served = await protocols["http/1.1"](compressed((_, res) => {
    html(res);
    for (const chunk of [new Uint8Array(100), Buffer.from(new ArrayBuffer(100)), new ArrayBuffer(100)]) {
      const buffer = chunk instanceof ArrayBuffer ? chunk : chunk.buffer;
      structuredClone(buffer, { transfer: [buffer] });
      for (const put of [() => res.write(chunk), () => res.end(chunk)]) {
        assert.throws(put, { name: "TypeError", message: /is detached/ });
      }
    }
    res.end(PAGE);
  }));
  for (const accepted of CODINGS) assert.equal(await textOfGot(await get(served, { accepted })), PAGE);
});

test("bytes of another realm are bytes", async () => {
  const { runInNewContext } = await import("node:vm");
  const served = await protocols["http/1.1"](compressed((_, res) => {
    html(res);
    res.flushHeaders();
    res.write(runInNewContext("new Uint8Array([65, 66, 67])"));
    res.end();
  }));
  assert.equal(await textOfGot(await get(served, { accepted: "gzip" })), "ABC");
});

test("a filter sees the whole path, also in a router of Express", async () => {
  const { default: express } = await import("express" as string) as { default: Application & (() => Application) };
  const seen: string[] = [];
  const filtering = await loaded({ filter: ({ url }) => seen.push(url) > 0 });
  const app = express();
  const router = (express as unknown as { Router(): Application }).Router();
  router.use((req, res, next) => filtering.node(req, res, next));
  router.get("/page", (_, res) => {
    html(res);
    res.end(PAGE);
  });
  (app.use as unknown as (path: string, router: Handler) => void).call(app, "/account", router);
  const served = await protocols["http/1.1"](app);
  await get(served, { path: "/account/page", accepted: "gzip" });
  assert.deepEqual(seen, ["/account/page"]);
});

test("the middleware of Hono's page sets all fields", async () => {
  const { Hono } = await import("hono");
  const app = new Hono();
  app.use(async (c, next) => {
    await next();
    const response = compression.respond(c.req.raw, c.res);
    c.res = undefined;
    c.res = response;
  });
  app.get(
    "/",
    (c) => c.body(PAGE, 200, { "content-type": "text/html", "content-length": "20000", etag: '"1"', vary: "Origin" }),
  );
  const response = await app.request("/", { headers: { "accept-encoding": "gzip" } });
  assert.equal(response.headers.get("content-length"), null);
  assert.equal(response.headers.get("etag"), 'W/"1"');
  assert.equal(response.headers.get("vary"), "Origin, Accept-Encoding");
  assert.equal(await textIn(response), PAGE);
});

test("what Fastify sends is compressed", async () => {
  const { default: fastify } = await import("fastify");
  const app = fastify();
  app.addHook("onRequest", (req, reply, done) => compression.node(req.raw, reply.raw, done));
  app.get("/", () => Array(500).fill("mill"));
  await app.listen({ port: 0, host: "127.0.0.1" });
  try {
    const response = await fetch(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}/`);
    assert.equal((await response.json() as unknown[]).length, 500);
    assert.notEqual(response.headers.get("content-encoding"), null);
  } finally {
    await app.close();
  }
});

test("what Express sends is compressed, with its tags, conditions and errors", async () => {
  const { default: express } = await import("express" as string) as { default: () => Application };
  const app = express();
  app.use((req, res, next) => compression.node(req, res, next));
  app.get("/json", (_, res) => void res.json(Array(500).fill({ name: "mill" })));
  const served = await protocols["http/1.1"](app);
  const got = await get(served, { path: "/json", accepted: "br" });
  assert.equal(got.headers["content-encoding"], "br");
  assert.match(got.headers.etag!, /^W\//);
  assert.equal(JSON.parse(await textOfGot(got)).length, 500);
  const missing = await get(served, { path: "/missing", accepted: "br" });
  assert.equal(missing.status, 404);
  assert.match(await textOfGot(missing), /Cannot GET/);
});

/** The part of an Express application in use here. */
interface Application extends Handler {
  use(middleware: (req: IncomingMessage, res: ServerResponse, next: () => void) => void): void;
  get(path: string, handle: (req: IncomingMessage, res: ServerResponse & { json(value: unknown): void }) => void): void;
}
