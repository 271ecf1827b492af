import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { CompressionError } from "../../../lib/http/h2/hpack/huffman.ts";
import { HpackDecoder } from "../../../lib/http/h2/hpack/decoder.ts";
import { HpackEncoder } from "../../../lib/http/h2/hpack/encoder.ts";
import { field, hex, integer, OK } from "../../http/hpack/blocks.ts";
import { ReferenceDecoder } from "../../http/hpack/reference_decoder.ts";
import type { Target } from "../target.ts";

/** Returns the input as blocks: a byte with the length of each goes before it. */
function blocksOf(input: Uint8Array): Uint8Array[] {
  const blocks: Uint8Array[] = [];
  for (let at = 0; at < input.length;) {
    const end = at + 1 + input[at];
    blocks.push(input.slice(at + 1, end));
    at = end;
  }
  return blocks;
}

function withLengths(...blocks: Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(blocks.flatMap((block) => [Uint8Array.of(block.length), block])));
}

/** Decodes one block by both decoders; false if both report an error of the connection. */
function decodesAlike(decoder: HpackDecoder, reference: ReferenceDecoder, block: Uint8Array): boolean {
  let expected: string[] | undefined;
  try {
    expected = reference.decode(block);
  } catch {
    // the error's message is not compared
  }
  try {
    const fields = decoder.decodeHead(block, 0, block.length);
    assert.ok(expected !== undefined, "the reference refuses what ours takes");
    if (decoder.malformed === "") {
      const statuses = expected.filter((name, i) => i % 2 === 0 && name === ":status").length;
      assert.equal(statuses, 1, "not one :status");
      const at = expected.findIndex((name, i) => i % 2 === 0 && name === ":status");
      const rest = expected.filter((_, i) => i !== at && i !== at + 1);
      assert.deepEqual(fields, rest.map((text, i) => i % 2 === 0 ? text : text.replace(/^[ \t]+|[ \t]+$/g, "")));
      assert.equal(decoder.status, Number(expected[at + 1]));
    }
    return true;
  } catch (error) {
    if (!(error instanceof CompressionError)) throw error;
    assert.equal(expected, undefined, `the reference takes what ours refuses: ${error.message}`);
    return false;
  }
}

/** Encodes the input as fields, and requires the same fields from the reference decoder. */
function comesBack(input: Uint8Array): void {
  const fields: string[] = [];
  const clean = [...input].map((byte) => String.fromCharCode(byte)).join("").replace(/[^\x20-\x7e]/g, "-");
  for (const line of clean.match(/.{1,60}/g) ?? []) {
    const name = line.slice(0, 5).toLowerCase().replace(/[^a-z-]/g, "x");
    fields.push(name, line.slice(5).trim());
  }
  const encoder = new HpackEncoder();
  const reference = new ReferenceDecoder();
  for (let time = 0; time < 3; time++) {
    const length = encoder.encodeFields(fields);
    assert.deepEqual(reference.decode(encoder.block.slice(0, length)), fields, "other fields from the encoder");
  }
}

/** Returns the first blocks of a story of every encoder, if a checkout of http2jp/hpack-test-case is there. */
function stories(): Uint8Array[] {
  const root = process.env.HPACK_TEST_CASE_ROOT;
  if (root === undefined) return [];
  return globSync("*/story_01.json", { cwd: root }).sort().map((path) => {
    const { cases } = JSON.parse(readFileSync(join(root, path), "utf8")) as { cases: { wire?: string }[] };
    const blocks = cases.slice(0, 5).map(({ wire = "" }) => Buffer.from(wire, "hex"));
    return withLengths(...blocks.filter(({ length }) => length > 0 && length < 256));
  });
}

/** Header blocks of a connection, each with its length before it. */
export const hpack: Target = {
  name: "hpack",
  what: "header blocks: decoded or refused as a plain reference does, and fields come back from the encoder",
  maxSize: 1500,
  tokens: [
    "\x88",
    "\x20",
    "\x3f\xe1\x1f",
    "\x40\x01a\x01b",
    "\xbe",
    "\xff\x80",
    "\x82\xff\xff",
    "\x00\x81\xff",
    "\x7f\x80\x80",
  ],

  seeds(): Uint8Array[] {
    const added = field("x-a", "b", { add: true });
    return [
      withLengths(OK, Buffer.concat([OK, added]), Buffer.concat([OK, integer(0x80, 7, 62)])),
      withLengths(Buffer.concat([OK, field("x-huffman", "a value of some length", { huffman: true, add: true })])),
      withLengths(Buffer.concat([integer(0x20, 5, 100), OK, added, added]), Buffer.concat([integer(0x20, 5, 0), OK])),
      withLengths(hex("4803 3330 3258 0770 7269 7661 7465"), hex("4883 640e ffc1 c0bf")),
      withLengths(Buffer.concat([field(8, "103"), field(28, "12"), field("X", "y")])),
      ...stories(),
    ];
  },

  check(input): string {
    const decoder = new HpackDecoder();
    const reference = new ReferenceDecoder();
    const story: string[] = [];
    for (const block of blocksOf(input)) {
      if (!decodesAlike(decoder, reference, block)) {
        story.push("refused");
        break;
      }
      story.push(decoder.malformed === "" ? "head" : decoder.malformed.replace(/".*"/, ""));
    }
    comesBack(input);
    return [...new Set(story)].join(", ");
  },
};
