/** The polynomial of gzip's checksum, its lowest power in the highest bit (RFC 1952, section 8). */
const POLYNOMIAL = 0xedb88320;
/** The polynomial 1 in that order of bits. */
const ONE = 0x80000000;

/** The checksum of each byte. */
const ofBytes: Uint32Array = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = timesX(rest);
  return rest;
});

/** x to the powers 1, 2, 4, 8, …, which repeat after 32. */
const powers: Uint32Array = new Uint32Array(32);
powers[0] = timesX(ONE);
for (let i = 1; i < powers.length; i++) powers[i] = product(powers[i - 1], powers[i - 1]);

/** Returns the checksum of everything that `crc` is of, and `bytes` after it. */
export function crc32(crc: number, bytes: Uint8Array): number {
  let rest = ~crc;
  for (let i = 0; i < bytes.length; i++) rest = (rest >>> 8) ^ ofBytes[(rest ^ bytes[i]) & 255];
  return ~rest >>> 0;
}

/**
 * Returns what a checksum adds to that of the whole when `length` bytes follow: of two parts in a row, the checksum is
 * `shifted(crc(first), second.length) ^ crc(second)`.
 */
export function shifted(crc: number, length: number): number {
  let result = crc;
  let rest = length;
  for (let power = 3; rest > 0; power++) { // 8 bits a byte
    if (rest % 2 === 1) result = product(result, powers[power % 32]);
    rest = Math.floor(rest / 2);
  }
  return result >>> 0;
}

/** The product of two polynomials, modulo that of the checksum. */
function product(a: number, b: number): number {
  let sum = 0;
  let term = b;
  for (let bits = a; bits !== 0; bits <<= 1) {
    if (bits & ONE) sum ^= term;
    term = timesX(term);
  }
  return sum;
}

function timesX(polynomial: number): number {
  return polynomial & 1 ? (polynomial >>> 1) ^ POLYNOMIAL : polynomial >>> 1;
}
