/** A prime, so that the pattern does not align with any buffer. */
const PERIOD = 65_521;

const period = Uint8Array.from({ length: PERIOD }, (_, i) => (i * i) >>> 5);

/** Returns the bytes that every test server gives at `/bytes` and `/stream`. */
export function pattern(length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += PERIOD) bytes.set(period.subarray(0, Math.min(PERIOD, length - at)), at);
  return bytes;
}
