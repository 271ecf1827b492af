import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import test from "node:test";
import { Digester, verifyDigests } from "../../lib/upload/body/announced.ts";
import { noise } from "../support/bytes.ts";
import { chunksOf } from "./bodies.ts";

const bytes = noise(300_000);
const expected = (name: string) => createHash(name).update(bytes).digest("base64");

test("a Digester makes the digests of all pieces together", () => {
  const digester = new Digester(["sha-256", "sha-512"]);
  const chunks = chunksOf(bytes, 65_536);
  digester.update(chunks.slice(0, 2));
  digester.update([]);
  digester.update([new Uint8Array(0)]);
  digester.update(chunks.slice(2));
  assert.deepEqual([...digester.finish()], [["sha-256", expected("sha256")], ["sha-512", expected("sha512")]]);
});

test("a Digester takes only what a view shows, and its memory may be used again at once", () => {
  const digester = new Digester(["sha-512"]);
  const memory = new Uint8Array(70_000);
  for (let start = 0; start < bytes.length; start += 60_000) {
    const part = bytes.subarray(start, start + 60_000);
    memory.fill(0);
    memory.set(part, 100);
    digester.update([memory.subarray(100, 100 + part.length)]);
    memory.fill(255);
  }
  assert.equal(digester.finish().get("sha-512"), expected("sha512"));
});

test("a Digester without bytes makes the digest of nothing", () => {
  const digest = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
  assert.deepEqual([...new Digester(["sha-256"]).finish()], [["sha-256", digest]]);
});

test("digests that agree are let through, also where more were made", () => {
  const actual = new Map([["sha-256", "a"], ["sha-512", "b"]] as const);
  verifyDigests("Content-Digest", new Map([["sha-512", "b"]]), actual);
  verifyDigests("Content-Digest", new Map(), actual);
});

test("a digest that differs is told with its field, what it says and what was received", () => {
  const announced = new Map([["sha-256", "AAAA"], ["sha-512", "CCCC"]] as const);
  const actual = new Map([["sha-256", "AAAA"], ["sha-512", "BBBB"]] as const);
  assert.throws(() => verifyDigests("Repr-Digest", announced, actual), {
    name: "UploadError",
    code: "DIGEST_MISMATCH",
    status: 422,
    message: "The bytes received are not those of Repr-Digest: it says sha-512=:CCCC:, they have sha-512=:BBBB:",
  });
});

test("a digest that was not made is never taken as right", () => {
  assert.throws(() => verifyDigests("Repr-Digest", new Map([["sha-256", "AAAA"]]), new Map()), { name: "TypeError" });
});
