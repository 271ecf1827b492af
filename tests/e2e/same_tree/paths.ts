import assert from "node:assert/strict";
import test from "node:test";
import type { CurlAnswer } from "./curl.ts";
import { ask, type Comparison, each } from "./same_tree.ts";

/** Tests the responses of a peer and this package to paths without a file. */
export function testPaths({ name, skip, same }: Comparison): void {
  test(`${name} and ours lead from a folder's name to its page, and hide the same`, { skip }, async () => {
    const redirect = ({ headers }: CurlAnswer): URL => new URL(headers.get("location")!, "http://127.0.0.1/docs");
    each(await same().ask([ask("/docs?a=b", undefined)]), (theirs, ours) => {
      for (const answer of [theirs, ours]) {
        assert.ok([301, 308].includes(answer.status));
        assert.equal(redirect(answer).pathname, "/docs/");
      }
      assert.equal(redirect(ours).search, "?a=b");
    });
    const hidden = [
      ...["/missing", "/docs/missing.html", "/.millrace.json", "/assets/", "/index.html/"],
      ...["/assets/.env.js", "/assets/.hidden/a.js", "/.well-known/.hidden/a.txt"],
    ];
    each(await same().ask(hidden.map((path) => ask(path, undefined))), (theirs, ours) => {
      assert.equal(ours.status, 404);
      assert.ok([403, 404].includes(theirs.status)); // a folder without a page may be called forbidden
    });
    each(await same().ask([ask("/../../etc/passwd", undefined), ask("/%00", undefined)]), (theirs, ours) => {
      assert.ok(ours.status >= 400 && theirs.status >= 400);
    });
  });

  test(`${name} and ours let no answer be kept that a name with a hash is missing`, { skip }, async () => {
    each(await same().ask([ask("/assets/app-00000000.js", "br, dcb, dcz")]), (theirs, ours) => {
      for (const { status, headers } of [theirs, ours]) {
        assert.equal(status, 404);
        assert.doesNotMatch(headers.get("cache-control") ?? "", /immutable|max-age=[1-9]/);
      }
    });
  });
}
