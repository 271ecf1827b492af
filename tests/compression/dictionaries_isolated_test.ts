import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import test, { after } from "node:test";
import { type Context, Hono } from "hono";
import { compress, compressSync, decompress, type Format, ready } from "../../lib/codecs/mod.ts";
import { type Compression, createCompression, type DictionaryOptions } from "../../lib/compression/mod.ts";
import { compress as compressInHono, type HonoMiddleware } from "../../lib/frameworks/hono.ts";
import { tries } from "../support/long_run.ts";
import { randomNumbers } from "../support/random_numbers.ts";
import { turn } from "../support/waits.ts";
import { loaded, textOf } from "./responses.ts";
import { closeAll, protocols, type Served } from "./served.ts";

after(closeAll);

const DICTIONARY_CODINGS = ["dcz", "dcb"] as const;
const formats: Readonly<Record<string, Format>> = { zstd: "zstd", br: "brotli", gzip: "gzip", dcz: "dcz", dcb: "dcb" };
const PUBLIC = { "content-type": "text/html", "cache-control": "public, max-age=60" };
const HTML = { "content-type": "text/html" };

/** A response of the handler. */
interface Page {
  readonly text: string;
  readonly fields: Readonly<Record<string, string>>;
  /** Whether the response is streamed. */
  readonly isStreamed?: boolean;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
}

type Ask = (path: string, fields?: Readonly<Record<string, string>>) => Promise<Answer>;
type Way = (compression: Compression, page: (path: string) => Page) => Promise<Ask>;

function bodyOf({ text, isStreamed }: Page): BodyInit {
  const chunks = isStreamed ? [text.slice(0, 1000), text.slice(1000)] : [text];
  return new ReadableStream<Uint8Array>({
    async start(controller) {
      for (const chunk of chunks) {
        controller.enqueue(new TextEncoder().encode(chunk));
        if (isStreamed) await new Promise((resolve) => setTimeout(resolve, 1));
      }
      controller.close();
    },
  });
}

function byFetch(handle: (request: Request) => Response | Promise<Response>): Ask {
  return async (path, fields = {}) => {
    const response = await handle(new Request(`http://localhost${path}`, { headers: fields }));
    return { status: response.status, headers: response.headers, bytes: await response.bytes() };
  };
}

async function overNode(
  protocol: keyof typeof protocols,
  compression: Compression,
  page: (path: string) => Page,
): Promise<Ask> {
  const served = await protocols[protocol]((req: IncomingMessage, res: ServerResponse) => {
    compression.node(req, res, () => {
      const { text, fields, isStreamed } = page(req.url!);
      for (const [name, value] of Object.entries(fields)) res.setHeader(name, value);
      if (!isStreamed) return void res.end(text);
      res.write(text.slice(0, 1000));
      setTimeout(() => res.end(text.slice(1000)), 1);
    });
  });
  return asksOf(served);
}

function asksOf(served: Served): Ask {
  return async (path, fields = {}) => {
    const { status, headers, body } = await served.open({ path, fields });
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    const known = Object.entries(headers).filter(([name]) => !name.startsWith(":"));
    return {
      status,
      headers: new Headers(Object.fromEntries(known.map(([name, value]) => [name, String(value)]))),
      bytes: new Uint8Array(Buffer.concat(chunks)),
    };
  };
}

const respond = (page: Page): Response => new Response(bodyOf(page), { headers: page.fields });

const ways: Readonly<Record<string, Way>> = {
  "fetch": (compression, page) =>
    Promise.resolve(byFetch(compression.fetch(({ url }) => respond(page(new URL(url).pathname))))),
  "respond": (compression, page) =>
    Promise.resolve(byFetch((request) => compression.respond(request, respond(page(new URL(request.url).pathname))))),
  "http/1.1": (compression, page) => overNode("http/1.1", compression, page),
  "h2": (compression, page) => overNode("h2", compression, page),
};

/** Returns a text that hardly compresses without a dictionary. */
function oddText(length: number): string {
  let text = "";
  for (let i = 0; text.length < length; i++) {
    text += `<p>${i} ${createHash("sha256").update(String(i)).digest("hex")}</p>\n`;
  }
  return text;
}

const old = oddText(20_000);
const edited = old.replace("<p>1 ", "<p>one ");
const brotliSize = compress(new TextEncoder().encode(edited), { format: "brotli" }).then(({ length }) => length);

const hashOf = (bytes: Uint8Array | string): string => `:${createHash("sha256").update(bytes).digest("base64")}:`;

/** Returns the fields of a browser that has a dictionary, or none. */
function browser(dictionary?: Uint8Array | string, codings = "dcb, dcz"): Record<string, string> {
  if (dictionary === undefined) return { "accept-encoding": "gzip, deflate, br, zstd" };
  return { "accept-encoding": `gzip, deflate, br, zstd, ${codings}`, "available-dictionary": hashOf(dictionary) };
}

async function textIn({ headers, bytes }: Answer, dictionary?: Uint8Array | string): Promise<string> {
  const coding = headers.get("content-encoding");
  if (coding === null) return new TextDecoder().decode(bytes);
  const known = typeof dictionary === "string" ? new TextEncoder().encode(dictionary) : dictionary;
  const options = coding.startsWith("dc") ? { dictionary: known } : {};
  return new TextDecoder().decode(await decompress(bytes, { format: formats[coding], ...options }));
}

/** Returns the path of the template that a response offers. */
function offeredBy({ headers }: Answer): string | undefined {
  return /<([^>]*)>; rel="compression-dictionary"/.exec(headers.get("link") ?? "")?.[1];
}

/**
 * Waits three turns: responses are stored at the end of the turn after they were sent, and a timer could fire earlier.
 */
async function later(): Promise<void> {
  for (let i = 0; i < 3; i++) await turn();
}

for (const [name, way] of Object.entries(ways)) {
  for (const isStreamed of [false, true]) {
    const how = isStreamed ? "in pieces" : "at once";
    for (const coding of DICTIONARY_CODINGS) {
      test(`${name}: a public page ${how} that was edited is sent as its difference, in ${coding}`, async () => {
        let text = old;
        const ask = await way(await loaded({ dictionaries: {} }), () => ({ text, fields: PUBLIC, isStreamed }));
        const first = await ask("/page", browser());
        assert.equal(first.headers.get("content-encoding"), "zstd");
        assert.equal(first.headers.get("use-as-dictionary"), 'match="/page"');
        assert.match(first.headers.get("vary")!, /available-dictionary/i);
        assert.equal(await textIn(first), old);
        await later();
        text = edited;
        const second = await ask("/page", browser(old, coding));
        assert.equal(second.headers.get("content-encoding"), coding);
        assert.equal(await textIn(second, old), edited);
        const brotli = await brotliSize;
        assert.ok(second.bytes.length <= brotli * 0.02, `${second.bytes.length} of ${brotli}`);
      });
    }
  }

  test(`${name}: a given template is offered, served, and used for private pages, too`, async () => {
    const template = oddText(4000);
    const dictionaries: DictionaryOptions = { routes: [{ path: "/goods/*", template }] };
    const page = (path: string): Page => ({
      text: `${template}<b>${path}</b>`,
      fields: { ...HTML, "cache-control": "private", "link": "</style.css>; rel=preload" },
    });
    const ask = await way(await loaded({ dictionaries }), page);
    const first = await ask("/goods/1", { ...browser(), cookie: "user=1" });
    assert.equal(first.headers.get("use-as-dictionary"), null);
    assert.ok(first.headers.get("link")?.startsWith("</style.css>; rel=preload, <"));
    const served = await ask(offeredBy(first)!, browser());
    assert.equal(served.headers.get("use-as-dictionary"), 'match="/goods/*"');
    assert.match(served.headers.get("cache-control")!, /immutable/);
    assert.equal(await textIn(served), template);
    const second = await ask("/goods/2", { ...browser(template), cookie: "user=1" });
    assert.equal(second.headers.get("content-encoding"), "dcz");
    assert.equal(offeredBy(second), undefined);
    assert.equal(await textIn(second, template), page("/goods/2").text);
    assert.ok(second.bytes.length < 120, `${second.bytes.length} bytes`);
    const elsewhere = await ask("/other", browser(template));
    assert.equal(elsewhere.headers.get("content-encoding"), "zstd");
    assert.equal(elsewhere.headers.get("vary"), "Accept-Encoding");
  });

  test(`${name}: a template is made from the pages of a public route: what they have in common`, async () => {
    const dictionaries: DictionaryOptions = { routes: [{ path: "/goods/*", public: true }], memory: 0 };
    const frame = oddText(4000);
    const page = (path: string): Page => ({ text: `${frame}<b>only in ${path}</b>${textOf(300)}`, fields: HTML });
    const ask = await way(await loaded({ dictionaries }), page);
    let offered: string | undefined;
    for (let i = 0; offered === undefined; i++) {
      assert.ok(i < 20, "no template is offered");
      offered = offeredBy(await ask(`/goods/${i}`, browser()));
      await later();
    }
    const template = new TextEncoder().encode(await textIn(await ask(offered, browser())));
    const text = new TextDecoder().decode(template);
    assert.ok(!text.includes("only in"), text);
    const after = await ask("/goods/new", browser(template));
    assert.equal(after.headers.get("content-encoding"), "dcz");
    assert.equal(await textIn(after, template), page("/goods/new").text);
    assert.ok(after.bytes.length < 300, `${after.bytes.length} bytes`);
  });

  test(`${name}: nothing of a private page is in a dictionary, or can be told from one`, async () => {
    const dictionaries: DictionaryOptions = { routes: [{ path: "/*", public: true }] };
    const pages = new Map<string, Page>();
    const ask = await way(await loaded({ dictionaries }), (path) => pages.get(path) ?? { text: "", fields: HTML });
    // Each kind marks a page as private in another way; the same secret is in several pages.
    const kinds: readonly (readonly [fields: Record<string, string>, request: Record<string, string>])[] = [
      [{ ...PUBLIC }, { cookie: "session=1" }],
      [{ ...PUBLIC }, { authorization: "Bearer 1" }],
      [{ ...PUBLIC, "set-cookie": "session=1" }, {}],
      [{ ...HTML, "cache-control": "private, max-age=60" }, {}],
      [{ ...HTML, "cache-control": "public, max-age=60, no-store" }, {}],
      [{ ...HTML, "cache-control": 'private="x", public, max-age=60' }, {}],
      [{ ...PUBLIC, "vary": "Accept, Cookie" }, {}],
      [{ ...PUBLIC, "vary": "*" }, {}],
    ];
    const secrets: string[] = [];
    const privates: string[] = [];
    for (let round = 0; round < 6; round++) {
      for (const [kind, [fields, request]] of kinds.entries()) {
        secrets[kind] ??= `secret-${kind}-${Math.random()}`;
        const text = `${textOf(3000)}<b>${secrets[kind]}</b>${round}`;
        pages.set("/account", { text, fields, isStreamed: round % 2 === 1 });
        privates.push(text);
        const answer = await ask("/account", { ...browser(), ...request });
        assert.equal(answer.headers.get("content-encoding"), "zstd");
        await later();
      }
      pages.set(`/public/${round}`, { text: `${textOf(3000)}<i>${round}</i>`, fields: PUBLIC });
      await ask(`/public/${round}`, browser());
      await later();
    }
    const offered = offeredBy(await ask("/public/0", browser()));
    const template = await textIn(await ask(offered!, browser()));
    assert.ok(template.length > 1000);
    for (const secret of secrets) assert.ok(!template.includes(secret), "a secret is in the template");
    // The hash of a page names a dictionary only if the page was kept.
    pages.set("/account", { text: `${textOf(3000)}another`, fields: PUBLIC });
    for (const text of privates) {
      const answer = await ask("/account", browser(text));
      assert.equal(answer.headers.get("content-encoding"), "zstd", "a private page was kept");
      assert.equal(await textIn(answer), pages.get("/account")!.text);
    }
  });

  test(`${name}: random browsers, honest and lying, many at a time, get their pages, and nothing of each other's`, async () => {
    const random = randomNumbers(21);
    const pick = <T>(list: readonly T[]): T => list[random(list.length)]!;
    const dictionaries: DictionaryOptions = {
      routes: [{ path: "/made/*", public: true }, { path: "/mine", template: old }],
    };
    const pages = new Map<string, Page>();
    const ask = await way(
      await loaded({ dictionaries, level: "auto" }),
      (path) => pages.get(path) ?? { text: "", fields: HTML },
    );
    const users = Array.from({ length: 4 }, (_, i) => `user-${i}-${random(1e9)}-secret`);
    const known = new Map<string, Uint8Array>();
    const learn = (bytes: Uint8Array): void => void known.set(hashOf(bytes), bytes);
    learn(new TextEncoder().encode(old));
    const served = new Set<string>();
    for (let step = 0; step < tries(400); step++) {
      const paths = ["/made/1", "/made/2", "/made/3", "/mine", "/other"].filter(() => random(2) > 0);
      await Promise.all(paths.map((path) => {
        const user = path === "/mine" || random(3) === 0 ? pick(users) : undefined;
        const text = `${oddText(1500 + 500 * random(3))}${user ?? "for all"}, ${random(3)}`;
        const fields = user === undefined ? pick([PUBLIC, HTML]) : pick([HTML, { ...PUBLIC, "set-cookie": "a=1" }]);
        pages.set(path, { text, fields, isStreamed: random(3) === 0 });
        return one(path, pages.get(path)!, user);
      }));
    }
    async function one(url: string, { text, isStreamed }: Page, user: string | undefined): Promise<void> {
      const hash = pick([
        undefined,
        ...known.keys(),
        hashOf(old),
        hashOf(String(random(9))),
        ":AAAA:",
        "x".repeat(100),
      ]);
      const codings = pick(["dcb, dcz", "dcz;q=0.5, dcb", "dcb;q=0, dcz", "dcz, *;q=0", "dcb, dcz, identity;q=0"]);
      const dictionary = hash === undefined ? undefined : known.get(hash);
      const request: Record<string, string> = { ...browser(dictionary ?? "none", codings) };
      if (hash !== undefined) request["available-dictionary"] = hash;
      if (user !== undefined) request.cookie = user;
      const answer = await ask(url, request);
      const coding = answer.headers.get("content-encoding") ?? "";
      if (coding.startsWith("dc")) served.add(coding);
      assert.ok(!coding.startsWith("dc") || dictionary !== undefined, "a dictionary that the browser has not named");
      assert.equal(await textIn(answer, dictionary), text, `${url}, ${coding}, ${isStreamed}`);
      if (user === undefined) learn(new TextEncoder().encode(text));
      const offered = offeredBy(answer);
      if (offered === undefined) return;
      const template = await textIn(await ask(offered, browser()));
      for (const each of users) assert.ok(!template.includes(each), "a user's page is in a template");
      learn(new TextEncoder().encode(template));
    }
    assert.deepEqual(served, new Set(DICTIONARY_CODINGS));
  });

  test(`${name}: a private page is never sent as a difference from a former version`, async () => {
    const text = textOf(5000);
    let fields: Record<string, string> = PUBLIC;
    const ask = await way(await loaded({ dictionaries: {} }), () => ({ text, fields }));
    await ask("/page", browser());
    await later();
    assert.equal((await ask("/page", browser(text))).headers.get("content-encoding"), "dcz");
    assert.equal((await ask("/page", { ...browser(text), cookie: "a=1" })).headers.get("content-encoding"), "zstd");
    fields = { ...HTML, "cache-control": "private" };
    assert.equal((await ask("/page", browser(text))).headers.get("content-encoding"), "zstd");
  });

  test(`${name}: what stands in pages by their query alone is not in a template`, async () => {
    const dictionaries: DictionaryOptions = { routes: [{ path: "/goods/*", public: true }], memory: 0 };
    let query = "";
    const page = (path: string): Page => ({
      text: `${textOf(3000)}<a href="/next${query}"><b>${path}</b></a>`,
      fields: HTML,
    });
    const ask = await way(await loaded({ dictionaries }), page);
    for (const token of ["?session=secret", ""]) {
      query = token;
      for (let i = 0; i < 8; i++) {
        await ask(`/goods/${i}${query}`, browser());
        await later();
      }
    }
    const offered = offeredBy(await ask("/goods/0", browser()));
    const template = await textIn(await ask(offered!, browser()));
    assert.ok(template.length > 1000);
    assert.ok(!template.includes("secret"), "a secret is in the template");
  });

  test(`${name}: who lies about a dictionary, or may not read the page, gets the page`, async () => {
    const text = textOf(5000);
    const ask = await way(await loaded({ dictionaries: {} }), () => ({ text, fields: PUBLIC }));
    await ask("/page", browser());
    await later();
    const known = browser(text);
    const cases: readonly Record<string, string>[] = [
      { ...known, "available-dictionary": hashOf("something else") },
      { ...known, "available-dictionary": "nonsense" },
      { ...known, "available-dictionary": hashOf(text).slice(0, 30) },
      { ...known, "available-dictionary": `${hashOf(text)}, ${hashOf(text)}` },
      { ...known, "accept-encoding": "zstd, dcz;q=0.5, dcb;q=0" },
      { ...known, "accept-encoding": "zstd, *" },
      { ...known, "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" },
      { ...known, "sec-fetch-site": "cross-site", "sec-fetch-mode": "cors", "origin": "https://elsewhere.example" },
    ];
    for (const fields of cases) {
      const answer = await ask("/page", fields);
      assert.equal(answer.headers.get("content-encoding"), "zstd", JSON.stringify(fields));
      assert.equal(await textIn(answer), text);
    }
    const other = await ask("/other", known);
    assert.equal(other.headers.get("content-encoding"), "zstd"); // that of another path
  });
}

test("a cookie that is set when the head is sent keeps a page out of dictionaries", async () => {
  const compression = await loaded({ dictionaries: {} });
  const text = textOf(5000);
  const served = await protocols["http/1.1"]((req, res) => {
    compression.node(req, res);
    const writeHead = res.writeHead.bind(res) as (...given: unknown[]) => ServerResponse;
    // As sessions do it.
    res.writeHead = ((...given: unknown[]) => {
      if (req.headers["x-session"]) res.setHeader("set-cookie", "session=1");
      return writeHead(...given);
    }) as typeof res.writeHead;
    for (const [name, value] of Object.entries(PUBLIC)) res.setHeader(name, value);
    res.end(text);
  });
  const ask = async (fields: Record<string, string>): Promise<unknown> => {
    const { headers, body } = await served.open({ fields });
    for await (const _ of body);
    await later();
    return headers["content-encoding"];
  };
  await ask({ ...browser(), "x-session": "1" });
  assert.equal(await ask(browser(text)), "zstd");
  assert.equal(await ask(browser(text)), "dcz"); // by now it has come without a cookie
});

for (const protocol of ["http/1.1", "h2"] as const) {
  test(`${protocol}: a handler that goes on after a dictionary was served changes nothing`, async () => {
    const compression = await loaded({ dictionaries: { routes: [{ path: "/*", template: old }] } });
    let called = 0;
    const served = await protocols[protocol]((req, res) => {
      compression.node(req, res);
      res.statusCode = 201;
      for (const [name, value] of Object.entries(PUBLIC)) res.setHeader(name, value);
      res.appendHeader?.("x-more", "1");
      if (req.url !== "/") res.removeHeader("content-type");
      if (req.url !== "/") res.writeHead(404, { "x-other": "1" }).flushHeaders?.();
      res.write(old, () => called++);
      res.end(old, () => called++);
    });
    const ask = asksOf(served);
    const page = await ask("/", browser());
    assert.equal(page.status, 201);
    assert.equal(await textIn(page), old + old);
    const dictionary = await ask(offeredBy(page)!, browser());
    assert.equal(dictionary.status, 200);
    assert.equal(dictionary.headers.get("content-type"), "application/octet-stream");
    assert.equal(dictionary.headers.get("x-other"), null);
    assert.equal(await textIn(dictionary), old);
    assert.equal(called, 4);
  });
}

test("a cookie that Bun adds when it sends a response keeps a page out of dictionaries", async () => {
  const compression = await loaded({ dictionaries: {} });
  const text = textOf(5000);
  const ask = async (fields: Record<string, string>, cookies: string[]): Promise<string | null> => {
    const request = new Request("http://localhost/", { headers: fields });
    Object.defineProperty(request, "cookies", { value: { toSetCookieHeaders: () => cookies } });
    const response = await compression.fetch(() => new Response(text, { headers: PUBLIC }))(request);
    await response.body!.pipeTo(new WritableStream());
    await later();
    return response.headers.get("content-encoding");
  };
  await ask(browser(), ["session=1"]);
  assert.equal(await ask(browser(text), []), "zstd");
  assert.equal(await ask(browser(text), []), "dcz"); // by now it has come without a cookie
});

for (const order of ["inside", "outside"] as const) {
  test(`a cookie of Hono's middleware ${order} of compress() keeps a page out of templates`, async () => {
    for (const hasSession of [true, false]) {
      const dictionaries: DictionaryOptions = { routes: [{ path: "/goods/*", public: true }] };
      const compression = compressInHono(await loaded({ dictionaries }));
      const session: HonoMiddleware = async (context, next) => {
        await next();
        if (hasSession) (context as Context).header("set-cookie", "session=1", { append: true });
      };
      const app = new Hono();
      for (const each of order === "inside" ? [compression, session] : [session, compression]) app.use(each as never);
      app.get(
        "/goods/:id",
        (context) => context.html(`<b>${"common ".repeat(200)}</b>\n<i>${context.req.param("id")}`),
      );
      let link: string | null = null;
      for (let i = 0; i < 8; i++) {
        const response = await app.request(`/goods/${i}`, { headers: { "accept-encoding": "zstd, dcz" } });
        await response.arrayBuffer();
        link = response.headers.get("link");
        await turn();
        await turn();
      }
      assert.equal(link === null, hasSession);
    }
  });
}

test("a 304 varies as the response does that it confirms", async () => {
  const compression = await loaded({ dictionaries: { routes: [{ path: "/goods/*", template: old }], memory: 0 } });
  const unchanged = (path: string): string | null => {
    const response = new Response(null, { status: 304, headers: { etag: '"1"' } });
    return compression.respond(new Request(`http://localhost${path}`, { headers: browser(old) }), response).headers.get(
      "vary",
    );
  };
  // Caches replace the stored Vary by that of a 304.
  assert.equal(unchanged("/goods/1"), "Accept-Encoding, Available-Dictionary");
  assert.equal(unchanged("/other"), "Accept-Encoding");
  const keeping = await loaded({ dictionaries: {} });
  const response = new Response(null, { status: 304, headers: { etag: '"1"' } });
  const { headers } = keeping.respond(new Request("http://localhost/page", { headers: browser(old) }), response);
  assert.equal(headers.get("vary"), "Accept-Encoding, Available-Dictionary");
});

test("streams of events are not kept", async () => {
  const compression = await loaded({ dictionaries: { routes: [{ path: "/events", public: true }] } });
  const headers = { ...PUBLIC, "content-type": "text/event-stream" };
  const ask = byFetch(compression.fetch(() => new Response(old, { headers })));
  await ask("/events", browser());
  await later();
  const again = await ask("/events", browser(old));
  assert.equal(again.headers.get("content-encoding"), "zstd");
  assert.equal(again.headers.get("use-as-dictionary"), null);
});

test("former versions take no more memory than they may", async () => {
  const compression = await loaded({ dictionaries: { memory: 50_000 } });
  const pageOf = (url: string): string => `${url}${textOf(8000)}`;
  const ask = byFetch(compression.fetch(({ url }) => new Response(pageOf(url), { headers: PUBLIC })));
  for (let i = 0; i < 20; i++) {
    await ask(`/${i}`, browser());
    await later();
  }
  const codings = [];
  for (let i = 0; i < 20; i++) {
    const { headers } = await ask(`/${i}`, browser(pageOf(`http://localhost/${i}`)));
    codings.push(headers.get("content-encoding"));
  }
  assert.deepEqual(codings.slice(0, 12), Array(12).fill("zstd"));
  assert.equal(codings.at(-1), "dcz");
});

test("the URLs of former versions count as memory, too", async () => {
  const compression = await loaded({ dictionaries: { memory: 50_000 } });
  const text = textOf(2000);
  const ask = byFetch(compression.fetch(() => new Response(text, { headers: PUBLIC })));
  const pathOf = (i: number): string => `/${i}/${"x".repeat(8000)}`;
  for (let i = 0; i < 20; i++) {
    await ask(pathOf(i), browser());
    await later();
  }
  const codings = [];
  for (let i = 0; i < 20; i++) codings.push((await ask(pathOf(i), browser(text))).headers.get("content-encoding"));
  assert.deepEqual(codings.slice(0, 12), Array(12).fill("zstd"));
  assert.equal(codings.at(-1), "dcz");
});

test("brotli with a dictionary below the level that uses it is refused", async () => {
  await ready(["dcb"], "compress");
  const bytes = new TextEncoder().encode(textOf(2000));
  for (const format of ["dcb", "brotli"] as const) {
    const at = (level: number): Uint8Array => compressSync(bytes, { format, level, dictionary: bytes });
    assert.throws(() => at(4), /level 4 is out of range for (dcb|brotli with a dictionary): use 5 to 11/);
    assert.ok(at(5).length < 60);
  }
});

test("options of dictionaries that are none are refused in plain words", () => {
  const wrong: readonly (readonly [options: object, message: RegExp])[] = [
    [{ route: [] }, /Error: createCompression\(\): unknown option "dictionaries\.route": did you mean "routes"\?$/],
    [{ routes: {} }, /Error: dictionaries\.routes must be a list of routes, not an Object$/],
    [{ routes: [{ path: "/a*b*", public: true }] }, /must be a path that begins with a slash and has one \* at most/],
    [{ routes: [{ path: "a", public: true }] }, /Error: dictionaries\.routes\[0\]\.path must be a path that begins/],
    [{ routes: [{ public: true }] }, /Error: dictionaries\.routes\[0\]\.path is missing/],
    [{ routes: [{ path: "/a" }] }, /Error: dictionaries\.routes\[0\], \/a, needs a template, or public: true/],
    [
      { routes: [{ path: "/a", template: "" }] },
      /template must be a text .* or a Uint8Array that is not empty, not ""$/,
    ],
    [{ memory: -1 }, /Error: dictionaries\.memory -1 is out of range: use a number of bytes from 0$/],
    [{ path: "/a" }, /Error: dictionaries\.path must be a path that begins and ends with a slash, not "\/a"$/],
  ];
  for (const [dictionaries, message] of wrong) {
    assert.throws(() => createCompression({ dictionaries: dictionaries as DictionaryOptions }), message);
  }
});
