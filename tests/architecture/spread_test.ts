import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { root } from "../support/runtime.ts";

const SPREAD = /\b(?:push|unshift|max|min|fromCharCode|fromCodePoint)\(\.\.\..*/g;

/** Lists that are short, whatever users do. */
const short: readonly string[] = [
  "lib/build/compress_output.ts", // types of files
  "lib/cli/precompress_command.ts", // types of files
  "lib/files/file_writable.ts", // a half of a character
  "lib/http/diagnostics/diagnostics_channel.ts", // fields of a request
  "lib/http/h2/hpack/huffman.ts", // 256
  "lib/http/h2/frame_handler.ts", // 200
  "lib/http/request/request_headers.ts", // fields of a request
  "lib/precompress/pool.ts", // lines of a chart
  "lib/s3/upload/gathered_part.ts", // blocks of a part in memory
  "lib/streams/language/suggestion.ts", // names of options
  "lib/upload/body/stream_body.ts", // recent chunks
  "lib/upload/session/disk_session.ts", // two
];

test("no list that may be long is spread into arguments: engines take some 120,000", () => {
  const found: string[] = [];
  for (const path of globSync("lib/**/*.ts", { cwd: root }).sort()) {
    if (short.includes(path) || path.endsWith("page_assets.ts")) continue;
    for (const [spread] of readFileSync(join(root, path), "utf8").matchAll(SPREAD)) found.push(`${path}: ${spread}`);
  }
  assert.deepEqual(found, []);
});
