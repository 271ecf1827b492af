import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { createSecureServer } from "node:http2";
import { type AddressInfo, connect, createServer as createRelay, type Server } from "node:net";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import type { Page } from "playwright-core";
import { type RunningServer, serve } from "../../lib/runtime/mod.ts";
import { createUploadHandler, type UploadHandler } from "../../lib/upload/mod.ts";
import { until } from "../support/waits.ts";
import { canMakeCertificates, makeCertificate } from "../support/certificate.ts";
import { content } from "../upload/faults/good_uploads.ts";
import { sha256 } from "../upload/faults/upload_messages.ts";
import { type Browser, noChromium, openBrowser } from "./chromium.ts";
import { postForm, putStream, uploadPage } from "./upload_page.ts";

const skip = noChromium;
const LIMIT = 60_000_000;

let folder = "";
let files = "";
let handler: UploadHandler;
/** The runtime's own server. */
let server: RunningServer;
let browser: Browser;
const log: { path: string; status: number }[] = [];

before(async () => {
  if (skip) return;
  folder = await mkdtemp(join(tmpdir(), "millrace-browser-"));
  files = join(folder, "files");
  handler = createUploadHandler({
    directory: files,
    basePath: "/files/",
    maxBytes: LIMIT,
    log: ({ path, status }) => {
      if (path.startsWith("/files/")) log.push({ path, status }); // a browser asks for /favicon.ico too, sometime
    },
  });
  const page = { headers: { "content-type": "text/html" } };
  server = await serve({
    fetch: (request) => new URL(request.url).pathname === "/" ? new Response(uploadPage, page) : handler.fetch(request),
    node: (request, response) => {
      if (request.url === "/") response.writeHead(200, page.headers).end(uploadPage);
      else handler.node(request, response);
    },
    hostname: "127.0.0.1",
    port: 0,
  });
  browser = await openBrowser(join(folder, "profile"));
});

after(async () => {
  await browser?.close();
  await server?.stop(0);
  if (folder) await rm(folder, { recursive: true, force: true });
});

/** Opens the page in a tab, and closes that afterwards. */
async function onPage(url: string, use: (page: Page) => Promise<void>): Promise<void> {
  const page = await browser.page.context().newPage();
  try {
    page.setDefaultTimeout(60_000);
    const session = await page.context().newCDPSession(page);
    await session.send("Security.setIgnoreCertificateErrors", { ignore: true }); // ours is self-made
    await page.goto(url);
    await use(page);
  } finally {
    await page.close();
  }
}

async function stored(name: string): Promise<string> {
  return sha256(await readFile(join(files, name)));
}

test("a page's fetch() of a form with a file of 50 MB arrives", { skip }, () =>
  onPage(server.url, async (page) => {
    const { status, body, sent } = await page.evaluate(postForm, 50_000_000);
    assert.equal(status, 201);
    assert.equal(body.files.length, 1);
    assert.equal(body.files[0].bytes, 50_000_000);
    assert.equal(body.files[0].filename, "large file.bin");
    assert.equal(await stored(body.files[0].name), sent);
  }));

test("a plain form arrives with its fields and files, whatever their names", { skip }, async () => {
  const papers: Record<string, Buffer> = {
    "small.txt": content.subarray(0, 1000),
    'a "quoted"; name.pdf': content.subarray(0, 70_000),
    "m\u00fchle \u{1F33E}.png": content,
    "empty": content.subarray(0, 0),
  };
  const source = join(folder, "papers");
  await mkdir(source);
  for (const [name, bytes] of Object.entries(papers)) await writeFile(join(source, name), bytes);
  await onPage(server.url, async (page) => {
    await page.fill("[name=title]", 'The "mill" \u{1F33E}');
    await page.fill("[name=note]", "two\nlines");
    await page.setInputFiles("[name=papers]", Object.keys(papers).map((name) => join(source, name)));
    const [answer] = await Promise.all([page.waitForResponse(/files/), page.click("button")]);
    assert.equal(answer.status(), 201);
    const told = JSON.parse(await page.innerText("body"));
    assert.deepEqual(told.fields, { title: 'The "mill" \u{1F33E}', note: "two\r\nlines" });
    const named = told.files.filter(({ field }: { field: string }) => field === "papers");
    assert.equal(told.files.length, named.length, "an input without a file brought one");
    assert.deepEqual(named.map(({ filename }: { filename: string }) => filename), Object.keys(papers));
    for (const { name, filename } of named) assert.equal(await stored(name), sha256(papers[filename]), filename);
  });
});

/** The bytes of an upload that get to the server before its page is closed. */
const HALF = 5_000_000;

/** Returns a relay that keeps the rest of an upload to itself, so that none can be over before the page is closed. */
async function withholding(port: number): Promise<Server> {
  const relay = createRelay((socket) => {
    const onward = connect(port, "127.0.0.1");
    let sent = 0;
    socket.on("data", (bytes) => {
      if (sent < HALF) onward.write(bytes);
      sent += bytes.length;
    });
    onward.pipe(socket);
    for (const side of [socket, onward]) {
      side.on("error", () => {}); // it closes then
      side.on("close", () => (side === socket ? onward : socket).destroy());
    }
  });
  relay.listen(0, "127.0.0.1");
  await once(relay, "listening");
  return relay;
}

test("of a page that is closed half-way nothing is left", { skip }, async () => {
  const before = (await readdir(files)).sort();
  log.length = 0;
  const relay = await withholding(Number(new URL(server.url).port));
  try {
    await onPage(`http://127.0.0.1:${(relay.address() as AddressInfo).port}/`, async (page) => {
      page.evaluate(postForm, 4 * HALF).catch(() => {}); // its end is not awaited
      await until(async () => (await readdir(files)).length > before.length, "the upload's beginning");
    });
    await until(() => log.length > 0, "the upload's end");
    assert.deepEqual(log, [{ path: "/files/", status: 499 }]);
    assert.deepEqual((await readdir(files)).sort(), before);
  } finally {
    relay.close();
  }
});

test("a page that sends too much sees the 413", { skip }, () =>
  onPage(server.url, async (page) => {
    const before = (await readdir(files)).sort();
    const { status, body } = await page.evaluate(postForm, LIMIT);
    assert.equal(status, 413, JSON.stringify(body));
    assert.deepEqual((await readdir(files)).sort(), before);
  }));

test("a page's fetch() of a stream arrives over HTTP/2, and what is too much gets the 413", {
  skip: skip || !canMakeCertificates && "needs openssl",
}, async () => {
  const { cert, key } = makeCertificate(folder);
  const secure = createSecureServer({ cert, key, allowHTTP1: true }, (request, response) => {
    if (request.url === "/") response.writeHead(200, { "content-type": "text/html" }).end(uploadPage);
    else handler.node(request as never, response as never);
  });
  secure.listen(0, "127.0.0.1");
  await once(secure, "listening");
  try {
    await onPage(`https://127.0.0.1:${(secure.address() as AddressInfo).port}/`, async (page) => {
      const { status, body, sent } = await page.evaluate(putStream, 80);
      assert.equal(status, 201);
      assert.equal(body.files[0].bytes, 80 * 65_536);
      assert.equal(await stored("streamed.bin"), sent);
      assert.equal((await page.evaluate(postForm, LIMIT)).status, 413);
    });
  } finally {
    secure.close();
  }
});

test("a page of another site sends a form in vain, unless it may", { skip }, async () => {
  // To browsers, localhost and 127.0.0.1 are two sites.
  const other = createServer((_, response) => {
    const form = `<form action="${server.url}files/" method="post" enctype="multipart/form-data">`;
    response.writeHead(200, { "content-type": "text/html" });
    response.end(`${form}<input name="title" value="from elsewhere"><button>Send</button></form>`);
  });
  other.listen(0, "localhost");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  try {
    await onPage(`http://localhost:${port}/`, async (page) => {
      const [answer] = await Promise.all([page.waitForResponse(/files/), page.click("button")]);
      assert.equal(answer.status(), 403);
      assert.equal(JSON.parse(await page.innerText("body")).code, "CROSS_SITE");
    });
    handler = createUploadHandler({
      directory: files,
      basePath: "/files/",
      allowCrossSite: [`http://localhost:${port}`],
    });
    await onPage(`http://localhost:${port}/`, async (page) => {
      const [answer] = await Promise.all([page.waitForResponse(/files/), page.click("button")]);
      assert.equal(answer.status(), 200);
      assert.equal(JSON.parse(await page.innerText("body")).fields.title, "from elsewhere");
    });
  } finally {
    other.close();
  }
});
