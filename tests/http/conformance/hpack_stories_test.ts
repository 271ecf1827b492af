import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { HpackDecoder } from "../../../lib/http/h2/hpack/decoder.ts";
import { HpackEncoder } from "../../../lib/http/h2/hpack/encoder.ts";
import { ReferenceDecoder } from "../hpack/reference_decoder.ts";

const root = process.env.HPACK_TEST_CASE_ROOT;
const options = {
  skip: root ? false : "HPACK_TEST_CASE_ROOT names no checkout of http2jp/hpack-test-case",
  timeout: 120_000,
};

/** A connection's header blocks, as some encoder wrote them. */
interface Story {
  readonly cases: readonly {
    readonly wire?: string;
    readonly headers: readonly Readonly<Record<string, string>>[];
    readonly header_table_size?: number;
  }[];
}

function stories(): { path: string; story: Story }[] {
  return globSync("*/story_*.json", { cwd: root }).sort()
    .map((path) => ({ path, story: JSON.parse(readFileSync(join(root!, path), "utf8")) as Story }));
}

function fieldsOf(headers: readonly Readonly<Record<string, string>>[]): string[] {
  return headers.flatMap((field) => Object.entries(field)).flat();
}

/** Returns the fields whose names are in `taken`: the others are checked by `status` and `malformed`. */
function ordinary(fields: readonly string[], taken: readonly string[]): string[] {
  const names = new Set(taken.filter((_, i) => i % 2 === 0));
  return fields.map((text, i) => i % 2 === 0 ? text : text.replace(/^[ \t]+|[ \t]+$/g, ""))
    .filter((_, i) => names.has(fields[i - i % 2]));
}

/** Fields that no response may have. */
const FORBIDDEN = /^(:(?!status$).*|connection|proxy-connection|keep-alive|transfer-encoding|upgrade|te)$/;

test("the stories of every other encoder are decoded", options, () => {
  let blocks = 0;
  for (const { path, story } of stories()) {
    const largest = Math.max(4096, ...story.cases.map(({ header_table_size = 0 }) => header_table_size));
    const decoder = new HpackDecoder(largest);
    const reference = new ReferenceDecoder(largest);
    for (const { wire, headers } of story.cases) {
      if (wire === undefined) continue; // of raw-data, which is to be encoded
      const block = Buffer.from(wire, "hex");
      const fields = fieldsOf(headers);
      assert.deepEqual(reference.decode(block), fields, `${path}: the reference`);
      const taken = decoder.decodeTrailers(block, 0, block.length);
      assert.deepEqual(taken, ordinary(fields, taken), path);
      const missing = fields.filter((name, i) => i % 2 === 0 && !taken.includes(name));
      for (const name of missing) assert.ok(name === ":status" || FORBIDDEN.test(name), `${path}: ${name} is missing`);
      if (fields[0] === ":status") assert.equal(decoder.status, Number(fields[1]), path);
      blocks++;
    }
  }
  assert.ok(blocks > 30_000, `only ${blocks} blocks`);
});

test("the fields of the stories come back from the encoder", options, () => {
  let blocks = 0;
  for (const { path, story } of stories()) {
    if (!path.startsWith("raw-data")) continue;
    const encoder = new HpackEncoder();
    const reference = new ReferenceDecoder();
    for (const { headers } of story.cases) {
      const fields = fieldsOf(headers);
      const length = encoder.encodeFields(fields);
      assert.deepEqual(reference.decode(encoder.block.slice(0, length)), fields, path);
      blocks++;
    }
  }
  assert.ok(blocks > 3000, `only ${blocks} blocks`);
});
