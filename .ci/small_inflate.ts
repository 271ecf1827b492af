/**
 * Inflates what the build has deflated (RFC 1951): in few lines rather than fast, and with no check of what the build
 * knows. Of the text of gzip's decoder, so that the global `DecompressionStream` may be the package's own.
 *
 * @param size The number of bytes that it returns.
 */
export function inflate(deflated: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  const inflated = new Uint8Array(size);
  let [made, position] = [0, 0];
  const bits = (count: number): number => {
    let value = 0;
    for (let i = 0; i < count; i++, position++) value |= (deflated[position >> 3] >> (position & 7) & 1) << i;
    return value;
  };
  /** Returns what reads a symbol of the code whose symbols have these lengths. */
  const codeOf = (lengths: readonly number[]): () => number => {
    const symbols = [...lengths.keys()].filter((i) => lengths[i] > 0).sort((a, b) => lengths[a] - lengths[b]);
    const counts = new Uint16Array(16);
    for (const symbol of symbols) counts[lengths[symbol]]++;
    return () => {
      let [code, first, index] = [0, 0, 0];
      for (let length = 1;; length++) {
        code = code * 2 | bits(1);
        first *= 2;
        if (code - first < counts[length]) return symbols[index + code - first];
        first += counts[length];
        index += counts[length];
      }
    };
  };
  /** Reads the value of a symbol: `2 << log` symbols are one value each, then `1 << log` each of twice as many. */
  const valueOf = (symbol: number, log: number): number => {
    const added = Math.max((symbol >> log) - 1, 0);
    return (added > 0 ? ((1 << log) + (symbol & (1 << log) - 1)) << added : symbol) + bits(added);
  };
  const order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
  for (let isLast = false; !isLast;) {
    isLast = bits(1) === 1;
    bits(2); // all blocks contain their codes
    const [literalCount, distanceCount, orderCount] = [bits(5) + 257, bits(5) + 1, bits(4) + 4];
    const ofLengths: number[] = Array(19).fill(0);
    for (let i = 0; i < orderCount; i++) ofLengths[order[i]] = bits(3);
    const lengthOf = codeOf(ofLengths);
    const lengths: number[] = [];
    while (lengths.length < literalCount + distanceCount) {
      const symbol = lengthOf();
      if (symbol < 16) lengths.push(symbol);
      else {
        const [length, times] = symbol === 16
          ? [lengths.at(-1)!, 3 + bits(2)]
          : [0, symbol === 17 ? 3 + bits(3) : 11 + bits(7)];
        for (let i = 0; i < times; i++) lengths.push(length);
      }
    }
    const [literalOf, distanceOf] = [codeOf(lengths.slice(0, literalCount)), codeOf(lengths.slice(literalCount))];
    for (let symbol = literalOf(); symbol !== 256; symbol = literalOf()) {
      if (symbol < 256) inflated[made++] = symbol;
      else {
        const end = made + (symbol === 285 ? 258 : 3 + valueOf(symbol - 257, 2));
        for (const distance = 1 + valueOf(distanceOf(), 1); made < end; made++) {
          inflated[made] = inflated[made - distance];
        }
      }
    }
  }
  return inflated;
}
