import assert from "node:assert/strict";
import test from "node:test";
import { acceptsHTML } from "../../lib/semantics/media_ranges.ts";

const accepting: readonly (string | null | undefined)[] = [
  null,
  undefined,
  "",
  "*/*",
  "text/html",
  "TEXT/HTML",
  "text/*",
  "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
  "application/json, text/html;q=0.001",
  "application/json, */*;q=0.1",
  "image/avif,image/webp,*/*;q=0.8",
  "text/html;charset=utf-8",
  "text/html;level=1;q=0.5",
  'text/html;title="a;q=0";q=1',
  " text/html ; Q=0.5 ",
  ",, ,text/html,",
  "text/html;q=1.000",
  "*/*;q=0, text/html",
  "text/*;q=0, text/html;q=0.1",
  "text/html;q=0;x, text/html", // malformed, and skipped
];

const refusing: readonly string[] = [
  "application/json",
  "image/*",
  "application/json, image/*;q=0.5",
  "text/css,*/*;q=0",
  "text/html;q=0",
  "text/html;q=0.000",
  "text/html;q=0, */*",
  "text/html;q=0, text/*, */*",
  "text/*;q=0, */*",
  "text/htmlx, xtext/html, text/html/x, texthtml",
  "text/plain",
  "*",
  "html",
  "text/html;q=2",
  "text/html;q=0.0001",
  'application/json;x="text/html"',
];

for (const field of accepting) {
  test(`Accept: ${field} allows text/html`, () => assert.equal(acceptsHTML(field), true));
}

for (const field of refusing) {
  test(`Accept: ${field} does not allow text/html`, () => assert.equal(acceptsHTML(field), false));
}

test("acceptsHTML() reads long fields in linear time", () => {
  for (const text of ["a/b,", ";", " ", "text/html;", 'text/html;a="', "text/html; q=0.5 ;"]) {
    acceptsHTML(text.repeat(1_000_000)); // quadratic time would be minutes
  }
});
