import assert from "node:assert/strict";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { createStaticHandler, type StaticHandlerOptions } from "../../lib/static/mod.ts";
import { inFolder } from "../support/folders.ts";
import { askingSite } from "./asked_site.ts";
import { entries } from "./served_handler.ts";

/** Names that every object has a property of, if it was not made without. */
const names = ["constructor", "__proto__", "toString", "hasOwnProperty", "valueOf"];

/** Returns an object whose own properties have these names. */
function withNames(value: string): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, value]));
}

const script = "run()\n".repeat(100);
const files = Object.fromEntries(names.flatMap((name): [string, string | Uint8Array][] => [
  [name, `file ${name}`],
  [`of.${name}`, `extension ${name}`],
  [`${name}.js`, script],
  [`${name}.js.gz`, gzipSync(script)],
  [`in/${name}/index.html`, `folder ${name}`],
  [`pages/${name}.html`, `page ${name}`],
]));

for (const entry of entries) {
  test(`${entry}: files may have the names of what objects inherit`, () =>
    askingSite(entry, files, { cleanUrls: true, fallback: (path) => `in/${path}` }, async ({ ask }) => {
      for (const name of names) {
        const answers: [path: string, body: string][] = [
          [`/${name}`, `file ${name}`],
          [`/of.${name}`, `extension ${name}`],
          [`/${name}.js`, script],
          [`/in/${name}/`, `folder ${name}`],
          [`/pages/${name}`, `page ${name}`],
        ];
        for (const [path, body] of answers) {
          const answer = await ask("GET", path);
          assert.deepEqual([answer.status, answer.body.toString()], [200, body], path);
        }
        assert.equal((await ask("GET", `/of.${name}`)).headers["content-type"], "application/octet-stream");
        const coded = await ask("GET", `/${name}.js`, { "accept-encoding": "gzip" });
        assert.equal(coded.headers["content-encoding"], "gzip");
        assert.equal((await ask("GET", `/in/${name}`)).headers.location, `./${name}/`);
        assert.equal((await ask("GET", `/pages/${name}.html`)).headers.location, `./${name}`);
        for (const path of [`/none/${name}`, `/none/of.${name}`]) assert.equal((await ask("GET", path)).status, 404);
      }
    }));

  test(`${entry}: header fields may have the names of what objects inherit`, () =>
    askingSite(entry, { "app.js": script, "large.js": script.repeat(1000) }, {
      headers: (path) => withNames(path || "folder"),
    }, async ({ port }) => {
      const { exchange, requestBytes } = await import("../support/raw_exchange.ts");
      for (
        const [method, path, of] of [
          ["GET", "/app.js", "app.js"],
          ["HEAD", "/app.js", "app.js"],
          ["GET", "/large.js", "large.js"],
          ["POST", "/app.js", "app.js"],
          ["GET", "/none", "folder"],
        ]
      ) {
        const answer = await exchange(port, requestBytes(method, path), method);
        for (const name of names) {
          assert.equal(answer?.fields.get(name.toLowerCase()), of, `${name}: ${method} ${path}`);
        }
      }
    }));

  test(`${entry}: codings and ranges with the names of what objects inherit are unknown ones`, () =>
    askingSite(entry, files, {}, async ({ ask }) => {
      for (const name of names) {
        const { status, headers } = await ask("GET", "/constructor.js", {
          "accept-encoding": `${name}, ${name};q=0.5`,
        });
        assert.deepEqual([status, headers["content-encoding"]], [200, undefined]);
        assert.equal((await ask("GET", "/constructor.js", { range: `${name}=0-1` })).status, 200);
        const given = { "if-none-match": name, "if-modified-since": name, "available-dictionary": name };
        assert.equal((await ask("GET", "/constructor.js", given)).status, 200);
      }
    }));
}

test("options with the names of what objects inherit are refused", () =>
  inFolder(async (folder) => {
    for (const name of names) {
      const options = JSON.parse(`{ "${name}": 1 }`) as StaticHandlerOptions;
      await assert.rejects(createStaticHandler(folder, options), {
        name: "TypeError",
        message: new RegExp(`^createStaticHandler\\(\\): unknown option "${name}"`),
      });
      const precompressed = [name] as unknown as StaticHandlerOptions["precompressed"];
      await assert.rejects(createStaticHandler(folder, { precompressed }), /^TypeError: precompressed\[0\] must be/);
    }
  }));
