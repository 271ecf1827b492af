import { noise, piecesOf, sha256, sourceText } from "../../support/bytes.ts";
import { assertEqual, type Check, type Library, rejection } from "./check.ts";

const bytes = sourceText(300_000, 9);
const formats = ["brotli", "zstd", "gzip", "deflate", "deflate-raw"] as const;

async function there({ compress, decompress, CompressionStream, DecompressionStream }: Library): Promise<string> {
  for (const format of formats) {
    const whole = await compress(bytes, { format, level: 5 });
    assertEqual(await sha256(await decompress(whole, { format })), await sha256(bytes));
    const pieces = new Blob(piecesOf(bytes, 20_000)).stream();
    const streamed = pieces.pipeThrough(new CompressionStream(format, { level: 5 }));
    const back = new Response(streamed.pipeThrough(new DecompressionStream(format)));
    assertEqual(await sha256(await back.bytes()), await sha256(bytes));
  }
  return formats.join(", ");
}

async function withNative(library: Library): Promise<string> {
  for (const format of ["gzip", "deflate", "deflate-raw"] as const) {
    const ours = await library.compress(bytes, { format });
    const theirs = new Blob([ours]).stream().pipeThrough(new DecompressionStream(format));
    assertEqual(await sha256(await new Response(theirs).bytes()), await sha256(bytes));
    const native = library.pipeThrough(new Blob([bytes]).stream(), new CompressionStream(format));
    const back = native.pipeThrough(new library.DecompressionStream(format));
    assertEqual(await sha256(await new Response(back).bytes()), await sha256(bytes));
  }
  return "gzip, deflate, deflate-raw, both ways";
}

/** Checks that the browser's own decoders for Content-Encoding decode this package's output. */
async function asContentCoding({ compress }: Library): Promise<string> {
  const accepted = await (await fetch("/accepted")).text();
  assertEqual(accepted.includes("gzip"), true);
  for (
    const [format, coding] of [["brotli", "br"], ["zstd", "zstd"], ["gzip", "gzip"], ["deflate", "deflate"]] as const
  ) {
    if (!accepted.includes(coding)) continue;
    const body = await compress(bytes, { format, level: 9 });
    const answer = await fetch(`/echo?coding=${coding}`, { method: "POST", body });
    assertEqual(answer.headers.get("content-encoding"), coding);
    assertEqual(await sha256(await answer.bytes()), await sha256(bytes));
  }
  return accepted;
}

async function withDictionary({ compress, decompress }: Library): Promise<string> {
  const dictionary = bytes.subarray(0, 200_000);
  const sizes: string[] = [];
  for (const format of ["dcb", "dcz"] as const) {
    const delta = await compress(bytes, { format, level: 5, dictionary });
    assertEqual(await sha256(await decompress(delta, { format, dictionary })), await sha256(bytes));
    sizes.push(`${format} ${delta.length} bytes`);
  }
  return sizes.join(", ");
}

async function synchronously({ compressSync, decompressSync, ready }: Library): Promise<string> {
  await ready(["deflate"]);
  const small = compressSync(bytes, { format: "deflate" });
  assertEqual(decompressSync(small, { format: "deflate" }).length, bytes.length);
  return `${bytes.length} bytes became ${small.length}`;
}

async function refused({ compress, decompress, DecompressionStream }: Library): Promise<string> {
  const bomb = await compress(new Uint8Array(5_000_000), { format: "zstd", level: 1 });
  const limited = new Blob([bomb]).stream().pipeThrough(new DecompressionStream("zstd", { maxSize: 1_000_000 }));
  // Without a Response: Chromium reports the errors of any stream as a TypeError there.
  assertEqual((await rejection(Array.fromAsync(limited))).name, "RangeError");
  assertEqual((await rejection(decompress(noise(1000), { format: "brotli" }))).name, "TypeError");
  assertEqual((await rejection(decompress(bomb.subarray(0, 50), { format: "zstd" }))).name, "TypeError");
  return "too much, noise, a part";
}

/** The checks that need encoders, too. */
export const codecChecks: readonly Check[] = [
  { name: "compresses and decompresses, whole and streamed", run: there },
  { name: "the browser's own CompressionStream and DecompressionStream agree", run: withNative },
  { name: "the browser takes ours as Content-Encoding", run: asContentCoding },
  { name: "compresses against a dictionary", run: withDictionary },
  { name: "compresses without promises once a codec is ready", run: synchronously },
  { name: "refuses what is corrupt, cut off or too large", run: refused },
];
