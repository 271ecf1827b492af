import assert from "node:assert/strict";
import test from "node:test";
import { pageReferences } from "../../lib/pages/mod.ts";

/** Returns a page's references as `kind url`, with those loaded later in parentheses. */
function loaded(html: string): string[] {
  return pageReferences(html).references.map(({ kind, url, isLater }) =>
    isLater ? `(${kind} ${url})` : `${kind} ${url}`
  );
}

test("pageReferences() lists scripts that run, and none that hold data or are for old browsers", () => {
  const html = `<script src=a.js></script><SCRIPT TYPE=module SRC='b.js'></SCRIPT><script nomodule src=c.js></script>
    <script type="text/javascript" src="d.js?x=1&amp;y=2" async></script><script type=importmap src=e.js></script>
    <script type="application/json" src="f.json"></script><script>"<img src=no.png>"</script
    ><link rel="modulepreload" href="g.js">`;
  assert.deepEqual(loaded(html), ["script a.js", "script b.js", "script d.js?x=1&y=2", "script g.js"]);
});

test("pageReferences() lists what inline scripts import", () => {
  const html =
    `<script type=module>import "./a.js"; import("b.js"); import("./b.js")</script><script>import("/c.js")</script>
    <script type=module src=d.js>import "./no.js"</script><script type=importmap>import "./no.js"</script>
    <script nomodule>import("./no.js")</script>`;
  assert.deepEqual(loaded(html), ["script ./a.js", "(script ./b.js)", "(script /c.js)", "script d.js"]);
});

test("pageReferences() lists style sheets, preloads, icons and manifests by the words of rel", () => {
  const html = `<link rel="Stylesheet" href=a.css><link rel="alternate stylesheet" href=b.css>
    <link rel="stylesheet" disabled href="c.css"><link rel=preload as=font href=d.woff2 crossorigin>
    <link rel=preload as=fetch href=e.json><link rel="shortcut icon" href="/f.ico"><link rel=manifest href=g.json>
    <link rel=prefetch href=h.html><link rel=canonical href=i.html><link rel=preconnect href=//j.example>
    <link rel=preload as=image href=k.png imagesrcset="k-1.png 1x, k-2.png 2x">`;
  assert.deepEqual(loaded(html), [
    "style a.css",
    "font d.woff2",
    "other e.json",
    "image /f.ico",
    "other g.json",
    "(other h.html)",
    "image k-1.png",
  ]);
});

test("pageReferences() picks one candidate of an image for a common screen", () => {
  const html = `<img src=a.png><img src=b.png srcset="b-1.png, b-2.png 2x"><img loading=lazy src=c.png>
    <img srcset="d-400.png 400w, d-1600.png 1600w, d-3200.png 3200w" src=d.png>
    <picture><source type=image/odd srcset=e.odd><source media="(width < 9px)" srcset=e-small.png>
    <source type="image/avif" srcset="e.avif 1x,e-2.avif 2x"><img src=e.png></picture><img src=f,.png>
    <video poster=g.png src=g.mp4><source src=h.webm></video><input type=image src=i.png><svg><use href="j.svg#k"/></svg>`;
  assert.deepEqual(loaded(html), [
    "image a.png",
    "image b-1.png",
    "(image c.png)",
    "image d-1600.png",
    "image e.avif",
    "image f,.png",
    "image g.png",
    "(other g.mp4)",
    "(other h.webm)",
    "image i.png",
    "image j.svg",
  ]);
});

test("pageReferences() sees nothing in comments, templates, text and what is for browsers without scripts", () => {
  const html = `<!-- <img src=a> --><!--><img src=b><!--- > <img src=c>--!><template><img src=d><template></template>
    <img src=e></template><noscript><img src=f></noscript><title><img src=g></title><textarea><img src=h></textarea
    ><?php <img src=i> ?><!DOCTYPE x><p title="<img src=j>"><img src=k`;
  assert.deepEqual(loaded(html), ["image b"]);
});

test("pageReferences() reads styles, and the base that all is relative to", () => {
  const html = `<base href="/docs/"><base href=no><style>@import "a.css"; p { background: url(b.png) }</style>
    <p style="background:url(&quot;c.png&quot;)">`;
  assert.deepEqual(loaded(html), ["style a.css", "image b.png", "image c.png"]);
  assert.equal(pageReferences(html).base, "/docs/");
});

test("pageReferences() takes time in proportion to the page, whatever it holds", () => {
  const parts = [
    "<",
    "<a ",
    "<a b='",
    "<!--",
    "<!-- -->",
    "<script>",
    "<x =",
    "</",
    "<style>url(",
    "<style>/*",
    "<style>'\\",
  ];
  const inStyles = ["url('", "@namespace ", "@font-face", "@import ", "@font-face{unicode-range:", "\\", "image-set('"];
  const imports = [
    "import'",
    "import(`${",
    "export*",
    "import{a,",
    "/a",
    "/[",
    "`${{",
    "import/**/",
    "if(",
    "})/",
    "`\\",
  ];
  const pages = [
    ...parts.map((part) => part.repeat(100_000)),
    ...inStyles.map((part) => `<style>${part.repeat(100_000)}`),
    ...imports.map((part) => `<script type=module>${part.repeat(20_000)}`),
    ...["a,", ", ", "a "].map((part) => `<img srcset='${part.repeat(100_000)}'>`),
    `<style>@font-face{unicode-range${" ".repeat(100_000)}`,
  ];
  for (const page of pages) pageReferences(page); // some took minutes
});
