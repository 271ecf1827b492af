import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rename, rm, stat, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { precompress } from "../../lib/precompress/mod.ts";
import { type RunningServer, serve } from "../../lib/runtime/mod.ts";
import { createStaticHandler, type StaticHandler } from "../../lib/static/mod.ts";
import { type Browser, type Exchange, noChromium, openBrowser } from "./chromium.ts";
import { buildSite, type BuiltSite, type Bundle } from "./web_site.ts";

const skip = noChromium;
const libraries: readonly Bundle[] = ["app", "react", "three"];

let folder = "";
/** The deploys `zero` and `one` have the former versions of the libraries, `two` the present ones. */
let sites: readonly BuiltSite[] = [];
let handler: StaticHandler;
const warnings: string[] = [];
let server: RunningServer;
const browsers = new Map<string, Browser>();

before(async () => {
  if (skip) return;
  folder = await mkdtemp(join(tmpdir(), "millrace-browser-"));
  sites = [
    await buildSite(join(folder, "0"), { name: "zero", isFormer: true }),
    await buildSite(join(folder, "1"), { name: "one", isFormer: true }),
    await buildSite(join(folder, "2"), { name: "two", isFormer: false }),
  ];
  for (const [i, site] of sites.entries()) {
    // The best levels take much longer, and the deltas are no larger a part of the files.
    const levels = { brotli: 6, zstd: 9 };
    await precompress(site.folder, { formats: ["brotli", "zstd"], levels, previous: sites[i - 1]?.folder });
  }
  await deploy(0);
  handler = await createStaticHandler(join(folder, "current"), {
    previous: true,
    // Of 200 hashes one reads like a word, and the hashes depend on the path of the checkout.
    immutable: /-[A-Z2-7]{8}\.(?:js|css)$/,
    fallback: "index.html",
    onWarning: ({ path, message }) => void warnings.push(`${path}: ${message}`),
  });
  server = await serve({ fetch: handler.fetch, node: handler.node, hostname: "127.0.0.1", port: 0 });
});

after(async () => {
  await Promise.allSettled([...browsers.values()].map((browser) => browser.close()));
  await server?.stop(0);
  await handler?.close();
  if (folder) await rm(folder, { recursive: true, force: true });
});

/** Puts a deploy in the place of the former one, at once. */
async function deploy(index: number): Promise<void> {
  await symlink(sites[index].folder, join(folder, "next"));
  await rename(join(folder, "next"), join(folder, "current"));
}

/** Returns the browser of a visitor, who has the same profile each time. */
async function visitor(name: string): Promise<Browser> {
  const browser = browsers.get(name) ?? await openBrowser(join(folder, "profiles", name));
  browsers.set(name, browser);
  return browser;
}

async function leave(name: string): Promise<void> {
  await browsers.get(name)!.close();
  browsers.delete(name);
}

/** Opens the site's page, waits until everything on it works, and returns the exchanges. */
async function visit(name: string, release: string): Promise<ReadonlyMap<string, Exchange>> {
  const { page, complaints, takeExchanges } = await visitor(name);
  await takeExchanges();
  await page.goto(server.url);
  const ready = page.waitForSelector(`html[data-ready="${release}"]`);
  await ready.catch((error) => assert.fail(`${error.message}\n${complaints.join("\n")}`));
  await assertWorks(name, release);
  assert.deepEqual(complaints, []);
  // The browser keeps dictionaries, and reports what it has loaded, a little after the page has got it.
  await page.waitForLoadState("networkidle");
  return await takeExchanges();
}

async function assertWorks(name: string, release: string): Promise<void> {
  const { page } = await visitor(name);
  const versions = release === "two" ? ["19.2.0", "3.5.22", "180"] : ["19.1.0", "3.5.20", "179"];
  const [react, vue, three] = versions;
  assert.equal(await page.textContent("#release"), release);
  assert.equal(await page.textContent("#react b"), `react ${react}: 42`);
  assert.equal(await page.textContent("#vue"), `vue ${vue}: 42`);
  assert.equal(await page.textContent("#three"), `three ${three}: 42`);
  assert.equal(await page.evaluate("getComputedStyle(document.body).color"), "rgb(1, 2, 3)");
}

function bundle(exchanges: ReadonlyMap<string, Exchange>, site: BuiltSite, name: Bundle): Exchange {
  const exchange = exchanges.get(`/${site.bundles[name]}`);
  assert.ok(exchange, `${name} was asked for`);
  return exchange;
}

/** Returns the `Available-Dictionary` of a visitor who has a site's bundle. */
async function dictionaryOf(site: BuiltSite, name: Bundle): Promise<string> {
  const content = await readFile(join(site.folder, site.bundles[name]));
  return `:${createHash("sha256").update(content).digest("base64")}:`;
}

async function compressedSize(site: BuiltSite, name: Bundle): Promise<number> {
  return (await stat(join(site.folder, `${site.bundles[name]}.br`))).size;
}

test("a first visit gets compressed bundles and keeps them as dictionaries", { skip }, async () => {
  const exchanges = await visit("regular", "zero");
  for (const name of libraries) {
    const { request, response, transferred } = bundle(exchanges, sites[0], name);
    assert.equal(request["available-dictionary"], undefined);
    assert.match(response["content-encoding"], /^(br|zstd)$/);
    assert.equal(response["use-as-dictionary"], `match="/assets/${name}-*.js"`);
    assert.match(response["cache-control"], /immutable/);
    assert.ok(transferred < 1.05 * await compressedSize(sites[0], name) + 1000, `${name}: ${transferred} bytes`);
  }
  assert.match(exchanges.get(`/${sites[0].style}`)!.response["content-encoding"], /^(br|zstd)$/);
  await leave("regular");
});

test("after a redeploy a visitor gets what changed as a delta, and the rest from his cache", { skip }, async () => {
  await visit("two behind", "zero");
  await leave("two behind");
  await deploy(1);
  await handler.reload();
  const exchanges = await visit("regular", "one");
  const app = bundle(exchanges, sites[1], "app");
  assert.equal(app.request["available-dictionary"], await dictionaryOf(sites[0], "app"));
  assert.match(app.response["content-encoding"], /^dc[bz]$/);
  for (const name of ["react", "three"] as const) assert.equal(bundle(exchanges, sites[1], name).status, undefined);
  await leave("regular");
});

test(
  "after a redeploy with new libraries each arrives as a delta of at most a fifth of its .br",
  { skip },
  async () => {
    await visit("open tab", "one");
    await deploy(2);
    await handler.reload();
    const exchanges = await visit("regular", "two");
    for (const name of libraries) {
      const { request, response, transferred } = bundle(exchanges, sites[2], name);
      // The app's dictionary came as a delta itself.
      assert.equal(request["available-dictionary"], await dictionaryOf(sites[1], name));
      assert.match(response["content-encoding"], /^dc[bz]$/);
      assert.match(response.vary, /available-dictionary/i);
      const whole = await compressedSize(sites[2], name);
      assert.ok(transferred <= 0.2 * whole, `${name}: ${transferred} of ${whole} bytes`);
    }
    await leave("regular");
  },
);

test("a visit without a redeploy transfers no bundle, and the page by a 304", { skip }, async () => {
  const exchanges = await visit("regular", "two");
  const sent = [...exchanges.values()].filter(({ status }) => status !== undefined);
  assert.deepEqual(sent.map(({ path, status }) => [path, status]), [["/", 304]]);
  await leave("regular");
});

test("a visitor without a dictionary gets br or zstd", { skip }, async () => {
  const exchanges = await visit("new", "two");
  for (const name of libraries) {
    const { request, response } = bundle(exchanges, sites[2], name);
    assert.equal(request["available-dictionary"], undefined);
    assert.match(response["content-encoding"], /^(br|zstd)$/);
  }
});

test("a visitor with a dictionary that there is no delta for gets br or zstd", { skip }, async () => {
  const exchanges = await visit("two behind", "two");
  const app = bundle(exchanges, sites[2], "app");
  assert.equal(app.request["available-dictionary"], await dictionaryOf(sites[0], "app"));
  assert.match(app.request["accept-encoding"], /\bdc[bz]\b/);
  assert.match(app.response["content-encoding"], /^(br|zstd)$/);
  // These libraries are the same in the two deploys since the first visit.
  for (const name of ["react", "three"] as const) {
    assert.match(bundle(exchanges, sites[2], name).response["content-encoding"], /^dc[bz]$/);
  }
});

test("a page of the former deploy that is still open imports what it had not loaded yet", { skip }, async () => {
  const { page, complaints, takeExchanges } = await visitor("open tab");
  await assertWorks("open tab", "one");
  await page.click("#more");
  await page.waitForFunction(`document.getElementById("lazy").textContent !== ""`);
  assert.equal(await page.textContent("#lazy"), "lazy one");
  assert.equal((await takeExchanges()).get(`/${sites[1].bundles.lazy}`)?.status, 200);
  assert.deepEqual(complaints, []);
});

test("paths of an application, missing files and folders get what they should", { skip }, async () => {
  const { page } = await visitor("new");
  assert.equal((await page.goto(new URL("/orders/17", server.url).href))?.status(), 200);
  await page.waitForSelector(`html[data-ready="two"]`);
  const missing = await page.goto(new URL("/missing.html", server.url).href);
  assert.equal(missing?.status(), 404);
  assert.equal(await page.textContent("h1"), "There is no such page");
  const docs = await page.goto(new URL("/docs?page=2", server.url).href);
  assert.equal(docs?.request().redirectedFrom()?.url(), new URL("/docs?page=2", server.url).href);
  assert.equal(page.url(), new URL("/docs/?page=2", server.url).href);
  assert.equal(await page.textContent("h1"), "The documents");
});

test("ranges are of the file itself, although the browser would take a delta of it", { skip }, async () => {
  const { page, takeExchanges } = await visitor("open tab");
  const path = `/${sites[2].bundles.react}`;
  const content = await readFile(join(sites[2].folder, path));
  await takeExchanges();
  const [status, range, text] = await page.evaluate(async (path) => {
    const answer = await fetch(path, { headers: { range: "bytes=100-149" } });
    return [answer.status, answer.headers.get("content-range"), await answer.text()];
  }, path);
  assert.equal(status, 206);
  assert.equal(range, `bytes 100-149/${content.length}`);
  assert.equal(text, content.toString("latin1", 100, 150));
  const { request, response } = (await takeExchanges()).get(path)!;
  assert.equal(request["available-dictionary"], await dictionaryOf(sites[1], "react"));
  assert.match(request["accept-encoding"], /\bdc[bz]\b/);
  assert.equal(response["content-encoding"], undefined);
  // Chromium would keep the part as a dictionary, in place of the whole.
  assert.equal(response["use-as-dictionary"], undefined);
});

test("an audio element plays from the middle of a file", { skip }, async () => {
  const { page, takeExchanges } = await visitor("new");
  await page.goto(new URL("/docs/", server.url).href);
  await takeExchanges();
  const played = await page.evaluate(`new Promise((resolve, reject) => {
    const audio = new Audio("/tone.wav");
    audio.onerror = () => reject(new Error(audio.error.message));
    audio.onloadedmetadata = () => audio.currentTime = 0.7;
    audio.onseeked = () => resolve([audio.duration, audio.currentTime]);
  })`);
  assert.deepEqual(played, [1, 0.7]);
  assert.equal((await takeExchanges()).get("/tone.wav")?.status, 206);
});

test("the handler has warned of nothing", { skip }, () => assert.deepEqual(warnings, []));
