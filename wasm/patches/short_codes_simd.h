/* Tests all 16 distance short codes of a command start at once (UpdateNodes in backward_references_hq.c), where the
   scalar loop reads two bytes for each: UpdateNodes is half of the time at quality 11.

   Bit-exact: the result only tells which codes the scalar loop would not skip; what it then does is unchanged. */

#ifndef MILLRACE_SHORT_CODES_SIMD_H_
#define MILLRACE_SHORT_CODES_SIMD_H_

#include <wasm_simd128.h>

/* Where the last four distances of a command start lead to, as positions in the ring buffer. */
typedef struct ShortCodes {
  size_t previous[4];
  /* The codes whose distance is between 1 and the maximum, as bits. */
  uint32_t valid;
  /* No code's bytes wrap around the end of the ring buffer up to this offset. */
  size_t max_offset;
} ShortCodes;

#define ALL_SHORT_CODES 0xffffu

/* Prepares the codes of distance_cache; false if they must be tested one by one. */
static BROTLI_INLINE BROTLI_BOOL InitShortCodes(ShortCodes* self, const int* distance_cache, size_t cur_ix,
    size_t max_distance, size_t ringbuffer_mask) {
  size_t last = 0;
  size_t i;
  for (i = 0; i < 4; ++i) {
    self->previous[i] = (cur_ix - (size_t)distance_cache[i]) & ringbuffer_mask;
    last = BROTLI_MAX(size_t, last, self->previous[i]);
  }
  /* Eight bytes are read from three before the first two. */
  if (self->previous[0] < 3 || self->previous[1] < 3 || last + 8 > ringbuffer_mask) return BROTLI_FALSE;
  self->max_offset = ringbuffer_mask - 8 - last;
  self->valid = ALL_SHORT_CODES;
  {
    const size_t smallest = BROTLI_MIN(size_t, (size_t)distance_cache[0], (size_t)distance_cache[1]);
    const size_t largest = BROTLI_MAX(size_t, (size_t)distance_cache[0], (size_t)distance_cache[1]);
    const BROTLI_BOOL simple = TO_BROTLI_BOOL(smallest > 3 && largest + 3 <= max_distance &&
        (size_t)distance_cache[2] <= max_distance && (size_t)distance_cache[3] <= max_distance);
    if (simple) return BROTLI_TRUE;
  }
  for (i = 0; i < BROTLI_NUM_DISTANCE_SHORT_CODES; ++i) {
    const size_t backward = (size_t)(distance_cache[kDistanceCacheIndex[i]] + kDistanceCacheOffset[i]);
    if (backward - 1 >= max_distance) self->valid &= ~(1u << i);
  }
  return BROTLI_TRUE;
}

/* The codes, as bits, whose byte at offset equals byte. REQUIRES: offset <= max_offset */
static BROTLI_INLINE uint32_t ShortCodesWithByte(const ShortCodes* self, const uint8_t* ringbuffer, size_t offset,
    uint8_t byte) {
  const uint8_t* data = ringbuffer + offset;
  v128_t bytes = wasm_v128_load64_zero(data + self->previous[0] - 3);
  bytes = wasm_v128_load64_lane(data + self->previous[1] - 3, bytes, 1);
  /* In the order of kDistanceCacheIndex and kDistanceCacheOffset: the distance itself lies at 3, one more at 2. */
  bytes = wasm_i8x16_shuffle(bytes, bytes, 3, 11, 0, 0, 4, 2, 5, 1, 6, 0, 12, 10, 13, 9, 14, 8);
  bytes = wasm_v128_load8_lane(data + self->previous[2], bytes, 2);
  bytes = wasm_v128_load8_lane(data + self->previous[3], bytes, 3);
  return (uint32_t)wasm_i8x16_bitmask(wasm_i8x16_eq(bytes, wasm_i8x16_splat((int8_t)byte)));
}

#endif /* MILLRACE_SHORT_CODES_SIMD_H_ */
