import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { precompress } from "../../lib/precompress/mod.ts";
import { createStaticHandler, type StaticHandler, type StaticHandlerOptions } from "../../lib/static/mod.ts";
import { sourceText } from "../support/bytes.ts";
import { type Answer, asks } from "../support/asked.ts";
import { writeTree } from "../support/folders.ts";
import { ConnectChain, type Middleware } from "./connect_chain.ts";
import { exchange, requestBytes } from "../support/raw_exchange.ts";
import { serveOnHttp } from "./served_handler.ts";

const former = sourceText(30_000, 1);
let folder = "";

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-mount-"));
  await writeTree(join(folder, "former"), { "assets/app-9d8b7a6f.js": former });
  await writeTree(join(folder, "site"), {
    "index.html": "<p>home</p>",
    "about.html": "<p>about</p>",
    "docs/index.html": "<p>docs</p>",
    "assets/app-3f9a1c0b.js": Buffer.concat([former, Buffer.from("/* new */")]),
  });
  await writeTree(join(folder, "no_index"), { "page.html": "<p>page</p>" });
  const levels = { brotli: 1, zstd: 1 };
  await precompress(join(folder, "site"), { previous: join(folder, "former"), jobs: 1, levels, formats: ["zstd"] });
});

after(() => rm(folder, { recursive: true, force: true }));

type Ask = (method: string, path: string, headers?: Record<string, string>) => Promise<Answer>;

async function chained(
  build: (handler: StaticHandler) => ConnectChain,
  use: (ask: Ask, port: number) => Promise<void>,
  { site = "site", ...options }: StaticHandlerOptions & { site?: string } = {},
): Promise<void> {
  const handler = await createStaticHandler(join(folder, site), options);
  const server = await serveOnHttp(build(handler).listener);
  try {
    await use(asks(`http://127.0.0.1:${server.port}`), server.port);
  } finally {
    await server.close();
    await handler.close();
  }
}

/** Returns the pattern that an answer's dictionary is for. */
function pattern({ headers }: Answer): string | undefined {
  return /^match="(.*)"$/.exec(String(headers["use-as-dictionary"]))?.[1];
}

/** A chain within a chain. */
const nested = (path: string, handler: Middleware): Middleware => new ConnectChain().use(path, handler).step;

test("below a mount, a dictionary is for the paths that the browser sees", async () => {
  const script = "/assets/app-3f9a1c0b.js";
  const cases: [mount: string, pattern: string][] = [
    ["", "/assets/app-*.js"],
    ["/docs", "/docs/assets/app-*.js"],
    ["/a/b/c", "/a/b/c/assets/app-*.js"],
    ["/caf%C3%A9", "/caf%C3%A9/assets/app-*.js"],
    ["/a%20b%2Fc", "/a%20b%2Fc/assets/app-*.js"],
    ["/v1.0~x", "/v1.0~x/assets/app-*.js"],
    ["/a+b*(c):d", String.raw`/a\\+b\\*\\(c\\){\\:}d/assets/app-*.js`],
    ["/x{y}", "/x%7By%7D/assets/app-*.js"],
    ["/assets", "/assets/assets/app-*.js"],
  ];
  for (const [mount, expected] of cases) {
    await chained((handler) => new ConnectChain().use(mount, handler.node), async (ask) => {
      for (const query of ["", "?v=/x", "?/assets/app-3f9a1c0b.js"]) {
        const answer = await ask("GET", mount + script + query);
        assert.deepEqual([answer.status, pattern(answer)], [200, expected], mount + query);
      }
      const head = await ask("HEAD", mount + script);
      assert.equal(pattern(head), expected);
      const dictionary = createHash("sha256").update(former).digest("base64");
      const delta = await ask("GET", mount + script, {
        "accept-encoding": "dcz, dcb",
        "available-dictionary": `:${dictionary}:`,
      });
      assert.match(String(delta.headers["content-encoding"]), /^dc[bz]$/);
      assert.equal(pattern(delta), expected);
    });
  }
});

test("below a mount, streamed files are dictionaries for its paths, too", () =>
  chained((handler) => new ConnectChain().use("/docs", handler.node), async (ask) => {
    const answer = await ask("GET", "/docs/assets/app-3f9a1c0b.js");
    assert.equal(pattern(answer), "/docs/assets/app-*.js");
  }, { memoryLimit: 0 }));

test("below several mounts, each has its own answers", () =>
  chained(
    (handler) =>
      new ConnectChain().use("/one", handler.node).use("/two", nested("/three", handler.node)).use("/", handler.node),
    async (ask) => {
      for (const mount of ["/one", "/two/three", "", "/one"]) {
        assert.equal(pattern(await ask("GET", `${mount}/assets/app-3f9a1c0b.js`)), `${mount}/assets/app-*.js`);
        const { status, headers } = await ask("GET", `${mount}/docs?x`);
        assert.deepEqual([status, headers.location], [301, "./docs/?x"]);
      }
      assert.equal((await ask("GET", "/two/three")).headers.location, "./three/");
    },
  ));

test("a mount's own path without its slash redirects to it, so that relative links hold", async () => {
  const cases: [mount: string, location: string][] = [
    ["/docs", "./docs/"],
    ["/a/b", "./b/"],
    ["/caf%C3%A9", "./caf%C3%A9/"],
    ["/a:b", "./a:b/"],
    ["/assets", "./assets/"],
  ];
  for (const [mount, location] of cases) {
    await chained((handler) => new ConnectChain().use(mount, handler.node), async (ask) => {
      for (const method of ["GET", "HEAD"]) {
        for (const query of ["", "?", "?a=/&b=//x", "?/"]) {
          const { status, headers } = await ask(method, mount + query);
          assert.deepEqual([status, headers.location], [301, location + query], mount + query);
          assert.equal(new URL(headers.location!, `http://h${mount}${query}`).pathname, `${mount}/`);
          assert.equal(headers["x-of"], "index.html");
        }
      }
      assert.equal((await ask("GET", `${mount}/`)).status, 200);
      assert.equal((await ask("GET", `${mount}/?a`)).status, 200);
      const posted = await ask("POST", mount, { "content-length": "0" });
      assert.equal(posted.body.toString(), "nobody has it");
    }, { headers: (path) => ({ "x-of": path }) });
  }
});

test("without an index, a mount's own path is like any other that there is nothing at", async () => {
  const mounted = (handler: StaticHandler) => new ConnectChain().use("/docs", handler.node);
  await chained(mounted, async (ask) => {
    for (const path of ["/docs", "/docs/"]) assert.equal((await ask("GET", path)).body.toString(), "nobody has it");
  }, { site: "no_index" });
  await chained(mounted, async (ask) => {
    assert.equal((await ask("GET", "/docs")).headers.location, "./docs/");
    assert.equal((await ask("GET", "/docs/")).status, 200);
    assert.equal((await ask("GET", "/docs/users/7")).status, 200);
    assert.equal((await ask("GET", "/docs", { accept: "application/json" })).body.toString(), "nobody has it");
  }, { site: "no_index", fallback: "page.html" });
});

test("without next(), a mount is answered in the same way", () =>
  chained(
    (handler) => new ConnectChain().use("/docs", (request, response) => handler.node(request, response)),
    async (ask) => {
      assert.equal((await ask("GET", "/docs?a")).headers.location, "./docs/?a");
      assert.equal(pattern(await ask("GET", "/docs/assets/app-3f9a1c0b.js")), "/docs/assets/app-*.js");
      assert.equal((await ask("GET", "/docs/missing")).status, 404);
      assert.equal((await ask("POST", "/docs", { "content-length": "0" })).status, 405);
    },
  ));

test("a base path stands for the whole path, below a mount or not", () =>
  chained(
    (handler) => new ConnectChain().use("/site", handler.node).use("/", handler.node),
    async (ask) => {
      assert.equal((await ask("GET", "/site")).headers.location, "./site/");
      assert.equal(pattern(await ask("GET", "/site/assets/app-3f9a1c0b.js")), "/site/assets/app-*.js");
      assert.equal((await ask("GET", "/site/")).status, 200);
    },
    { basePath: "/site/" },
  ));

test("a target in absolute-form is below a mount, too", () =>
  chained((handler) => new ConnectChain().use("/docs", handler.node), async (_, port) => {
    const ask = (target: string) => exchange(port, requestBytes("GET", target));
    const script = await ask("http://site.example/docs/assets/app-3f9a1c0b.js");
    assert.equal(script?.fields.get("use-as-dictionary"), 'match="/docs/assets/app-*.js"');
    assert.equal((await ask("http://site.example/docs?x"))?.fields.get("location"), "./docs/?x");
  }));

test("clean URLs redirect within a mount", () =>
  chained((handler) => new ConnectChain().use("/site", handler.node), async (ask) => {
    const target = async (path: string) => {
      const { status, headers } = await ask("GET", path);
      return [status, new URL(String(headers.location), `http://h${path}`).pathname];
    };
    assert.deepEqual(await target("/site/about/"), [308, "/site/about"]);
    assert.deepEqual(await target("/site/about.html"), [308, "/site/about"]);
    assert.deepEqual(await target("/site/docs/index"), [308, "/site/docs/"]);
    assert.deepEqual(await target("/site/index"), [308, "/site/"]);
    assert.deepEqual(await target("/site"), [301, "/site/"]);
  }, { cleanUrls: true }));

test("a URL that middleware wrote anew is no mount", () => {
  const rewriting: Middleware = (request, _response, next) => {
    if (!request.url!.includes(".")) request.url = "/docs/";
    else request.url = "/assets/app-3f9a1c0b.js";
    next();
  };
  return chained((handler) => new ConnectChain().use("/", rewriting).use("/", handler.node), async (ask) => {
    assert.equal((await ask("GET", "/users/7")).body.toString(), "<p>docs</p>");
    assert.equal(pattern(await ask("GET", "/old.js")), "/assets/app-*.js");
  });
});

test("a target that is left without its slash, as Polka has it, is below a mount, too", () => {
  const stripping = (handler: StaticHandler): Middleware => (request, response, next) => {
    request.url = request.url!.slice("/docs".length) || "/";
    handler.node(request, response, next);
  };
  return chained((handler) => new ConnectChain().use("/", stripping(handler)), async (ask) => {
    assert.equal((await ask("GET", "/docs?x")).headers.location, "./docs/?x");
    assert.equal((await ask("GET", "/docs/?x")).status, 200);
  });
});
