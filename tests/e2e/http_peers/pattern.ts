/** A prime, so that the pattern keeps step with no buffer of anybody. */
const PERIOD = 65_521;

const period = Uint8Array.from({ length: PERIOD }, (_, i) => (i * i) >>> 5);

/** The bytes that every server of ours gives at `/bytes` and `/stream`. */
export function pattern(length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += PERIOD) bytes.set(period.subarray(0, Math.min(PERIOD, length - at)), at);
  return bytes;
}
