import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import test from "node:test";
import { saveForm } from "../../../lib/upload/form/save_form.ts";
import type { SaveFormOptions } from "../../../lib/upload/form/form_options.ts";
import { inFolder } from "../../support/folders.ts";
import { requestOf } from "../bodies.ts";
import { BOUNDARY, form, TYPE } from "./forms.ts";

/** Returns a form of parts given by their header and text, in pieces of 1000 bytes. */
function requestWith(parts: readonly (readonly [header: string, text: string])[]): Request {
  const text = parts.map(([header, text]) => `--${BOUNDARY}\nContent-Disposition: form-data; ${header}\n\n${text}\n`);
  const bytes = form(`${text.join("")}--${BOUNDARY}--\n`);
  const pieces = Array.from(
    { length: Math.ceil(bytes.length / 1000) },
    (_, i) => bytes.slice(i * 1000, (i + 1) * 1000),
  );
  return requestOf(pieces, { "content-type": TYPE });
}

const text = (name: string, length: number) => [`name="${name}"`, "x".repeat(length)] as const;
const file = (name: string, length: number) => [`name="${name}"; filename="${name}.txt"`, "x".repeat(length)] as const;
const first = file("first", 10);

interface Limited {
  readonly of: string;
  readonly options: SaveFormOptions;
  /** Just within the limit. */
  readonly good: readonly (readonly [header: string, text: string])[];
  /** Just not. */
  readonly bad: readonly (readonly [header: string, text: string])[];
  readonly message: string;
}

const limits: readonly Limited[] = [
  {
    of: "parts",
    options: { maxParts: 3 },
    good: [first, text("a", 1), text("a", 1)],
    bad: [first, text("a", 1), text("a", 1), text("a", 0)],
    message: "The form has more than the 3 parts that are accepted (maxParts)",
  },
  {
    of: "parts, by default",
    options: {},
    good: Array(1000).fill(text("a", 1)),
    bad: [first, ...Array(1000).fill(text("a", 1))],
    message: "The form has more than the 1000 parts that are accepted (maxParts)",
  },
  {
    of: "the bytes of a file",
    options: { maxFileBytes: 5000 },
    good: [first, file("b", 5000), file("c", 5000)],
    bad: [first, file("b", 5001)],
    message: 'The file "b.txt" of the field "b" has more than the 5000 bytes that are accepted (maxFileBytes)',
  },
  {
    of: "the bytes of a field",
    options: { maxFieldBytes: 5000 },
    good: [first, text("a", 5000), file("b", 5001)],
    bad: [first, text("a", 5001)],
    message: 'The field "a" has more than the 5000 bytes that are accepted (maxFieldBytes)',
  },
  {
    of: "the bytes of a field, by default",
    options: {},
    good: [text("a", 1024 * 1024)],
    bad: [first, text("a", 1024 * 1024 + 1)],
    message: 'The field "a" has more than the 1048576 bytes that are accepted (maxFieldBytes)',
  },
  {
    of: "the bytes of all fields with their names",
    options: { maxFieldsBytes: 100 },
    good: [first, text("aa", 50), text("bbb", 45)],
    bad: [first, text("aa", 50), text("bbb", 46)],
    message: 'The fields of the form up to "bbb" have more than the 100 bytes that are accepted (maxFieldsBytes)',
  },
  {
    of: "the bytes of the names of fields without text",
    options: { maxFieldsBytes: 8 },
    good: [first, text("éé", 0), text("bbbb", 0)],
    bad: [first, text("éé", 0), text("bbbbb", 0)],
    message: 'The fields of the form up to "bbbbb" have more than the 8 bytes that are accepted (maxFieldsBytes)',
  },
  {
    of: "the name of a field",
    options: { maxNameBytes: 8 },
    good: [text("éééé", 1)],
    bad: [text("a", 1), text("ééééa", 1)],
    message: "The name of part 2 has more than the 8 bytes that are accepted (maxNameBytes)",
  },
  {
    of: "the name of a file",
    options: { maxNameBytes: 8 },
    good: [['name="a"; filename="12345678"', ""]],
    bad: [first, ['name="a"; filename="123456789"', ""]],
    message: "The filename of part 1 has more than the 8 bytes that are accepted (maxNameBytes)",
  },
  {
    of: "a name, by default",
    options: {},
    good: [text("n".repeat(1024), 1)],
    bad: [first, text("n".repeat(1025), 1)],
    message: "The name of part 2 has more than the 1024 bytes that are accepted (maxNameBytes)",
  },
  {
    of: "the header of a part",
    options: { maxHeaderBytes: 100 },
    good: [[`name="a"\nX: ${"y".repeat(51)}`, "v"]],
    bad: [['name="b"; filename="b"', "v"], [`name="a"\nX: ${"y".repeat(52)}`, "v"]],
    message: "The header of part 2 has more than the 100 bytes that are accepted (maxHeaderBytes)",
  },
  {
    of: "the header of a part, by default",
    options: {},
    good: [[`name="a"\nX: ${"y".repeat(16384 - 49)}`, "v"]],
    bad: [first, [`name="a"\nX: ${"y".repeat(100_000)}`, "v"]],
    message: "The header of part 2 has more than the 16384 bytes that are accepted (maxHeaderBytes)",
  },
  {
    of: "the header of a part, which the library counts by itself too",
    options: {},
    good: [[`name="a"${`\nX:   ${"y".repeat(150)}`.repeat(99)}`, "v"]],
    bad: [first, [`name="a"${`\nX:   ${"y".repeat(158)}`.repeat(99)}`, "v"]],
    message: "The header of part 2 has more than the 16384 bytes that are accepted (maxHeaderBytes)",
  },
  {
    of: "the fields of a header",
    options: {},
    good: [[`name="a"${"\nX: y".repeat(99)}`, "v"]],
    bad: [first, [`name="a"${"\nX: y".repeat(101)}`, "v"]],
    message: "The header of part 2 has more than the 100 fields that are accepted",
  },
];

for (const { of, options, good, bad, message } of limits) {
  test(`the limit of ${of} holds, and is told`, () =>
    inFolder(async (folder) => {
      await saveForm(requestWith(good), folder, options);
      const before = await readdir(folder);
      await assert.rejects(saveForm(requestWith(bad), folder, options), {
        name: "UploadError",
        code: "TOO_LARGE",
        status: 413,
        message,
      });
      assert.deepEqual(await readdir(folder), before);
    }));
}

test("long names are shortened where they are told", () =>
  inFolder(async (folder) => {
    await assert.rejects(saveForm(requestWith([text("n".repeat(1000), 2)]), folder, { maxFieldBytes: 1 }), {
      message: `The field "${"n".repeat(120)}…" has more than the 1 bytes that are accepted (maxFieldBytes)`,
    });
  }));

test("what is skipped has no limit but that of the body", () =>
  inFolder(async (folder) => {
    const skipping = saveForm(requestWith([file("a", 100_000)]), () => undefined, { maxFileBytes: 10 });
    assert.deepEqual((await skipping).files, []);
    await assert.rejects(saveForm(requestWith([file("a", 100_000)]), () => undefined, { maxBytes: 90_000 }), {
      code: "TOO_LARGE",
    });
    assert.deepEqual(await readdir(folder), []);
  }));

test("limits may be lifted", async () => {
  const many = requestWith(Array(10_000).fill(text("a", 1)));
  assert.equal([...(await saveForm(many, () => undefined, { maxParts: Infinity })).fields].length, 10_000);
});

test("10,000 small parts are refused at the limit, before the rest is read", async () => {
  let read = 0;
  const part = form(`--${BOUNDARY}\nContent-Disposition: form-data; name="a"; filename="b"\n\nx\n`);
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      read++;
      controller.enqueue(part);
    },
  });
  await assert.rejects(saveForm(endless, () => undefined, { contentType: TYPE, maxParts: 500 }), { code: "TOO_LARGE" });
  assert.ok(read < 10_000, `${read} parts were read`);
});
