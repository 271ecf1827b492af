import assert from "node:assert/strict";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { createStaticHandler, type StaticHandlerOptions, type StaticWarning } from "../../lib/static/mod.ts";
import { type Answer, asks } from "../support/asked.ts";
import { inFolder, writeTree } from "../support/folders.ts";
import { askingSite } from "./asked_site.ts";
import { ConnectChain } from "./connect_chain.ts";
import { entries, serveOnHttp } from "./served_handler.ts";

const page = "<p>The application routes by itself.</p>".repeat(50);
const files = {
  "index.html": page,
  "index.html.gz": gzipSync(page),
  "admin/app.html": "<p>admin</p>",
  "app.js": "run()",
};

const navigation = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };
const data = { accept: "application/json" };

const varies = ({ headers }: Answer): boolean => /(?:^|, *)accept(?:,|$)/i.test(String(headers.vary ?? ""));

for (const entry of entries) {
  test(`${entry}: only what accepts HTML gets the fallback, and caches are told`, async () => {
    for (const notFound of ["404.html", "admin/app.html"]) {
      await askingSite(entry, files, { fallback: "index.html", notFound }, async ({ ask }) => {
        for (const fields of [navigation, {}, { accept: "*/*" }, { accept: "text/*;q=0.1" }]) {
          for (const method of ["GET", "HEAD"]) {
            const answer = await ask(method, "/users/7", fields);
            assert.equal(answer.status, 200, JSON.stringify(fields));
            assert.ok(varies(answer), "Vary of the fallback");
            const known = await ask(method, "/users/7", { ...fields, "if-none-match": String(answer.headers.etag) });
            assert.equal(known.status, 304);
            assert.ok(varies(known), "Vary of its 304");
          }
        }
        for (const fields of [data, { accept: "image/*" }, { accept: "text/html;q=0, */*" }]) {
          for (const method of ["GET", "HEAD", "POST"]) {
            const answer = await ask(method, "/users/7", fields);
            assert.equal(answer.status, 404, `${method} ${JSON.stringify(fields)}`);
            assert.ok(varies(answer), `Vary of the 404 in its place (${method})`);
          }
        }
      });
    }
  });

  test(`${entry}: what does not depend on Accept does not say so`, () =>
    askingSite(entry, files, { fallback: "index.html" }, async ({ ask }) => {
      for (const fields of [navigation, data]) {
        const home = await ask("GET", "/", fields);
        assert.deepEqual([home.status, home.headers.vary], [200, "Accept-Encoding"]);
        const missing = await ask("GET", "/missing.js", fields);
        assert.deepEqual([missing.status, varies(missing)], [404, false]);
      }
      const coded = await ask("GET", "/users/7", { ...navigation, "accept-encoding": "gzip" });
      assert.deepEqual([coded.headers["content-encoding"], coded.headers.vary], ["gzip", "Accept-Encoding, Accept"]);
      assert.equal((await ask("GET", "/users/7", { ...navigation, range: "bytes=0-3" })).status, 206);
      assert.equal((await ask("POST", "/users/7", navigation)).status, 405);
    }));

  test(`${entry}: a function chooses the fallback by the path, and may choose none`, () => {
    const asked: string[] = [];
    const fallback = (path: string): string | undefined => {
      asked.push(path);
      if (path.startsWith("api/")) return undefined;
      return path.startsWith("admin/") ? "/admin/app.html" : "index.html";
    };
    return askingSite(entry, files, { fallback, basePath: "/base/" }, async ({ ask }) => {
      const admin = await ask("GET", "/base/admin/caf%C3%A9/x%2Fy?z", navigation);
      assert.deepEqual([admin.status, admin.body.toString()], [200, "<p>admin</p>"]);
      assert.equal((await ask("GET", "/base/users", navigation)).body.toString(), page);
      const api = await ask("GET", "/base/api/users", navigation);
      assert.deepEqual([api.status, varies(api)], [404, false]);
      assert.deepEqual(asked, ["admin/café/x%2Fy", "users", "api/users"]);
      for (const path of ["/base/app.js", "/base/missing.js", "/elsewhere", "/base/admin"]) await ask("GET", path);
      assert.deepEqual(asked.slice(3), ["admin"]);
    });
  });

  test(`${entry}: a function that names what is not there is told of once for each name, and the answer is a 404`, () => {
    const warnings: StaticWarning[] = [];
    const options: StaticHandlerOptions = {
      fallback: (path) => path === "none" ? "" : `${path.split("/")[0]}.html`,
      onWarning: (warning) => warnings.push(warning),
    };
    return askingSite(entry, files, options, async ({ ask }) => {
      for (const path of ["/a/1", "/a/2", "/b/1", "/constructor", "/__proto__", "/none", "/a/3"]) {
        assert.equal((await ask("GET", path, navigation)).status, 404, path);
      }
      const message = "fallback() names it, but it is not among the files of the folder";
      const names = ["a.html", "b.html", "constructor.html", "__proto__.html"];
      assert.deepEqual(warnings, names.map((path) => ({ path, message })));
      for (let i = 0; i < 300; i++) await ask("GET", `/name-${i}`, navigation);
      assert.equal(warnings.length, 100);
      assert.equal((await ask("GET", "/index", navigation)).status, 200);
    });
  });

  test(`${entry}: a function that throws makes a 500 that tells nothing, and a warning`, () => {
    const warnings: StaticWarning[] = [];
    const fallback = (): string => {
      throw new Error("the secret is 42");
    };
    const onWarning = (warning: StaticWarning) => warnings.push(warning);
    return askingSite(entry, files, { fallback, onWarning }, async ({ ask }) => {
      for (const path of ["/users", "/users", "/%1b%9b"]) {
        const { status, headers, body } = await ask("GET", path === "/%1b%9b" ? "/%1b%C2%9b" : path, navigation);
        assert.deepEqual([status, body.toString()], [500, "Internal Server Error\n"]);
        assert.equal(headers["cache-control"], "no-store");
      }
      assert.deepEqual(warnings, [
        { path: "", message: 'fallback() failed for "users": the secret is 42' },
        { path: "", message: 'fallback() failed for "\\u001b\\u009b": the secret is 42' },
      ]);
      assert.equal((await ask("GET", "/app.js")).status, 200);
    });
  });
}

for (const entry of entries) {
  test(`${entry}: a 404 has the page of the nearest folder above it, so that each language has its own`, () => {
    const pages = ["404.html", "de/404.html", "de/shop/404.html", "fr/index.html"];
    const files = Object.fromEntries(pages.map((path) => [path, path]));
    return askingSite(entry, files, { basePath: "/base/" }, async ({ ask }) => {
      const expected = {
        "/base/x": "404.html",
        "/base/de": "404.html", // nothing in the folder, but its name
        "/base/fr/x": "404.html",
        "/base/de/x": "de/404.html",
        "/base/de/": "de/404.html",
        "/base/de/other/x/y.png?z": "de/404.html",
        "/base/de/shop/x": "de/shop/404.html",
        "/base/de%2Fshop/x": "404.html",
        "/base/desk/x": "404.html",
        [`/base/de/${"x/".repeat(2000)}`]: "de/404.html",
        "/elsewhere/de/x": "404.html",
      };
      for (const [path, page] of Object.entries(expected)) {
        const { status, body } = await ask("GET", path);
        assert.deepEqual([status, body.toString()], [404, page], path.slice(0, 40));
      }
    });
  });

  test(`${entry}: the status of all redirects can be chosen, and else is 301 for folders and 308 for pages`, async () => {
    const files = { "docs/index.html": "docs", "about.html": "about" };
    for (const redirectStatus of [undefined, 301, 302, 307, 308] as const) {
      const options = { cleanUrls: true, ...(redirectStatus !== undefined && { redirectStatus }) };
      await askingSite(entry, files, options, async ({ ask }) => {
        const statuses = [];
        for (const path of ["/docs", "/about.html", "/about/", "/docs/index"]) {
          for (const method of ["GET", "HEAD"]) statuses.push((await ask(method, path)).status);
        }
        const [folder, page] = redirectStatus === undefined ? [301, 308] : [redirectStatus, redirectStatus];
        assert.deepEqual(statuses, [folder, folder, page, page, page, page, page, page]);
      });
    }
  });
}

test("in a chain, what does not accept HTML goes on to what follows, without asking the function", () =>
  inFolder(async (folder) => {
    await writeTree(folder, files);
    const asked: string[] = [];
    const fallback = (path: string): string => {
      asked.push(path);
      return "index.html";
    };
    const handler = await createStaticHandler(folder, { fallback });
    const chain = new ConnectChain().use("/", handler.node).use("/api", (_, response) => void response.end("[]"));
    const server = await serveOnHttp(chain.listener);
    const ask = asks(`http://127.0.0.1:${server.port}`);
    try {
      assert.equal((await ask("GET", "/api/users", data)).body.toString(), "[]");
      assert.deepEqual(asked, []);
      assert.equal((await ask("GET", "/users", navigation)).body.toString(), page);
      assert.equal((await ask("POST", "/api/users", { ...navigation, "content-length": "0" })).body.toString(), "[]");
      assert.deepEqual(asked, ["users"]);
    } finally {
      await server.close();
      await handler.close();
    }
  }));

test("a function for fallback is called for no file of the folder, and headers() once for the file that it names", () =>
  inFolder(async (folder) => {
    await writeTree(folder, files);
    const called: string[] = [];
    const handler = await createStaticHandler(folder, {
      fallback: () => "index.html",
      headers: (path) => {
        called.push(path);
        return { "x-own": path };
      },
    });
    for (const path of ["/", "/users", "/orders"]) {
      const { headers } = await handler.fetch(new Request(`http://localhost${path}`));
      assert.equal(headers.get("x-own"), "index.html");
    }
    await handler.close();
    assert.deepEqual(called.filter((path) => path === "index.html"), ["index.html"]);
  }));
