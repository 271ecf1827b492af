import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { createStaticHandler, type StaticHandlerOptions } from "../../lib/static/mod.ts";
import { writeTree } from "../support/folders.ts";

const HASHED = ["assets/index-BuI5BPdA.js", "assets/index-BbuESAja.css", "assets/Home-B0URxVl7.js"];
const IMAGE = "assets/hero-E7CUn6gX.png";
const ORDINARY = [
  ...[
    "index.html",
    "favicon.svg",
    "assets/index-BuI5BPdA.html",
    "assets/index-BuI5BPdA.js.map",
    "assets/sw-E7CUn6gX.js",
  ],
  ...["assets/Document-Builders.js", "assets/photo-1024x768.jpg", "images/hero-E7CUn6gX.png", "app-win32x64.exe"],
  ...["my-trip-1a2b3c4d.html", "users/507f1f77bcf86cd799439011.png", "report-2024Q3v2.pdf"],
];

let folder = "";

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-immutable-"));
  await writeTree(folder, Object.fromEntries([...HASHED, IMAGE, ...ORDINARY].map((path) => [path, path])));
});

after(() => rm(folder, { recursive: true, force: true }));

/** Returns the paths that are answered as immutable, and those that are answered as to be revalidated. */
async function answeredAs(options: StaticHandlerOptions): Promise<{ immutable: string[]; revalidated: string[] }> {
  await using handler = await createStaticHandler(folder, options);
  const immutable: string[] = [];
  const revalidated: string[] = [];
  for (const path of [...HASHED, IMAGE, ...ORDINARY]) {
    const { status, headers } = await handler.fetch(new Request(`http://site.example/${path}`));
    assert.equal(status, 200, path);
    if (headers.get("cache-control") === "public, max-age=31536000, immutable") immutable.push(path);
    if (headers.get("cache-control") === "no-cache") revalidated.push(path);
  }
  return { immutable, revalidated };
}

test("files that a build tool named by hash are immutable, ordinary ones beside them are revalidated", async () => {
  assert.deepEqual(await answeredAs({}), { immutable: [...HASHED, IMAGE], revalidated: ORDINARY });
});

test("the option immutable says instead which files are", async () => {
  const { immutable } = await answeredAs({ immutable: /^images\/|Builders/ });
  assert.deepEqual(immutable, ["assets/Document-Builders.js", "images/hero-E7CUn6gX.png"]);
  assert.deepEqual((await answeredAs({ immutable: "assets/index-*.{js,css}" })).immutable, HASHED.slice(0, 2));
  assert.deepEqual((await answeredAs({ immutable: false })).immutable, []);
});
