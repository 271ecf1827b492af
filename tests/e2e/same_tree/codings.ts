import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import { assertField, type Comparison, each } from "./same_tree.ts";
import { treePaths } from "./served_tree.ts";
import type { CurlAnswer } from "./curl.ts";

/** Tests that a peer and this package send equal bytes for equal `Accept-Encoding`. */
export function testCodings({ name, skip, same }: Comparison): void {
  test(`${name} and ours send the same bytes for the same Accept-Encoding`, { skip }, async () => {
    const answers = await same().ask(same().everything());
    each(answers, (theirs, ours) => {
      assert.equal(ours.status, 200);
      assert.equal(theirs.status, 200);
      assert.equal(ours.headers.get("content-encoding"), theirs.headers.get("content-encoding"));
      assert.deepEqual(Buffer.from(ours.body), Buffer.from(theirs.body));
      assertType(theirs, ours);
      for (const field of ["cache-control", "content-length", "last-modified", "x-content-type-options"]) {
        assertField(field, theirs, ours);
      }
      assert.equal(ours.headers.get("content-length"), String(ours.body.length));
      if (theirs.headers.has("content-encoding")) {
        for (const { headers } of [theirs, ours]) assert.match(headers.get("vary")!, /accept-encoding/i);
      }
    });
    const sent = new Set(answers.map(({ theirs }) => theirs.headers.get("content-encoding")));
    assert.deepEqual([...sent].sort(), [null, ...same().precompressed].sort());
  });

  test(`curl decodes what ${name} and ours send to the same file`, { skip }, async () => {
    const answers = await same().ask(treePaths.map((path) => ({ path, decoded: true })));
    each(answers, (theirs, ours) => assert.deepEqual(Buffer.from(ours.body), Buffer.from(theirs.body)));
    for (const { request: { path }, theirs } of answers) {
      assert.deepEqual(Buffer.from(theirs.body), Buffer.from(await same().original(path)), path);
    }
  });

  test(`${name} and ours answer HEAD as GET, without the body`, { skip }, async () => {
    each(await same().ask(same().everything({ method: "HEAD" })), (theirs, ours) => {
      assert.equal(ours.status, theirs.status);
      assert.equal(ours.headers.get("content-encoding"), theirs.headers.get("content-encoding"));
      for (const field of ["content-length", "last-modified", "cache-control"]) assertField(field, theirs, ours);
      assert.ok(ours.headers.has("content-length"));
    });
  });
}

/** Returns a media type for comparison: without parameters, and with JavaScript's current name. */
function typeOf(value: string): string {
  return value.toLowerCase().replace(/;.*$/, "").replace("application/javascript", "text/javascript");
}

/** Requires the same media type of two responses, and the same charset if both name one. */
function assertType(theirs: CurlAnswer, ours: CurlAnswer): void {
  assertField("content-type", theirs, ours, typeOf);
  const [their, our] = [theirs, ours].map(({ headers }) => {
    return /charset=([\w-]+)/i.exec(headers.get("content-type") ?? "")?.[1]?.toLowerCase();
  });
  if (their !== undefined && our !== undefined) assert.equal(our, their);
}
