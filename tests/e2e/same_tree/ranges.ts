import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import type { CurlAnswer } from "./curl.ts";
import { partsOf } from "./parts.ts";
import { ask, assertField, type Comparison, each } from "./same_tree.ts";

/** Tests that a peer and this package send the same ranges. */
export function testRanges({ name, skip, same }: Comparison): void {
  test(`${name} and ours send the same ranges`, { skip }, async () => {
    const ranges = ["0-0", "0-99", "-100", "100-", "4990-999999999", "999999999-", "0-1,5-6,-3"];
    const asked = ["/picture.png", "/large.txt"].flatMap((path) =>
      [undefined, "gzip", "br"].flatMap((encoding) =>
        ranges.map((range) => ask(path, encoding, { Range: `bytes=${range}` }))
      )
    );
    each(await same().ask(asked), (theirs, ours) => {
      if (theirs.status === 200) {
        // It sends variants as a whole only.
        assert.ok(theirs.headers.has("content-encoding"));
        return assertPartsOf(theirs.body, ours);
      }
      assert.equal(ours.status, theirs.status);
      assertField("content-range", theirs, ours);
      if (ours.status === 206) assert.deepEqual(partsOf(ours), partsOf(theirs));
    });
  });

  test(`${name} and ours send a range only of what If-Range names`, { skip }, async () => {
    const answers = await same().ask(
      [ask("/picture.png", undefined)],
      ([{ headers }]) =>
        [headers.get("etag")!, headers.get("last-modified")!, '"other"', "Sun, 06 Nov 1994 08:49:37 GMT"]
          .map((validator) => ask("/picture.png", undefined, { Range: "bytes=10-19", "If-Range": validator })),
    );
    each(answers, (theirs, ours) => {
      assert.equal(ours.status, theirs.status);
      assert.deepEqual(Buffer.from(ours.body), Buffer.from(theirs.body));
    });
    assert.deepEqual(answers.map(({ theirs }) => theirs.status), [206, 206, 200, 200]);
  });
}

/** Requires one or more parts of `whole`, or the status 416. */
function assertPartsOf(whole: Uint8Array, answer: CurlAnswer): void {
  if (answer.status === 416) return assert.equal(answer.headers.get("content-range"), `bytes */${whole.length}`);
  assert.equal(answer.status, 206);
  for (const { range, bytes } of partsOf(answer)) {
    const [, start, end] = /^bytes (\d+)-(\d+)\//.exec(range)!;
    assert.deepEqual(bytes, Buffer.from(whole.subarray(Number(start), Number(end) + 1)).toString("base64"));
  }
}
