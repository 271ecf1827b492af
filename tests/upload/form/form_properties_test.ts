import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import fc from "fast-check";
import { BOUNDARY, parse, TYPE, type Understood, understoodOf } from "./forms.ts";
import { tries } from "../../support/long_run.ts";
import { codePoint } from "../../support/code_point.ts";

const encoder = new TextEncoder();

interface Part {
  readonly name: string;
  readonly filename: string | null;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Names of all characters but controls (which no header may have), most often of the ones that are hard to read. */
const awkward = fc.constantFrom(
  '"',
  "\\",
  ";",
  "=",
  "'",
  "*",
  " ",
  "%",
  "\r\n",
  "é",
  "€",
  "😀",
  "/",
  ".",
  ",",
  "name=",
  "x",
);
const name = fc.oneof(
  fc.array(awkward, { maxLength: 8 }).map((units) => units.join("")),
  fc.string({ unit: codePoint, maxLength: 12 }).map((text) => text.replace(/\p{Cc}/gu, "")),
);

/** Bytes that come close to a boundary. */
const nearly = fc.constantFrom(
  "\r",
  "\n",
  "\r\n",
  "-",
  "--",
  BOUNDARY,
  "X",
  "Xb",
  `\r\n--${BOUNDARY.slice(0, 2)}`,
  "\0",
  "y",
)
  .map((text) => encoder.encode(text));
const bytes = fc.oneof(
  fc.array(nearly, { maxLength: 12 }).map((pieces) => Uint8Array.from(Buffer.concat(pieces))),
  fc.uint8Array({ maxLength: 300 }).map((given) => Uint8Array.from(given)),
);
const part: fc.Arbitrary<Part> = fc.record({ name, filename: fc.option(name.filter((text) => text !== "")), bytes });
const parts = fc.array(part, { maxLength: 5 });
/** The places where a form is cut into pieces, as parts of its length. */
const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 });

function cut(whole: Uint8Array, at: readonly number[]): Uint8Array[] {
  const ends = [...at.map((part) => Math.floor(part * whole.length)), whole.length].sort((a, b) => a - b);
  return ends.map((end, index) => whole.subarray(ends[index - 1] ?? 0, end)).filter(({ length }) => length > 0);
}

/** Node's formData() takes the boundary for one anywhere. */
const containsBoundary = ({ bytes }: Part): boolean => Buffer.from(bytes).includes(BOUNDARY);
const textOf = (given: Uint8Array): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(given);

test("what fetch() makes of any form is understood as it was meant, however it is cut", async () => {
  await fc.assert(
    fc.asyncProperty(parts, cuts, async (given, at) => {
      const data = new FormData();
      for (const { name, filename, bytes } of given) {
        if (filename === null) data.append(name, textOf(bytes));
        else data.append(name, new File([bytes], filename, { type: "application/x" }));
      }
      // A request without any part is not written as the empty form by every runtime.
      if (given.length === 0) data.append("a", "b");
      const response = new Response(data);
      const boundary = /boundary="?([^"]+)"?$/.exec(response.headers.get("content-type")!)![1];
      const pieces = cut(new Uint8Array(await response.arrayBuffer()), at);
      const meant = (await understoodOf(data)).map(([name, filename, type, body]): Understood => [
        withLineEnds(name),
        filename,
        type,
        filename === null ? withLineEnds(body) : body,
      ]);
      assert.deepEqual(parse(pieces, { maxNameBytes: 2000 }, boundary), meant);
    }),
    { numRuns: tries(1000) },
  );
});

/** Line ends in names and texts are sent as CR and LF. */
function withLineEnds(text: string): string {
  return text.replace(/\r\n|\r|\n/g, "\r\n");
}

/** Names that every runtime's formData() reads alike: with percent, equals sign, quote or semicolon they do not. */
const plain = fc.string({
  unit: fc.constantFrom("a", "b", "é", "€", "😀", " ", "/", ".", "*", "'", "-"),
  minLength: 1,
  maxLength: 10,
})
  .map((text) => `n${text}n`);

test("raw forms with all kinds of bytes are understood as formData() understands them, however they are cut", async () => {
  const plainPart = fc.record({ name: plain, filename: fc.option(plain), bytes }).filter((part) =>
    !containsBoundary(part)
  );
  await fc.assert(
    fc.asyncProperty(fc.array(plainPart, { minLength: 1, maxLength: 5 }), cuts, async (given, at) => {
      const pieces: Uint8Array[] = [];
      for (const { name, filename, bytes } of given) {
        const names = `name="${name}"${filename === null ? "" : `; filename="${filename}"`}`;
        const type = filename === null ? "" : "Content-Type: application/x\r\n";
        pieces.push(encoder.encode(`--${BOUNDARY}\r\nContent-Disposition: form-data; ${names}\r\n${type}\r\n`));
        pieces.push(bytes, encoder.encode("\r\n"));
      }
      const whole = Uint8Array.from(Buffer.concat([...pieces, encoder.encode(`--${BOUNDARY}--\r\n`)]));
      const data = await new Response(whole, { headers: { "content-type": TYPE } }).formData();
      // Types are left out: Bun does not keep that of an empty file.
      const expected = (await understoodOf(data)).map(([name, filename, , body]) => [name, filename, body]);
      const found = parse(cut(whole, at)).map(([name, filename, , body]) => [name, filename, body]);
      assert.deepEqual(found, expected);
    }),
    { numRuns: tries(500) },
  );
});

test("whatever bytes come, they are understood or refused as malformed, alike however they are cut", () => {
  const lines = fc.constantFrom(
    `--${BOUNDARY}`,
    `--${BOUNDARY}--`,
    `--${BOUNDARY}-`,
    `--${BOUNDARY}x`,
    'Content-Disposition: form-data; name="a"',
    'Content-Disposition: form-data; name="a"; filename="b"',
    "Content-Disposition: form-data",
    "Content-Type: text/plain",
    "no field",
    "",
    "\r",
    "x",
  );
  const end = fc.constantFrom("\r\n", "\r\n", "\r\n", "\r\n", "\n", "");
  const hostile = fc.array(fc.tuple(lines, end), { maxLength: 12 }).map((all) => encoder.encode(all.flat().join("")));
  fc.assert(
    fc.property(hostile, cuts, (whole, at) => {
      const outcome = (pieces: Uint8Array[]): unknown => {
        try {
          return parse(pieces);
        } catch (error) {
          assert.equal((error as { code?: unknown }).code, "MALFORMED", String(error));
          return String(error);
        }
      };
      const expected = outcome([whole]);
      assert.deepEqual(outcome(cut(whole, at)), expected);
      assert.deepEqual(outcome([...whole].map((byte) => Uint8Array.of(byte))), expected);
    }),
    { numRuns: tries(3000) },
  );
});
