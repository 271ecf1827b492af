/** A child of instances_test.ts with 8 MiB of memory for each instance: prints the kinds of faults. */
import { faultOf, openDecoder, openEncoder } from "../../lib/codecs/internal.ts";
import { compress, decompressSync, ready } from "../../lib/codecs/mod.ts";
import { concatenated, noise } from "../support/bytes.ts";

const bytes = noise(300_000);
const faults: Record<string, unknown> = {};
const later: number[] = [];

function faultIn(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return faultOf(error) ?? String(error);
  }
  return undefined;
}

await ready();
for (const format of ["gzip", "brotli", "zstd"] as const) {
  const small = await compress(new Uint8Array(100), { format, level: 1 });
  faults[`open ${format}`] = faultIn(() => {
    for (let i = 0; i < 10; i++) {
      openEncoder(format, { level: 9, windowLog: format === "gzip" ? undefined : 22 }).write(bytes);
    }
    for (let i = 0; i < 1000; i++) openEncoder("gzip", { level: 9 }).write(bytes.subarray(0, 10));
  });
  const encoder = openEncoder(format, { level: 1, lean: true });
  const bomb = Array.from({ length: 10 }, () => encoder.write(new Uint8Array(1_000_000))).flat();
  faults[`whole ${format}`] = faultIn(() => decompressSync(concatenated([...bomb, ...encoder.finish()]), { format }));
  later.push(decompressSync(small, { format }).length);
}
const decoder = await openDecoder("zstd");
decoder.write(new Uint8Array([0x28, 0xb5, 0x2f, 0xfd, 0, 13 << 3, 2, 0, 0]));
faults["window"] = faultIn(() => decoder.read(new Uint8Array(10)));
console.log(JSON.stringify({ ...faults, later }));
