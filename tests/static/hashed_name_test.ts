import assert from "node:assert/strict";
import test from "node:test";
import { hashedPart } from "../../lib/static/hashed_name.ts";

const hashed = {
  "assets/index-DiwrgTdA.js": "DiwrgTdA",
  "assets/index-BkX-Y_12.css": "BkX-Y_12",
  "assets/vendor-react-Cq8f_T7k.js.map": "Cq8f_T7k",
  "_astro/page.B3kT9x2c.css": "B3kT9x2c",
  "index.7d9b3f1a.js": "7d9b3f1a",
  "main.9c2d4e5f6a7b8c9d0e1f.chunk.js": "9c2d4e5f6a7b8c9d0e1f",
  "css/app-d41d8cd98f.min.css": "d41d8cd98f",
  "out/entry-5VQ3B7NA.js": "5VQ3B7NA",
  "assets/chunk-ABCDEFGH.js": "ABCDEFGH",
  "css/0c4be6fa1b2c3d4e.css": "0c4be6fa1b2c3d4e",
};

const unhashed = [
  "index.html",
  "assets/logo-Vertical.svg",
  "assets/photo-IMG20231201.jpg",
  "report-20240131.pdf",
  "Report-2024June.pdf",
  "my-page-2-columns-layout.html",
  "lib-1_2_3_45.js",
  "chart-DataView.js",
  "poster-SUMMER24.jpg",
  "docs-OVERVIEW.md",
  "module-JavaScript.js",
  "notes-cafe2024.txt",
  "a/d41d8cd98f00b204/page.html",
  "d41d8cd98f00b204",
  "bootstrap.bundle.min.js",
  "jquery-3.7.1.min.js",
];

for (const [path, hash] of Object.entries(hashed)) {
  test(`hashedPart() finds the hash of ${path}`, () => {
    const part = hashedPart(path);
    assert.equal(part && path.slice(part.start, part.end), hash);
  });
}

for (const path of unhashed) {
  test(`hashedPart() finds no hash in ${path}`, () => assert.equal(hashedPart(path), undefined));
}
