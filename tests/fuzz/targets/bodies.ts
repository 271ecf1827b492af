import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { setImmediate } from "node:timers";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { compress } from "../../../lib/codecs/mod.ts";
import { HttpError } from "../../../lib/http/http_error.ts";
import { decodedBody } from "../../../lib/http/response/decoded_body.ts";
import { createResponse } from "../../../lib/http/response/http_response.ts";
import { ResponseBody } from "../../../lib/http/response/response_body.ts";
import { sourceText } from "../../support/bytes.ts";
import { choices, cut, ending, type Target } from "../target.ts";

/** Content-Encoding, by the input's first byte. */
const CODINGS = [
  "gzip",
  "deflate",
  "br",
  "zstd",
  "gzip, gzip",
  "br, zstd",
  "deflate, gzip, br",
  "identity, gzip",
  "x-gzip",
];
/** The limit of an input's decoded size, in bytes: some inputs are bombs. */
const MOST = 300_000;

/** Decodes a body that arrives in these pieces, and reads it whole or cancels it early. */
async function read(pieces: readonly Uint8Array[], coding: string, cancels: boolean): Promise<Uint8Array | HttpError> {
  const source = new ResponseBody({ consumed: () => {}, cancel: () => {} });
  const body = decodedBody(source, coding, "http://a");
  body.limit(MOST, () => new HttpError("LIMIT_EXCEEDED", "too large", { origin: "http://a" }));
  const response = createResponse({ status: 200, statusText: "", headers: [] }, body, {
    url: "http://a/",
    redirected: false,
  });
  const reading = cancels ? response.body!.cancel().then(() => new Uint8Array(0)) : response.bytes();
  const result = reading.catch((error: unknown) => {
    assert.ok(error instanceof HttpError, `not an HttpError: ${error}`);
    assert.match(error.code, /^(DECODING_FAILED|LIMIT_EXCEEDED)$/);
    return error;
  });
  for (const [index, piece] of pieces.entries()) {
    if (source.isOver) break;
    source.push(piece);
    if (index % 8 === 7) await new Promise((resolve) => setImmediate(resolve));
  }
  if (!source.isOver) source.end();
  return await result;
}

/** A response's body in one or more content codings: the first byte says in which. */
export const bodies: Target = {
  name: "bodies",
  what: "encoded bodies of responses: decoded or refused alike, however they arrive, within maxResponseSize",
  maxSize: 2000,
  tokens: ["\x1f\x8b\x08", "\x28\xb5\x2f\xfd", "\x78\x9c", "\xff\xff", "\x00\x00\xff\xff", "\x50\x2a\x4d\x18"],

  async seeds(): Promise<Uint8Array[]> {
    const text = Buffer.from(sourceText(1200));
    const bomb = Buffer.alloc(400_000);
    const zstd = async (bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> =>
      await compress(bytes, { format: "zstd", level: 3 });
    const encoded: [number, Uint8Array][] = [];
    for (const bytes of [text, bomb, Buffer.alloc(0)]) {
      encoded.push([0, gzipSync(bytes)], [1, deflateSync(bytes)], [1, deflateRawSync(bytes)]);
      encoded.push([2, brotliCompressSync(bytes)], [3, await zstd(bytes)], [4, gzipSync(gzipSync(bytes))]);
      encoded.push([5, await zstd(brotliCompressSync(bytes) as Buffer<ArrayBuffer>)]);
      encoded.push([6, brotliCompressSync(gzipSync(deflateSync(bytes)))], [7, gzipSync(bytes)], [8, gzipSync(bytes)]);
    }
    return encoded.map(([coding, bytes]) => Uint8Array.of(coding, ...bytes));
  },

  async check(input): Promise<string> {
    const coding = CODINGS[(input[0] ?? 0) % CODINGS.length];
    const data = Uint8Array.from(input.subarray(1));
    const pieces = cut(data, choices(input));
    const whole = await read([data], coding, false);
    const inPieces = await read(pieces, coding, false);
    await read(pieces, coding, true);
    if (whole instanceof HttpError || inPieces instanceof HttpError) {
      // zstd looks at the size that a frame announces in one go only, if the last block is empty.
      const isKnown = coding.includes("zstd") && String((whole as HttpError).cause).includes("Data corruption");
      if (isKnown) return `${coding} corrupt`;
      assert.ok(whole instanceof HttpError && inPieces instanceof HttpError, "only one way of arriving fails");
      return `${coding} ${whole.code} ${whole.cause === undefined ? "" : ending(whole.cause)}`;
    }
    assert.ok(whole.length <= MOST, "more came out than the limit");
    assert.deepEqual(inPieces, whole, "other bytes in pieces");
    return `${coding} ${whole.length === 0 ? "nothing" : "bytes"}`;
  },
};
