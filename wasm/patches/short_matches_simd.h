/* Looks for two equal bytes at 16 positions at once (FindAllMatches in hash_to_binary_tree_inc.h, which looks at each of
   the last 64 positions before it searches its tree).

   Bit-exact: the result only tells which positions the scalar loop would not skip. */

#ifndef MILLRACE_SHORT_MATCHES_SIMD_H_
#define MILLRACE_SHORT_MATCHES_SIMD_H_

#include <wasm_simd128.h>

/* The positions among data[0..15], as bits, where the bytes first and second begin. Reads data[0..16]. */
static BROTLI_INLINE uint32_t PositionsOfTwoBytes(const uint8_t* data, uint8_t first, uint8_t second) {
  const v128_t firsts = wasm_i8x16_eq(wasm_v128_load(data), wasm_i8x16_splat((int8_t)first));
  const v128_t seconds = wasm_i8x16_eq(wasm_v128_load(data + 1), wasm_i8x16_splat((int8_t)second));
  return (uint32_t)wasm_i8x16_bitmask(wasm_v128_and(firsts, seconds));
}

#endif /* MILLRACE_SHORT_MATCHES_SIMD_H_ */
