import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import { FormParser } from "../../../lib/upload/form/form_parser.ts";
import { saveFormOptions } from "../../../lib/upload/form/form_options.ts";
import { noise } from "../../support/bytes.ts";
import { BOUNDARY, form, formOf, parse, TYPE, type Understood, understoodOf } from "./forms.ts";

const malformed = { name: "UploadError", code: "MALFORMED", status: 400 };

const small = form(
  `--${BOUNDARY}
Content-Disposition: form-data; name="text"

a\n\n--X\n--Xb\n-
--${BOUNDARY}
Content-Disposition: form-data; name="file"; filename="é.bin"
Content-Type: application/octet-stream

\n--${BOUNDARY.slice(0, 2)}\0\n\r\r
--${BOUNDARY}
Content-Disposition: form-data; name="nothing"


--${BOUNDARY}--
`,
);
const understood: Understood[] = [
  ["text", null, null, "a\r\n\r\n--X\r\n--Xb\r\n-"],
  ["file", "é.bin", "application/octet-stream", "\r\n--Xb\0\r\n\r\r"],
  ["nothing", null, null, ""],
];

test("a form is understood as the runtime's own formData() understands it", async () => {
  assert.deepEqual(parse([small]), understood);
  const data = await new Response(small, { headers: { "content-type": TYPE } }).formData();
  assert.deepEqual(await understoodOf(data), understood);
});

test("a form is understood alike wherever it is cut in two", () => {
  for (let cut = 0; cut <= small.length; cut++) {
    assert.deepEqual(parse([small.subarray(0, cut), small.subarray(cut)]), understood, `cut at ${cut}`);
  }
});

test("a form is understood alike wherever it is cut in three", () => {
  for (let first = 1; first < small.length; first++) {
    for (let second = first + 1; second < small.length; second += 3) {
      const pieces = [small.subarray(0, first), small.subarray(first, second), small.subarray(second)];
      assert.deepEqual(parse(pieces), understood, `cut at ${first} and ${second}`);
    }
  }
});

test("a form is understood alike in pieces of 1, 2, 3, … bytes", () => {
  for (let size = 1; size < 40; size++) {
    const pieces = Array.from(
      { length: Math.ceil(small.length / size) },
      (_, index) => small.subarray(index * size, (index + 1) * size),
    );
    assert.deepEqual(parse(pieces), understood, `pieces of ${size} bytes`);
  }
});

test("a form that ends anywhere before its last boundary is malformed", () => {
  const end = small.length - 2; // the line end after the last boundary may be missing
  for (let length = 0; length < end; length++) {
    const cut = small.subarray(0, length);
    assert.throws(() => parse([cut]), malformed, `${length} bytes`);
    assert.throws(() => parse([...cut].map((byte) => Uint8Array.of(byte))), malformed, `${length} single bytes`);
  }
  assert.deepEqual(parse([small.subarray(0, end)]), understood);
});

test("what precedes the first boundary and follows the last is passed over", () => {
  const [before, after] = [form("This is a form.\n"), form("epilogue\n")];
  const whole = [before, small, after, small];
  assert.deepEqual(parse(whole), understood);
  assert.deepEqual(parse([Buffer.concat(whole)]), understood);
  assert.deepEqual(parse([...Buffer.concat(whole)].map((byte) => Uint8Array.of(byte))), understood);
});

test("a form that does not begin is not read to its end", () => {
  const endless = new Uint8Array(4096).fill(120);
  assert.throws(() => parse([endless, endless], { maxHeaderBytes: 8000 }), {
    ...malformed,
    message: "The form is malformed: the boundary that its Content-Type names is not in its first 8000 bytes",
  });
});

test("a form may have no parts", () => {
  assert.deepEqual(parse([form(`--${BOUNDARY}--\n`)]), []);
  assert.deepEqual(parse([form(`--${BOUNDARY}--`)]), []);
});

test("blanks after a boundary are passed over", () => {
  const padded = form(`--${BOUNDARY} \t \nContent-Disposition: form-data; name="a"\n\nv\n--${BOUNDARY} --\n`);
  for (let cut = 0; cut <= padded.length; cut++) {
    assert.deepEqual(parse([padded.subarray(0, cut), padded.subarray(cut)]), [["a", null, null, "v"]]);
  }
});

test("anything else after a boundary is malformed, not skipped", () => {
  for (const after of ["Y\n", "ZZ", "-\n", "-Z\n", "\r", "\rX", "- -\n", "_\n"]) {
    const text = `--${BOUNDARY}\nContent-Disposition: form-data; name="a"\n\nv\n--${BOUNDARY}${after}`;
    const bytes = form(`${text}Content-Disposition: form-data; name="b"\n\nw\n--${BOUNDARY}--\n`);
    assert.throws(() => parse([bytes]), malformed, JSON.stringify(after));
    assert.throws(() => parse([...bytes].map((byte) => Uint8Array.of(byte))), malformed, JSON.stringify(after));
  }
});

test("a boundary counts only at the beginning of a line, which ends in CR and LF", () => {
  const body = `x--${BOUNDARY}\ny\n--${BOUNDARY.toLowerCase()}\n --${BOUNDARY}\n-${BOUNDARY}\n\r--${BOUNDARY}\n`;
  assert.equal(parse([formOf('Content-Disposition: form-data; name="a"', body)])[0][3], body.replaceAll("\n", "\r\n"));
  const bare = new TextEncoder().encode(`\n--${BOUNDARY}\n\r--${BOUNDARY}`);
  const whole = Buffer.concat([
    form(`--${BOUNDARY}\nContent-Disposition: form-data; name="a"\n\n`),
    bare,
    form(`\n--${BOUNDARY}--\n`),
  ]);
  assert.equal(parse([whole])[0][3], new TextDecoder().decode(bare));
});

test("line ends without CR are malformed", () => {
  const bytes = new TextEncoder().encode(
    `--${BOUNDARY}\nContent-Disposition: form-data; name="a"\n\nv\n--${BOUNDARY}--`,
  );
  assert.throws(() => parse([bytes]), malformed);
});

test("parts without a header or the empty line after it are malformed, not lost", () => {
  const part = `Content-Disposition: form-data; name="a"\n\nv\n--${BOUNDARY}`;
  for (const before of ["", "\n", "\n\n", "\nX: y", "\nX: y\n"]) {
    const bytes = form(`--${BOUNDARY}${before}\n--${BOUNDARY}\n${part}--\n`);
    assert.throws(() => parse([bytes]), malformed, JSON.stringify(before));
    assert.throws(() => parse([...bytes].map((byte) => Uint8Array.of(byte))), malformed, JSON.stringify(before));
  }
});

test("a multipart body within a part is data", () => {
  const nested = "--YY\nContent-Disposition: file; filename=x\n\none\n--YY--";
  const header = 'Content-Disposition: form-data; name="a"\nContent-Type: multipart/mixed; boundary=YY';
  assert.deepEqual(parse([formOf(header, nested)]), [["a", null, null, nested.replaceAll("\n", "\r\n")]]);
});

test("boundaries of 1 and of 70 characters, of dashes, and with all that may be in one", () => {
  for (const boundary of ["x", "-", "-".repeat(70), "--", "b".repeat(70), "'()+_,-./:=? x", "aaaaab", "\\"]) {
    const body = `\n--${boundary.slice(0, -1)}\n-${boundary}`;
    const bytes = form(`--${boundary}\nContent-Disposition: form-data; name="a"\n\n${body}\n--${boundary}--\n`);
    const expected = [["a", null, null, body.replaceAll("\n", "\r\n")]];
    for (let cut = 0; cut <= bytes.length; cut++) {
      assert.deepEqual(parse([bytes.subarray(0, cut), bytes.subarray(cut)], {}, boundary), expected, boundary);
    }
  }
});

test("the bytes of a file are not copied, but for few", () => {
  const parser = new FormParser("----WebKitFormBoundary7MA4YWxkTrZu0gW", saveFormOptions());
  parser.write([form('------WebKitFormBoundary7MA4YWxkTrZu0gW\nContent-Disposition: form-data; name="a"\n\n')]);
  const bytes = noise(4_000_000, 1);
  let [given, copied] = [0, 0];
  for (let start = 0; start < bytes.length; start += 2000) {
    const piece = bytes.subarray(start, start + 2000);
    for (const event of parser.write([piece])) {
      if (event.kind !== "bytes") continue;
      for (const { buffer, length } of event.pieces) {
        given += length;
        if (buffer !== bytes.buffer) copied += length;
      }
    }
  }
  assert.ok(given > bytes.length - 50 && copied < bytes.length / 50, `${copied} bytes of ${given} are copies`);
});
