import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { precompress } from "../../lib/precompress/mod.ts";
import { createStaticHandler, type StaticHandlerOptions } from "../../lib/static/mod.ts";
import { type Answer, asks } from "../support/asked.ts";
import { sourceText } from "../support/bytes.ts";
import { inFolder, writeTree } from "../support/folders.ts";
import { askingSite } from "./asked_site.ts";
import { ConnectChain } from "./connect_chain.ts";
import { entries, serveOnHttp } from "./served_handler.ts";

const script = "console.log('the mill turns');\n".repeat(100);
const files = {
  "docs/index.html": "<p>docs</p>",
  "app.js": script,
  "app.js.gz": gzipSync(script),
  "large.bin": Buffer.alloc(300_000, "large"),
  "nothing.html": "<p>nothing</p>",
};
const ours = "https://app.example";
const theirs = "https://evil.example";

type Question = readonly [status: number, method: string, target: string, fields?: Record<string, string>];

const questions: readonly Question[] = [
  [200, "GET", "/app.js"],
  [200, "HEAD", "/app.js"],
  [200, "GET", "/app.js", { "accept-encoding": "gzip" }],
  [200, "GET", "/large.bin"],
  [206, "GET", "/app.js", { range: "bytes=0-9" }],
  [206, "GET", "/app.js", { range: "bytes=0-9,20-29" }],
  [206, "GET", "/large.bin", { range: "bytes=100000-" }],
  [301, "GET", "/docs"],
  [400, "GET", "/%zz"],
  [404, "GET", "/missing"],
  [404, "HEAD", "/missing"],
  [405, "POST", "/app.js"],
  [406, "GET", "/app.js", { "accept-encoding": "*;q=0" }],
  [412, "GET", "/app.js", { "if-match": '"other"' }],
  [416, "GET", "/app.js", { range: "bytes=999999-" }],
  [204, "OPTIONS", "/app.js"],
];

type Ask = (method: string, path: string, headers?: Record<string, string>) => Promise<Answer>;

/** Puts every question for a page of `origin`; a tag that the answer has, with it once more for a 304. */
async function allAnswers(ask: Ask, origin: string | undefined): Promise<(readonly [name: string, answer: Answer])[]> {
  const own: Record<string, string> = origin === undefined ? {} : { origin };
  const answers: (readonly [string, Answer])[] = [];
  for (const [status, method, target, fields] of questions) {
    const name = `${method} ${target} ${JSON.stringify({ ...fields, ...own })}`;
    const answer = await ask(method, target, { ...fields, ...own });
    assert.equal(answer.status, status, name);
    answers.push([name, answer]);
    if (status !== 200) continue;
    const again = await ask(method, target, { ...fields, ...own, "if-none-match": String(answer.headers.etag) });
    assert.equal(again.status, 304, name);
    answers.push([`304 of ${name}`, again]);
  }
  return answers;
}

const varies = ({ headers }: Answer): boolean => /(?:^|, *)origin(?:,|$)/i.test(String(headers.vary ?? ""));

for (const entry of entries) {
  for (const notFound of ["404.html", "nothing.html"]) {
    test(`${entry}: with cors: true every answer may be read by every origin (page of a 404: ${notFound})`, () =>
      askingSite(entry, files, { cors: true, notFound }, async ({ ask }) => {
        for (const origin of [undefined, ours]) {
          for (const [name, answer] of await allAnswers(ask, origin)) {
            assert.equal(answer.headers["access-control-allow-origin"], "*", name);
            assert.equal(answer.headers["access-control-expose-headers"], "*", name);
            assert.ok(!varies(answer), name);
          }
        }
      }));

    const some: StaticHandlerOptions["cors"][] = [[ours, "https://other.example"], (origin) => origin === ours];
    for (const cors of some) {
      test(`${entry}: with ${Array.isArray(cors) ? "a list" : "a function"} the allowed origins may read every answer (${notFound})`, () =>
        askingSite(entry, files, { cors, notFound }, async ({ ask }) => {
          for (const origin of [undefined, "null", theirs, ours]) {
            for (const [name, answer] of await allAnswers(ask, origin)) {
              const expected = origin === ours ? ours : undefined;
              assert.equal(answer.headers["access-control-allow-origin"], expected, name);
              assert.ok(varies(answer), `Vary of ${name}`);
              assert.equal(answer.headers["access-control-allow-credentials"], undefined, name);
            }
          }
        }));
    }
  }

  test(`${entry}: without cors, and with cors: false, no answer says anything about origins`, async () => {
    for (const options of [{}, { cors: false }]) {
      await askingSite(entry, files, options, async ({ ask }) => {
        for (const [name, answer] of await allAnswers(ask, ours)) {
          assert.ok(!Object.keys(answer.headers).some((each) => each.startsWith("access-control")), name);
          assert.ok(!varies(answer), name);
        }
        const preflight = await ask("OPTIONS", "/app.js", { origin: ours, "access-control-request-method": "GET" });
        assert.deepEqual([preflight.status, preflight.headers["access-control-allow-methods"]], [204, undefined]);
      });
    }
  });

  test(`${entry}: preflights are answered, also where there is no file, so that the 404 can be read`, async () => {
    const fields = { "access-control-request-method": "GET", "access-control-request-headers": "range,x-own" };
    for (const cors of [true, [ours]] as const) {
      await askingSite(entry, files, { cors }, async ({ ask }) => {
        for (const path of ["/app.js", "/docs", "/missing"]) {
          const { status, headers, body } = await ask("OPTIONS", path, { ...fields, origin: ours });
          assert.deepEqual([status, body.length], [204, 0], path);
          assert.equal(headers["access-control-allow-origin"], cors === true ? "*" : ours);
          assert.equal(headers["access-control-allow-methods"], "GET, HEAD, OPTIONS");
          assert.equal(headers["access-control-allow-headers"], "*, Authorization");
          assert.equal(headers["access-control-max-age"], "86400");
        }
        const refused = await ask("OPTIONS", "/app.js", { ...fields, origin: theirs });
        assert.equal(refused.headers["access-control-allow-origin"], cors === true ? "*" : undefined);
        assert.equal((await ask("OPTIONS", "/missing")).status, 404);
        assert.equal((await ask("OPTIONS", "/missing", { origin: ours })).status, 404);
      });
    }
  });

  test(`${entry}: what headers() says about origins goes before cors`, async () => {
    const headers = (path: string): Record<string, string> | undefined => {
      if (path === "app.js") return { "Access-Control-Allow-Origin": "https://shop.example" };
      return path === "large.bin" ? { "Access-Control-Allow-Origin": "" } : { "Access-Control-Expose-Headers": "ETag" };
    };
    for (const cors of [true, [ours]] as const) {
      await askingSite(entry, files, { cors, headers }, async ({ ask }) => {
        const allowed = async (method: string, path: string) =>
          (await ask(method, path, { origin: ours })).headers["access-control-allow-origin"];
        for (const method of ["GET", "POST"]) {
          assert.equal(await allowed(method, "/app.js"), "https://shop.example");
          assert.equal(await allowed(method, "/large.bin"), undefined);
          assert.equal(await allowed(method, "/docs/"), cors === true ? "*" : ours);
        }
        assert.equal((await ask("GET", "/docs/")).headers["access-control-expose-headers"], "ETag");
      });
    }
  });

  test(`${entry}: a file that is being replaced and a handler that is closed may be read, too`, async () => {
    for (const cors of [true, [ours]] as const) {
      const options = { cors, memoryLimit: 0, onWarning: () => {} };
      await askingSite(entry, files, options, async ({ ask, handler, folder }) => {
        await rm(join(folder, "large.bin"));
        const changed = await ask("GET", "/large.bin", { origin: ours });
        await handler.close();
        const closed = await ask("GET", "/app.js", { origin: ours });
        for (const { status, headers } of [changed, closed]) {
          assert.equal(status, 503);
          assert.equal(headers["access-control-allow-origin"], cors === true ? "*" : ours);
        }
      });
    }
  });

  test(`${entry}: an origin for which the function throws is not allowed, which is told once`, () => {
    const warnings: string[] = [];
    const cors = (): boolean => {
      throw new Error("no list of origins");
    };
    const onWarning = ({ message }: { message: string }) => warnings.push(message);
    return askingSite(entry, files, { cors, onWarning }, async ({ ask }) => {
      for (let i = 0; i < 3; i++) {
        const { status, headers } = await ask("GET", "/app.js", { origin: ours });
        assert.deepEqual([status, headers["access-control-allow-origin"]], [200, undefined]);
      }
      assert.deepEqual(warnings, ["cors() failed for https://app.example: no list of origins"]);
    });
  });
}

test("a delta goes to a page of another origin only if that may read the answer", () =>
  inFolder(async (folder) => {
    const [former, present] = [join(folder, "former"), join(folder, "present")];
    const old = sourceText(30_000, 1);
    await writeTree(former, { "app.js": old });
    await writeTree(present, { "app.js": Buffer.concat([old, Buffer.from("/* new */")]) });
    await precompress(present, { previous: former, formats: ["gzip", "zstd"], jobs: 1, levels: { zstd: 3, gzip: 1 } });
    const hash = createHash("sha256").update(old).digest("base64");
    const codingFor = async (cors: StaticHandlerOptions["cors"], origin: string): Promise<string | null> => {
      const handler = await createStaticHandler(present, { cors });
      const headers = {
        origin,
        "sec-fetch-site": "cross-site",
        "sec-fetch-mode": "cors",
        "accept-encoding": "gzip, dcz, dcb",
        "available-dictionary": `:${hash}:`,
      };
      const response = await handler.fetch(new Request("http://localhost/app.js", { headers }));
      await handler.close();
      return response.headers.get("content-encoding");
    };
    assert.equal(await codingFor(undefined, ours), "gzip");
    assert.match(await codingFor(true, ours) ?? "", /^dc[bz]$/);
    assert.match(await codingFor([ours], ours) ?? "", /^dc[bz]$/);
    assert.equal(await codingFor([ours], theirs), "gzip");
    assert.match(await codingFor((origin) => origin === ours, ours) ?? "", /^dc[bz]$/);
    assert.equal(await codingFor(() => false, ours), "gzip");
  }));

test("in a chain, preflights for what the handler would answer are its own, all else goes on", () =>
  inFolder(async (folder) => {
    await writeTree(folder, files);
    const asking = async (options: StaticHandlerOptions, use: (ask: Ask) => Promise<void>) => {
      const handler = await createStaticHandler(folder, options);
      const server = await serveOnHttp(new ConnectChain().use("/static", handler.node).listener);
      try {
        await use(asks(`http://127.0.0.1:${server.port}/static`));
      } finally {
        await server.close();
        await handler.close();
      }
    };
    const preflight = (method: string) => ({ origin: ours, "access-control-request-method": method });
    await asking({ cors: [ours], fallback: "docs/index.html" }, async (ask) => {
      for (const method of ["GET", "HEAD"]) {
        for (const path of ["/app.js", "/docs", "/docs/"]) {
          const { status, headers } = await ask("OPTIONS", path, preflight(method));
          assert.deepEqual([status, headers["access-control-allow-origin"]], [204, ours], `${method} ${path}`);
        }
      }
      const others: [string, Record<string, string>][] = [
        ["/app.js", preflight("PUT")],
        ["/app.js", { origin: ours }],
        ["/app.js", { "access-control-request-method": "GET" }],
        ["/missing.js", preflight("GET")],
        ["/api/users", preflight("GET")], // a page of the application, or something that comes after
      ];
      for (const [path, fields] of others) {
        const { status, body } = await ask("OPTIONS", path, fields);
        assert.deepEqual([status, body.toString()], [404, "nobody has it"], `${path} ${JSON.stringify(fields)}`);
      }
      assert.equal((await ask("GET", "/api/users")).status, 200);
    });
    await asking({}, async (ask) => {
      const { body } = await ask("OPTIONS", "/app.js", preflight("GET"));
      assert.equal(body.toString(), "nobody has it");
    });
  }));
