import assert from "node:assert/strict";
import test from "node:test";
import zlib from "node:zlib";
import fc from "fast-check";
import { CompressionStream } from "../../lib/codecs/mod.ts";
import { decodedBody } from "../../lib/upload/body/decoded_body.ts";
import { UploadError } from "../../lib/upload/body/upload_error.ts";
import { isLong } from "../support/long_run.ts";
import { collected, streamOf } from "../support/streams.ts";
import { concatenated, noise, piecesOf, sourceText } from "../support/bytes.ts";
import { samples } from "../codecs/samples.ts";
import { bodyOf, type ManualBody, readAll } from "./manual_body.ts";

type Bytes = Uint8Array<ArrayBuffer>;
const { constants } = zlib;
const bytesOf = (buffer: Uint8Array): Bytes => Uint8Array.from(buffer);
const brotli = (bytes: Bytes, quality: number) =>
  bytesOf(zlib.brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }));
const zstd = (bytes: Bytes, level: number) =>
  bytesOf(zlib.zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: level } }));
const gzip = (bytes: Bytes, level = 6) => bytesOf(zlib.gzipSync(bytes, { level }));

interface Sender {
  readonly coding: string;
  readonly levels: readonly number[];
  encode(bytes: Bytes, level: number): Bytes;
}

/** Senders with each coding, by the runtime's own encoders. */
const senders: Readonly<Record<string, Sender>> = {
  gzip: { coding: "gzip", levels: [0, 1, 6, 9], encode: gzip },
  "x-gzip": { coding: "X-GZip", levels: [6], encode: gzip },
  deflate: {
    coding: "deflate",
    levels: [0, 1, 6, 9],
    encode: (bytes, level) => bytesOf(zlib.deflateSync(bytes, { level })),
  },
  "deflate without its wrapper": {
    coding: "deflate",
    levels: [0, 1, 6, 9],
    encode: (bytes, level) => bytesOf(zlib.deflateRawSync(bytes, { level })),
  },
  br: { coding: "br", levels: [0, 1, 5, 11], encode: brotli },
  zstd: { coding: "zstd", levels: [1, 3, 19], encode: zstd },
};

const MANY = 2 ** 30;

/** Decodes `pieces` and returns all bytes. */
function decoded(pieces: Uint8Array[], coding: string, maxBytes = MANY): Promise<Bytes> {
  return readAll(decodedBody(bodyOf(pieces), coding, maxBytes));
}

for (const [name, { coding, levels, encode }] of Object.entries(senders)) {
  test(`${name} is undone, of every level and however it is cut`, async () => {
    for (const [sample, bytes] of Object.entries(samples)) {
      for (const level of levels) {
        const sent = encode(bytes, level);
        for (const most of isLong ? [700, 100_000, 1_000_000] : [700, 1_000_000]) {
          const result = await decoded(piecesOf(sent, most), coding);
          assert.deepEqual(result, bytes, `${sample}, level ${level}, pieces of ${most}`);
        }
      }
    }
  });

  test(`${name} in any pieces and batches gives the same bytes`, async () => {
    const bytes = concatenated([sourceText(3000), noise(500), new Uint8Array(200_000)]);
    const sent = encode(bytes, levels[0]!);
    const cuts = fc.array(fc.tuple(fc.integer({ min: 1, max: sent.length }), fc.boolean()), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(cuts, async (cuts) => {
        const batches = batchesOf(sent, cuts);
        assert.deepEqual(await readAll(decodedBody(bodyOf(...batches), coding, MANY)), bytes);
      }),
      { numRuns: 60 },
    );
  });

  test(`${name} cut at every byte gives the same bytes`, async () => {
    const bytes = concatenated([sourceText(40), noise(20)]);
    const sent = encode(bytes, levels[0]!);
    for (let at = 1; at < sent.length; at++) {
      assert.deepEqual(await decoded([sent.subarray(0, at), sent.subarray(at)], coding), bytes, `cut at ${at}`);
    }
  });

  test(`${name} that ends too early is malformed, wherever it ends`, async () => {
    const sent = encode(sourceText(60), levels[0]!);
    for (let end = 0; end < sent.length; end++) {
      const pieces = end > 0 ? [sent.subarray(0, end)] : [];
      await assert.rejects(decoded(pieces, coding), malformed, `${end} of ${sent.length} bytes`);
    }
  });

  test(`${name} that goes on after its end is malformed`, async () => {
    const sent = encode(sourceText(60), levels[0]!);
    for (const rest of [new Uint8Array(1), new Uint8Array(600), new TextEncoder().encode("more")]) {
      await assert.rejects(decoded([sent, rest], coding), malformed);
      await assert.rejects(decoded([concatenated([sent, rest])], coding), malformed);
    }
  });
}

/** Splits bytes into pieces of these lengths; true begins a batch. */
function batchesOf(bytes: Bytes, cuts: readonly (readonly [number, boolean])[]): Bytes[][] {
  const batches: Bytes[][] = [[]];
  let start = 0;
  for (const [length, isNew] of [...cuts, [bytes.length, false] as const]) {
    if (start === bytes.length) break;
    if (isNew && batches.at(-1)!.length > 0) batches.push([]);
    batches.at(-1)!.push(bytes.slice(start, start + length));
    start = Math.min(bytes.length, start + length);
  }
  return batches;
}

function malformed(error: UploadError): boolean {
  assert.equal(error.code, "MALFORMED", String(error));
  assert.equal(error.status, 400);
  assert.match(error.message, /^The body is not what its coding promises: cannot decompress/);
  assert.ok(error.cause instanceof TypeError);
  return true;
}

test("bytes that were changed are found or decode to as many bytes as are allowed at most", async () => {
  const bytes = sourceText(2000);
  for (const { coding, encode } of Object.values(senders)) {
    const sent = encode(bytes, 1);
    for (let at = 0; at < sent.length; at += 3) {
      const changed = sent.slice();
      changed[at]! ^= 1 << (at % 8);
      const result = await decoded([changed], coding, 4000).catch((error: unknown) => error);
      if (result instanceof Uint8Array) assert.ok(result.length <= 4000);
      else assert.ok(result instanceof UploadError, `${coding}, byte ${at}: ${result}`);
    }
  }
});

test("a gzip whose checksum is wrong is malformed", async () => {
  const sent = gzip(sourceText(100));
  sent[sent.length - 6]! ^= 1;
  await assert.rejects(decoded([sent], "gzip"), malformed);
});

test("several gzip members and zstd frames in a row are one body", async () => {
  const [a, b] = [sourceText(1000, 1), sourceText(1000, 2)];
  assert.deepEqual(await decoded([gzip(a), gzip(b)], "gzip"), concatenated([a, b]));
  assert.deepEqual(await decoded([concatenated([gzip(a), gzip(b)])], "gzip"), concatenated([a, b]));
  assert.deepEqual(await decoded([zstd(a, 1), zstd(b, 1)], "zstd"), concatenated([a, b]));
});

test("codings one upon the other are undone from the last to the first", async () => {
  const bytes = concatenated([sourceText(300_000), noise(1000)]);
  assert.deepEqual(await decoded([brotli(gzip(bytes), 4)], "gzip, br"), bytes);
  assert.deepEqual(await decoded([zstd(brotli(gzip(bytes), 4), 3)], "gzip,br ,\tZSTD"), bytes);
  await assert.rejects(decoded([brotli(gzip(bytes), 4)], "br, gzip"), malformed);
});

test("identity and empty elements change nothing", async () => {
  const body = bodyOf([new Uint8Array([1, 2, 3])]);
  for (const coding of ["", "identity", " Identity , identity", ", ,"]) {
    assert.equal(decodedBody(body, coding, MANY), body);
  }
  const bytes = sourceText(1000);
  assert.deepEqual(await decoded([gzip(bytes)], ", identity,, gzip,identity"), bytes);
});

test("unknown codings are refused with the known ones", () => {
  for (const coding of ["compress", "gzip, exi", "dcb", "brotli", "gzip;q=1", "gzip br", "*", "toString"]) {
    assert.throws(() => decodedBody(bodyOf([]), coding, MANY), {
      name: "UploadError",
      code: "UNSUPPORTED",
      status: 415,
      message: /^The content coding ".+" is not accepted: use gzip, deflate, br, zstd\b/,
    }, coding);
  }
});

test("more than three codings are refused", () => {
  assert.throws(() => decodedBody(bodyOf([]), "gzip, gzip, br, gzip", MANY), {
    code: "UNSUPPORTED",
    message: "The body has 4 content codings, and at most 3 are accepted",
  });
  decodedBody(bodyOf([]), "gzip, identity, br, identity, gzip", MANY);
});

test("a body may have as many bytes as are allowed, and one more is too many", async () => {
  for (const { coding, encode } of Object.values(senders)) {
    for (const size of [1, 1000, 128 * 1024, 400_000]) {
      const bytes = sourceText(size);
      const sent = encode(bytes, 1);
      assert.deepEqual(await decoded([sent], coding, size), bytes);
      await assert.rejects(decoded([sent], coding, size - 1), {
        code: "TOO_LARGE",
        status: 413,
        message: `The decoded body has more than the ${size - 1} bytes that are accepted`,
      });
    }
  }
  assert.deepEqual(await decoded([gzip(new Uint8Array(0))], "gzip", 0), new Uint8Array(0));
});

test("what is coded twice may be as large in between as at the end, and a little larger", async () => {
  const bytes = noise(300_000);
  assert.deepEqual(await decoded([gzip(zstd(gzip(bytes, 0), 1), 0)], "gzip, zstd, gzip", bytes.length), bytes);
});

/** Returns `size` zero bytes in a coding. */
async function bombOf(format: "gzip" | "brotli" | "zstd", size: number): Promise<Bytes> {
  const zeros = new Uint8Array(2 ** 20);
  const level = format === "gzip" ? 9 : 1;
  const pieces = Array.from({ length: size / zeros.length }, () => zeros);
  return await collected(streamOf(pieces).pipeThrough(new CompressionStream(format, { level })));
}

for (const [format, coding] of [["gzip", "gzip"], ["brotli", "br"], ["zstd", "zstd"]] as const) {
  test(`a small ${coding} that stands for much stops at the limit, and only what is read is made`, async () => {
    const bomb = await bombOf(format, (isLong ? 256 : 48) * 2 ** 20);
    const limit = 10_000_000;
    for (const [body, codings] of [[bomb, coding], [gzip(bomb), `${coding}, gzip`]] as const) {
      const reader = decodedBody(bodyOf([body]), codings, limit);
      let bytes = 0;
      await assert.rejects(async () => {
        for (let pieces = await reader.read(); pieces; pieces = await reader.read()) {
          for (const piece of pieces) bytes += piece.length;
        }
      }, { code: "TOO_LARGE" });
      assert.ok(bytes <= limit, `${bytes} bytes came out`);
      assert.ok(bytes > limit - 1_000_000, `only ${bytes} bytes came out`);
    }
  });
}

test("a body that is large only between two codings stops at the limit too", async () => {
  // A gzip header whose file name has 8 MiB decodes to nothing.
  const header = new Uint8Array([0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3]);
  const name = new Uint8Array(8 * 2 ** 20).fill(97);
  const inner = concatenated([header, name, new Uint8Array(1), gzip(new Uint8Array(5)).subarray(10)]);
  assert.deepEqual(await decoded([inner], "gzip"), new Uint8Array(5));
  const outer = zstd(inner, 1);
  assert.ok(outer.length < 20_000);
  assert.deepEqual(await decoded([outer], "gzip, zstd"), new Uint8Array(5));
  await assert.rejects(decoded([outer], "gzip, zstd", 2 ** 20), { code: "TOO_LARGE" });
});

test("a zstd window of 8 MiB is the largest", async () => {
  const encoded = (windowLog: number) => {
    const stream = new CompressionStream("zstd", { level: 1, windowLog });
    return collected(streamOf([sourceText(10_000)]).pipeThrough(stream));
  };
  assert.deepEqual(await decoded([await encoded(23)], "zstd"), sourceText(10_000));
  await assert.rejects(decoded([await encoded(24)], "zstd"), {
    code: "UNSUPPORTED",
    status: 415,
    message: "The body needs a zstd window above 8 MiB, the most that HTTP allows: use a windowLog up to 23",
  });
});

test("a zstd frame that claims gigabytes is refused by its header alone", async () => {
  // RFC 8878, section 3.1.1.1: a single segment, whose window is its whole content.
  const header = new Uint8Array([0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 1, 0, 0, 0]);
  const body = bodyOf();
  body.give([header]);
  await assert.rejects(decodedBody(body, "zstd", MANY).read(), { code: "UNSUPPORTED" });
});

test("what was made with a dictionary is malformed: coded bodies have none", async () => {
  // RFC 1950, section 2.2: FDICT, and the checksum of the dictionary.
  await assert.rejects(decoded([new Uint8Array([0x78, 0x20, 1, 2, 3, 4, 3, 0, 0, 0, 0, 1])], "deflate"), malformed);
  // A frame that names its dictionary by the number 5.
  const frame = new Uint8Array([0x28, 0xb5, 0x2f, 0xfd, 0x21, 5, 1, 0, 0, 1, 0, 0]);
  await assert.rejects(decoded([frame], "zstd"), malformed);
});

test("pieces are good until the read after the next", async () => {
  const bytes = sourceText(2_000_000);
  const reader = decodedBody(bodyOf(...piecesOf(gzip(bytes), 30_000).map((piece) => [piece])), "gzip", MANY);
  const parts: Uint8Array[] = [];
  let held = await reader.read();
  while (held) {
    const next = await reader.read();
    parts.push(...held.map((piece) => piece.slice()));
    held = next;
  }
  assert.deepEqual(concatenated(parts), bytes);
});

test("what was decoded is given before more input is waited for", async () => {
  const body: ManualBody = bodyOf();
  const reader = decodedBody(body, "gzip", MANY);
  const words = new TextEncoder().encode("first words");
  // A stored block (RFC 1951, section 3.2.4) after a gzip header, and more to come.
  const stored = [0, words.length, 0, 255 - words.length, 255, ...words];
  const reading = reader.read();
  body.give([new Uint8Array([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, ...stored])]);
  const pieces = await reading;
  assert.equal(new TextDecoder().decode(concatenated(pieces!)), "first words");
  await reader.cancel("enough");
});

test("an error of the body comes through as it is", async () => {
  const aborted = new UploadError("ABORTED", "The sender left");
  const body = bodyOf([gzip(noise(100_000)).subarray(0, 50_000)]);
  body.fail(aborted);
  const reader = decodedBody(body, "gzip, identity", MANY);
  const failure = readAll(reader).catch((error: unknown) => error);
  assert.equal(await failure, aborted);
  await assert.rejects(reader.read(), aborted);
});

test("a cancelled body cancels what it reads from, and later reads have the reason", async () => {
  for (const coding of ["gzip", "gzip, br"]) {
    const body = bodyOf([coding === "gzip" ? gzip(noise(500_000)) : brotli(gzip(noise(500_000)), 1)]);
    const reader = decodedBody(body, coding, MANY);
    assert.ok(await reader.read());
    const reason = new Error("enough");
    await reader.cancel(reason);
    await reader.cancel(new Error("again"));
    assert.equal(body.cancelled, reason);
    await assert.rejects(reader.read(), reason);
  }
});

test("a read that waits is rejected when the body is cancelled", async () => {
  const reason = new Error("enough");
  for (const pieces of [[], [gzip(noise(1000)).subarray(0, 500)]]) {
    const body = bodyOf();
    if (pieces.length > 0) body.give(pieces);
    const reader = decodedBody(body, "gzip", MANY);
    const failure = readAll(reader).catch((error: unknown) => error);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await reader.cancel(reason);
    assert.equal(await failure, reason);
  }
});

test("a body that is cancelled while its decoder is opened gives nothing", async () => {
  const body = bodyOf([gzip(sourceText(1000))]);
  const reader = decodedBody(body, "gzip", MANY);
  const reading = reader.read();
  const reason = new Error("enough");
  for (let turn = 0; turn < 2; turn++) await Promise.resolve();
  await reader.cancel(reason);
  await assert.rejects(reading, reason);
});

test("a body at its end stays there, also if it is cancelled then", async () => {
  const reader = decodedBody(bodyOf([gzip(sourceText(10))]), "gzip", MANY);
  assert.equal((await readAll(reader)).length, 10);
  assert.equal(await reader.read(), undefined);
  await reader.cancel("late");
  assert.equal(await reader.read(), undefined);
});

test("an error of the data stays", async () => {
  const reader = decodedBody(bodyOf([noise(100)]), "gzip", MANY);
  await assert.rejects(reader.read(), malformed);
  await assert.rejects(reader.read(), malformed);
  await reader.cancel("over");
  await assert.rejects(reader.read(), malformed);
});
