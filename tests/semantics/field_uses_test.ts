import assert from "node:assert/strict";
import test from "node:test";
import { goesWith, isSettable, namesNotWith } from "../../lib/semantics/fields.ts";

test("fields go with the responses that the standards have them in, in any case", () => {
  const rows = [
    ["ETag", "part", true],
    ["ETag", "unmodified", true],
    ["etag", "page", false],
    ["Content-Type", "unmodified", false],
    ["Content-Type", "page", true],
    ["Content-Type", "none", false],
    ["Content-Location", "unmodified", true],
    ["Content-Security-Policy-Report-Only", "none", true],
    ["Content-Security-Policy-Report-Only", "unmodified", true],
    ["Last-Modified", "unmodified", false],
    ["Use-As-Dictionary", "part", false],
    ["X-Content-Type-Options", "unmodified", false],
    ["X-Content-Type-Options", "none", true],
    ["X-Anything", "unmodified", true],
    ["__proto__", "none", true],
    ["constructor", "page", true],
  ] as const;
  for (const [name, kind, goes] of rows) assert.equal(goesWith(name, kind), goes, `${name}, ${kind}`);
});

test("users may set what the handler need not know", () => {
  for (const name of ["Content-Length", "content-encoding", "ETag", "Accept-Ranges", "Connection"]) {
    assert.equal(isSettable(name), false, name);
  }
  for (const name of ["Content-Type", "Cache-Control", "Last-Modified", "X-Anything"]) {
    assert.ok(isSettable(name), name);
  }
});

test("a response that is encoded on its way loses what is of the bytes before", () => {
  const names = ["accept-ranges", "content-digest", "content-length", "content-md5", "digest", "repr-digest"];
  assert.deepEqual(namesNotWith("encoded"), names);
});
