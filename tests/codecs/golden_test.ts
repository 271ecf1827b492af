import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { compress, CompressionStream, type Format, formats } from "../../lib/codecs/mod.ts";
import { collected, streamOf } from "../support/streams.ts";
import { piecesOf, sha256, sourceText } from "../support/bytes.ts";
import { isLong } from "../support/long_run.ts";
import { samples } from "./samples.ts";

/**
 * SHA-256 of outputs, by format, level and sample. They are the same on every runtime; those of brotli equal the output
 * of Google's C code. They change only with a codec's version. If so, run this file with MILLRACE_LONG=1 and
 * MILLRACE_GOLDEN=write, and mention it in the change log, since every deploy is then compressed again.
 */
const recorded = new URL("./golden.json", import.meta.url);

const cases: readonly { format: Format; levels: readonly number[] }[] = isLong
  ? [
    { format: "brotli", levels: [0, 1, 4, 5, 9, 10, 11] },
    { format: "zstd", levels: [1, 3, 9, 15, 19, 22] },
    { format: "gzip", levels: [1, 6, 9, 12] },
    { format: "deflate", levels: [6, 12] },
    { format: "deflate-raw", levels: [6, 12] },
    { format: "dcb", levels: [5, 11] },
    { format: "dcz", levels: [3, 19] },
  ]
  : [
    { format: "brotli", levels: [4, 11] },
    { format: "zstd", levels: [3, 15] },
    { format: "gzip", levels: [6, 9] },
    { format: "deflate", levels: [6] },
    { format: "deflate-raw", levels: [6] },
    { format: "dcb", levels: [5] },
    { format: "dcz", levels: [3] },
  ];
const dictionary = sourceText(40_000, 3);
const inputs: Readonly<Record<string, Uint8Array<ArrayBuffer>>> = {
  ...samples,
  // Ten seconds of a processor.
  ...(isLong ? { "much source text": sourceText(600_000, 5) } : {}),
};

async function measured(): Promise<Record<string, string>> {
  const hashes: Record<string, string> = {};
  for (const { format, levels } of cases) {
    const extra = format === "dcb" || format === "dcz" ? { dictionary } : {};
    for (const level of levels) {
      for (const [name, bytes] of Object.entries(inputs)) {
        hashes[`${format} ${level} ${name}`] = await sha256(await compress(bytes, { format, level, ...extra }));
      }
      const streamed = streamOf(piecesOf(inputs["source text"]!, 9000))
        .pipeThrough(new CompressionStream(format, { level, ...extra }));
      hashes[`${format} ${level} streamed`] = await sha256(await collected(streamed));
    }
  }
  return hashes;
}

test("every format gives the recorded bytes", async () => {
  assert.deepEqual(new Set(cases.map(({ format }) => format)), new Set(formats));
  const hashes = await measured();
  if (process.env.MILLRACE_GOLDEN === "write") {
    const { writeFileSync } = await import("node:fs");
    writeFileSync(recorded, `${JSON.stringify(hashes, null, 2)}\n`);
  }
  const expected = Object.entries(JSON.parse(readFileSync(recorded, "utf8"))).filter(([name]) =>
    isLong || name in hashes
  );
  assert.deepEqual(hashes, Object.fromEntries(expected));
});
