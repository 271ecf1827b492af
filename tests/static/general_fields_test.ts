import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { runtime } from "../support/runtime.ts";
import type { Answer } from "../support/asked.ts";
import { askingSite } from "./asked_site.ts";
import { exchange, requestBytes } from "../support/raw_exchange.ts";
import { entries } from "./served_handler.ts";

const script = "console.log('the mill turns');\n".repeat(100);
const files = {
  "index.html": "<p>home</p>",
  "docs/index.html": "<p>docs</p>",
  "app.js": script,
  "app.js.gz": gzipSync(script),
};

/** Fields about a representation, which make no sense without one. */
const OF_REPRESENTATION = {
  "Cache-Control": "max-age=60",
  "Content-Language": "en",
  "Content-Disposition": "attachment",
  "Content-Type": "text/x-own",
  "Expires": "Thu, 01 Jan 2026 00:00:00 GMT",
  "Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT",
  "Use-As-Dictionary": 'match="/*"',
};

const headers = (path: string): Record<string, string> => ({
  "Strict-Transport-Security": "max-age=1",
  "Content-Security-Policy": "default-src 'self'",
  "X-Path": `<${path}>`,
  "Vary": "X-Theme",
  ...OF_REPRESENTATION,
});

/** Requires the fields of a response without a representation: the general ones, and none about a representation. */
function checkGeneral({ status, headers }: Answer, path: string, name: string): void {
  assert.equal(headers["strict-transport-security"], "max-age=1", name);
  assert.equal(headers["content-security-policy"], "default-src 'self'", name);
  assert.equal(headers["x-path"], `<${path}>`, name);
  assert.match(String(headers.vary), /X-Theme/, name);
  for (const [field, value] of Object.entries(OF_REPRESENTATION)) {
    if (status === 301 && field === "Cache-Control") continue; // a redirect has a lifetime
    assert.notEqual(headers[field.toLowerCase()], value, `${field}: ${name}`);
  }
}

type Question = readonly [
  status: number,
  path: string,
  method: string,
  target: string,
  fields?: Record<string, string>,
];

const questions: readonly Question[] = [
  [301, "docs/index.html", "GET", "/docs?a=1"],
  [301, "docs/index.html", "HEAD", "/docs"],
  [405, "app.js", "POST", "/app.js"],
  [405, "docs/index.html", "DELETE", "/docs"],
  [204, "app.js", "OPTIONS", "/app.js"],
  [204, "docs/index.html", "OPTIONS", "/docs"],
  [406, "app.js", "GET", "/app.js", { "accept-encoding": "*;q=0" }],
  [412, "app.js", "GET", "/app.js", { "if-match": '"other"' }],
  [416, "app.js", "GET", "/app.js", { range: "bytes=999999-" }],
  [400, "", "GET", "/%zz"],
  [404, "", "GET", "/nothing"],
  [404, "", "POST", "/nothing"],
];

for (const entry of entries) {
  test(`${entry}: fields of headers() that are about no representation go with every answer`, () =>
    askingSite(entry, files, { headers }, async ({ ask }) => {
      for (const [status, path, method, target, fields] of questions) {
        const answer = await ask(method, target, fields);
        const name = `${method} ${target} ${JSON.stringify(fields)}`;
        assert.equal(answer.status, status, name);
        checkGeneral(answer, path, `${status}: ${name}`);
      }
      const both = await ask("GET", "/app.js", { "accept-encoding": "*;q=0" });
      assert.equal(both.headers.vary, "X-Theme, Accept-Encoding");
      const full = await ask("GET", "/app.js");
      for (const name of ["x-path", "content-language", "expires"]) assert.ok(name in full.headers, name);
    }));

  test(`${entry}: what an answer says itself, no field of headers() replaces`, () =>
    askingSite(entry, files, { headers: () => ({ location: "/own", allow: "POST" }) }, async ({ ask }) => {
      assert.equal((await ask("GET", "/docs")).headers.location, "./docs/");
      assert.equal((await ask("POST", "/app.js")).headers.allow, "GET, HEAD, OPTIONS");
      assert.equal((await ask("OPTIONS", "/app.js")).headers.allow, "GET, HEAD, OPTIONS");
    }));

  test(`${entry}: a redirect has the lifetime of the file that it leads to, and a base path may be encoded`, async () => {
    for (
      const [options, lifetime] of [[{}, "no-cache"], [
        { headers: () => ({ "cache-control": "max-age=9" }) },
        "max-age=9",
      ]] as const
    ) {
      await askingSite(entry, files, { ...options, basePath: "/my%20docs/" }, async ({ ask }) => {
        const { status, headers } = await ask("GET", "/my%20docs/docs");
        assert.deepEqual([status, headers.location, headers["cache-control"]], [301, "./docs/", lifetime]);
        assert.equal((await ask("GET", "/my%20docs/app.js")).status, 200);
      });
    }
  });

  test(`${entry}: a file that is being replaced, and a handler that is closed, are told with fields of headers()`, () => {
    const options = { headers, memoryLimit: 0, onWarning: () => {} };
    return askingSite(entry, files, options, async ({ ask, handler, folder }) => {
      await rm(join(folder, "app.js.gz"));
      await rm(join(folder, "app.js"));
      const changed = await ask("GET", "/app.js");
      assert.equal(changed.status, 503);
      assert.equal(changed.headers["retry-after"], "1");
      checkGeneral(changed, "app.js", "changed");
      assert.equal(changed.headers["cache-control"], "no-store");
      await handler.close();
      const closed = await ask("GET", "/app.js");
      assert.equal(closed.status, 503);
      checkGeneral(closed, "", "closed");
    });
  });

  test(`${entry}: headers() is called once for each file and once for the folder at each scan, never for a request`, () => {
    const asked: string[] = [];
    const headers = (path: string): undefined => void asked.push(path);
    return askingSite(entry, files, { headers }, async ({ ask, handler }) => {
      const expected = ["", "app.js", "docs/index.html", "index.html"];
      assert.deepEqual(asked.toSorted(), expected);
      for (const [, , method, target, fields] of questions) await ask(method, target, fields);
      await ask("GET", "/app.js");
      assert.deepEqual(asked.toSorted(), expected);
      await handler.reload();
      assert.deepEqual(asked.toSorted(), [...expected, ...expected].sort());
    });
  });

  test(`${entry}: an empty value of headers() leaves the field out of every answer`, () =>
    askingSite(entry, files, { headers: () => ({ "x-own": "", "strict-transport-security": "" }) }, async ({ ask }) => {
      for (const [, , method, target, fields] of questions) {
        const { headers } = await ask(method, target, fields);
        assert.ok(!("x-own" in headers) && !("strict-transport-security" in headers), target);
      }
    }));
}

test("what headers() gives for the folder that is no field is told before anything is served", async () => {
  const headers = (path: string) => path === "" ? { "x own": "1" } : undefined;
  const wrong = askingSite("fetch", files, { headers }, () => Promise.resolve());
  await assert.rejects(wrong, /^TypeError: headers\(\) gives what cannot be sent for the folder \(path ""\): /);
});

test("the page of a 404 has the fields that headers() gives for it", () => {
  const all = { ...files, "404.html": "<p>nothing</p>" };
  return askingSite("node", all, { headers }, async ({ ask }) => {
    const page = await ask("GET", "/nothing");
    assert.deepEqual([page.status, page.headers["x-path"]], [404, "<404.html>"]);
    assert.equal(page.headers["strict-transport-security"], "max-age=1");
  });
});

test("OPTIONS * has the fields that headers() gives for the folder", {
  skip: runtime === "bun" && "its node:http answers 400 before any handler",
}, () =>
  askingSite("node", files, { headers }, async ({ port }) => {
    const answer = await exchange(port, requestBytes("OPTIONS", "*"), "OPTIONS");
    assert.equal(answer?.status, 204);
    assert.equal(answer.fields.get("x-path"), "<>");
  }));
