import assert from "node:assert/strict";
import { ReadableStream } from "../../../lib/streams/mod.ts";
import { type InvalidLine, LineStream, LineToNumberStream, NumberToLineStream } from "../../../lib/text/mod.ts";
import { choices, cut, type Target } from "../target.ts";

/** Returns the lines that the documentation defines. */
function linesByModel(input: Uint8Array, allowCR: boolean): string[] {
  const text = new TextDecoder().decode(input);
  const lines = text.split(allowCR ? /\r\n|\n|\r/ : /\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** Numbers as the documentation says they are; a text for each line that is none. */
function numbersByModel(input: Uint8Array): (number | string)[] {
  const latin1 = Array.from(input, (byte) => String.fromCharCode(byte)).join("").replace(/^\xef\xbb\xbf/, "");
  const found: (number | string)[] = [];
  for (const [index, line] of latin1.split("\n").entries()) {
    const text = line.replace(/^[ \t\r]+|[ \t\r]+$/g, "");
    // Of a line that is too long only the beginning is read.
    const beginning = line.slice(0, 1024).replace(/^[ \t\r]+|[ \t\r]+$/g, "");
    const isTooLong = line.length > 1024 && (beginning === "" || NUMBER.test(beginning));
    if (isTooLong) found.push(`${index + 1} too long`);
    else if (text === "") continue;
    else if (!NUMBER.test(text)) found.push(`${index + 1} malformed`);
    else if (!Number.isFinite(Number(text))) found.push(`${index + 1} not finite`);
    else if (Math.abs(Number(text)) > Number.MAX_SAFE_INTEGER) found.push(`${index + 1} too large`);
    else found.push(Number(text));
  }
  return found;
}

async function numbersOf(pieces: readonly Uint8Array[]): Promise<(number | string)[]> {
  const found: (number | string)[] = [];
  const onInvalid = ({ line, reason, column }: InvalidLine): undefined => {
    assert.ok(line > 0 && column > 0);
    found.push(`${line} ${reason}`);
  };
  const stream = ReadableStream.from(pieces).pipeThrough(new LineToNumberStream({ onInvalid }), {});
  // A rejected line is reported when it is read; the numbers of a chunk come after that.
  const numbers: number[] = [];
  for await (const number of stream) numbers.push(number);
  return [...numbers, ...found];
}

async function requireWrittenBack(input: Uint8Array): Promise<void> {
  const view = new DataView(Uint8Array.from(input).buffer);
  const numbers: number[] = [];
  for (let at = 0; at + 8 <= input.length; at += 8) {
    const double = view.getFloat64(at);
    if (Math.abs(double) <= Number.MAX_SAFE_INTEGER) numbers.push(double);
    numbers.push(view.getInt32(at), view.getUint32(at + 4) / 1000, view.getInt16(at));
  }
  const parts: Uint8Array[] = [];
  for await (const part of ReadableStream.from(numbers).pipeThrough(new NumberToLineStream())) parts.push(part);
  const text = parts.map((part) => new TextDecoder().decode(part)).join("");
  assert.equal(text, numbers.map((number) => `${number}\n`).join(""));
}

/** Bytes of a text. */
export const text: Target = {
  name: "text",
  what:
    "lines and numbers of any bytes as plain models have them, however they are cut, and numbers written as String() does",
  maxSize: 2500,
  tokens:
    "\n|\r\n|\r|\xef\xbb\xbf|1e5|-0|.5|5.|+|1e400|9007199254740993|0.1e-7|\xc3\xa9|\xe2\x82|\xf0\x9f\x98\x80|e|,|0x1|NaN| |\t"
      .split("|"),

  seeds(): Uint8Array[] {
    const texts = [
      "1\n-2.5\r\n\n 3e2 \t\n007\n123456789012\n",
      "\ufeff9007199254740991\n9007199254740992\n1e-400\nnone\n1.7976931348623157e308\n5",
      "one\rtwo\r\nthree\n\nfür €\n😀",
      `${"1".repeat(1023)}\n${"0".repeat(1020)}1234\n${" ".repeat(1030)}1\n`,
    ];
    return texts.map((each) => new TextEncoder().encode(each));
  },

  async check(input): Promise<string> {
    const random = choices(input);
    for (const allowCR of [false, true]) {
      const lines: string[] = [];
      const stream = ReadableStream.from(cut(input, random)).pipeThrough(new LineStream({ allowCR }));
      for await (const line of stream) lines.push(line);
      assert.deepEqual(lines, linesByModel(input, allowCR), `lines, allowCR ${allowCR}`);
    }
    const expected = numbersByModel(input);
    const numbers = expected.filter((each) => typeof each === "number");
    const invalid = expected.filter((each) => typeof each === "string");
    assert.deepEqual(await numbersOf(cut(input, random)), [...numbers, ...invalid]);
    await requireWrittenBack(input);
    const kinds = new Set(invalid.map((each) => each.replace(/\d+ /, "")));
    return [...kinds].sort().join() + (numbers.length > 0 ? " numbers" : "");
  },
};
