import assert from "node:assert/strict";
import test from "node:test";
import { styleReferences } from "../../lib/pages/mod.ts";

function loaded(css: string): string[] {
  return styleReferences(css).map(({ kind, url }) => `${kind} ${url}`);
}

test("styleReferences() lists imports and images in every way to write them", () => {
  const css = `@import "a.css"; @import 'b.css' screen; @import url(c.css); @IMPORT URL( "d.css" ) layer(x);
    .e { background: url(e.png), URL( 'f.png' ) } .g { background: url(g\\(1\\).png) } .h { cursor: url("\\68.cur") }`;
  assert.deepEqual(loaded(css), [
    "style a.css",
    "style b.css",
    "style c.css",
    "style d.css",
    "image e.png",
    "image f.png",
    "image g(1).png",
    "image h.cur",
  ]);
});

test("styleReferences() sees nothing in comments, strings and namespaces", () => {
  const css = `/* url(a.png) */ .b::before { content: "url(c.png) /*"; } @namespace svg url(http://www.w3.org/2000/svg);
    .d { fill: url(#gradient) } .e { background: my-url(e.png) } @import/**/"f.css"; /* url(g.png)`;
  assert.deepEqual(loaded(css), ["style f.css"]);
});

test("styleReferences() takes of a font the first file, if it has Latin letters", () => {
  const css = `@font-face { font-family: x; src: local("x"), url(a.woff2) format("woff2"), url(a.ttf) }
    @font-face { src: url(b.woff2); unicode-range: U+0400-04FF, U+2116 }
    @font-face{src:url(c.woff2);unicode-range:U+0000-00FF} @font-face { src: url(d.woff2); unicode-range: U+00?? }
    .e { background: url(e.png) }`;
  assert.deepEqual(loaded(css), ["font a.woff2", "font c.woff2", "font d.woff2", "image e.png"]);
});

test("styleReferences() picks of an image-set() the first that a common screen takes", () => {
  const css = `.a { background: image-set("a.png" 1x, "a-2.png" 2x) }
    .b { background: -WebKit-Image-Set(url(b-2.png) 2x, url(b.png) 1x) } .c { background: image-set("c.avif"type("image/avif")) }
    .d { background: image-set("d.odd" type("image/odd") 1x, url("d.webp") type('image/webp') 1x, "d.jpg") }
    .e { cursor: image-set("e,(1).cur" 144dpi, "e-3.cur" 3dppx) } .f { background: image-set(linear-gradient(red, blue) 1x) }
    .g { background: image-set("g-2.png" 2x /* "no.png" 1x, */ ), url(g.png) } .h { --x: image-set } .i { background: url(i.png) }
    .j { background: image-set(cross-fade(url(j.png), url(k.png)) 1x) } .l { background: image-set(url(l.png) odd) }
    @font-face { src: url(m.woff2), url(no.woff) } .n { background: image-set("n.png`;
  assert.deepEqual(loaded(css), [
    "image a.png",
    "image b.png",
    "image c.avif",
    "image d.webp",
    "image e,(1).cur",
    "image g-2.png",
    "image g.png",
    "image i.png",
    "image j.png",
    "image k.png",
    "image l.png",
    "font m.woff2",
    "image n.png",
  ]);
});

test("styleReferences() reads an image-set() of any length", () => {
  assert.equal(loaded(`image-set(${"url(a.png)".repeat(200_000)})`).length, 200_000);
});
