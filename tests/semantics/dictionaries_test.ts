import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { availableDictionary, mayUseDictionary, useAsDictionary } from "../../lib/semantics/compression_dictionary.ts";

const hash = "pZGm1Av0IEBKARczz7exkNYsZb8LzaMrV7J32a2fFG4=";
const unpadded = hash.slice(0, 43);

const wellFormed = [
  `:${hash}:`,
  `  :${hash}: `,
  `:${unpadded}:`,
  `:${unpadded.slice(0, 42)}7=:`, // the bits that pad the last digit are not zero
  `:${hash}:;a`,
  `:${hash}:; a=1;b=?0;c="x;\\"y";d=token/*;e=:AAA=:;f=-1.5;g=@12`,
];
for (const field of wellFormed) {
  test(`Available-Dictionary: ${field} is ${hash}`, () => assert.equal(availableDictionary(field), hash));
}

const malformed = [
  "",
  hash,
  `"${hash}"`,
  `:${hash}`,
  `${hash}:`,
  "::",
  `:${hash.slice(4)}:`,
  `:AAAA${hash}:`,
  `:${hash}=:`,
  `: ${hash}:`,
  `:${hash.replace("Z", "-")}:`,
  `:${hash.replace("Z", "\n")}:`,
  `\t:${hash}:`,
  `:${hash}:, :${hash}:`,
  `:${hash}:x`,
  `:${hash}: ;a`,
  `:${hash}:;`,
  `:${hash}:;A=1`,
  `:${hash}:;a=`,
  `:${hash}:;a="`,
  `:${hash}:;a=1,b`,
  `(:${hash}:)`,
  `:${hash}:${";a".repeat(1_000_000)}`,
  ":".repeat(1_000_000),
];
for (const field of malformed) {
  test(`Available-Dictionary: ${field.slice(0, 100)} is malformed`, () => {
    assert.equal(availableDictionary(field), undefined);
  });
}

test("availableDictionary() reads any SHA-256 as it is written", () => {
  fc.assert(fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
    const base64 = btoa(String.fromCharCode(...bytes));
    assert.equal(availableDictionary(`:${base64}:`), base64);
    assert.equal(availableDictionary(`:${base64.slice(0, 43)}:`), base64);
  }));
});

const patterns: readonly (readonly [path: string, hash: string, field: string])[] = [
  ["/js/app.1a2b3c4d.js", "1a2b3c4d", 'match="/js/app.*.js"'],
  ["/main.js", "", 'match="/main.js"'],
  ["/a b/ü€😀.js", "", 'match="/a%20b/%C3%BC%E2%82%AC%F0%9F%98%80.js"'],
  ['/"#<>?`{}%.js', "", 'match="/%22%23%3C%3E%3F%60%7B%7D%25.js"'],
  ["/a\\b.js", "", 'match="/a%5Cb.js"'],
  ["/a*b+c:d(e).js", "", String.raw`match="/a\\*b\\+c{\\:}d\\(e\\).js"`],
  ["/@scope/[id]!$&',;=^|~.js", "", `match="/@scope/[id]!$&',;=^|~.js"`],
  ["/(x).1a2b3c4d.*.js", "1a2b3c4d", String.raw`match="/\\(x\\).*.\\*.js"`],
];
for (const [path, part, field] of patterns) {
  test(`useAsDictionary() of ${path} is ${field}`, () => {
    const start = path.indexOf(part);
    assert.equal(useAsDictionary(path, part === "" ? undefined : { start, end: start + part.length }), field);
  });
}

/** The class `URLPattern`, which not every runtime's release has among its types. */
type Pattern = new (input: string, base: string) => { test(url: string): boolean; hasRegExpGroups: boolean };
const URLPattern = (globalThis as { URLPattern?: Pattern }).URLPattern;
const skip = URLPattern === undefined && "no URLPattern here";

/** Decodes a string of a structured field (RFC 9651, section 4.2.5). */
function unescaped(field: string): string {
  const text = /^match="((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/.exec(field)?.[1];
  assert.ok(text !== undefined, field);
  return text.replace(/\\(.)/g, "$1");
}

/** Returns the URL of a path, whose segments are encoded no more than they have to be. */
function urlOf(path: string): string {
  const url = new URL("https://example.org/");
  url.pathname = path.replaceAll("%", "%25").replaceAll("\\", "%5C");
  return url.href;
}

test("useAsDictionary() matches the next version's URL, whatever is in its path", { skip }, () => {
  const unit = fc.oneof(fc.constantFrom(..."*+?:(){}[]\\%\"'#<>`^|~@ .-_é€😀".split("")), fc.constantFrom("a", "b"));
  const name = fc.string({ unit, minLength: 1, maxLength: 10 }).filter((text) =>
    !/^\.+$/.test(text) && text.isWellFormed()
  );
  fc.assert(fc.property(name, name, (before, after) => {
    const start = before.length + 2;
    const field = useAsDictionary(`/${before}-12345678${after}`, { start, end: start + 8 });
    const pattern = new URLPattern!(unescaped(field), urlOf(`/${before}-12345678${after}`));
    assert.equal(pattern.hasRegExpGroups, false);
    assert.ok(pattern.test(urlOf(`/${before}-abcdef98${after}`)), `${before} ${after} ${field}`);
    assert.ok(!pattern.test(urlOf(`/${before}_abcdef98${after}`)));
    assert.ok(!pattern.test(urlOf(`/x${before}-abcdef98${after}`)));
    assert.ok(!pattern.test(urlOf(`/${before}-abcdef98${after}x`)));
  }));
});

test("useAsDictionary() takes a path that is not well-formed Unicode", () => {
  assert.equal(useAsDictionary("/\ud800.js"), 'match="/%EF%BF%BD.js"');
});

const origin = "https://shop.example";
const requests: readonly (readonly [boolean, site?: string, mode?: string, origin?: string, allowOrigin?: string])[] = [
  // RFC 9842, section 9.3.3, step by step.
  [true],
  [true, undefined, "cors", origin],
  [true, "same-origin"],
  [true, "same-origin", "no-cors"],
  [true, "cross-site"],
  [true, "cross-site", "navigate"],
  [true, "none", "navigate"],
  [true, "cross-site", "same-origin"],
  [false, "cross-site", "cors"],
  [false, "cross-site", "cors", origin],
  [false, "cross-site", "cors", undefined, "*"],
  [true, "cross-site", "cors", origin, "*"],
  [true, "same-site", "cors", origin, origin],
  [false, "same-site", "cors", origin, "https://other.example"],
  [false, "cross-site", "no-cors", origin, "*"],
  [false, "same-site", "no-cors"],
  [false, "cross-site", "websocket", origin, "*"],
  [false, "oops", "oops", origin, origin],
];
for (const [may, site, mode, from, allowOrigin] of requests) {
  test(`mayUseDictionary(${[site, mode, from, allowOrigin].map(String).join(", ")}) is ${may}`, () => {
    assert.equal(mayUseDictionary({ site, mode, origin: from, allowOrigin }), may);
  });
}
