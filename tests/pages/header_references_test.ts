import assert from "node:assert/strict";
import test from "node:test";
import { headerReferences } from "../../lib/pages/mod.ts";

test("headerReferences() lists what a Link field has a browser load with a page", () => {
  const fields: readonly (readonly [field: string, ...loaded: string[]])[] = [
    ["</a.css>; rel=preload; as=style", "style /a.css"],
    [
      '<b.js>;rel="preload";as="script"; nopush, </c.woff2> ; REL=Preload ; AS = font; crossorigin',
      "script b.js",
      "font /c.woff2",
    ],
    ['<d.js>; rel="modulepreload prefetch", <e.json>; rel=preload; as=fetch', "script d.js", "other e.json"],
    ['<f,g;h.png>; rel=preload; as=image; title="a, <b>; \\"c\\""; x', "image f,g;h.png"],
    ['<i.png>; rel=preload; as=image; imagesrcset="i-1.png 1x, i-2.png 2x"', "image i-1.png"],
    ["<j.js>; rel=preload; rel=canonical; as=script; as=style", "script j.js"],
    ["</>; rel=canonical, <k.html>; rel=prefetch, <l.css>; rel=stylesheet, <//m.example>; rel=preconnect"],
    [""],
    [",, ,; rel=preload,<n.js>,<>; rel=preload; as=script, o.js; rel=preload, <p.js"],
    ['<q.js>; rel="preload', "other q.js"],
  ];
  for (const [field, ...loaded] of fields) {
    assert.deepEqual(headerReferences(field).map(({ kind, url }) => `${kind} ${url}`), loaded, field);
  }
  for (const part of ["<", ",", ";", '"', "<a>;", '<a>; rel="\\', "<a>; a", " "]) {
    headerReferences(part.repeat(20_000));
  }
});
