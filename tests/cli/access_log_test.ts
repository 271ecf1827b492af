import assert from "node:assert/strict";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { AccessLog } from "../../lib/cli/access_log.ts";
import { asks } from "../support/asked.ts";
import { runtime } from "../support/runtime.ts";
import { inFolder, writeTree } from "../support/folders.ts";
import { Connection } from "../support/connection.ts";
import { Serving } from "./serving.ts";

const script = "console.log('the mill turns');\n".repeat(1000);
const site = { "index.html": "<p>home</p>", "app.js": script, "app.js.gz": gzipSync(script) };

/** Returns the lines of requests, without the time of day and the duration. */
function linesIn(stdout: string): string[] {
  return stdout.split("\n").slice(1, -1).map((line) => {
    const [, rest] = /^\d\d:\d\d:\d\d (.*) (?:\d+\.\d|\d\d+) ms$/.exec(line) ?? [];
    return rest ?? `not a line: ${JSON.stringify(line)}`;
  });
}

test("millrace serve prints a line for each request: method, path, status, coding and bytes, duration", () =>
  inFolder(async (folder) => {
    await writeTree(folder, site);
    await Serving.during([folder], async (serving) => {
      const ask = asks(serving.url);
      const { headers } = await ask("GET", "/");
      await ask("GET", "/app.js?v=1", { "accept-encoding": "gzip" });
      await ask("GET", "/app.js", { range: "bytes=0-9" });
      await ask("HEAD", "/app.js");
      await ask("GET", "/", { "if-none-match": String(headers.etag) });
      await ask("GET", "/missing");
      await ask("POST", "/app.js", { "content-length": "0" });
      await serving.until(() => linesIn(serving.stdout).length === 7);
      assert.deepEqual(linesIn(serving.stdout), [
        "GET / 200 11 B",
        `GET /app.js?v=1 200 gzip ${gzipSync(script).length} B`,
        "GET /app.js 206 10 B",
        "HEAD /app.js 200",
        "GET / 304",
        "GET /missing 404 10 B",
        "POST /app.js 405 19 B",
      ]);
    });
  }));

test("lines that were gathered are printed before it ends", () =>
  inFolder(async (folder) => {
    await writeTree(folder, site);
    await Serving.during([folder], async (serving) => {
      await asks(serving.url)("GET", "/");
      serving.signal("SIGTERM");
      assert.equal(await serving.ended, 0, serving.stderr);
      const [, request, stopping] = serving.stdout.split("\n");
      assert.match(request, / GET \/ 200 11 B /);
      assert.match(stopping, /^stopping by SIGTERM/);
    });
  }));

test("no request forges a line or tells a terminal anything", () =>
  inFolder(async (folder) => {
    await writeTree(folder, site);
    await Serving.during([folder], async (serving) => {
      const targets = [
        "/%0a12:00:00%20GET%20/forged%20200",
        "/%1b[2J%1b]0;title%07",
        "/\x9b31m",
        "/\xc2\x9b31m",
        "/\xe2\x80\xae",
        "/\x1b[31m",
        `/${"a".repeat(5000)}`,
        "/last",
      ];
      for (const target of targets) {
        const request = Buffer.from(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`, "latin1");
        const connection = await Connection.open(serving.port, request.toString("latin1"));
        await connection.until(({ isClosed }) => isClosed);
      }
      await serving.until(() => serving.stdout.includes("GET /last 404"));
      assert.match(serving.stdout, /^[\n -~]*$/);
      const lines = linesIn(serving.stdout);
      assert.ok(lines.length <= targets.length, lines.join("\n"));
      for (const line of lines) assert.match(line, /^GET \/[!-~]{0,310} 4\d\d(?: \S+ \S+)?$/);
      assert.ok(lines.includes("GET /%0a12:00:00%20GET%20/forged%20200 404 10 B"), lines.join("\n"));
    });
  }));

/** An output that takes lines, or keeps them waiting. */
class Output {
  writableLength = 0;
  written = "";

  write(text: string): void {
    this.written += text;
  }
}

const slow = { fetch: (): Response => new Response(null, { status: 204 }), node: (): void => {} };

test("AccessLog writes lines together, and leaves them out where the output takes nothing", async () => {
  const output = new Output();
  const log = new AccessLog(output);
  const { fetch } = log.of(slow);
  const ask = (path: string) => fetch(new Request(`http://localhost${path}`));
  for (let i = 0; i < 3; i++) ask(`/${i}`);
  assert.equal(output.written, "");
  log.flush();
  assert.match(output.written, /^\S+ GET \/0 204 \S+ ms\n\S+ GET \/1 204 \S+ ms\n\S+ GET \/2 204 \S+ ms\n$/);
  output.written = "";
  output.writableLength = 2 << 20;
  for (let i = 0; i < 5; i++) await ask(`/${i}`);
  log.flush();
  assert.equal(output.written, "");
  output.writableLength = 0;
  await ask("/again");
  log.tell("serving");
  assert.match(output.written, /^5 requests are left out\n\S+ GET \/again 204 \S+ ms\nserving\n$/);
});

test("AccessLog answers at once what its handler answers at once, and fails as that fails", async () => {
  const log = new AccessLog(new Output());
  const request = new Request("https://localhost/");
  assert.ok(log.of(slow).fetch(request) instanceof Response);
  const later = log.of({ ...slow, fetch: () => Promise.resolve(new Response("later")) });
  assert.equal(await (await later.fetch(request)).text(), "later");
  const failing = log.of({ ...slow, fetch: () => Promise.reject(new Error("no answer")) });
  await assert.rejects(async () => await failing.fetch(request), /no answer/);
});

test("a response that is cut is said to be", {
  skip: runtime !== "node" && "Bun's and Deno's servers do not tell what becomes of a response",
}, () =>
  inFolder(async (folder) => {
    await writeTree(folder, { "large.bin": new Uint8Array(32 << 20) });
    await Serving.during([folder], async (serving) => {
      const download = await Connection.open(serving.port, "GET /large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n");
      await download.until(({ size }) => size > 1000);
      download.socket.destroy();
      await serving.until(() => / GET \/large\.bin 200 33\.6 MB \S+ ms cut\n/.test(serving.stdout));
    });
  }));
