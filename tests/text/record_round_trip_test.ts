import assert from "node:assert/strict";
import process from "node:process";
import test from "node:test";
import { ReadableStream, TransformStream, WritableStream } from "../../lib/streams/mod.ts";
import { CsvDecoderStream, CsvEncoderStream, JsonLinesEncoderStream, JsonLineStream } from "../../lib/text/mod.ts";
import { tries } from "../support/long_run.ts";

/** The number of records to send; a million are sent with MILLRACE_RECORDS=1000000. */
const COUNT = Number(process.env.MILLRACE_RECORDS ?? tries(8000));
const SEED = Number(process.env.MILLRACE_SEED ?? Math.trunc(Math.random() * 2 ** 31));

const pieces = [
  "",
  "a",
  '"',
  ",",
  "\n",
  "\r\n",
  "\r",
  "\\",
  " ",
  "é",
  "→",
  "😀",
  "\u2028",
  "\ufeff",
  "null",
  "12",
  "{",
  "]",
];

/** Numbers by chance, the same for the same seed. */
class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor(this.#state / 2 ** 32 * limit);
  }

  text(): string {
    let text = "";
    for (let i = this.below(6); i > 0; i--) text += pieces[this.below(pieces.length)];
    return text;
  }

  value(depth: number): unknown {
    switch (this.below(depth > 2 ? 5 : 7)) {
      case 0:
        return null;
      case 1:
        return this.below(2) === 0;
      case 2:
        return (this.below(1e6) - 5e5) / 100;
      case 5:
        return Array.from({ length: this.below(4) }, () => this.value(depth + 1));
      case 6:
        return { [`k${this.text()}`]: this.value(depth + 1), id: this.below(9) };
      default:
        return this.text();
    }
  }
}

function generated<T>(make: (chance: Chance) => T): ReadableStream<T> {
  const chance = new Chance(SEED);
  let made = 0;
  return new ReadableStream<T>({
    pull(controller): void {
      if (made++ === COUNT) controller.close();
      else controller.enqueue(make(chance));
    },
  });
}

/** Returns a transform that splits bytes at random positions, into small chunks or large ones. */
function cutting(): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  const chance = new Chance(SEED + 1);
  return new TransformStream({
    transform(bytes, controller): void {
      for (let at = 0; at < bytes.length;) {
        const length = chance.below(chance.below(4) === 0 ? 20 : 8000);
        controller.enqueue(bytes.slice(at, at + length));
        at += length;
      }
    },
  });
}

/** Compares the stream's records with freshly created ones. */
async function expectAll<T>(found: globalThis.ReadableStream<unknown>, make: (chance: Chance) => T): Promise<void> {
  const chance = new Chance(SEED);
  let count = 0;
  await found.pipeTo(
    new WritableStream({
      write(record): void {
        const expected = JSON.stringify(make(chance));
        assert.equal(JSON.stringify(record), expected, `record ${count} of seed ${SEED}`);
        count++;
      },
    }),
  );
  assert.equal(count, COUNT);
}

test(`${COUNT} random records are the same after JSON lines that were cut anywhere`, { timeout: 600_000 }, async () => {
  const make = (chance: Chance): unknown => chance.value(0);
  await expectAll(
    generated(make).pipeThrough(new JsonLinesEncoderStream()).pipeThrough(cutting()).pipeThrough(new JsonLineStream()),
    make,
  );
});

test(
  `${COUNT} random records are the same after CSV that was cut anywhere, as arrays`,
  { timeout: 600_000 },
  async () => {
    const make = (chance: Chance): string[] => Array.from({ length: 5 }, () => chance.text());
    await expectAll(
      generated(make).pipeThrough(new CsvEncoderStream()).pipeThrough(cutting()).pipeThrough(new CsvDecoderStream()),
      make,
    );
  },
);

test(
  `${COUNT} random records are the same after CSV that was cut anywhere, as objects`,
  { timeout: 600_000 },
  async () => {
    const make = (chance: Chance): object => ({
      first: chance.text(),
      __proto__x: chance.text(),
      "a,\n": chance.text(),
    });
    await expectAll(
      generated(make).pipeThrough(new CsvEncoderStream({ headers: true, separator: ";", lineEnding: "\n" }))
        .pipeThrough(cutting()).pipeThrough(new CsvDecoderStream({ headers: true, separator: ";" })),
      make,
    );
  },
);

test("a first record that begins as no text of CSV does is the same after CSV, whatever its separator", async () => {
  const starts = ["sep=;", "sep=,", "sep=\t", "sep=|", "sep=", "\ufeff", "\ufeffsep=;", "SEP=;", "sep"];
  for (const separator of [",", ";", "\t", "|"]) {
    for (const start of starts) {
      for (const record of [[start], [start, ""], [start, "b"], [" ", start]]) {
        for (const headers of [undefined, record]) {
          const given = [record, record.map(() => "1")];
          const text = ReadableStream.from(given).pipeThrough(new CsvEncoderStream({ separator, headers }));
          const options = separator === "," ? {} : { separator };
          const found = await Array.fromAsync(text.pipeThrough(new CsvDecoderStream(options)));
          if (record[0] !== record[1]) assert.deepEqual(found, headers ? [record, ...given] : given, String(record));
        }
      }
    }
  }
});
