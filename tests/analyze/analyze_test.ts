import assert from "node:assert/strict";
import type { RequestListener } from "node:http";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { precompress } from "../../lib/precompress/mod.ts";
import { mainHere } from "../cli/main_here.ts";
import { serveOnHttp } from "../static/served_handler.ts";
import { concatenated, sourceText } from "../support/bytes.ts";
import { inFolder, writeTree } from "../support/folders.ts";
import { analyzed, findingsOf, writeSite } from "./analyzed_site.ts";

async function withServer(listener: RequestListener, use: (origin: string) => Promise<void>): Promise<void> {
  const { port, close } = await serveOnHttp(listener);
  try {
    await use(`http://127.0.0.1:${port}`);
  } finally {
    await close();
  }
}

/** Answers each path with a status, fields and a body. */
function answering(
  answers: Readonly<Record<string, readonly [number, Record<string, string>, (string | Uint8Array)?]>>,
) {
  return ((request, response) => {
    const [status, fields, body = ""] = answers[request.url!] ?? [404, {}];
    response.writeHead(status, fields).end(body);
  }) as RequestListener;
}

test("analyze() judges each response by its fields, and follows what pages and style sheets refer to", () => {
  const text = new TextDecoder().decode(sourceText(3000, 1));
  const gzip = { "content-encoding": "gzip", etag: '"a"' };
  const page = ["a.css", "old.js?v=1"].map((name) => `<script src="${name}"></script>`).join("");
  const listener = answering({
    "/": [302, { location: "/home/" }],
    "/home/": [
      200,
      { "content-type": "text/html", "cache-control": "no-store" },
      `<base href="/x/"><link rel=stylesheet href=a.css>${
        ["forever", "good", "noisy", "members", "empty", "ended", "bomb", "odd", "gone", "away"].map((name) =>
          `<script src=${name}.js></script>`
        )
          .join("")
      }<img src="data:image/gif;base64,AAAA"><a href=never.html></a>${page.replaceAll("a.css", "forever.js?v=2")}`,
    ],
    "/x/a.css": [200, { "content-type": "text/css" }, '@import "b.css"; @import "b.css"; @import "a.css"'],
    "/x/b.css": [200, { "content-type": "text/css", etag: '"b"', "cache-control": "no-cache" }, "p { margin: 0 }"],
    "/x/forever.js": [200, { "cache-control": 'Public, Max-Age="31536000"' }, "1"],
    "/x/forever.js?v=2": [200, { "cache-control": "max-age=31536000" }, "1"],
    "/x/good.js": [200, { ...gzip, "cache-control": "max-age=86400" }, gzipSync("1")],
    "/x/noisy.js": [200, gzip, "this is no gzip"],
    "/x/members.js": [200, { ...gzip, "cache-control": "no-cache" }, concatenated([gzipSync("1;"), gzipSync("2")])],
    "/x/empty.js": [200, { ...gzip, "cache-control": "no-cache" }, concatenated([gzipSync(""), gzipSync("2")])],
    "/x/ended.js": [200, { ...gzip, "cache-control": "no-cache" }, concatenated([gzipSync("1;"), gzipSync("")])],
    "/x/bomb.js": [200, { ...gzip, "content-encoding": "gzip, gzip" }, gzipSync(gzipSync(new Uint8Array(70 << 20)))],
    "/x/odd.js": [200, { "content-encoding": "rot13" }, text],
    "/x/away.js": [302, { location: "http://localhost:9/away.js" }],
    "/x/old.js?v=1": [200, { expires: new Date(Date.now() + 864e6).toUTCString() }, "1"],
  });
  return withServer(listener, async (origin) => {
    const analysis = await analyzed(`${origin}/#top`);
    assert.deepEqual(findingsOf(analysis), {
      "a.css": "uncacheable",
      "b.css": "never-304",
      "bomb.js": "broken",
      "empty.js": "broken",
      "ended.js": "never-304",
      "forever.js": "kept-too-long",
      "forever.js?v=2": "",
      "gone.js": "broken",
      "good.js": "kept-too-long",
      "index.html": "uncacheable",
      "members.js": "broken",
      "noisy.js": "broken",
      "odd.js": "broken",
      "old.js?v=1": "",
    });
    assert.equal(analysis.files[0].url, `${origin}/home/`);
    assert.deepEqual([analysis.limits, analysis.elsewhere], [[], 1]); // away.js leads to another origin
    const members = analysis.files.find(({ url }) => url.endsWith("members.js"))!;
    assert.equal(members.findings[0]!.message, "its body has several gzip members, of which browsers decode the first");
    const bomb = analysis.files.find(({ url }) => url.endsWith("bomb.js"))!;
    assert.match(bomb.findings[0]!.message, /B that unfold to more than 67\.1 MB/);
  });
});

test("analyze() loads what a browser loads: by types, encodings and origins, and each file once", () => {
  const html = { "content-type": "text/html" };
  const etag = { etag: '"a"' };
  const latin1 = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0));
  const utf16 = (text: string): Uint8Array => latin1(`\xff\xfe${text.replace(/./g, "$&\0")}`);
  const asked: string[] = [];
  const answers: Parameters<typeof answering>[0] = {
    "/latin1": [200, { "content-type": 'text/html; charset="ISO-8859-1"' }, latin1("<img src=caf\xe9.png>")],
    "/meta": [200, html, latin1("<meta charset=windows-1252><img src=caf\xe9.png>")],
    "/utf16": [200, html, utf16("<img src=a.png>")],
    "/xml": [200, { "content-type": "application/xhtml+xml" }, "<img src='a.png' />"],
    "/untyped": [200, {}, "<img src=a.png>"],
    "/json": [200, { "content-type": "application/json" }, '"<img src=a.png>"'],
    "/text": [200, { "content-type": "text/plain" }, "<img src=a.png>"],
    "/a.png": [200, etag],
    "/caf%C3%A9.png": [200, etag],
    "/app": [200, html, "<script src=gone.js></script><link rel=stylesheet href=gone.css><img src=gone.js>"],
    "/gone.js": [200, html, "<img src=a.png>"],
    "/gone.css": [200, html, "<img src=a.png>"],
    "/twice": [200, html, "<img src=one.png><img src=two.png><img src=loop.png>"],
    "/one.png": [301, { location: "a.png" }],
    "/two.png": [308, { location: "/a.png#x" }],
    "/loop.png": [302, { location: "loop.png" }],
    "/linked": [
      200,
      { ...html, link: '<a.png>; rel=preload; as=image, <http://localhost:9/b.js>; rel="modulepreload"' },
      "<base href=/none/><script type=module>import './m.js'</script><style>p{background:image-set('n.png' 1x)}</style>",
    ],
    "/none/m.js": [200, { ...etag, "content-type": "text/javascript" }, 'import "../o.js"; import("./p.js")'],
    "/none/n.png": [200, etag],
    "/none/p.js": [200, { ...etag, "content-type": "text/html" }, 'import "./q.js"'],
    "/o.js": [200, etag, 'import"./none/m.js"; import "./a.png"'],
    "/out": [302, { location: "http://localhost:9/" }],
    "/file": [302, { location: "file:///etc/passwd" }],
  };
  const listener: RequestListener = (request, response) => {
    asked.push(request.url!);
    answering(answers)(request, response);
  };
  return withServer(listener, async (origin) => {
    const found = async (path: string): Promise<string[]> => {
      const { files } = await analyzed(origin + path);
      return files.slice(1).map(({ url }) => url.slice(origin.length));
    };
    for (const path of ["/latin1", "/meta"]) assert.deepEqual(await found(path), ["/caf%C3%A9.png"], path);
    for (const path of ["/utf16", "/xml", "/untyped"]) assert.deepEqual(await found(path), ["/a.png"], path);
    for (const path of ["/json", "/text"]) assert.deepEqual(await found(path), [], path);
    const app = findingsOf(await analyzed(`${origin}/app`));
    assert.deepEqual([app["gone.js"], app["gone.css"]], ["broken", "broken"]);
    const linked = await found("/linked");
    assert.deepEqual(linked.sort(), ["/a.png", "/none/m.js", "/none/n.png", "/none/p.js", "/o.js"]);
    asked.length = 0;
    const { files, limits } = await analyzed(`${origin}/twice`);
    assert.deepEqual([files.length, limits.length, asked.filter((url) => url === "/loop.png").length], [2, 1, 21]);
    assert.match(limits[0]!, /loop\.png redirects more than 20 times/);
    await assert.rejects(
      analyzed(`${origin}/file`),
      /file redirects to "file:\/\/\/etc\/passwd", where nothing can be/,
    );
    await assert.rejects(analyzed(`${origin}/out`), /localhost/); // a page's redirects are followed anywhere
  });
});

test("analyze() stops at its limits and tells so, and at once by its signal", () => {
  const stalled = new Set<unknown>();
  const scripts = Array.from({ length: 12 }, (_, i) => `<script src=${i}.js></script>`).join("");
  const listener: RequestListener = (request, response) => {
    if (request.url === "/") response.end(Array.from({ length: 20 }, (_, i) => `<img src=${i}.png>`).join(""));
    else if (request.url === "/one") response.end(`<script src=stall></script>${"x".repeat(999)}${scripts}`);
    else if (request.url === "/stall") stalled.add(response.writeHead(200).write("a"));
    else response.end(new Uint8Array(1000));
  };
  return withServer(listener, async (origin) => {
    const few = await analyzed(origin, { maxFiles: 5 });
    assert.deepEqual([few.files.length, few.limits], [5, ["more than 5 files"]]);
    const light = await analyzed(origin, { maxBytes: 5000 });
    assert.ok(light.files.length > 1 && light.files.length < 21 && light.limits.length > 0, light.limits.join());
    await assert.rejects(
      analyzed(`${origin}/`, { maxBytes: 100 }),
      /\/ has more than 100 bytes, which is all that may/,
    );
    await assert.rejects(analyzed(`${origin}/stall`, { timeout: 100 }), /stall was not answered within 0\.1 s/);
    const one = await analyzed(`${origin}/one`, { timeout: 1500 }); // one that never ends keeps none from being judged
    assert.deepEqual([one.files.length, one.limits], [13, ["more than 1.5 s"]]);
    const reason = new Error("enough");
    const stop = new AbortController();
    const stopped = assert.rejects(analyzed(`${origin}/stall`, { signal: stop.signal }), (error) => error === reason);
    setTimeout(() => stop.abort(reason), 50);
    await stopped;
  });
});

test("analyze() finds the files of a folder that was built for a path below its origin", () =>
  inFolder(async (folder) => {
    const at = (base: string, tag = ""): string =>
      // the last is missing, wherever the others are
      `${tag}<script src="${base}a b/é.js?x"></script><link rel=stylesheet href="${base}c.css"><img src="/other/c.css">`;
    const brokenOf = async (tree: Readonly<Record<string, string>>): Promise<string> => {
      await writeTree(folder, tree);
      const { files } = await analyzed(folder);
      return files.filter(({ status }) => status >= 400).map(({ url }) => url).sort().join(" ");
    };
    const files = { "a b/é.js": "1", "c.css": "p{}" };
    for (
      const [page, broken] of [
        [at("/docs/"), "other/c.css"],
        [at("", "<base href=/my%20docs/v2/>"), "other/c.css"],
        [at("/"), "other/c.css"],
        ["<script src=/docs/none.js></script><script src=/%ff/c.css></script>", "%ff/c.css docs/none.js"],
        [`<script src="/${"a/".repeat(200_000)}"></script>`, "a/".repeat(200_000)], // it took seconds
      ]
    ) assert.equal(await brokenOf({ ...files, "index.html": page }), broken, page.slice(0, 99));
    // Relative to where they stand, they show no such path.
    const page = "<link rel=stylesheet href=c.css>";
    const pages = { "1/index.html": page, "2/index.html": `<base href=x/>${page}`, "index.html": at("/docs/") };
    assert.equal(await brokenOf(pages), "1/c.css 2/x/c.css other/c.css");
  }));

test("analyze() ends by its signal in the middle of a large file", () =>
  inFolder(async (folder) => {
    await writeTree(folder, { "large.js": sourceText(600_000, 3), "other.js": sourceText(400_000, 4) });
    for (const ends of ["signal", "timeout"]) {
      const stop = new AbortController();
      const judged: number[] = [];
      const onProgress = (step: string, done: number): void => {
        if (step === "judged") judged.push(done);
        else if (done === 2) setTimeout(() => stop.abort(new Error("enough")));
      };
      const options = ends === "signal" ? { signal: stop.signal, onProgress } : { timeout: 1, onProgress };
      await assert.rejects(analyzed(folder, options), ends === "signal" ? /^Error: enough$/ : /within 0\.001 s/);
      assert.deepEqual(judged, [], ends); // it took seconds
    }
  }));

test("millrace analyze DIR exits with 1 where there are findings, 0 once it is precompressed, 2 where there is nothing", () =>
  inFolder(async (folder) => {
    const site = join(folder, "site");
    await writeSite(site);
    const { status, stdout } = await mainHere(["analyze", site]);
    assert.equal(status, 1);
    assert.match(stdout, /^assets\/app-9d8b7a6f\.js\n {2}uncompressed: 30\.0 kB, and [\d.]+ kB once precompressed\n/);
    assert.match(stdout, /site: 4 files, [\d.]+ kB sent; precompress would save [\d.]+ kB of them\n3 findings; 1 ref/);
    await precompress(site, { jobs: 1, formats: ["brotli"] });
    const clean = await mainHere(["analyze", site]);
    assert.deepEqual([clean.status, clean.stderr], [0, ""]);
    assert.match(clean.stdout, /nothing found/);
    const json = JSON.parse((await mainHere(["analyze", site, "--json"])).stdout);
    assert.deepEqual([json.files.length, json.best, json.limits], [4, json.sent, []]);
    await writeTree(site, { "\u001b[31m.html": "<p>x</p>".repeat(1000), "a%2Fb.css": "p { }" });
    const odd = await mainHere(["analyze", site]);
    assert.ok(!odd.stdout.includes("\u001b") && odd.stdout.includes("\\u001b[31m.html"), odd.stdout);
    await mkdir(join(folder, "empty"));
    const words: readonly (readonly string[])[] = [
      ["analyze"],
      ["analyze", join(folder, "none")],
      ["analyze", "http://"],
      ["analyze", site, "--origin", "ftp://a"],
      ["analyze", join(folder, "empty")],
      ["analyze", site, "--max-files", "x"],
      ["analyze", site, "--max-files", "0"],
      ["analyze", site, "--max-bytes", "0"],
      ["analyze", site, "--timeout", "0"],
    ];
    for (const each of words) assert.equal((await mainHere(each)).status, 2, each.join(" "));
    const dead = await mainHere(["analyze", "http://127.0.0.1:9/"]);
    assert.deepEqual([dead.status, dead.stdout], [2, ""]);
    assert.equal((await mainHere(["analyze", "--help"])).status, 0);
  }));
