import assert from "node:assert/strict";
import test from "node:test";
import { hashedNames } from "../../lib/names/mod.ts";

/** Returns the paths in which a hash is found, among others of a tree. */
function found(paths: readonly string[]): Record<string, string> {
  const hashIn = hashedNames(paths);
  return Object.fromEntries(paths.flatMap((path) => {
    const part = hashIn(path);
    return part ? [[path, path.slice(part.start, part.end)]] : [];
  }));
}

/** `known` are paths with the hash that each has, in a tree with `others`, which have none. */
function assertFound(known: Readonly<Record<string, string>>, others: readonly string[] = []): void {
  assert.deepEqual(found([...Object.keys(known), ...others]), known);
}

test("hashedNames() finds a script's or style's hash by itself where nothing else looks like it", () => {
  const known = {
    "index.7d9b3f1a.js": "7d9b3f1a",
    "css/app-d41d8cd98f.min.css": "d41d8cd98f",
    "main.9c2d4e5f6a7b8c9d0e1f.chunk.js": "9c2d4e5f6a7b8c9d0e1f",
    "theme.27e20196a850.css": "27e20196a850",
    "assets/index-DiwrgTdA.js": "DiwrgTdA",
    "static/app-B1946AC9.mjs": "B1946AC9",
    "out/entry-5VQ3B7NA.js": "5VQ3B7NA",
    "chunk-ABCDEFGH.js": "ABCDEFGH",
    "index-9j8kj1x3.js": "9j8kj1x3",
  };
  for (const [path, hash] of Object.entries(known)) assertFound({ [path]: hash });
});

test("hashedNames() believes words and numbers as hashes only in the company of hashes", () => {
  const build = {
    "assets/index-BuI5BPdA.js": "BuI5BPdA",
    "assets/index-BbuESAja.css": "BbuESAja",
    "assets/Home-B0URxVl7.js": "B0URxVl7",
    "assets/About-DFZ-Gvkc.css": "DFZ-Gvkc",
    "assets/hero-E7CUn6gX.png": "E7CUn6gX",
  };
  assertFound(build, ["assets/logo-Vertical.svg", "assets/page-overview.js", "assets/IMG_2023.jpg", "sw-3f9a1c0b.js"]);
  assertFound({}, ["assets/Home-B0URxVl7.js", "assets/hero-E7CUn6gX.png"]);
  assertFound({ "chunk.3f9a1c0b.js": "3f9a1c0b", "vendor.9c2d4e5f.js": "9c2d4e5f", "page.49571823.js": "49571823" }, [
    "trip.20240131.js",
    "logo.deadbeef.html",
  ]);
  assertFound({}, ["page.49571823.js"]);
});

test("hashedNames() believes assets only beside scripts or styles with such hashes", () => {
  const script = { "main-9d8b7a6f.js": "9d8b7a6f" };
  assertFound({ ...script, "film-3f9a1c0b.bin": "3f9a1c0b" }, ["film.3f9a1c0b.bin", "film-DiwrgTdA.bin"]);
  assertFound({}, ["film-3f9a1c0b.bin"]);
  assertFound(script, ["other/film-3f9a1c0b/film-3f9a1c0b.bin"]);
  assertFound({
    "static/js/main.ab632bf4.js": "ab632bf4",
    "static/media/logo.fa2b90b69c180bef984f.svg": "fa2b90b69c180bef984f",
  }, [
    "static/media/c0ffee.d41d8cd98f00b204e98009.png",
    "media/logo.fa2b90b69c180bef984f.svg",
  ]);
});

test("hashedNames() believes as many digits as ids have only with the name of an entry", () => {
  const app = { "assets/app-a1b2e6b783eafef554efb568.js": "a1b2e6b783eafef554efb568" };
  const film = { "assets/film-a1b269d2053a0f8b99f11981.bin": "a1b269d2053a0f8b99f11981" };
  assertFound(app);
  assertFound({ ...app, ...film });
  assertFound({}, ["assets/theme-a1b2e6b783eafef554efb568.js", ...Object.keys(film)]);
});

test("hashedNames() finds no hash in what changes under its name, or is kept by links to it", () => {
  const build = {
    "assets/index-BuI5BPdA.js": "BuI5BPdA",
    "assets/a-BbuESAja.css": "BbuESAja",
    "assets/b-B0URxVl7.js": "B0URxVl7",
  };
  assertFound(build, [
    "assets/index-BuI5BPdA.js.map", // another comment in a source changes it, but neither the script nor its name
    "assets/index-BuI5BPdA.html",
    "assets/guide-E7CUn6gX.pdf",
    "assets/data-E7CUn6gX.json",
    "assets/sw-E7CUn6gX.js",
    "assets/firebase-messaging-sw-E7CUn6gX.js",
    "assets/serviceWorker.E7CUn6gX.js",
    "assets/site-E7CUn6gX.webmanifest",
    "assets/index-BuI5BPdA.js.LICENSE.txt",
    "assets/index-BuI5BPdA.js.gz",
    "assets/index-BuI5BPdA.JS",
    "assets/index-BuI5BPdA",
  ]);
});

test("hashedNames() goes by the folders of frameworks, and by the names in them", () => {
  const known = {
    "_app/immutable/chunks/CnbadKzY.js": "CnbadKzY",
    "_app/immutable/nodes/0.B51rrlxy.js": "B51rrlxy",
    "docs/_nuxt/Dj53oQQZ.js": "Dj53oQQZ",
    "docs/_nuxt/entry.C1QiVlZw.css": "C1QiVlZw",
    "docs/_nuxt/builds/meta/b7db7a7f-892e-4338-a2ff-f664b690e395.json": "b7db7a7f-892e-4338-a2ff-f664b690e395",
    "_astro/hero.CNosKGV4_Z1QhFgF.webp": "CNosKGV4_Z1QhFgF",
    "_next/static/chunks/0cz1d0mv5g_q7.js": "0cz1d0mv5g_q7",
    "_next/static/chunks/turbopack-0zq_vp9s-5ndp.js": "0zq_vp9s-5ndp",
    "_next/static/media/Inter.1x61wuib-85iz.woff2": "1x61wuib-85iz",
    "_next/static/css/1ec6a0a3b64a9638.css": "1ec6a0a3b64a9638",
    "_next/static/ctDyZkdzy-yBIgyRZmBGJ/_buildManifest.js": "ctDyZkdzy-yBIgyRZmBGJ",
  };
  assertFound(known, [
    "_app/version.json",
    "_app/env.js",
    "_app/immutable/assets/logo.Settings.svg",
    "_app/immutable/photo.jpg",
    "docs/_nuxt/builds/latest.json",
    "docs/_nuxt/builds/manifest.json",
    "_astro/readme.txt",
    "_astro/page.20240131.js",
    "_next/static/chunks/main.js",
    "_next/static/development/_buildManifest.js",
    "_next/static/my-build/_buildManifest.js",
    "_next/data/ctDyZkdzy-yBIgyRZmBGJ/index.json",
    "my_nuxt/Dj53oQQZ.js",
    "x_astro/hero.CNosKGV4_Z1QhFgF.webp",
  ]);
});

test("hashedNames() knows the folder of Next.js without its name by the manifests", () => {
  const chunks = { "chunks/0cz1d0mv5g_q7.js": "0cz1d0mv5g_q7", "chunks/1-wr2585okfeq.css": "1-wr2585okfeq" };
  const manifests = { "ctDyZkdzy-yBIgyRZmBGJ/_buildManifest.js": "ctDyZkdzy-yBIgyRZmBGJ" };
  assertFound({ ...chunks, ...manifests }, ["about.html"]);
  assertFound({}, Object.keys(chunks));
});

test("hashedNames() answers for paths that are not in the tree", () => {
  const hashIn = hashedNames(["assets/index-BuI5BPdA.js"]);
  assert.equal(hashIn("other/index-b1.js"), undefined);
  assert.equal(hashIn("other/hero-E7CUn6gX.png"), undefined);
  assert.deepEqual(hashIn("other/index-BuI5BPdA.js"), { start: 12, end: 20 });
});

test("hashedNames() reads the paths at the first question, once", () => {
  let reads = 0;
  function* paths(): Generator<string> {
    reads++;
    yield "assets/index-BuI5BPdA.js";
  }
  const hashIn = hashedNames(paths());
  assert.equal(reads, 0);
  hashIn("a.js");
  hashIn("b.js");
  assert.equal(reads, 1);
});
