import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { appendFile, cp, mkdtemp, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { precompress, readManifest } from "../../lib/precompress/mod.ts";
import { createStaticHandler, type StaticHandler, type StaticHandlerOptions } from "../../lib/static/mod.ts";
import { pagesOfSite } from "../precompress/pages.ts";
import { writeTree } from "../support/folders.ts";
import { ConnectChain } from "./connect_chain.ts";
import { serveOnHttp } from "./served_handler.ts";

const QUICK = { levels: { brotli: 5, zstd: 3, gzip: 1 }, jobs: 1 };

let root = "";
let master = "";
/** The dictionary's name. */
let name = "";

before(async () => {
  root = await mkdtemp(join(tmpdir(), "millrace-site-dictionary-"));
  master = join(root, "master");
  await writeTree(master, { ...pagesOfSite({ count: 8 }), "404.html": pagesOfSite({ count: 9 })["docs/8.html"]! });
  const { siteDictionary, problems } = await precompress(master, { ...QUICK, siteDictionary: true });
  assert.deepEqual(problems, []);
  name = siteDictionary!.path;
});

after(() => rm(root, { recursive: true, force: true }));

interface Asking {
  readonly folder: string;
  readonly handler: StaticHandler;
  readonly warnings: readonly string[];
  /** Sends a request; with a hash, like a browser that has the dictionary. */
  readonly ask: (path: string, hash?: string, more?: Record<string, string>) => Promise<Response>;
}

let copies = 0;

/** Serves a copy of the site, after `change`. */
async function asking(
  options: StaticHandlerOptions,
  use: (asking: Asking) => Promise<void>,
  change: (folder: string) => Promise<void> = async () => {},
): Promise<void> {
  const folder = join(root, `copy-${copies++}`);
  await cp(master, folder, { recursive: true, preserveTimestamps: true });
  await change(folder);
  const warnings: string[] = [];
  const onWarning = ({ path, message }: { path: string; message: string }) => void warnings.push(`${path}: ${message}`);
  const handler = await createStaticHandler(folder, { onWarning, ...options });
  const ask = async (path: string, hash?: string, more: Record<string, string> = {}): Promise<Response> => {
    const headers = {
      "accept-encoding": "gzip, deflate, br, zstd" + (hash ? ", dcb, dcz" : ""),
      ...(hash && { "available-dictionary": `:${hash}:` }),
      ...more,
    };
    const response = await handler.fetch(new Request(`http://site.example${path}`, { headers }));
    const copy = response.clone(); // bodies that are not read hold their files
    await response.arrayBuffer();
    return copy;
  };
  try {
    await use({ folder, handler, warnings, ask });
  } finally {
    await handler.close();
  }
}

const LINK = (base: string) => `<${base}${name}>; rel="compression-dictionary"`;
const coding = ({ headers }: Response) => headers.get("content-encoding") ?? "identity";

async function hashOf(path: string): Promise<string> {
  return createHash("sha256").update(await readFile(path)).digest("base64");
}

test("pages link to the dictionary, which is immutable and for documents; who has it gets deltas without the link", () =>
  asking({}, async ({ folder, ask, warnings }) => {
    const page = await ask("/docs/1.html");
    assert.match(coding(page), /^(br|zstd)$/);
    assert.equal(page.headers.get("link"), LINK("/"));
    assert.equal(page.headers.get("vary"), "Accept-Encoding, Available-Dictionary");
    const dictionary = await ask(`/${name}`);
    assert.notEqual(coding(dictionary), "identity");
    assert.equal(dictionary.headers.get("use-as-dictionary"), 'match="/*", match-dest=("document")');
    assert.equal(dictionary.headers.get("cache-control"), "public, max-age=31536000, immutable");
    assert.equal(dictionary.headers.get("content-type"), "application/octet-stream");
    const delta = await ask("/docs/1.html", await hashOf(join(folder, name)));
    assert.match(coding(delta), /^dc[bz]$/);
    assert.equal(delta.headers.get("link"), null);
    const { variants } = (await readManifest(folder))!.files["docs/1.html"]!;
    const least = Math.min(variants["site-dcb"]!.size!, variants["site-dcz"]!.size!);
    assert.equal((await delta.arrayBuffer()).byteLength, least);
    assert.deepEqual(warnings, []);
  }));

test("who has another dictionary, or accepts no deltas, gets brotli or zstd and the link", () =>
  asking({}, async ({ ask, folder }) => {
    const other = await ask("/docs/1.html", createHash("sha256").update("other").digest("base64"));
    assert.match(coding(other), /^(br|zstd)$/);
    assert.equal(other.headers.get("link"), LINK("/"));
    const hash = await hashOf(join(folder, name));
    assert.equal(coding(await ask("/docs/1.html", hash, { "accept-encoding": "gzip" })), "gzip");
    // A page of another site must not learn of the content by its size.
    const strange = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" };
    assert.match(coding(await ask("/docs/1.html", hash, strange)), /^(br|zstd)$/);
  }));

test("only pages link to it, those of a fallback and of a 404 by an absolute path", () =>
  asking({ fallback: "index.html" }, async ({ ask }) => {
    assert.equal((await ask("/app.js")).headers.get("link"), null);
    assert.equal((await ask("/no/such/page", undefined, { accept: "text/html" })).headers.get("link"), LINK("/"));
    const missing = await ask("/no/such.html");
    assert.equal(missing.status, 404);
    assert.equal(missing.headers.get("link"), LINK("/"));
  }, (folder) => writeTree(folder, { "app.js": "1" })));

test("the link and the pattern are for the base path", () =>
  asking({ basePath: "/the docs%/" }, async ({ ask }) => {
    const { headers } = await ask("/the%20docs%25/docs/1.html");
    assert.equal(headers.get("link"), LINK("/the%20docs%25/"));
    const dictionary = await ask(`/the%20docs%25/${name}`);
    assert.equal(dictionary.headers.get("use-as-dictionary"), 'match="/the%20docs%25/*", match-dest=("document")');
  }));

test("the link and the pattern are for the path of a mount", () =>
  asking({ headers: () => ({ link: "</style.css>; rel=preload" }) }, async ({ handler }) => {
    const { port, close } = await serveOnHttp(new ConnectChain().use("/docs", handler.node).listener);
    try {
      const page = await fetch(`http://127.0.0.1:${port}/docs/docs/1.html`);
      await page.arrayBuffer();
      assert.equal(page.headers.get("link"), `</style.css>; rel=preload, ${LINK("/docs/")}`);
      const dictionary = await fetch(`http://127.0.0.1:${port}/docs/${name}`);
      await dictionary.arrayBuffer();
      assert.equal(dictionary.headers.get("use-as-dictionary"), 'match="/docs/*", match-dest=("document")');
    } finally {
      await close();
    }
  }));

test("a Link of headers() stays beside that of the dictionary, and an empty one leaves both out", async () => {
  const own = "</style.css>; rel=preload; as=style";
  await asking({ headers: () => ({ link: own }) }, async ({ ask, folder }) => {
    assert.equal((await ask("/docs/1.html")).headers.get("link"), `${own}, ${LINK("/")}`);
    assert.equal((await ask("/docs/1.html", await hashOf(join(folder, name)))).headers.get("link"), own);
  });
  await asking({ headers: () => ({ link: "" }) }, async ({ ask }) => {
    assert.equal((await ask("/docs/1.html")).headers.get("link"), null);
  });
});

test("a dictionary that browsers would not keep is not linked to, as each page would have it loaded again", async () => {
  await asking({ headers: () => ({ "cache-control": "no-store" }) }, async ({ ask }) => {
    assert.equal((await ask("/docs/1.html")).headers.get("link"), null);
  });
  await asking({ dictionaries: false }, async ({ ask, folder }) => {
    const page = await ask("/docs/1.html", await hashOf(join(folder, name)));
    assert.match(coding(page), /^(br|zstd)$/);
    assert.equal(page.headers.get("link"), null);
    assert.equal((await ask(`/${name}`)).headers.get("use-as-dictionary"), null);
  });
  await asking({ immutable: false }, async ({ ask }) => {
    assert.match((await ask(`/${name}`)).headers.get("cache-control")!, /immutable/);
  });
});

test("pages that are dictionaries themselves are so for documents, so that browsers prefer them", async () => {
  const cacheControl = "max-age=0, stale-while-revalidate=60";
  await asking({ cacheControl }, async ({ ask }) => {
    const { headers } = await ask("/docs/1.html");
    assert.equal(headers.get("use-as-dictionary"), 'match="/docs/1.html", match-dest=("document")');
  });
});

test("a dictionary that is gone or changed is not linked to; who has it still gets deltas", async () => {
  const hash = await hashOf(join(master, name));
  for (const change of [rm, (path: string) => appendFile(path, "more"), (path: string) => writeFile(path, "")]) {
    await asking({}, async ({ ask }) => {
      const page = await ask("/docs/1.html");
      assert.equal(page.headers.get("link"), null);
      assert.match(coding(page), /^(br|zstd)$/);
      assert.match(coding(await ask("/docs/1.html", hash)), /^dc[bz]$/);
      assert.equal((await ask(`/${name}`)).headers.get("use-as-dictionary"), null);
    }, (folder) => change(join(folder, name)));
  }
});

test("without a manifest deltas are proven against the dictionary in the folder, but nothing links to it", () =>
  asking({}, async ({ ask, folder, warnings }) => {
    const hash = await hashOf(join(folder, name));
    assert.match(coding(await ask("/docs/1.html", hash)), /^dc[bz]$/);
    assert.equal((await ask("/docs/1.html")).headers.get("link"), null);
    assert.deepEqual(warnings, []);
  }, (folder) => rm(join(folder, ".millrace.json"))));

test("a page that changed is sent as it is now", () =>
  asking({}, async ({ ask, folder }) => {
    const page = await ask("/docs/1.html", await hashOf(join(folder, name)));
    assert.equal(coding(page), "identity");
    assert.equal(await page.text(), "changed");
    assert.match(coding(await ask("/docs/2.html", await hashOf(join(folder, name)))), /^dc[bz]$/);
  }, (folder) => writeFile(join(folder, "docs/1.html"), "changed")));

test("ranges and 304s are as without a dictionary", () =>
  asking({}, async ({ ask, folder }) => {
    const hash = await hashOf(join(folder, name));
    const delta = await ask("/docs/1.html", hash);
    const same = await ask("/docs/1.html", hash, { "if-none-match": delta.headers.get("etag")! });
    assert.equal(same.status, 304);
    const range = await ask("/docs/1.html", hash, { range: "bytes=0-9" });
    assert.equal(range.status, 206);
    assert.doesNotMatch(coding(range), /^dc/);
  }));

test("after a deploy with another dictionary the former one stays answerable", () =>
  asking({ previous: true }, async ({ ask, folder, handler }) => {
    await ask(`/${name}`);
    const others = Object.entries(pagesOfSite({ count: 8 })).map(([path, html]) => [path, html.toUpperCase()]);
    await writeTree(folder, Object.fromEntries(others));
    const { siteDictionary } = await precompress(folder, { ...QUICK, siteDictionary: true });
    assert.notEqual(siteDictionary!.path, name);
    await handler.reload();
    assert.match((await ask("/docs/1.html")).headers.get("link")!, new RegExp(siteDictionary!.path));
    assert.equal((await ask(`/${name}`)).status, 200);
  }));

test("what makes no sense in a manifest is no dictionary", async () => {
  for (const madeOf of [7, null, {}, ""]) {
    await asking({}, async ({ ask }) => {
      const page = await ask("/docs/1.html");
      assert.equal(page.status, 200);
      assert.match(coding(page), /^(br|zstd)$/);
    }, async (folder) => {
      const path = join(folder, ".millrace.json");
      const text = (await readFile(path, "utf8")).replace(/"madeOf":"[0-9a-f]+"/, `"madeOf":${JSON.stringify(madeOf)}`)
        .replaceAll(/"siteDictionary":"[0-9a-f]{3}/g, '"siteDictionary":"');
      await writeFile(path, text);
    });
  }
});

test("deltas that change are left out with a warning, and the page comes as brotli or zstd", () =>
  asking({ memoryLimit: 0 }, async ({ folder, ask, warnings }) => {
    const hash = await hashOf(join(folder, name));
    assert.match(coding(await ask("/docs/1.html", hash)), /^dc[bz]$/);
    for (const extension of ["dcb", "dcz"]) await truncate(join(folder, `docs/1.html.site.${extension}`), 50);
    for (let times = 0; times < 2; times++) {
      const page = await ask("/docs/1.html", hash);
      assert.equal(page.status, 200);
      assert.match(coding(page), /^(br|zstd)$/);
    }
    assert.deepEqual(warnings.map((each) => each.split(":")[0]).sort(), [
      "docs/1.html.site.dcb",
      "docs/1.html.site.dcz",
    ]);
  }));
