import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { ReadableStream } from "../../lib/streams/mod.ts";
import { type InvalidLine, LineToNumberStream, type LineToNumberStreamOptions } from "../../lib/text/mod.ts";
import { bytewise, cutAt, places, through, utf8 } from "./chunkings.ts";
import { tries } from "../support/long_run.ts";

const numbers = (text: string, options?: LineToNumberStreamOptions): Promise<number[]> =>
  through([utf8(text)], new LineToNumberStream(options));

/** The stream's output. If the stream fails, only its error counts: unread numbers are dropped. */
interface Outcome {
  readonly numbers?: readonly number[];
  readonly asked: readonly InvalidLine[];
  readonly error?: string;
}

async function outcome(chunks: readonly BufferSource[], asks = false): Promise<Outcome> {
  const asked: InvalidLine[] = [];
  const stream = new LineToNumberStream(asks ? { onInvalid: (invalid) => void asked.push(invalid) } : {});
  try {
    return { numbers: await through(chunks, stream), asked };
  } catch (error) {
    return { asked, error: `${error}` };
  }
}

/** The texts of numbers in each form there is. */
const numberText = fc.oneof(
  fc.integer().map(String),
  fc.maxSafeInteger().map(String),
  fc.double({ noNaN: true, min: -(2 ** 53 - 1), max: 2 ** 53 - 1 }).map(String),
  fc.tuple(fc.constantFrom("", "+", "-"), fc.bigInt({ min: 0n, max: 10n ** 25n }), fc.nat(40))
    .map(([sign, digits, decimals]) => {
      const padded = String(digits).padStart(decimals + 1, "0");
      return `${sign}${padded.slice(0, padded.length - decimals)}.${padded.slice(padded.length - decimals)}`;
    }).filter((text) => Math.abs(Number(text)) <= Number.MAX_SAFE_INTEGER),
  fc.tuple(fc.maxSafeInteger(), fc.constantFrom("e", "E", "e+", "e-"), fc.nat(40))
    .map(([mantissa, e, exponent]) => `${mantissa}${e}${exponent}`)
    .filter((text) => Math.abs(Number(text)) <= Number.MAX_SAFE_INTEGER),
);
const blank = fc.constantFrom("", " ", "\t", "\r", " \t\r");

test("LineToNumberStream reads what Number() reads, whatever is around it and wherever the chunks end", async () => {
  const line = fc.tuple(blank, fc.oneof(numberText, fc.constant("")), blank);
  await fc.assert(
    fc.asyncProperty(fc.array(line), fc.boolean(), places, async (lines, isEnded, places) => {
      const expected = lines.filter(([, text]) => text !== "").map(([, text]) => Number(text));
      const bytes = utf8(lines.map((parts) => parts.join("")).join("\n") + (isEnded ? "\n" : ""));
      for (const chunks of [[bytes], cutAt(bytes, places), bytewise(bytes)]) {
        assert.deepEqual(await through(chunks, new LineToNumberStream()), expected);
      }
    }),
    { numRuns: tries(500) },
  );
});

test("LineToNumberStream does the same with any bytes, wherever the chunks end", async () => {
  const part = fc.constantFrom(
    "1",
    "23",
    "0",
    "+",
    "-",
    ".",
    "e",
    "\n",
    "\r",
    " ",
    "x",
    "é",
    "\ufeff",
    "1e999",
    "123456789",
  );
  const text = fc.array(part, { maxLength: 30 }).map((parts) => parts.join(""));
  await fc.assert(
    fc.asyncProperty(text, places, fc.boolean(), async (text, places, asks) => {
      const expected = await outcome([utf8(text)], asks);
      assert.deepEqual(await outcome(cutAt(utf8(text), places), asks), expected);
      assert.deepEqual(await outcome(bytewise(utf8(text)), asks), expected);
    }),
    { numRuns: tries(1000) },
  );
});

test("LineToNumberStream takes exactly the texts that are decimal numbers", async () => {
  const text = fc.array(fc.constantFrom("0", "1", "12", "+", "-", ".", "e", "E", " ", "x"), { maxLength: 8 })
    .map((parts) => parts.join("").trim()).filter((text) => text !== "");
  const pattern = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
  await fc.assert(
    fc.asyncProperty(text, async (text) => {
      const reasons: string[] = [];
      const numbers = await through(
        [utf8(text)],
        new LineToNumberStream({ onInvalid: ({ reason }) => void reasons.push(reason) }),
      );
      const number = Number(text);
      if (!pattern.test(text)) assert.deepEqual([reasons, numbers], [["malformed"], []]);
      else if (!Number.isFinite(number)) assert.deepEqual([reasons, numbers], [["not finite"], []]);
      else if (Math.abs(number) > Number.MAX_SAFE_INTEGER) assert.deepEqual([reasons, numbers], [["too large"], []]);
      else assert.deepEqual([reasons, numbers], [[], [number]]);
    }),
    { numRuns: tries(1000) },
  );
});

test("LineToNumberStream names line and column of what is no number", async () => {
  const failure = async (text: string): Promise<string> => {
    const error = await numbers(text).then(() => undefined, (error) => error);
    assert.ok(error instanceof TypeError);
    return error.message;
  };
  assert.equal(await failure("1\n2\n  12a4\n"), 'line 3, column 5: "12a4" is no number');
  assert.equal(await failure("1\r\n\r\nx"), 'line 3, column 1: "x" is no number');
  assert.equal(await failure("\ufeff\n-\n"), 'line 2, column 2: "-" is no number');
  assert.equal(await failure("\ufeff-1-"), 'line 1, column 3: "-1-" is no number');
  assert.equal(await failure("1 2"), 'line 1, column 2: "1 2" is no number');
  assert.equal(await failure("1e+ \n"), 'line 1, column 4: "1e+" is no number');
  assert.equal(await failure("."), 'line 1, column 2: "." is no number');
  assert.equal(await failure("1_000"), 'line 1, column 2: "1_000" is no number');
  assert.equal(await failure("0x10"), 'line 1, column 2: "0x10" is no number');
  assert.equal(await failure("NaN"), 'line 1, column 1: "NaN" is no number');
  assert.equal(await failure("12\rÄ\u0000"), 'line 1, column 3: "12\\rÄ\\u0000" is no number');
  assert.equal(await failure(`12x${"y".repeat(100)}`), `line 1, column 3: "12x${"y".repeat(37)}…" is no number`);
});

test("LineToNumberStream gives integers up to 2^53 - 1, and fails beyond", async () => {
  assert.deepEqual(await numbers("9007199254740991\n-9007199254740991.0\n9007199254740990.5\n900719925474099.1e1"), [
    2 ** 53 - 1,
    1 - 2 ** 53,
    9007199254740990,
    2 ** 53 - 1,
  ]);
  const failure = async (text: string): Promise<unknown> => {
    const error = await numbers(text).then(() => undefined, (error) => error);
    return `${error}`;
  };
  const beyond = "is beyond 2^53 - 1 in magnitude";
  assert.equal(await failure("1\n 9007199254740992"), `RangeError: line 2, column 2: "9007199254740992" ${beyond}`);
  assert.equal(await failure("-9007199254740993"), `RangeError: line 1, column 1: "-9007199254740993" ${beyond}`);
  assert.equal(await failure("1e300"), `RangeError: line 1, column 1: "1e300" ${beyond}`);
  assert.equal(await failure("1e999"), 'RangeError: line 1, column 1: "1e999" is not finite');
  assert.equal(await failure("-1e99999999999"), 'RangeError: line 1, column 1: "-1e99999999999" is not finite');
});

test("LineToNumberStream rounds to the nearest double", async () => {
  const texts = ["0.1", "1e-400", "5e-324", "2.4703282292062327e-324", "9007199254740990.49999999999999999999", "-0"];
  const halfway = ["1.00000000000000011102230246251565404236316680908203125", "8.5e-22", "123456789012345e-22"];
  const all = [
    ...texts,
    ...halfway,
    "0.000000000000000000000000000000000000123",
    "1e-23",
    "8.442911973260991817129021e-309",
  ];
  assert.deepEqual(await numbers(all.join("\n")), all.map(Number));
});

test("LineToNumberStream asks onInvalid, whose number takes the line's place, or none", async () => {
  const asked: InvalidLine[] = [];
  const onInvalid = (invalid: InvalidLine): number | undefined => {
    asked.push(invalid);
    return invalid.text === "n/a" ? -1 : undefined;
  };
  assert.deepEqual(await numbers("1\nn/a \n2\n1e999\n3x", { onInvalid }), [1, -1, 2]);
  assert.deepEqual(asked, [
    { line: 2, column: 1, text: "n/a", reason: "malformed" },
    { line: 4, column: 1, text: "1e999", reason: "not finite" },
    { line: 5, column: 2, text: "3x", reason: "malformed" },
  ]);
});

test("LineToNumberStream fails with what onInvalid throws, and if it gives no number", async () => {
  const thrown = new SyntaxError("no");
  await assert.rejects(
    numbers("x", {
      onInvalid() {
        throw thrown;
      },
    }),
    (error) => error === thrown,
  );
  await assert.rejects(numbers("1\nx", { onInvalid: () => "0" as never }), {
    name: "TypeError",
    message: 'onInvalid must give a number or undefined, not "0" (line 2)',
  });
});

test("LineToNumberStream takes lines of 1,024 bytes and no more, in whatever chunks they come", async () => {
  const longest = "1".padStart(1024, "0");
  const chunkings = (
    text: string,
  ): BufferSource[][] => [[utf8(text)], cutAt(utf8(text), [9, 500, 1028]), bytewise(utf8(text))];
  for (const mark of ["", "\ufeff"]) {
    for (const chunks of chunkings(`${mark}${longest}\n2\n`)) {
      assert.deepEqual(await outcome(chunks), { numbers: [1, 2], asked: [] });
    }
    const asked: InvalidLine[] = [
      { line: 1, column: 1025, text: "0".repeat(1024), reason: "too long" },
      { line: 3, column: 1025, text: longest, reason: "too long" },
    ];
    for (const chunks of chunkings(`${mark}0${longest}\n2\n${longest}0`)) {
      assert.deepEqual(await outcome(chunks, true), { numbers: [2], asked });
    }
  }
});

test("LineToNumberStream fails on an endless line of garbage when it has 1,024 bytes of it", async () => {
  let chunks = 0;
  const source = new ReadableStream({
    pull: (controller) => controller.enqueue(utf8(`${++chunks}`.padStart(100, "0"))),
  });
  const error = await Array.fromAsync(source.pipeThrough(new LineToNumberStream())).then(
    () => undefined,
    (error) => error,
  );
  assert.equal(error.message, `line 1, column 1025: "${"0".repeat(40)}…" is longer than 1024 bytes`);
  assert.ok(chunks < 20);
});

test("LineToNumberStream gives a waiting reader the number before an invalid line, then the error", async () => {
  const stream = new LineToNumberStream();
  const reader = stream.readable.getReader();
  const first = reader.read();
  const writer = stream.writable.getWriter();
  await assert.rejects(writer.write(utf8("1\nx\n2\n")), { message: 'line 2, column 1: "x" is no number' });
  assert.deepEqual(await first, { done: false, value: 1 });
  await assert.rejects(reader.read(), { message: 'line 2, column 1: "x" is no number' });
});

test("LineToNumberStream gives one number a chunk, none for no input", async () => {
  assert.deepEqual(await numbers("7"), [7]);
  assert.deepEqual(await numbers(""), []);
  assert.deepEqual(await numbers("\ufeff"), []);
  assert.deepEqual(await numbers("\n \n\r\n"), []);
});

test("LineToNumberStream fails on a chunk that holds no bytes, and says what it got", async () => {
  await assert.rejects(through(["1\n" as never], new LineToNumberStream()), {
    name: "TypeError",
    message:
      'a chunk must be a Uint8Array or another BufferSource, not "1\\n": pipe text through a TextEncoderStream first',
  });
});
