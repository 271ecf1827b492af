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

test("nosniff, which all files have, blocks no script, style, image or font that browsers load without it", () => {
  const loaded = {
    "^text/javascript; charset=utf-8$": "js mjs cjs umd.cjs es es6 jsm jsx min.js JS",
    "^text/css; charset=utf-8$": "css",
    "^image/": "png apng jpg jpeg jfif gif webp avif jxl heic ico cur bmp tif tiff svg",
    "^(?:audio|video)/": "mp4 m4v mov webm ogv mkv mp3 m4a aac flac ogg oga opus wav weba mid m4s",
    "^(?:font/|application/vnd.ms-fontobject$)": "woff woff2 ttf otf ttc eot",
    "^text/vtt; ": "vtt",
    "^application/(?:[a-z]+\\+)?json": "json map webmanifest geojson jsonld",
    "^application/(?:[a-z]+\\+)?xml$|^text/html": "xml xsl rss atom xhtml html htm shtml",
    "^application/wasm$": "wasm",
  };
  for (const [type, extensions] of Object.entries(loaded)) {
    for (const extension of extensions.split(" ")) {
      assert.match(contentTypeOf(`a.${extension}`), new RegExp(type), extension);
    }
  }
});

for (const [path, type] of Object.entries(types)) {
  test(`contentTypeOf("${path}") is ${type}`, () => assert.equal(contentTypeOf(path), type));
}
