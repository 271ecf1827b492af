import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import test from "node:test";
import { formatDigest } from "../../lib/semantics/structured_fields.ts";
import { parseDigestField } from "../../lib/upload/body/announced.ts";

const sha256 = createHash("sha256").update("water").digest("base64");
const sha512 = createHash("sha512").update("water").digest("base64");
const parsed = (value: string) => Object.fromEntries(parseDigestField("Repr-Digest", value));

test("both algorithms of a digest field are taken", () => {
  const value = `sha-256=:${sha256}:, sha-512=:${sha512}:`;
  assert.deepEqual(parsed(value), { "sha-256": sha256, "sha-512": sha512 });
});

test("the field of the standard's own example is read", () => {
  const digest = "X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=";
  assert.deepEqual(parsed(`sha-256=:${digest}:`), { "sha-256": digest });
});

test("other algorithms are passed over, whatever their value is", () => {
  const others = "md5=:AA==:, sha=:AA==:, unixsum=30637, crc32c=:AA==:, id-sha-256=token, x, y=(1 2);a";
  assert.deepEqual(parsed(others), {});
  assert.deepEqual(parsed(`${others}, sha-256=:${sha256}:`), { "sha-256": sha256 });
});

test("an empty digest field has no digests", () => {
  assert.deepEqual(parsed(""), {});
});

test("of several digests of one algorithm the last one counts", () => {
  const other = createHash("sha256").update("wheel").digest("base64");
  assert.deepEqual(parsed(`sha-256=:${other}:, sha-256=:${sha256}:`), { "sha-256": sha256 });
  assert.deepEqual(parsed(`sha-256=:AA==:, sha-256=:${sha256}:`), { "sha-256": sha256 });
  assert.throws(() => parsed(`sha-256=:${sha256}:, sha-256=1`), { code: "BAD_DIGEST" });
});

test("digests come out in one form, with or without padding and whatever their pad bits are", () => {
  const unpadded = sha256.slice(0, -1);
  const last = unpadded.at(-1)!;
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const padded = unpadded.slice(0, -1) + alphabet[alphabet.indexOf(last) + 1];
  assert.deepEqual(parsed(`sha-256=:${unpadded}:;q=1`), { "sha-256": sha256 });
  assert.deepEqual(parsed(`sha-256=:${padded}=:`), { "sha-256": sha256 });
});

test("a digest of the wrong length is refused", () => {
  const error = { name: "UploadError", code: "BAD_DIGEST", status: 400 };
  assert.throws(() => parsed(`sha-256=:${sha512}:`), {
    ...error,
    message: "Repr-Digest is malformed: sha-256 has 32 bytes, this one has 64",
  });
  assert.throws(() => parsed(`sha-512=:${sha256}:`), error);
  assert.throws(() => parsed("sha-256=::"), error);
});

test("a digest that is no byte sequence is refused", () => {
  const error = { code: "BAD_DIGEST", message: /sha-256 has 32 bytes, this one is no byte sequence/ };
  for (const value of ["sha-256", `sha-256="${sha256}"`, "sha-256=1", `sha-256=(:${sha256}:)`, "sha-256=deadbeef"]) {
    assert.throws(() => parsed(value), error, value);
  }
});

test("a digest field in the form of the older standard is refused", () => {
  for (const value of [`sha-256=${sha256}`, `SHA-256=${sha256}`, `SHA-256=:${sha256}:`]) {
    assert.throws(() => parsed(value), { code: "BAD_DIGEST" }, value);
  }
});

test("a digest field that is malformed anywhere is refused as a whole, with the place", () => {
  for (const value of [`sha-256=:${sha256}:,`, `md5=:?:, sha-256=:${sha256}:`, `sha-256=:${sha256}: extra`]) {
    assert.throws(() => parsed(value), { code: "BAD_DIGEST", message: /^Repr-Digest is malformed: .* position \d+/ });
  }
  assert.throws(() => parsed("sha-256=:"), (error: Error) => error.cause instanceof SyntaxError);
});

test("formatDigest() makes what parseDigestField() reads", () => {
  assert.deepEqual(parsed(formatDigest("sha-512", sha512)), { "sha-512": sha512 });
});
