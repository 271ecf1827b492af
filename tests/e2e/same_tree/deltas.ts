import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { decompress } from "../../../lib/codecs/mod.ts";
import { ask, type Comparison, each } from "./same_tree.ts";

/** The fields of a client that doesn't send `Sec-Fetch-Site`. */
const unknownSite: Readonly<Record<string, string>> = {};

/** Tests that a peer configured for deltas sends the same as this package. */
export function testDeltas({ name, skip, same }: Comparison): void {
  test(`${name} and ours send the same delta to who has the former version`, { skip }, async () => {
    const { script, dictionary, former } = same().tree;
    const original = Buffer.from(await same().original(script));
    for (const [encoding, format] of [["gzip, br, zstd, dcb, dcz", "dcb"], ["gzip, dcz", "dcz"]] as const) {
      for (const site of [unknownSite, { "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "no-cors" }]) {
        const answers = await same().ask([ask(script, encoding, { "Available-Dictionary": dictionary, ...site })]);
        each(answers, (theirs, ours) => {
          assert.equal(theirs.headers.get("content-encoding"), format);
          assert.equal(ours.headers.get("content-encoding"), format);
          assert.deepEqual(Buffer.from(ours.body), Buffer.from(theirs.body));
          for (const field of ["content-type", "cache-control", "use-as-dictionary"]) {
            assert.equal(ours.headers.get(field), theirs.headers.get(field));
          }
          for (const { headers } of [theirs, ours]) {
            assert.match(headers.get("vary")!, /accept-encoding/i);
            assert.match(headers.get("vary")!, /available-dictionary/i);
          }
        });
        const plain = await decompress(answers[0].theirs.body, { format, dictionary: former });
        assert.deepEqual(Buffer.from(plain), original);
      }
    }
  });

  test(`${name} and ours send no delta to anybody else`, { skip }, async () => {
    const { script, dictionary } = same().tree;
    const other = `:${Buffer.alloc(32, 1).toString("base64")}:`;
    const crossSite = { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors" };
    const requests = [
      ask(script, "br, dcb, dcz"),
      ask(script, "br, dcb, dcz", { "Available-Dictionary": other }),
      ask(script, "br", { "Available-Dictionary": dictionary }),
      ask(script, "br, dcb, dcz", { "Available-Dictionary": dictionary, ...crossSite }),
      ask("/assets/style-Ab3dE9_x.css", "br, dcb, dcz", { "Available-Dictionary": dictionary }),
    ];
    each(await same().ask(requests), (theirs, ours) => {
      for (const { status, headers } of [theirs, ours]) {
        assert.equal(status, 200);
        assert.equal(headers.get("content-encoding"), "br");
        assert.match(headers.get("use-as-dictionary")!, /^match="\/assets\/(app|style)-\*\.(js|css)"$/);
      }
      assert.deepEqual(Buffer.from(ours.body), Buffer.from(theirs.body));
    });
  });

  test(`${name} and ours send no delta that the client refuses`, { skip }, async () => {
    const { script, dictionary } = same().tree;
    const fields = { "Available-Dictionary": dictionary };
    for (const [encoding, format] of [["br, dcb;q=0, dcz", "dcz"], ["br, dcz; q=0.0, dcb;q=0.000", "br"]] as const) {
      each(await same().ask([ask(script, encoding, fields)]), (theirs, ours) => {
        for (const { headers } of [theirs, ours]) assert.equal(headers.get("content-encoding"), format, encoding);
      });
    }
  });

  test(`${name} and ours answer HEAD without a delta, which browsers cannot decode`, { skip }, async () => {
    const { script, dictionary } = same().tree;
    const request = ask(script, "br, dcb, dcz", { "Available-Dictionary": dictionary });
    each(await same().ask([{ ...request, method: "HEAD" }]), (theirs, ours) => {
      for (const { headers } of [theirs, ours]) assert.equal(headers.get("content-encoding"), "br");
    });
  });

  test(`${name} makes no dictionary of a name that is no URL pattern`, { skip }, async () => {
    const path = encodeURI("/assets/[id]+ä-3f9a1c0b.js");
    const fields = { "Available-Dictionary": same().tree.dictionary };
    const [{ theirs, ours }] = await same().ask([ask(path, "br, dcb, dcz", fields)]);
    assert.equal(theirs.headers.get("content-encoding"), "br");
    assert.equal(theirs.headers.get("use-as-dictionary"), null);
    for (const { headers } of ours.values()) assert.equal(headers.get("content-encoding"), "dcb");
  });

  test(`${name} and ours send no range of a delta`, { skip }, async () => {
    const { script, dictionary } = same().tree;
    const original = Buffer.from(await same().original(script));
    for (const encoding of ["dcb, dcz", "identity, dcz"]) {
      const fields = { "Available-Dictionary": dictionary, "Range": "bytes=10-49" };
      each(await same().ask([ask(script, encoding, fields)]), (theirs, ours) => {
        for (const { status, headers, body } of [theirs, ours]) {
          assert.equal(status, 206);
          assert.equal(headers.get("content-encoding"), null);
          assert.equal(headers.get("use-as-dictionary"), null); // the part would become the dictionary
          assert.match(headers.get("vary")!, /available-dictionary/i);
          assert.deepEqual(Buffer.from(body), original.subarray(10, 50));
        }
      });
    }
  });

  test(`${name} names no coding of a delta that is gone, though the list has it`, { skip }, async () => {
    const { folder, script, dictionary } = same().tree;
    await Promise.all(["dcb", "dcz"].map((format) => rm(join(folder, `${script}.${format}`))));
    const [{ theirs }] = await same().ask([ask(script, "br, dcb, dcz", { "Available-Dictionary": dictionary })]);
    assert.equal(theirs.headers.get("content-encoding"), "br");
    const plain = await decompress(theirs.body, { format: "brotli" });
    assert.deepEqual(Buffer.from(plain), Buffer.from(await same().original(script)));
  });
}
