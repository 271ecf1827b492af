import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import type { CurlAnswer, CurlRequest } from "./curl.ts";
import { ask, assertField, type Comparison, each } from "./same_tree.ts";

/** Tests that a peer and this package respond alike to conditional requests. */
export function testConditions({ name, skip, same }: Comparison): void {
  test(`${name} and ours answer the same to conditional requests`, { skip }, async () => {
    const other = '"other"';
    const past = "Sun, 06 Nov 1994 08:49:37 GMT";
    for (
      const [path, encoding] of [["/picture.png", undefined], ["/notes.txt", "br"], ["/large.txt", "gzip"]] as const
    ) {
      const conditions = ({ headers }: CurlAnswer): Record<string, string>[] => {
        const [tag, date] = [headers.get("etag")!, headers.get("last-modified")!];
        return [
          { "If-None-Match": tag },
          { "If-None-Match": `W/${tag}` },
          { "If-None-Match": `${other}, ${tag}` },
          { "If-None-Match": "*" },
          { "If-None-Match": other },
          { "If-Modified-Since": date },
          { "If-Modified-Since": past },
          { "If-None-Match": other, "If-Modified-Since": date },
          { "If-Match": tag },
          { "If-Match": "*" },
          { "If-Match": other },
          { "If-Unmodified-Since": date },
          { "If-Unmodified-Since": past },
        ];
      };
      const requests = ([first]: readonly CurlAnswer[]): CurlRequest[] =>
        conditions(first).map((fields) => ask(path, encoding, fields));
      const answers = await same().ask([ask(path, encoding)], requests);
      each(answers, (theirs, ours) => {
        assert.equal(ours.status, theirs.status);
        if (ours.status === 412) return; // the other fields of a 412 are up to the server
        assert.deepEqual(Buffer.from(ours.body), Buffer.from(theirs.body));
        assertField("last-modified", theirs, ours);
        assert.equal(ours.headers.has("etag"), true);
      });
      const statuses = answers.map(({ theirs }) => theirs.status);
      assert.deepEqual(statuses, [304, 304, 304, 304, 200, 304, 200, 200, 200, 200, 412, 200, 412]);
    }
  });
}
