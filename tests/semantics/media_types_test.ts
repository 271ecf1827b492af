import assert from "node:assert/strict";
import { createRequire } from "node:module";
import test from "node:test";
import type Compressible from "compressible";
import type MimeTypes from "mime-types";
import { currentMediaTypeTable, mediaTypeTable, ownTypes } from "../../.ci/media_types.ts";
import { extensionOfType, isCompressibleType, isInUTF8, typeOfExtension } from "../../lib/semantics/mod.ts";

// Deno imports what package.json lists as a development dependency only so.
const require = createRequire(import.meta.url);
const mime = require("mime-types") as typeof MimeTypes;
const compressible = require("compressible") as typeof Compressible;
const types = Object.keys(require("mime-db"));
const extensions = Object.keys(mime.types);

test("the table of media types is the one that mime-db makes: npm run build:media-types", () => {
  assert.equal(currentMediaTypeTable(), mediaTypeTable());
});

test("typeOfExtension() gives the same type as mime-types for every extension that is not our own", () => {
  assert.ok(extensions.length > 1000);
  for (const extension of extensions) {
    assert.equal(typeOfExtension(extension), ownTypes[extension] ?? mime.types[extension], extension);
  }
});

test("typeOfExtension() knows nothing of what is no extension", () => {
  for (const extension of ["", "constructor", "__proto__", "-3gp", "*json", "json "]) {
    assert.equal(typeOfExtension(extension), undefined, extension);
  }
});

test("extensionOfType() gives the same extension as mime-types for every type, with parameters too", () => {
  assert.ok(types.length > 2500);
  for (const type of types) {
    const expected = mime.extension(type) || undefined;
    assert.equal(extensionOfType(type), expected, type);
    assert.equal(extensionOfType(` ${type.toUpperCase()}; charset=x`), expected, type);
  }
});

test("extensionOfType() knows nothing of what is no type", () => {
  for (const type of ["", "text", "text/", "toString", "text/html,text/plain"]) {
    assert.equal(extensionOfType(type), undefined, type);
  }
});

test("isInUTF8() says the same as mime-types of every type that files have", () => {
  for (const type of types.filter((type) => mime.extensions[type] !== undefined)) {
    assert.equal(isInUTF8(type), mime.charset(type) === "UTF-8", type);
  }
});

test("isCompressibleType() says the same as compressible of every type, and of what is no type", () => {
  const odd = [
    "",
    " ",
    ";",
    "text",
    "text/",
    "x/y+json",
    "x/y+xml ; a=b",
    "application/json charset=x",
    "a/b",
    "+text",
  ];
  for (const type of [...types, ...odd]) {
    for (const written of [type, ` ${type.toUpperCase()};q=1`, `${type} x`]) {
      assert.equal(isCompressibleType(written), compressible(written) === true, written);
    }
  }
});
