import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import fc from "fast-check";
import { ReadableStream } from "../../lib/streams/mod.ts";
import { CsvDecoderStream, type CsvDecoderStreamOptions, type CsvMismatch } from "../../lib/text/mod.ts";
import { tries } from "../support/long_run.ts";
import { root } from "../support/runtime.ts";
import { bytewise, cutAt, cutText, places, through, utf8 } from "./chunkings.ts";
import { cases, invalid } from "./csv_cases.ts";

const records = <T = string[]>(
  chunks: readonly (string | BufferSource)[],
  options?: CsvDecoderStreamOptions,
): Promise<T[]> => through(chunks, new CsvDecoderStream<T>(options));

/** Returns a text in pieces: whole, by characters, by bytes, and as bytes and strings in turn. */
function chunkings(text: string): (string | BufferSource)[][] {
  const units = text.split("");
  return [[text], [utf8(text)], units, bytewise(utf8(text)), Array.from(text, (c, i) => i % 2 === 0 ? utf8(c) : c)];
}

/** Returns values as plain arrays, for comparison with literals. */
const plain = (values: readonly unknown[]): unknown => JSON.parse(JSON.stringify(values));

test("CsvDecoderStream gives the records of each case, however the text is cut", async () => {
  for (const [text, expected] of cases) {
    for (const chunks of chunkings(text)) {
      assert.deepEqual(plain(await records(chunks)), expected, JSON.stringify(text));
    }
  }
});

test("CsvDecoderStream complains about text that is not CSV with record and line, however it is cut", async () => {
  for (const [text, message] of invalid) {
    for (const chunks of chunkings(text)) await assert.rejects(records(chunks), { name: "SyntaxError", message });
  }
});

test("CsvDecoderStream gives the records of csv-spectrum", async () => {
  const folder = join(root, "node_modules/csv-spectrum");
  const names = readdirSync(join(folder, "csvs"));
  assert.ok(names.length >= 12);
  for (const name of names) {
    const text = readFileSync(join(folder, "csvs", name), "utf8");
    const json = JSON.parse(readFileSync(join(folder, "json", name.replace(/csv$/, "json")), "utf8"));
    // One of them is an object, and not quite that of its text.
    const expected = Array.isArray(json) ? json : [{ ...json, "Contact Phone Number": "2095257564" }];
    for (const chunks of chunkings(text)) {
      assert.deepEqual(await records(chunks, { headers: true }), expected, name);
    }
  }
});

test("CsvDecoderStream gives objects by the names of the header, or by names that are given", async () => {
  const text = "id,name\n1,Ada\n2,Grace\n";
  assert.deepEqual(await records([text], { headers: true }), [{ id: "1", name: "Ada" }, { id: "2", name: "Grace" }]);
  assert.deepEqual(await records(["1,Ada"], { headers: ["id", "name"] }), [{ id: "1", name: "Ada" }]);
  assert.deepEqual(await records(["id,name"], { headers: true }), []);
  assert.deepEqual(await records([""], { headers: true }), []);
  assert.deepEqual(await records(['"a\nb",""\n1,2'], { headers: true }), [{ "a\nb": "1", "": "2" }]);
});

test("CsvDecoderStream makes own properties of all names", async () => {
  const [record] = await records<Record<string, string>>(["__proto__,toString,0\nx,y,z"], { headers: true });
  assert.deepEqual(Object.entries(record), [["0", "z"], ["__proto__", "x"], ["toString", "y"]]);
  assert.equal(Object.getPrototypeOf(record), Object.prototype);
});

test("CsvDecoderStream refuses names of columns that are not all different", async () => {
  await assert.rejects(records(["\na,b,a"], { headers: true }), {
    name: "TypeError",
    message: 'the header, line 2: columns 1 and 3 have the same name, "a"',
  });
  assert.throws(() => new CsvDecoderStream({ headers: ["a", "a"] }), {
    name: "TypeError",
    message: 'headers: columns 1 and 2 have the same name, "a"',
  });
});

test("CsvDecoderStream names columns as a function does of the names that are there, duplicates too", async () => {
  let given: readonly string[] = [];
  const headers = (names: readonly string[]): string[] => {
    given = names;
    return names.map((name, i) => `${name || "column"}${i}`);
  };
  for (const chunks of [["a,a,,\n1,2,3,4\n"], ["a,", "a,,\n1,", "2,3,4\n"]]) {
    assert.deepEqual(await records(chunks, { headers }), [{ a0: "1", a1: "2", column2: "3", column3: "4" }]);
    assert.deepEqual(given, ["a", "a", "", ""]);
  }
  assert.deepEqual(await records(["a,b\n"], { headers }), []);
  const convert = (text: string, column: string | number): string => `${column}=${text}`;
  assert.deepEqual(await records(["a\n1"], { headers, convert }), [{ a0: "a0=1" }]);
});

test("CsvDecoderStream refuses what is not as many names from the function, and fails as it does", async () => {
  for (
    const [made, message] of [
      [["a"], "headers() must return an array of 2 names, not 1 names (the header, line 1)"],
      [undefined, "headers() must return an array of 2 names, not undefined (the header, line 1)"],
      [["a", "a"], 'the header, line 1: columns 1 and 2 have the same name, "a"'],
    ] as const
  ) {
    await assert.rejects(records(["x,y\n1,2"], { headers: () => made as unknown as string[] }), {
      name: "TypeError",
      message,
    });
  }
  const failure = new Error("no such column");
  const headers = (): string[] => {
    throw failure;
  };
  await assert.rejects(records(["x\n"], { headers }), failure);
});

test("CsvDecoderStream converts fields by their columns", async () => {
  const convert = (text: string, column: string | number): unknown => column === "n" || column === 1 ? +text : text;
  assert.deepEqual(await records(["s,n\na,7"], { headers: true, convert }), [{ s: "a", n: 7 }]);
  assert.deepEqual(plain(await records(["a,7\nb,8"], { convert })), [["a", 7], ["b", 8]]);
  const own = new RangeError("own");
  const failing = (): never => {
    throw own;
  };
  await assert.rejects(records(["a"], { convert: failing }), (error) => error === own);
});

test("CsvDecoderStream handles records with another number of fields as it is told", async () => {
  const text = "a,b\n1\n2,3\n4,5,6\n";
  const arrays = async (options: CsvDecoderStreamOptions): Promise<unknown> => plain(await records([text], options));
  assert.deepEqual(await arrays({ onMismatch: "skip" }), [["a", "b"], ["2", "3"]]);
  assert.deepEqual(await arrays({ onMismatch: "fill" }), [["a", "b"], ["1", ""], ["2", "3"], ["4", "5"]]);
  const seen: CsvMismatch[] = [];
  const onMismatch = (mismatch: CsvMismatch): readonly string[] | undefined => {
    seen.push(mismatch);
    return mismatch.fields.length > 2 ? mismatch.fields : undefined;
  };
  assert.deepEqual(await arrays({ onMismatch }), [["a", "b"], ["2", "3"], ["4", "5", "6"]]);
  assert.deepEqual(plain(seen), [
    { record: 2, line: 2, fields: ["1"], columns: 2 },
    { record: 4, line: 4, fields: ["4", "5", "6"], columns: 2 },
  ]);
  const headers = { headers: true };
  assert.deepEqual(await arrays({ ...headers, onMismatch: "fill" }), [
    { a: "1", b: "" },
    { a: "2", b: "3" },
    { a: "4", b: "5" },
  ]);
  await assert.rejects(arrays({ ...headers, onMismatch: () => "12" as never }), {
    name: "TypeError",
    message: 'onMismatch must give an array of fields or undefined, not "12" (record 1, line 2)',
  });
  assert.deepEqual(await arrays({ ...headers, onMismatch: ({ fields }) => fields.toReversed() }), [
    { a: "1", b: "" },
    { a: "2", b: "3" },
    { a: "6", b: "5" },
  ]);
  await assert.rejects(records([text], headers), { message: "record 1, line 2: 1 fields, but there must be 2" });
});

test("CsvDecoderStream takes other separators", async () => {
  const separators = [";", "\t", "|", " ", "a", "é", "\u2028", "~"];
  for (const separator of separators) {
    const text = `1${separator}","\n"2${separator}"${separator}3\n`;
    for (const chunks of chunkings(text)) {
      assert.deepEqual(plain(await records(chunks, { separator })), [["1", ","], [`2${separator}`, "3"]]);
    }
  }
  for (const separator of ["", '"', "\n", "\r", "ab", "😀", "\ufeff", 5 as never]) {
    assert.throws(() => new CsvDecoderStream({ separator }), { name: "TypeError", message: /^separator must be one/ });
  }
});

test("CsvDecoderStream refuses records that are too long, however they are cut", async () => {
  const message = "record 2, line 2 is longer than 10 bytes: raise maxRecordLength if it may be";
  const tooLong = [
    "a\n01234567890",
    "a\n01,34567890\nb",
    'a\n"0\n\n\n\n\n\n\n\n"\n',
    'a\n"→→\n→"\nb',
    'a\n"0\n345678\n',
  ];
  for (const text of tooLong) {
    for (const chunks of chunkings(text)) {
      await assert.rejects(records(chunks, { maxRecordLength: 10, onMismatch: "skip" }), {
        name: "RangeError",
        message,
      }, JSON.stringify(text));
    }
  }
  for (const text of ["0123456789\r\n", '"0\n\n\n\n\n\n\n"\r', '"→→\n"\n"→\n→"', "é,é,é,é"]) {
    for (const chunks of chunkings(text)) assert.ok((await records(chunks, { maxRecordLength: 11 })).length > 0);
  }
});

test("CsvDecoderStream gives waiting readers the records before an error", async () => {
  const stream = new CsvDecoderStream();
  const reader = stream.readable.getReader();
  const reads = [reader.read(), reader.read()];
  const failure = { name: "SyntaxError", message: "record 3, line 3: 1 fields, but there must be 2" };
  await assert.rejects(stream.writable.getWriter().write("1,2\n3,4\n5\n"), failure);
  assert.deepEqual((await Promise.all(reads)).map(({ value }) => value?.join()), ["1,2", "3,4"]);
  await assert.rejects(reader.read(), failure);
});

test("CsvDecoderStream reads a quoted field of 4 MB in small chunks once", async () => {
  const line = `${"mill race ".repeat(99)}""\n`;
  const field = line.repeat(4000);
  const text = `a,"${field}",b\n`;
  const chunks = Array.from(
    { length: Math.ceil(text.length / 4000) },
    (_, i) => utf8(text.slice(i * 4000, (i + 1) * 4000)),
  );
  const [record] = await records(chunks);
  assert.deepEqual([record[0], record[2]], ["a", "b"]);
  assert.ok(record[1] === field.replaceAll('""', '"'));
});

/** Returns the records of CSV, by the simplest means. */
function recordsOf(text: string): string[][] {
  const found: string[][] = [];
  let fields: string[] = [];
  const record = /(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r\n|\n|\r|$)/gy;
  while (record.lastIndex < text.length || fields.length > 0) {
    const [whole, quoted, bare, end] = record.exec(text)!;
    fields.push(quoted === undefined ? bare : quoted.replaceAll('""', '"'));
    if (end === ",") continue;
    if (fields.length > 1 || whole !== end) found.push(fields);
    fields = [];
  }
  return found;
}

test("CsvDecoderStream gives the records of any CSV, however text and bytes are cut", async () => {
  const bare = fc.string({ unit: fc.constantFrom("a", "7", " ", "é", "😀", '"x'), maxLength: 4 }).map((text) =>
    text.replace(/^"/, "_")
  );
  const inQuotes = fc.string({ unit: fc.constantFrom("a", ",", "\n", "\r", '""', "→"), maxLength: 5 }).map((text) =>
    `"${text}"`
  );
  const record = fc.array(fc.oneof(bare, inQuotes), { minLength: 1, maxLength: 4 }).map((fields) => fields.join(","));
  const end = fc.constantFrom("\n", "\r\n", "\r");
  const text = fc.array(fc.tuple(record, end), { maxLength: 6 }).map((lines) => lines.flat().join(""));
  await fc.assert(
    fc.asyncProperty(text, places, async (text, places) => {
      const expected = recordsOf(text);
      const onMismatch = ({ fields }: CsvMismatch): readonly string[] => fields;
      for (const chunks of [[text], cutAt(utf8(text), places), cutText(text, places)]) {
        assert.deepEqual(plain(await records(chunks, { onMismatch })), expected);
      }
    }),
    { numRuns: tries(1000) },
  );
});

test("CsvDecoderStream reads no more chunks than its reader asks for", async () => {
  let pulls = 0;
  const chunk = utf8("1,2\n".repeat(1000));
  const source = new ReadableStream({
    pull(controller): void {
      pulls++;
      controller.enqueue(chunk);
    },
  }, { highWaterMark: 0 });
  const reader = source.pipeThrough(new CsvDecoderStream()).getReader();
  for (let i = 0; i < 1500; i++) assert.equal((await reader.read()).value?.length, 2);
  assert.ok(pulls <= 3, `${pulls} chunks`);
  await reader.cancel();
});

test("CsvDecoderStream says what its options may be", () => {
  const refused = (options: unknown, error: { name: string; message: string }): void => {
    assert.throws(() => new CsvDecoderStream(options as CsvDecoderStreamOptions), error);
  };
  refused({ headers: "a,b" }, {
    name: "TypeError",
    message: 'headers must be true, false, an array of names or a function, not "a,b"',
  });
  refused({ headers: ["a", 1] }, { name: "TypeError", message: "headers: column 2 is 1, not a name" });
  refused({ convert: 1 }, { name: "TypeError", message: "convert must be a function, not 1" });
  refused({ onMismatch: "pad" }, {
    name: "TypeError",
    message: 'onMismatch must be "throw", "skip", "fill" or a function, not "pad"',
  });
  refused({ maxRecordLength: -1 }, {
    name: "RangeError",
    message: "maxRecordLength -1 is out of range: use a number of bytes from 0",
  });
});

test("CsvDecoderStream reads what spreadsheets write: UTF-16, a line for the separator, and separators at the ends", async () => {
  const text = "id,note\r\n1,caf\u00e9 \u{1f600}\r\n";
  const bytes = (order: "le" | "be") => {
    const units = Array.from(`\ufeff${text}`.split(""), (unit) => unit.charCodeAt(0));
    return Uint8Array.from(units.flatMap((u) => order === "le" ? [u & 255, u >> 8] : [u >> 8, u & 255]));
  };
  for (const order of ["le", "be"] as const) {
    for (const chunks of [[bytes(order)], bytewise(bytes(order)), ["", bytes(order)]]) {
      assert.deepEqual(plain(await records(chunks)), [["id", "note"], ["1", "caf\u00e9 \u{1f600}"]], order);
    }
  }
  for (const end of ["\n", "\r\n", "\r"]) {
    for (const separator of [";", "\t", "|", ","]) {
      const named = `sep=${separator}${end}a${separator}b${end}`;
      for (const chunks of chunkings(named)) assert.deepEqual(plain(await records(chunks)), [["a", "b"]], named);
    }
  }
  assert.deepEqual(plain(await records(["sep=;\na\n"], { separator: "," })), [["sep=;"], ["a"]]);
  assert.deepEqual(await records(["a,b,,\n1,2,,4\n"], { headers: true }), [{ a: "1", b: "2", "": "", _4: "4" }]);
  await assert.rejects(records(['1,2\n1, "2,3"\n']), {
    message:
      "record 2, line 2: 3 fields, but there must be 2; field 2 has a space before its quote, which is none then",
  });
});

test("CsvDecoderStream takes bytes for UTF-16 by a whole byte order mark alone, however they are cut", async () => {
  const byte = fc.constantFrom(0xfe, 0xff, 0xef, 0xbb, 0x61, 0x2c, 0, 0x0a);
  await fc.assert(
    fc.asyncProperty(fc.array(byte, { maxLength: 12 }), places, async (given, places) => {
      const bytes = Uint8Array.from(given);
      const mark = bytes[0] << 8 | bytes[1];
      const encoding = mark === 0xfffe ? "utf-16le" : mark === 0xfeff ? "utf-16be" : "utf-8";
      const whole = [new TextDecoder(encoding).decode(bytes)];
      const all = { onMismatch: ({ fields }: CsvMismatch) => fields };
      assert.deepEqual(await records(cutAt(bytes, places), all), await records(whole, all), String(bytes));
    }),
    { numRuns: tries(3000) },
  );
});
