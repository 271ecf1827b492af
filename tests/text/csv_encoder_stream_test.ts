import { runInNewContext } from "node:vm";
import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { CsvDecoderStream, CsvEncoderStream, type CsvEncoderStreamOptions } from "../../lib/text/mod.ts";
import { tries } from "../support/long_run.ts";
import { cutAt, places, through } from "./chunkings.ts";

const encoded = (records: readonly object[], options?: CsvEncoderStreamOptions): Promise<Uint8Array<ArrayBuffer>[]> =>
  through(records, new CsvEncoderStream(options));
/** The text that is written, with a byte order mark if it begins with one. */
const textOf = async (records: readonly object[], options?: CsvEncoderStreamOptions): Promise<string> =>
  new TextDecoder("utf-8", { ignoreBOM: true }).decode(
    await new Blob(await encoded(records, options)).arrayBuffer(),
  );

test("CsvEncoderStream quotes fields where they need it, and no others", async () => {
  const fields = ["plain", "a,b", 'a"b', "a\nb", "a\rb", "", " ", "é→😀", ";", "'"];
  assert.equal(await textOf([fields]), 'plain,"a,b","a""b","a\nb","a\rb",, ,é→😀,;,\'\r\n');
  assert.equal(await textOf([["a;b", "a,b"]], { separator: ";", lineEnding: "\n" }), '"a;b";a,b\n');
  assert.equal(await textOf([["aéb", "é"]], { separator: "é" }), '"aéb"é"é"\r\n');
  assert.equal(await textOf([[""], ["a"]]), '""\r\na\r\n');
  assert.equal(await textOf([["\ufeffa", "\ufeff"], ["\ufeff", "b"]]), '"\ufeffa",\ufeff\r\n\ufeff,b\r\n');
  assert.equal(await textOf([]), "");
});

test("CsvEncoderStream writes strings of any length and kind alike, and chunks that end with a line", async () => {
  const plain = (length: number): string[] => ["x".repeat(length), "é".repeat(length), "😀\ud83d".repeat(length / 2)];
  const fields = [1, 2, 1023, 1024, 1025, 16_383, 16_384, 70_000].flatMap((length) => [
    ...plain(length),
    ...plain(length).map((text) => `${text}"`),
    ...plain(length).map((text) => `"${text},`),
  ]);
  const expected = fields.map((text) => /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  assert.equal(await textOf([fields]), `${expected.join(",")}\r\n`.toWellFormed());
  const chunks = await encoded(fields.map((field) => [field, "end"]));
  for (const chunk of chunks) assert.equal(new TextDecoder().decode(chunk.subarray(-6)), ",end\r\n");
  // How many records a turn of the event loop brings is not said, so that a chunk may be shorter.
  const longest = Math.max(...expected.map((text) => new TextEncoder().encode(`${text},end\r\n`).length));
  for (const chunk of chunks) assert.ok(chunk.length < 65_536 + longest, `${chunk.length} bytes`);
  assert.equal(await new Blob(chunks).text(), expected.map((text) => `${text},end\r\n`).join("").toWellFormed());
});

test("CsvEncoderStream writes numbers, booleans, dates and nothing as text", async () => {
  const values = [0, -1.5, 1e300, NaN, 5n, true, false, null, undefined, new Date(0)];
  assert.equal(await textOf([values]), "0,-1.5,1e+300,NaN,5,true,false,,,1970-01-01T00:00:00.000Z\r\n");
  assert.equal(
    await textOf([[1.5, true, new Date(0)]], { separator: "." }),
    '"1.5".true."1970-01-01T00:00:00.000Z"\r\n',
  );
  assert.equal(await textOf([[runInNewContext("new Date(0)")]]), "1970-01-01T00:00:00.000Z\r\n");
  assert.equal(await textOf([[1, "a"]], { separator: "1" }), '"1"1a\r\n');
});

test("CsvEncoderStream writes the names of columns, and objects by them", async () => {
  const records = [{ id: 1, "a,b": "x" }, { "a,b": "y", more: 5 }];
  assert.equal(await textOf(records, { headers: true }), 'id,"a,b"\r\n1,x\r\n,y\r\n');
  assert.equal(await textOf(records), "1,x\r\n,y\r\n");
  assert.equal(await textOf(records, { headers: ["more", "id"] }), "more,id\r\n,1\r\n5,\r\n");
  assert.equal(await textOf([[1, 2]], { headers: ["\ufeffa", "b"] }), '"\ufeffa",b\r\n1,2\r\n');
  assert.equal(await textOf([], { headers: ["\ufeffa", "b"], separator: ";" }), '"\ufeffa";b\r\n');
  assert.equal(await textOf([], { headers: true }), "");
  assert.equal(await textOf([]), "");
});

test("CsvEncoderStream writes names that a function makes of those of columns", async () => {
  const headers = (names: readonly string[]): string[] => names.map((name) => `${name}, the`);
  const convert = (value: unknown, column: string | number): string => `${column}=${value}`;
  assert.equal(await textOf([{ a: 1, b: 2 }, { b: 3 }], { headers }), '"a, the","b, the"\r\n1,2\r\n,3\r\n');
  assert.equal(await textOf([{ a: 1 }], { headers, convert }), '"a, the"\r\na=1\r\n');
  assert.equal(await textOf([], { headers }), "");
  for (
    const [made, message] of [
      [["x"], "headers() must return an array of 2 names, not 1 names (the header)"],
      ["xy", 'headers() must return an array of 2 names, not "xy" (the header)'],
      [["x", "x"], 'the header: columns 1 and 2 have the same name, "x"'],
    ] as const
  ) {
    await assert.rejects(textOf([{ a: 1, b: 2 }], { headers: () => made as unknown as string[] }), {
      name: "TypeError",
      message,
    });
  }
});

test("CsvEncoderStream writes one byte order mark, before the first byte, if asked to", async () => {
  const bytesOf = async (records: object[], options: CsvEncoderStreamOptions): Promise<string> =>
    new TextDecoder("utf-8", { ignoreBOM: true }).decode(await new Blob(await encoded(records, options)).arrayBuffer());
  const bom = true;
  assert.equal(await bytesOf([[1], [2]], { bom }), "\ufeff1\r\n2\r\n");
  assert.equal(await bytesOf([["\ufeffa"]], { bom }), '\ufeff"\ufeffa"\r\n');
  assert.equal(await bytesOf([{ a: 1 }, { a: 2 }], { bom, headers: true }), "\ufeffa\r\n1\r\n2\r\n");
  assert.equal(await bytesOf([], { bom, headers: ["a"] }), "\ufeffa\r\n");
  assert.equal(await bytesOf([], { bom }), "");
});

test("CsvEncoderStream converts values by their columns", async () => {
  const convert = (value: unknown, column: string | number): unknown =>
    column === "at" || column === 0 ? [value].join() : value;
  assert.equal(await textOf([{ at: ["a", 1] }], { headers: true, convert }), 'at\r\n"a,1"\r\n');
  assert.equal(await textOf([[["a", 1], 2]], { convert }), '"a,1",2\r\n');
  const own = new RangeError("own");
  const failing = (): never => {
    throw own;
  };
  await assert.rejects(encoded([["a"]], { convert: failing }), (error) => error === own);
});

test("CsvEncoderStream fails on records that it cannot write, and tells which one", async () => {
  const cases: readonly [records: unknown[], message: string, options?: CsvEncoderStreamOptions][] = [
    [[["a"], "b"], 'the record at index 1 is "b": only arrays and objects can be written'],
    [[null], "the record at index 0 is null: only arrays and objects can be written"],
    [[["a"], ["b", "c"]], "the record at index 1 has 2 fields, but there must be 1"],
    [[[]], "the record at index 0 has no fields"],
    [[{}], "the record at index 0 has no fields"],
    [[["a"], { a: 1 }], "the record at index 1 is an Object where others are arrays"],
    [[["a"]], "the record at index 0 is an Array, in which columns have no names: pass them as headers", {
      headers: true,
    }],
    [[{ a: 1 }, { a: {} }], 'the record at index 1, column "a": an Object has no text: pass convert'],
    [[["a", () => 1]], "the record at index 0, column 2: a function has no text: pass convert"],
    [[[new Date(NaN)]], "the record at index 0, column 1: a Date has no text: pass convert"],
    [[[Symbol("s")]], "the record at index 0, column 1: Symbol(s) has no text: pass convert"],
  ];
  for (const [records, message, options] of cases) {
    await assert.rejects(encoded(records as object[], options), { name: "TypeError", message });
  }
});

test("CsvEncoderStream writes nothing that a record has as every object has it", async () => {
  const headers = ["a", "constructor", "__proto__", "toString"];
  const own = JSON.parse('{"a":1,"constructor":2,"__proto__":3,"toString":4}');
  const row = new (class {
    get a(): string {
      return "of a class";
    }
  })();
  const text = "a,constructor,__proto__,toString\r\n,,,\r\n1,2,3,4\r\nof a class,,,\r\n5,6,7,8\r\n";
  assert.equal(await new Blob(await encoded([{}, own, row, [5, 6, 7, 8]], { headers })).text(), text);
});

test("CsvEncoderStream says what its options may be", () => {
  const refused = (options: unknown, message: string): void => {
    assert.throws(() => new CsvEncoderStream(options as CsvEncoderStreamOptions), { name: "TypeError", message });
  };
  refused({ eol: "\n" }, 'CsvEncoderStream: unknown option "eol": use bom, convert, headers, separator, lineEnding');
  refused({ lineEnding: "\r" }, 'lineEnding must be "\\r\\n" or "\\n", not "\\r"');
  refused({ separator: "\n" }, 'separator must be one character other than a quote or a line end, not "\\n"');
  refused({ headers: [] }, "headers has no name: pass one for each column");
  refused({ headers: ["a", "a"] }, 'headers: columns 1 and 2 have the same name, "a"');
  refused({ convert: {} }, "convert must be a function, not an Object");
});

test("random records go through CsvEncoderStream and CsvDecoderStream unchanged, cut at random bytes", async () => {
  const unit = fc.constantFrom(..."a ,;\t\"'\n\r\ufeff→😀0".match(/./gsu)!);
  const field = fc.string({ unit, maxLength: 6 });
  const table = fc.nat(4).chain((extra) =>
    fc.array(fc.array(field, { minLength: extra + 1, maxLength: extra + 1 }), { maxLength: 8 })
  );
  const options = fc.record({
    separator: fc.constantFrom(",", ";", "\t"),
    lineEnding: fc.constantFrom("\n" as const, "\r\n" as const),
  });
  await fc.assert(
    fc.asyncProperty(table, places, options, async (table, places, { separator, lineEnding }) => {
      const bytes = new Uint8Array(await new Blob(await encoded(table, { separator, lineEnding })).arrayBuffer());
      const decoded = await through(cutAt(bytes, places), new CsvDecoderStream({ separator }));
      assert.deepEqual(decoded.map((record) => [...record]), table);
    }),
    { numRuns: tries(1000) },
  );
});
