import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { compress, CompressionStream, decompress, type Format, levels } from "../../lib/codecs/mod.ts";
import { collected, streamOf } from "../support/streams.ts";
import { concatenated, piecesOf, sourceText } from "../support/bytes.ts";
import { isLong } from "../support/long_run.ts";
import { runtime } from "../support/runtime.ts";
import { samples } from "./samples.ts";
import { samplesAt } from "./samples_at.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Pipes `input` through a command of the system and returns its output. */
function filter(command: string, args: string[], input: Uint8Array): Bytes {
  const { status, stdout, stderr } = spawnSync(command, args, { input, maxBuffer: 2 ** 28 });
  assert.equal(status, 0, `${command} ${args.join(" ")}: ${stderr}`);
  return Uint8Array.from(stdout);
}

/** The test's `skip` option: a reason where `command` is not installed, and where its answers are known. */
const without = (command: string) => ({
  skip: runtime !== "node" && !isLong
    ? "golden_test.ts has it that the bytes are the same everywhere"
    : spawnSync(command, ["--version"]).status === 0
    ? false
    : `${command} is not installed`,
});

const commands: readonly { command: string; format: Format; encode: readonly string[]; levels: readonly string[] }[] = [
  { command: "zstd", format: "zstd", encode: ["-c"], levels: ["-1", "-3", "-9", "-19", "--ultra -22", "--fast=3"] },
  { command: "brotli", format: "brotli", encode: ["-c"], levels: ["-q 0", "-q 5", "-q 9", "-q 11"] },
  { command: "gzip", format: "gzip", encode: ["-c"], levels: ["-1", "-6", "-9"] },
];

for (const { command, format, encode, levels: flags } of commands) {
  test(`${command} -d reads every level of our ${format}, whole and streamed`, without(command), async () => {
    for (let level = levels[format].min; level <= levels[format].max; level++) {
      for (const [name, bytes] of Object.entries(samplesAt(level, levels[format]))) {
        const whole = await compress(bytes, { format, level });
        assert.deepEqual(filter(command, ["-d", "-c"], whole), bytes, `${name}, level ${level}`);
      }
    }
    for (const [name, bytes] of Object.entries(samples)) {
      const streamed = streamOf(piecesOf(bytes, 30_000)).pipeThrough(new CompressionStream(format));
      assert.deepEqual(filter(command, ["-d", "-c"], await collected(streamed)), bytes, `${name}, streamed`);
    }
  });

  test(`we read what ${command} writes`, without(command), async () => {
    for (const [name, bytes] of Object.entries(samples)) {
      // Its largest window takes a second of the system's to make.
      for (const flag of flags) {
        if (flag === "--ultra -22" && !isLong && name !== "text between noise") continue;
        const small = filter(command, [...encode, ...flag.split(" ")], bytes);
        const options = format === "zstd" ? { format, maxWindow: 2 ** 27 } : { format };
        assert.deepEqual(await decompress(small, options), bytes, `${name}, ${flag}`);
      }
    }
  });
}

test("zstd -D and brotli -D read dcz and dcb after their headers", without("zstd"), async () => {
  const dictionary = sourceText(80_000, 3);
  const bytes = concatenated([dictionary.subarray(500), sourceText(3000, 5)]);
  const folder = mkdtempSync(join(tmpdir(), "millrace-dictionary-"));
  try {
    const path = join(folder, "dictionary");
    writeFileSync(path, dictionary);
    const dcz = await compress(bytes, { format: "dcz", dictionary });
    assert.deepEqual(filter("zstd", ["-d", "-c", "-D", path], dcz.subarray(40)), bytes);
    const takesDictionary = spawnSync("brotli", ["--help"]).stdout?.toString().includes("--dictionary");
    if (!takesDictionary) return console.log("brotli -D was not tried: the installed brotli takes no dictionary");
    const dcb = await compress(bytes, { format: "dcb", dictionary });
    assert.deepEqual(filter("brotli", ["-d", "-c", "-D", path], dcb.subarray(36)), bytes);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
