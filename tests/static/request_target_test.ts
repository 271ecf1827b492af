import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { decodeTarget } from "../../lib/static/handler/served_paths.ts";
import { codePoint } from "../support/code_point.ts";

const cases: readonly (readonly [target: string, path: string | undefined])[] = [
  ["/", "/"],
  ["/a/b.js", "/a/b.js"],
  ["/a/b.js?v=%zz#x", "/a/b.js"],
  ["/a#b", "/a"],
  ["/?", "/"],
  ["/a%20b", "/a b"],
  ["/a+b", "/a+b"],
  ["/%E2%82%AC.txt", "/€.txt"],
  ["/%e2%82%ac.txt", "/€.txt"],
  ["/%F0%9F%98%80", "/😀"],
  ["/a%3Fb%23c%25", "/a?b#c%"],
  ["/a%2Fb", "/a%2Fb"],
  ["/a%2fb", "/a%2Fb"],
  ["/a%5Cb", "/a%5Cb"],
  ["/a%5cb", "/a%5Cb"],
  ["/a\\b", "/a%5Cb"],
  ["/..%2f..%2fetc/passwd", "/..%2F..%2Fetc/passwd"],
  ["/%2e%2e/x", "/../x"],
  ["/%252e", "/%2e"],
  ["/%252F", "/%2F"],
  ["//host/a", "//host/a"],
  ["/a//b/", "/a//b/"],
  ["/a%0Ab", "/a\nb"],
  // Absolute-form (RFC 9112, section 3.2.2).
  ["http://example.org/a%20b?c", "/a b"],
  ["HTTPS://user@[::1]:8080/a", "/a"],
  ["http://example.org", "/"],
  ["http://example.org?a/b", "/"],
  ["http://example.org#a/b", "/"],
  ["http:///a", "/a"],
  ["http://example.org//a", "//a"],
  ["http://example.org/http://b/c", "/http://b/c"],
  // Neither: asterisk-form and authority-form, and what is malformed.
  ["*", undefined],
  ["example.org:443", undefined],
  ["example.org", undefined],
  ["", undefined],
  ["?a", undefined],
  ["a/b", undefined],
  ["http:/a", undefined],
  ["/%", undefined],
  ["/%2", undefined],
  ["/%zz", undefined],
  ["/%u0041", undefined],
  ["/a%00.js", undefined],
  ["/a\0.js", undefined],
  ["/%2F%00", undefined],
  // Not UTF-8: a lone byte, overlong forms, a surrogate, beyond Unicode, cut short.
  ["/%ff", undefined],
  ["/%c0%af", undefined],
  ["/%c0%ae%c0%ae/", undefined],
  ["/%e0%80%af", undefined],
  ["/%f0%80%80%af", undefined],
  ["/%ed%a0%80", undefined],
  ["/%f4%90%80%80", undefined],
  ["/%e2%82", undefined],
];

for (const [target, path] of cases) {
  test(`decodeTarget(${JSON.stringify(target)}) is ${JSON.stringify(path)}`, () => {
    assert.equal(decodeTarget(target), path);
  });
}

test("decodeTarget() undoes encodeURIComponent() in every segment", () => {
  const segment = fc.string({ unit: codePoint, maxLength: 8 }).filter((text) =>
    !/[\0/\\]/.test(text) && text.isWellFormed()
  );
  fc.assert(fc.property(fc.array(segment), (segments) => {
    const target = `/${segments.map(encodeURIComponent).join("/")}`;
    assert.equal(decodeTarget(target), `/${segments.join("/")}`);
    assert.equal(decodeTarget(`http://host${target}?${target}`), `/${segments.join("/")}`);
  }));
});

test("decodeTarget() never makes a separator that the target does not have", () => {
  const piece = fc.constantFrom(
    "/",
    "%2f",
    "%2F",
    "%5c",
    "\\",
    "%",
    "25",
    "2f",
    "5C",
    "%25",
    "a",
    "..",
    "%2e",
    "%c0%af",
  );
  fc.assert(fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
    const target = `/${pieces.join("")}`;
    const path = decodeTarget(target);
    if (path === undefined) return;
    assert.ok(!path.includes("\\"));
    assert.equal(path.split("/").length, target.split("/").length);
  }));
});

test("decodeTarget() reads targets of a megabyte", () => {
  const million = 1_000_000;
  assert.equal(decodeTarget(`/${"%41".repeat(million)}`), `/${"A".repeat(million)}`);
  assert.equal(decodeTarget(`/${"%2f".repeat(million)}`), `/${"%2F".repeat(million)}`);
  assert.equal(decodeTarget(`/${"%".repeat(million)}`), undefined);
  assert.equal(decodeTarget("a".repeat(million)), undefined);
  assert.equal(decodeTarget(`a://${"a".repeat(million)}`), "/");
});
