import assert from "node:assert/strict";
import test from "node:test";
import { ReadableStream, type TransformStream } from "../../lib/streams/mod.ts";
import { CsvDecoderStream, JsonLineStream, LineStream, LineToNumberStream } from "../../lib/text/mod.ts";
import { within } from "../support/waits.ts";
import { bytewise, through, utf8 } from "./chunkings.ts";

type Decoder = TransformStream<string | ArrayBuffer | ArrayBufferView, unknown>;

const COUNT = 5000;
const line = (index: number): string => `"${index} 😀 of many"\n`;
const lines = Array.from({ length: COUNT }, (_, index) => line(index));
const text = lines.join("");
const values = lines.map((line) => JSON.parse(line) as string);
const decoders: Record<string, () => Decoder> = {
  CsvDecoderStream: () => new CsvDecoderStream({ convert: (field) => (made++, field) }),
  JsonLineStream: () => new JsonLineStream(),
};
/** The number of fields that have been made since it was set. */
let made = 0;

for (const [name, open] of Object.entries(decoders)) {
  const flat = name === "CsvDecoderStream" ? (record: unknown) => (record as string[])[0] : (value: unknown) => value;

  test(`${name} gives all records of large chunks, by a pipe and to a writer that waits for each`, async () => {
    for (const chunk of [text, utf8(text)]) {
      const piped: unknown[] = [];
      for await (const record of ReadableStream.from([chunk, chunk]).pipeThrough(open())) piped.push(flat(record));
      assert.deepEqual(piped, [...values, ...values]);

      const decoder = open();
      const writer = decoder.writable.getWriter();
      const written = (async () => {
        await writer.write(chunk);
        await writer.write(chunk);
        await writer.close();
      })();
      const read: unknown[] = [];
      for await (const record of decoder.readable) read.push(flat(record));
      await within(written, "the writes");
      assert.deepEqual(read, [...values, ...values]);
    }
  });

  test(`${name} fails a write whose chunk is wrong behind its first records`, async () => {
    const decoder = open();
    const writer = decoder.writable.getWriter();
    const written = writer.write(`${text}"\n`).then(() => "written", (error: Error) => error.name);
    const closed = writer.close().then(() => "closed", (error: Error) => error.name);
    let count = 0;
    await assert.rejects(async () => {
      for await (const _ of decoder.readable) count++;
    }, SyntaxError);
    assert.ok(count > 0);
    const isCsv = name === "CsvDecoderStream"; // the end of a field may be in another chunk
    assert.equal(await within(written, "the write"), isCsv ? "written" : "SyntaxError");
    assert.equal(await within(closed, "the end"), "SyntaxError");
  });

  test(`${name} ends within a large chunk when it is cancelled or aborted`, async () => {
    const reason = new Error("enough");
    for (const end of ["cancel", "abort"]) {
      const decoder = open();
      const reader = decoder.readable.getReader();
      const writer = decoder.writable.getWriter();
      const written = writer.write(text);
      written.catch(() => {});
      assert.equal(flat((await reader.read()).value), values[0]);
      await within(end === "cancel" ? reader.cancel(reason) : writer.abort(reason), end);
      if (end === "abort") await assert.rejects(within(reader.read(), "another read"), reason);
      await assert.rejects(within(writer.closed, "closed"), reason);
      await within(written.catch(() => {}), "the write");
    }
  });
}

test("CsvDecoderStream makes no more records of a large chunk than are wanted soon", async () => {
  made = 0;
  const decoder = decoders.CsvDecoderStream();
  const writer = decoder.writable.getWriter();
  const written = writer.write(utf8(text));
  const reader = decoder.readable.getReader();
  assert.deepEqual((await reader.read()).value, [values[0]]);
  assert.ok(made < COUNT / 2, `${made} records were made`);
  for (let i = 1; i < COUNT; i++) await reader.read();
  await within(written, "the write");
  assert.equal(made, COUNT);
});

test("empty chunks change nothing between any others, be they strings or bytes", async () => {
  const word = '"😀é→"\n';
  for (const empty of ["", new Uint8Array(0)]) {
    for (const parts of [word.split(""), bytewise(utf8(word))]) {
      const chunks = [empty, ...parts.flatMap((part) => [part, empty])];
      assert.deepEqual(await through(chunks, new JsonLineStream()), ["😀é→"]);
      assert.deepEqual(await through(chunks, new CsvDecoderStream()), [["😀é→"]]);
      assert.deepEqual(await through(chunks, new LineStream()), [word.trim()]);
    }
  }
  const digits = ["1", "", "2"].map(utf8);
  assert.deepEqual(await through(digits, new LineToNumberStream()), [12]);
});

for (const headers of [false, true]) {
  const kind = headers ? "objects" : "arrays";

  test(`CsvDecoderStream fills up no more fields of ${kind} than are wanted soon`, async () => {
    made = 0;
    const columns = 300;
    const short = 3000;
    const decoder = new CsvDecoderStream({ headers, onMismatch: "fill", convert: (field) => (made++, field) });
    const writer = decoder.writable.getWriter();
    const header = Array.from({ length: columns }, (_, i) => `c${i}`).join();
    const written = writer.write(`${header}\n${"a\n".repeat(short)}`).then(() => writer.close());
    const reader = decoder.readable.getReader();
    let count = 0;
    for (; !(await reader.read()).done; count++) {
      assert.ok(made < (count + 3) * columns + 2 ** 17, `${made} fields for ${count} records`);
    }
    await within(written, "the write");
    assert.equal(count, short + (headers ? 0 : 1));
  });

  test(`CsvDecoderStream leaves out short records in the time of their own fields, of ${kind}`, async () => {
    const header = ",".repeat(20_000).split("").map((_, i) => `c${i}`).join();
    for (const onMismatch of ["skip", () => undefined] as const) {
      const text = `${header}\n${"a\n".repeat(40_000)}${header}\n`;
      assert.equal((await through([text], new CsvDecoderStream({ headers, onMismatch }))).length, headers ? 1 : 2);
    }
  });
}
