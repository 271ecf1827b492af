import assert from "node:assert/strict";
import test from "node:test";
import { contentTypeOf } from "../../lib/static/answer/fields.ts";

const types: Readonly<Record<string, string>> = {
  "index.html": "text/html; charset=utf-8",
  "INDEX.HTML": "text/html; charset=utf-8",
  "a/style.css": "text/css; charset=utf-8",
  "app.js": "text/javascript; charset=utf-8",
  "app.mjs": "text/javascript; charset=utf-8",
  "data.json": "application/json; charset=utf-8",
  "app.js.map": "application/json; charset=utf-8",
  "site.webmanifest": "application/manifest+json; charset=utf-8",
  "module.wasm": "application/wasm",
  "picture.png": "image/png",
  "picture.avif": "image/avif",
  "drawing.svg": "image/svg+xml",
  "font.woff2": "font/woff2",
  "archive.tar.gz": "application/gzip",
  "html": "application/octet-stream",
  "README": "application/octet-stream",
  "v1.0/README": "application/octet-stream",
  "strange.constructor": "application/octet-stream",
  "dot.": "application/octet-stream",
  ".htm": "text/html; charset=utf-8",
};

for (const [path, type] of Object.entries(types)) {
  test(`contentTypeOf("${path}") is ${type}`, () => assert.equal(contentTypeOf(path), type));
}
