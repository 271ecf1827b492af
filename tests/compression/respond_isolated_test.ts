import assert from "node:assert/strict";
import test from "node:test";
import { encodedBody } from "../../lib/compression/respond.ts";
import { createCompression } from "../../lib/compression/mod.ts";
import { noise } from "../support/bytes.ts";
import { asking, CODINGS, decoded, loaded, readUntil, soon, textIn, textOf } from "./responses.ts";

const PAGE = textOf(20_000);
const HTML = { "content-type": "text/html" };
const page = (headers: HeadersInit = HTML, status = 200, length = PAGE.length): Response =>
  new Response(length === PAGE.length ? PAGE : textOf(length), { status, headers });

const compression = await loaded();
const ways = {
  respond: (request: Request, response: Response) => Promise.resolve(compression.respond(request, response)),
  fetch: (request: Request, response: Response) => compression.fetch(() => response)(request),
};

for (const [name, respond] of Object.entries(ways)) {
  for (const coding of CODINGS) {
    test(`${name}: a page is compressed with ${coding}`, async () => {
      const response = await respond(asking(coding), page({ ...HTML, "content-length": "20000", etag: '"1"' }));
      assert.equal(response.status, 200);
      assert.equal(response.headers.get("content-encoding"), coding);
      assert.equal(response.headers.get("content-type"), "text/html");
      assert.equal(response.headers.get("vary"), "Accept-Encoding");
      assert.equal(response.headers.get("etag"), 'W/"1"');
      assert.notEqual(response.headers.get("content-length"), "20000");
      const bytes = new Uint8Array(await response.arrayBuffer()); // bytes() of Bun 1.3 gives none
      assert.ok(bytes.length < 2000, `${bytes.length} bytes`);
      assert.equal(await textIn(new Response(bytes, response)), PAGE);
    });
  }

  test(`${name}: a body in many chunks, all there or not, arrives whole`, async () => {
    for (const pauses of [false, true]) {
      for (const accepted of CODINGS) {
        const chunks = Array.from({ length: 50 }, (_, i) => new TextEncoder().encode(textOf(i * 200)));
        let next = 0;
        const body = new ReadableStream<Uint8Array>({
          async pull(controller) {
            if (pauses && next % 5 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
            if (next === chunks.length) controller.close();
            else controller.enqueue(chunks[next++]);
          },
        });
        const response = await respond(asking(accepted), new Response(body, { headers: HTML }));
        assert.equal(response.headers.get("content-encoding"), accepted);
        assert.equal(await textIn(response), chunks.map((chunk) => new TextDecoder().decode(chunk)).join(""));
      }
    }
  });

  test(`${name}: a body whose source refills one buffer for each chunk arrives as it was written`, async () => {
    for (const count of [1, 3, 200]) {
      const buffer = new Uint8Array(4000);
      let made = 0;
      const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
        buffer.fill(97 + made % 26);
        if (made++ === count) controller.close();
        else controller.enqueue(buffer);
      };
      const body = new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 });
      const text = Array.from({ length: count }, (_, i) => String.fromCharCode(97 + i % 26).repeat(4000)).join("");
      assert.equal(await textIn(await respond(asking("gzip"), new Response(body, { headers: HTML }))), text);
    }
  });

  test(`${name}: a body of many megabytes arrives whole`, async () => {
    const piece = new TextEncoder().encode(textOf(1_000_000));
    let left = 20;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (left-- > 0) controller.enqueue(piece);
        else controller.close();
      },
    });
    const response = await respond(asking("zstd"), new Response(body, { headers: HTML }));
    let length = 0;
    for await (const chunk of decoded(response)) length += chunk.length;
    assert.equal(length, 20_000_000);
  });

  test(`${name}: whatever the source gave can be read while it pauses`, async () => {
    for (const accepted of CODINGS) {
      let source!: ReadableStreamDefaultController<Uint8Array>;
      const body = new ReadableStream<Uint8Array>({ start: (controller) => void (source = controller) });
      const headers = { "content-type": "text/event-stream" };
      const response = await soon(respond(asking(accepted), new Response(body, { headers })), "the head does not come");
      assert.equal(response.headers.get("content-encoding"), accepted);
      const reader = decoded(response).getReader();
      for (let event = 0; event < 5; event++) {
        source.enqueue(new TextEncoder().encode(`data: ${event}\n\n`));
        await readUntil(reader, `data: ${event}\n\n`);
      }
      source.close();
      assert.ok((await soon(reader.read(), "the end does not come")).done);
    }
  });

  test(`${name}: a client that leaves cancels the source, with its reason`, async () => {
    let reason: unknown;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode(PAGE)),
      cancel: (given) => void (reason = given),
    });
    const reader = (await respond(asking("br"), new Response(body, { headers: HTML }))).body!.getReader();
    await reader.read();
    await reader.cancel("left");
    assert.equal(reason, "left");
  });

  test(`${name}: a source that fails fails the response, after what it gave`, async () => {
    let pulls = 0;
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        if (pulls++ === 0) return controller.enqueue(new TextEncoder().encode("the beginning, "));
        await new Promise((resolve) => setTimeout(resolve, 20));
        controller.error(new Error("the database is gone"));
      },
    });
    const response = await respond(asking("gzip"), new Response(body, { headers: HTML }));
    const reader = decoded(response).getReader();
    await readUntil(reader, "the beginning, ");
    await assert.rejects(async () => {
      while (!(await soon(reader.read(), "no failure comes")).done);
    }, /the database is gone/);
  });

  test(`${name}: a source that fails as soon as it has given something has that sent`, async () => {
    let pulls = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (pulls++ === 0) controller.enqueue(new TextEncoder().encode("the beginning, "));
        else controller.error(new Error("the database is gone"));
      },
    }, { highWaterMark: 0 });
    const response = await respond(asking("gzip"), new Response(body, { headers: HTML }));
    const reader = decoded(response).getReader();
    await readUntil(reader, "the beginning, ");
    await assert.rejects(soon(reader.read(), "no failure comes"), /the database is gone/);
  });

  test(`${name}: a source that has failed already fails the response`, async () => {
    const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.error(new Error("never began")) });
    const response = await respond(asking("gzip"), new Response(body, { headers: HTML }));
    await assert.rejects(response.bytes(), /never began/);
  });

  test(`${name}: nothing is read while the client does not`, async () => {
    let pulls = 0;
    const noise = new Uint8Array(65_536).map(() => Math.random() * 256);
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulls++;
        controller.enqueue(noise);
      },
    }, { highWaterMark: 0 });
    const response = await respond(asking("gzip"), new Response(body, { headers: HTML }));
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.ok(pulls <= 12, `${pulls} chunks were read`); // only a response that ends within 256 KiB is compressed as a whole
    await response.body!.cancel();
  });

  test(`${name}: HEAD, and a response without a body, have the fields of GET`, async () => {
    const head = await respond(
      asking("br", "HEAD"),
      new Response(null, { headers: { ...HTML, "content-length": "20000" } }),
    );
    assert.equal(head.headers.get("content-encoding"), "br");
    assert.equal(head.headers.get("content-length"), null);
    assert.equal(await head.text(), "");
  });

  test(`${name}: a response that its handler keeps has the fields that it had, but for Vary`, async () => {
    const fields = { ...HTML, "content-length": "20000", "accept-ranges": "bytes", etag: '"1"' };
    const made = [
      new Response(PAGE, { headers: fields }),
      new Response(null, { headers: fields }),
      new Response(null, { status: 304, headers: fields }),
    ];
    for (const [i, kept] of made.entries()) {
      await (await respond(asking("br", i === 1 ? "HEAD" : "GET"), kept)).body?.cancel();
      assert.deepEqual({ ...Object.fromEntries(kept.headers), vary: "" }, { ...fields, vary: "" });
    }
  });

  test(`${name}: a body that ends before the length that it claims is not taken for whole, a longer one arrives`, async () => {
    for (const [length, chunks] of [[500, 1], [10_000, 2], [300_000, 3], [2_000_000, 7]]) {
      for (const claimed of length < 1024 ? [5000] : [length - 1, length, length + 1]) {
        const parts = Array.from({ length: chunks }, (_, i) => i).reverse();
        const piece = new TextEncoder().encode(textOf(length / chunks));
        const rest = new Uint8Array(length - piece.length * (chunks - 1)).fill(97);
        const body = new ReadableStream<Uint8Array>({
          pull(controller) {
            const part = parts.pop();
            if (part === undefined) controller.close();
            else controller.enqueue(part === chunks - 1 ? rest : piece);
          },
        });
        const warnings: string[] = [];
        const wary = await loaded({ onWarning: (reason) => warnings.push(reason) });
        const make = (): Response => new Response(body, { headers: { ...HTML, "content-length": String(claimed) } });
        const response =
          await (name === "fetch" ? wary.fetch(make)(asking("gzip")) : wary.respond(asking("gzip"), make()));
        // Deno and Bun replace the length of a body whose bytes they are given, so that only a failure counts.
        const text = response.headers.get("content-encoding") === null ? response.text() : textIn(response);
        const isWhole = await text.then((text) => text.length === length, () => false);
        assert.equal(isWhole, claimed <= length, `${length} in ${chunks}, ${claimed}`);
      }
    }
  });

  test(`${name}: a 304 has the tag and the Vary of what it confirms`, async () => {
    const fields = { etag: '"1"', "content-length": "20000" };
    const unchanged = await respond(asking("br"), new Response(null, { status: 304, headers: fields }));
    assert.equal(unchanged.headers.get("etag"), 'W/"1"');
    assert.equal(unchanged.headers.get("content-length"), null);
    assert.equal(unchanged.headers.get("vary"), "Accept-Encoding");
    const plain = await respond(asking(), new Response(null, { status: 304, headers: { etag: '"1"' } }));
    assert.equal(plain.headers.get("etag"), '"1"');
  });

  test(`${name}: a 304 keeps a strong tag that its client has, of a response that was sent as it is`, async () => {
    for (const [known, tag] of [['"1"', '"1"'], ['"0", "1"', '"1"'], ['W/"1"', 'W/"1"'], ['"0"', 'W/"1"']]) {
      const request = new Request("http://localhost/", {
        headers: { "accept-encoding": "br", "if-none-match": known },
      });
      const unchanged = await respond(request, new Response(null, { status: 304, headers: { etag: '"1"' } }));
      assert.equal(unchanged.headers.get("etag"), tag, known);
      assert.equal(unchanged.headers.get("vary"), "Accept-Encoding");
    }
  });

  const left: readonly (readonly [why: string, accepted: string | undefined, response: () => Response])[] = [
    ["nothing is accepted", undefined, page],
    ["only other codings are accepted", "compress, deflate;q=0.5", page],
    ["it is liked less than identity", "gzip;q=0.5, identity", page],
    ["it is refused", "gzip;q=0, br;q=0, *;q=0", page],
    ["it is encoded already", "gzip", () => page({ ...HTML, "content-encoding": "br" })],
    ["it may not be transformed", "gzip", () => page({ ...HTML, "cache-control": "public, no-transform" })],
    ["its type is compressed in itself", "gzip", () => page({ "content-type": "image/png" })],
    ["it has no type", "gzip", () => new Response(new TextEncoder().encode(PAGE))],
    ["it is a part", "gzip", () => page({ ...HTML, "content-range": "bytes 0-9/20" }, 206)],
    ["it says that it is short", "gzip", () => new Response("short", { headers: { ...HTML, "content-length": "5" } })],
  ];
  for (const [why, accepted, make] of left) {
    test(`${name}: a response is sent as it is if ${why}`, async () => {
      const expected = make();
      const response = await respond(asking(accepted), make());
      assert.equal(response.status, expected.status);
      assert.equal(response.headers.get("content-encoding"), expected.headers.get("content-encoding"));
      assert.equal(response.headers.get("content-length"), expected.headers.get("content-length"));
      assert.equal(response.headers.get("etag"), expected.headers.get("etag"));
      assert.equal(await response.text(), await expected.text());
    });
  }

  test(`${name}: cookies, the status and its text stay, also where headers are immutable`, async () => {
    const headers = new Headers(HTML);
    headers.append("set-cookie", "a=1");
    headers.append("set-cookie", "b=2");
    const made = new Response(PAGE, { status: 203, statusText: "Fine", headers });
    const response = await respond(asking("gzip"), made);
    assert.deepEqual(response.headers.getSetCookie(), ["a=1", "b=2"]);
    assert.equal(response.status, 203);
    assert.equal(response.statusText, "Fine");
    const redirect = await respond(asking("gzip"), Response.redirect("http://localhost/other"));
    assert.equal(redirect.headers.get("location"), "http://localhost/other");
  });

  test(`${name}: fields stay those of the handler where Response keeps the ones given, as Hono's does on Node`, async () => {
    const native = globalThis.Response;
    globalThis.Response = class extends native {
      readonly #given: unknown;

      constructor(body?: BodyInit | null, init?: ResponseInit) {
        super(body, init);
        this.#given = init?.headers;
      }

      override get headers(): Headers {
        return this.#given instanceof Headers ? this.#given : super.headers;
      }
    };
    try {
      const kept = new Headers({ ...HTML, etag: '"a"' });
      kept.set = kept.delete = () => assert.fail("they are immutable, as of what fetch() returns");
      const response = await respond(asking("gzip"), new Response(PAGE, { headers: kept }));
      assert.equal(response.headers.get("content-encoding"), "gzip");
      assert.equal(response.headers.get("etag"), 'W/"a"');
      assert.equal(await textIn(response), PAGE);
      assert.deepEqual([kept.get("content-encoding"), kept.get("etag")], [null, '"a"']);
    } finally {
      globalThis.Response = native;
    }
  });

  test(`${name}: a redirect without a body, and HEAD of a stream, are not marked as what they are not`, async () => {
    const redirect = await respond(asking("gzip"), new Response(null, { status: 302, headers: HTML }));
    assert.equal(redirect.headers.get("content-encoding"), null);
    let cancelled = false;
    const body = new ReadableStream({ cancel: () => void (cancelled = true) });
    const head = await respond(asking("gzip", "HEAD"), new Response(body, { headers: HTML }));
    assert.equal(head.headers.get("content-encoding"), "gzip");
    assert.equal(await head.text(), "");
    assert.ok(cancelled, "the source goes on");
  });

  test(`${name}: strings in a body are sent, as servers do`, async () => {
    const body = new ReadableStream({
      start(controller) {
        for (const chunk of ["one ", new TextEncoder().encode("two "), "three"]) controller.enqueue(chunk);
        controller.close();
      },
    });
    const strings = await loaded({ threshold: 1 });
    const wrapped = name === "respond"
      ? strings.respond(asking("gzip"), new Response(body, { headers: HTML }))
      : await strings.fetch(() => new Response(body, { headers: HTML }))(asking("gzip"));
    assert.equal(await textIn(wrapped), "one two three");
  });

  test(`${name}: clients that leave, at any time, leave no session and no warning`, async () => {
    for (let i = 0; i < 60; i++) {
      let source!: ReadableStreamDefaultController<Uint8Array>;
      const body = new ReadableStream<Uint8Array>({ start: (controller) => void (source = controller) });
      const response = await respond(asking(CODINGS[i % 3]), new Response(body, { headers: HTML }));
      const reader = response.body!.getReader();
      const reading = reader.read();
      if (i % 2 === 0) source.enqueue(new TextEncoder().encode(PAGE));
      if (i % 4 < 2) await new Promise((resolve) => setTimeout(resolve, 1));
      await reader.cancel();
      await reading;
    }
  });

  test(`${name}: Vary is extended, once`, async () => {
    const varies = [["Origin", "Origin, Accept-Encoding"], ["*", "*"], ["accept-encoding", "accept-encoding"]];
    for (const [vary, expected] of varies) {
      const response = await respond(asking("gzip"), page({ ...HTML, vary }));
      assert.equal(response.headers.get("vary"), expected);
      await response.body!.cancel();
    }
  });

  test(`${name}: digests and lengths of the uncompressed bytes go`, async () => {
    const fields = ["content-md5", "content-digest", "repr-digest", "accept-ranges"];
    const response = await respond(
      asking("gzip"),
      page({ ...HTML, ...Object.fromEntries(fields.map((each) => [each, "x"])) }),
    );
    assert.deepEqual(fields.filter((each) => response.headers.has(each)), []);
    assert.equal(await textIn(response), PAGE);
  });
}

test("fetch: text that is there at once has a Content-Length, and what is short is sent as it is", async () => {
  const response = await ways.fetch(asking("br"), page());
  const bytes = await response.clone().bytes();
  assert.equal(response.headers.get("content-length"), String(bytes.length));
  const short = await ways.fetch(asking("br"), new Response("short", { headers: HTML }));
  assert.equal(short.headers.get("content-encoding"), null);
  assert.equal(short.headers.get("vary"), "Accept-Encoding");
  assert.equal(await short.text(), "short");
});

test("fetch: HEAD of text that is there at once has the fields of GET", async () => {
  for (const length of [0, 1, 1023, 1024, 20_000, 500_000]) {
    const fieldsOf = async (method: string): Promise<object> => {
      const { headers, body } = await compression.fetch(() => page(HTML, 200, length))(asking("gzip", method));
      await body?.cancel();
      return Object.fromEntries(headers);
    };
    if (length > 0) assert.deepEqual(await fieldsOf("HEAD"), await fieldsOf("GET"), String(length));
    else await fieldsOf("HEAD"); // a body that is left out looks the same
  }
});

test("fetch: the handler gets all arguments; what it throws, and what is no Response, passes", async () => {
  const handler = compression.fetch((request: Request, server: { name: string }) =>
    new Response(request.url + server.name)
  );
  assert.equal(await (await handler(asking(), { name: "here" })).text(), "http://localhost/here");
  await assert.rejects(compression.fetch(() => Promise.reject(new Error("no")))(asking()), /no/);
  assert.equal(await compression.fetch(() => undefined as unknown as Response)(asking()), undefined);
});

test("a filter that throws lets nothing be compressed, and is told", async () => {
  const warnings: string[] = [];
  const failing = await loaded({
    filter: () => {
      throw new Error("no such user");
    },
    onWarning: (reason) => void warnings.push(reason),
  });
  const response = failing.respond(asking("gzip"), page());
  assert.equal(response.headers.get("content-encoding"), null);
  assert.match(warnings.join(), /no such user/);
});

test("a filter that gives a promise lets nothing be compressed, and is told", async () => {
  const warnings: string[] = [];
  const filter = (() => Promise.resolve(true)) as unknown as () => boolean;
  const failing = await loaded({ filter, onWarning: (reason) => void warnings.push(reason) });
  const response = failing.respond(asking("gzip"), page());
  assert.equal(response.headers.get("content-encoding"), null);
  assert.match(warnings.join(), /promise/);
});

test("an onWarning that throws changes no response", async () => {
  const failing = await loaded({
    filter: () => {
      throw new Error("no such user");
    },
    onWarning: (reason) => {
      throw new Error(`told ${reason}`);
    },
  });
  const { error } = console;
  const told: unknown[] = [];
  console.error = (...given) => void told.push(...given);
  try {
    assert.equal(await failing.respond(asking("gzip"), page()).text(), PAGE);
  } finally {
    console.error = error;
  }
  assert.match(told.join(), /told a response is not compressed: .*no such user/);
});

test("a codec that fails cancels the source, and gives its memory back", async () => {
  const outcome: unknown[] = [];
  const fail = (): never => {
    throw new RangeError("no memory");
  };
  const encoder = {
    *steps(pieces: Iterable<Uint8Array>) {
      for (const { length } of pieces) yield length === 1 ? new Uint8Array(0) : fail();
    },
    flush: fail,
    finish: fail,
    close: () => void outcome.push("closed"),
  };
  const source = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new Uint8Array(1));
      controller.enqueue(new Uint8Array(2));
    },
    cancel: (reason) => void outcome.push((reason as Error).message),
  });
  const body = encodedBody({ reader: source.getReader(), begun: [], reading: undefined }, encoder);
  await assert.rejects(body.getReader().read(), /no memory/);
  assert.deepEqual(outcome, ["closed", "no memory"]);
});

test("a response whose chunk is transferred before all of it is encoded fails", async () => {
  const chunk = noise(3_000_000);
  const source = new ReadableStream<Uint8Array>({
    start(controller): void {
      controller.enqueue(chunk);
      controller.close();
    },
  });
  const response = compression.respond(asking("gzip"), new Response(source, { headers: HTML }));
  const reader = response.body!.getReader();
  await reader.read();
  structuredClone(chunk.buffer, { transfer: [chunk.buffer] });
  const rest = async (): Promise<void> => {
    while (!(await reader.read()).done);
  };
  await assert.rejects(rest(), /buffer was transferred/);
});

test("a 304 of what is not compressible keeps its tag", () => {
  const headers = { "content-type": "image/png", etag: '"1"' };
  const unchanged = compression.respond(asking("br"), new Response(null, { status: 304, headers }));
  assert.equal(unchanged.headers.get("etag"), '"1"');
});

test("a body that is read already is left alone, with a warning", async () => {
  const warnings: string[] = [];
  const warning = await loaded({ onWarning: (reason) => void warnings.push(reason) });
  const used = page();
  await used.text();
  assert.equal(warning.respond(asking("gzip"), used), used);
  const locked = page();
  locked.body!.getReader();
  assert.equal(await warning.fetch(() => locked)(asking("gzip")), locked);
  assert.equal(warnings.length, 2);
  assert.match(warnings[0], /read already/);
});

test("the first of the codings that a client likes best is chosen", async () => {
  const cases = [
    ["gzip, br, zstd", "zstd"],
    ["gzip, br", "br"],
    ["gzip;q=1, br;q=0.9, zstd;q=0.9", "gzip"],
    ["*", "zstd"],
    ["*;q=0.5, zstd;q=0", "br"],
    ["identity;q=0, gzip;q=0.1", "gzip"],
    ["x-gzip", "gzip"],
  ];
  for (const [accepted, coding] of cases) {
    const response = compression.respond(asking(accepted), page());
    assert.equal(response.headers.get("content-encoding"), coding, accepted);
    await response.body!.cancel();
  }
  const ours = await loaded({ codings: ["gzip", "zstd"] });
  const response = ours.respond(asking("zstd, gzip, br"), page());
  assert.equal(response.headers.get("content-encoding"), "gzip");
  await response.body!.cancel();
});

test("levels, threshold and filter are heeded", async () => {
  const sizeAt = async (level: number): Promise<number> => {
    const { respond } = await loaded({ levels: { gzip: level } });
    return (await respond(asking("gzip"), new Response(textOf(200_000), { headers: HTML })).arrayBuffer()).byteLength;
  };
  assert.ok(await sizeAt(9) < await sizeAt(1));
  const { fetch } = await loaded({
    threshold: 100,
    filter: ({ method, url, status, header }) =>
      method === "GET" && url === "http://localhost/" && status === 200 && header("X-Secret") === undefined,
  });
  const codingOf = async (length: number, headers: HeadersInit): Promise<string | null> => {
    return (await fetch(() => new Response(textOf(length), { headers }))(asking("gzip"))).headers.get(
      "content-encoding",
    );
  };
  assert.equal(await codingOf(100, HTML), "gzip");
  assert.equal(await codingOf(99, HTML), null);
  assert.equal(await codingOf(1000, { ...HTML, "x-secret": "1" }), null);
});

test("what is no response is refused in plain words", async () => {
  const request = new Request("http://localhost/");
  const text = "page" as unknown as Response;
  await assert.rejects(compression.fetch(() => text)(request), {
    name: "TypeError",
    message: 'Cannot compress what the handler returned: "page" is no Response',
  });
  for (const none of [undefined, { headers: {} }] as unknown as Response[]) {
    assert.throws(
      () => compression.respond(request, none),
      /Cannot compress what respond\(\) was given: .* is no Response/,
    );
  }
});

test("options that are none are refused in plain words", () => {
  const wrong: readonly (readonly [options: object, message: RegExp])[] = [
    [{ quality: 3 }, /Error: createCompression\(\): unknown option "quality": use codings, levels/],
    [{ levle: 3 }, /Error: createCompression\(\): unknown option "levle": did you mean "level"\?$/],
    [{ level: 3 }, /Error: level must be "auto" \(use levels for those of each coding\), not 3$/],
    [{ codings: ["deflate"] }, /Error: codings\[0\] must be "zstd", "br" or "gzip", not "deflate"$/],
    [{ codings: "gzip" }, /Error: codings must be a list of codings, not "gzip"$/],
    [{ levels: { br: 12 } }, /Error: levels\.br 12 is out of range: use a whole number from 0 to 11$/],
    [{ levels: { gz: 1 } }, /Error: createCompression\(\): unknown option "levels\.gz"/],
    [{ threshold: -1 }, /Error: threshold -1 is out of range: use a number of bytes from 0$/],
    [{ types: ["yaml"] }, /Error: types must name media types, such as "image\/\*" or "text\/csv", not "yaml"$/],
    [{ filter: true }, /Error: filter must be a function, not true$/],
    [{ dictionaries: false }, /Error: dictionaries must be an object, not false$/],
  ];
  for (const [options, message] of wrong) assert.throws(() => createCompression(options), message);
});

test("before its codecs are loaded responses are sent as they are", async () => {
  // In a process that has loaded them already the first response may be compressed.
  const fresh = createCompression();
  const response = fresh.respond(asking("zstd"), page());
  assert.equal(await textIn(response), PAGE);
  await fresh.ready();
});
