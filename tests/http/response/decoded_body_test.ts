import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { compress } from "../../../lib/codecs/mod.ts";
import { decodedBody, verifiedBody } from "../../../lib/http/response/decoded_body.ts";
import { createResponse } from "../../../lib/http/response/http_response.ts";
import { ResponseBody } from "../../../lib/http/response/response_body.ts";

const content = Buffer.from("the mill turns round and round, ".repeat(4000));
const zstd = (bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> => compress(bytes, { format: "zstd", level: 3 });
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

type Wrap = (body: ResponseBody) => ResponseBody;

/** A response, its body, and the calls the body makes to its source. */
class Probe {
  readonly body: ResponseBody = new ResponseBody(this);
  readonly response: Response;
  consumedBytes = 0;
  readonly cancelled: unknown[] = [];

  constructor(wrap: Wrap) {
    const head = { status: 200, statusText: "", headers: [] };
    this.response = createResponse(head, wrap(this.body), { url: "http://a/", redirected: false });
  }

  consumed(bytes: number): void {
    this.consumedBytes += bytes;
  }

  cancel(reason: unknown): void {
    this.cancelled.push(reason);
  }

  /** Pushes all of it in pieces. */
  arrive(bytes: Uint8Array, size: number = bytes.length): this {
    for (let at = 0; at < bytes.length; at += size) this.body.push(bytes.subarray(at, at + size));
    this.body.end();
    return this;
  }
}

const decoding = (coding: string): Wrap => (body) => decodedBody(body, coding, "http://a");

async function decode(coding: string, bytes: Uint8Array, size?: number): Promise<Buffer> {
  return Buffer.from(await new Probe(decoding(coding)).arrive(bytes, size).response.bytes());
}

test("every coding is undone, in one piece and in small ones", async () => {
  const cases: [string, Uint8Array][] = [
    ["gzip", gzipSync(content)],
    ["x-gzip", gzipSync(content)],
    ["GZip ", gzipSync(content)],
    ["deflate", deflateSync(content)],
    ["deflate", deflateRawSync(content)],
    ["br", brotliCompressSync(content)],
    ["zstd", await zstd(content)],
    ["identity", content],
    ["", content],
    ["gzip, identity,, br", brotliCompressSync(gzipSync(content))],
    ["zstd, gzip, deflate", deflateSync(gzipSync(await zstd(content)))],
    ["gzip, gzip, gzip, gzip, gzip", [1, 2, 3, 4, 5].reduce<Buffer>((bytes) => gzipSync(bytes), content)],
  ];
  for (const [coding, bytes] of cases) {
    for (const size of [undefined, 7]) {
      assert.ok((await decode(coding, bytes, size)).equals(content), `${coding} ${size}`);
    }
  }
});

test("what comes bit by bit is decoded as it comes", async () => {
  for (const [coding, bytes] of [["gzip", gzipSync(content)], ["zstd", await zstd(content)]] as const) {
    const probe = new Probe(decoding(coding));
    const text = probe.response.text();
    for (let at = 0; at < bytes.length; at += 40) {
      await turn();
      probe.body.push(bytes.subarray(at, at + 40));
    }
    assert.equal(probe.consumedBytes, bytes.length);
    probe.body.end();
    assert.equal(await text, content.toString());
  }
});

test("a flushed part is given before the rest has come", async () => {
  const { createGzip, constants } = await import("node:zlib");
  const gzip = createGzip();
  const flushed = await new Promise<Buffer>((resolve) => {
    const chunks: Buffer[] = [];
    gzip.on("data", (chunk) => chunks.push(chunk));
    gzip.write("first");
    gzip.flush(constants.Z_SYNC_FLUSH, () => resolve(Buffer.concat(chunks)));
  });
  const probe = new Probe(decoding("gzip"));
  probe.body.push(flushed);
  const { value } = await probe.response.body!.getReader().read();
  assert.equal(Buffer.from(value!).toString(), "first");
  gzip.destroy();
});

test("a body with a coding that is not known is given as it is", async () => {
  for (const coding of ["compress", "gzip, exi", "unknown", "gzip;q=1"]) {
    assert.ok((await decode(coding, content)).equals(content), coding);
  }
});

test("an empty body is empty in every coding", async () => {
  for (const coding of ["gzip", "deflate", "br", "zstd", "gzip, br"]) {
    assert.equal((await decode(coding, new Uint8Array())).length, 0);
  }
});

test("several members of gzip are one body, and what follows the end is dropped, as browsers do", async () => {
  const twice = Buffer.concat([gzipSync("one "), gzipSync("two")]);
  assert.equal((await decode("gzip", twice)).toString(), "one two");
  const garbage = Buffer.from("garbage ".repeat(20_000));
  const cases: [string, Uint8Array][] = [
    ["gzip", gzipSync(content)],
    ["deflate", deflateSync(content)],
    ["deflate", deflateRawSync(content)],
    ["br", brotliCompressSync(content)],
  ];
  for (const [coding, bytes] of cases) {
    for (const size of [undefined, 100]) {
      const whole = Buffer.concat([bytes, garbage]);
      const probe = new Probe(decoding(coding)).arrive(whole, size);
      assert.ok(Buffer.from(await probe.response.bytes()).equals(content), coding);
      assert.equal(probe.consumedBytes, whole.length);
      assert.deepEqual(probe.cancelled, []);
    }
  }
});

test("what is cut short or corrupt fails with DECODING_FAILED, and the exchange is cancelled", async () => {
  const encoded: [string, Uint8Array][] = [
    ["gzip", gzipSync(content)],
    ["deflate", deflateSync(content)],
    ["br", brotliCompressSync(content)],
    ["zstd", await zstd(content)],
  ];
  for (const [coding, bytes] of encoded) {
    for (const length of [1, 10, bytes.length - 1]) {
      await assert.rejects(decode(coding, bytes.subarray(0, length)), {
        code: "DECODING_FAILED",
        origin: "http://a",
        message: new RegExp(coding),
      });
    }
    const corrupt = new Probe(decoding(coding));
    const text = corrupt.response.text();
    corrupt.body.push(new Uint8Array(1000).fill(0xf7));
    await assert.rejects(text, { code: "DECODING_FAILED", name: "TypeError" });
    assert.equal(corrupt.cancelled.length, 1);
  }
});

test("more than five codings are refused", async () => {
  const probe = new Probe(decoding("br, br, br, br, br, br"));
  probe.arrive(content);
  await assert.rejects(probe.response.text(), { code: "DECODING_FAILED", message: /at most 5/ });
  assert.equal(probe.cancelled.length, 1);
});

test("zstd windows above 8 MiB are refused", async () => {
  // A frame header that asks for a window of 16 MiB, and an empty last block: RFC 8878, section 3.1.1.
  const frame = new Uint8Array([0x28, 0xb5, 0x2f, 0xfd, 0x00, 14 << 3, 0x01, 0x00, 0x00]);
  await assert.rejects(decode("zstd", frame), { code: "DECODING_FAILED" });
  frame[5] = 13 << 3;
  assert.equal((await decode("zstd", frame)).length, 0);
});

test("an error of the body, and an abort while it is decoded, come through as they are", async () => {
  for (const early of [true, false]) {
    const reason = new RangeError("lost");
    const probe = new Probe(decoding("gzip, br"));
    probe.body.push(brotliCompressSync(gzipSync(content)).subarray(0, 40));
    if (early) probe.body.fail(reason);
    const refused = assert.rejects(probe.response.text(), reason);
    await turn();
    probe.body.fail(reason);
    await refused;
    assert.deepEqual(probe.cancelled, []);
  }
});

test("a stream that is cancelled cancels the exchange, also before and while the codec is opened", async () => {
  const bytes = gzipSync(content);
  for (const turns of [0, 1, 10]) {
    const probe = new Probe(decoding("gzip"));
    probe.body.push(bytes.subarray(0, 50));
    const reader = probe.response.body!.getReader();
    const reading = reader.read();
    for (let at = 0; at < turns; at++) await turn();
    await reader.cancel("enough");
    await reading;
    assert.deepEqual(probe.cancelled, ["enough"]);
  }
});

test("of a small body that stands for a large one, no more is decoded than is read", async () => {
  const bomb = gzipSync(Buffer.alloc(20_000_000));
  const probe = new Probe(decoding("gzip"));
  for (let at = 0; at < bomb.length; at += 1000) probe.body.push(bomb.subarray(at, at + 1000));
  const reader = probe.response.body!.getReader();
  let length = 0;
  for (let reads = 0; reads < 5; reads++) length += (await reader.read()).value!.length;
  await turn();
  assert.ok(length <= 5 * 65536);
  assert.ok(probe.consumedBytes <= 8000, `${probe.consumedBytes} of ${bomb.length}`);
  await reader.cancel();
});

test("decoded bodies are cloned, and read as streams and in views", async () => {
  const probe = new Probe(decoding("br"));
  const copy = probe.response.clone();
  probe.arrive(brotliCompressSync(content), 11);
  const reader = copy.body!.getReader({ mode: "byob" });
  const chunks: Uint8Array[] = [];
  for (let view = new Uint8Array(1000);;) {
    const { done, value } = await reader.read(view);
    if (done) break;
    chunks.push(value.slice());
    view = new Uint8Array(value.buffer);
  }
  assert.ok(Buffer.concat(chunks).equals(content));
  assert.equal(await probe.response.text(), content.toString());
});

test("any bytes in any coding, split anywhere, come out as they went in, read in any way", async () => {
  const codings = fc.constantFrom("gzip", "deflate", "br", "zstd", "gzip, zstd", "br, deflate");
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 300 }),
      codings,
      fc.array(fc.nat(60), { maxLength: 9 }),
      fc.boolean(),
      async (data, coding, cuts, streams) => {
        const bytes = new Uint8Array(data);
        let encoded: Uint8Array = bytes;
        for (const name of coding.split(", ")) {
          if (name === "gzip") encoded = gzipSync(encoded);
          else if (name === "deflate") encoded = deflateSync(encoded);
          else if (name === "br") encoded = brotliCompressSync(encoded);
          else encoded = await zstd(new Uint8Array(encoded));
        }
        const probe = new Probe(decoding(coding));
        const result = streams
          ? Array.fromAsync(probe.response.body!).then((chunks) => Buffer.concat(chunks))
          : probe.response.bytes().then((whole) => Buffer.from(whole));
        let start = 0;
        for (const cut of cuts) {
          probe.body.push(encoded.subarray(start, start += cut));
          if (cut % 3 === 0) await turn();
        }
        probe.body.push(encoded.subarray(start));
        probe.body.end();
        assert.ok((await result).equals(Buffer.from(bytes)));
      },
    ),
    { numRuns: 60 },
  );
});

// Integrity

const verifying = (integrity: string): Wrap => (body) => verifiedBody(body, integrity, "http://a");
const digest = (algorithm: string, bytes: Uint8Array = content): string =>
  `${algorithm}-${createHash(algorithm).update(bytes).digest("base64")}`;

test("a body that is what integrity says is given", async () => {
  const good = [
    digest("sha256"),
    digest("sha384"),
    digest("sha512"),
    digest("sha256").toUpperCase().replace(/.*/, digest("sha256").replace("sha256", "SHA256")),
    `${digest("sha256")}?ct=text/plain`,
    `  ${digest("sha256")}\n${digest("sha256", Buffer.from("x"))}`,
    `${digest("sha256", Buffer.from("x"))} ${digest("sha512")}`,
    digest("sha256").replaceAll("+", "-").replaceAll("/", "_"),
    "",
    "md5-abc",
    "nonsense",
    "sha1-AAAA",
  ];
  for (const integrity of good) {
    const probe = new Probe(verifying(integrity)).arrive(content, 1000);
    assert.equal(await probe.response.text(), content.toString(), integrity);
    assert.equal(probe.consumedBytes, content.length);
  }
});

test("a body that is not fails at its end with INTEGRITY_MISMATCH, also as a stream", async () => {
  const other = Buffer.from("x");
  const bad = [
    digest("sha256", other),
    `${digest("sha256")} ${digest("sha512", other)}`,
    `md5-abc ${digest("sha384", other)}`,
    "sha256-AAAA",
    "sha256",
    "sha256-",
    "sha256-not!base64",
    `${digest("sha256")}garbage`,
    `${digest("sha256").replace("-", "-\u00e9")}`,
    `${digest("sha256")} sha512-malformed!`,
    "sha384-?option",
  ];
  for (const integrity of bad) {
    const probe = new Probe(verifying(integrity)).arrive(content, 1000);
    await assert.rejects(probe.response.text(), {
      code: "INTEGRITY_MISMATCH",
      origin: "http://a",
      message: /its digest is sha/,
    });
    const streamed = new Probe(verifying(integrity)).arrive(content, 1000);
    await assert.rejects(Array.fromAsync(streamed.response.body!), { code: "INTEGRITY_MISMATCH" });
  }
});

test("integrity is that of the decoded body", async () => {
  const wrap: Wrap = (body) => verifiedBody(decodedBody(body, "gzip", "http://a"), digest("sha256"), "http://a");
  assert.equal(await new Probe(wrap).arrive(gzipSync(content), 100).response.text(), content.toString());
  const empty: Wrap = (body) => verifiedBody(body, digest("sha256", new Uint8Array()), "http://a");
  assert.equal(await new Probe(empty).arrive(new Uint8Array()).response.text(), "");
});
