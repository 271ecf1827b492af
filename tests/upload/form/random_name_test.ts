import assert from "node:assert/strict";
import test from "node:test";
import { randomName } from "../../../lib/upload/form/form_options.ts";

const uuid = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}";

/** Returns the part of a random name after the UUID. */
function extensionOf(filename: string, contentType: string): string {
  const name = randomName(filename, contentType);
  assert.match(name, new RegExp(`^${uuid}(\\.[0-9a-z]{1,16})?$`));
  return name.slice(36);
}

test("a random name has the extension of the file's name, in lower case", () => {
  assert.equal(extensionOf("photo.JPG", "text/plain"), ".jpg");
  assert.equal(extensionOf("archive.tar.gz", ""), ".gz");
  assert.equal(extensionOf("C:\\Users\\x\\.mp3", "application/octet-stream"), ".mp3");
  assert.equal(extensionOf("a.0123456789abcdef", ""), ".0123456789abcdef");
});

test("a random name has the extension of the type where the file's name has none", () => {
  assert.equal(extensionOf("", "image/png"), ".png");
  assert.equal(extensionOf("README", "Text/HTML; charset=utf-8"), ".html");
  assert.equal(extensionOf("a.", "application/json"), ".json");
  assert.equal(extensionOf("png", "application/pdf"), ".pdf");
  assert.equal(extensionOf("", "application/x-unheard-of"), "");
  assert.equal(extensionOf("", "no type"), "");
  assert.equal(extensionOf("", ""), "");
});

test("nothing else of the file's name is in a random name", () => {
  const names = [
    "../../etc/passwd",
    "a.b/c",
    "a.x\0",
    "a.ü",
    "a.x y",
    "a.%2e",
    "a.b\n",
    "a.\u202egpj",
    "a.0123456789abcdefg",
  ];
  for (const name of names) assert.equal(extensionOf(name, ""), "", name);
});

test("random names differ", () => {
  assert.equal(new Set(Array.from({ length: 1000 }, () => randomName("a.txt", ""))).size, 1000);
});
