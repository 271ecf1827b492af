/* Relaxes the nodes of all matches of a position together (UpdateNodes in backward_references_hq.c). Each match but the
   first is tried with only the lengths above the one before it, mostly one or two: too few for a vector. Side by side by
   length they are one row, whose distances are also coded once for both command starts: 1.5% of the time at quality 11.

   Bit-exact: each length has the distance and each lane's additions the order of the scalar loop. */

#ifndef MILLRACE_RELAX_MATCHES_SIMD_H_
#define MILLRACE_RELAX_MATCHES_SIMD_H_

#include <wasm_simd128.h>

/* By copy length: the distance with which the scalar loop tries it and what that adds to the cost. */
typedef struct MatchRow {
  size_t first;
  /* One after the last length; first if there is none. */
  size_t end;
  /* Number of matches in the row. */
  size_t num_matches;
  float extra[TABLE_LENGTHS + 3];
  float cost[TABLE_LENGTHS + 3];
  uint32_t distance[TABLE_LENGTHS + 3];
} MatchRow;

/* Collects the matches up to one that is tried with a single length: a long one, or a word of the dictionary, whose
   distance is above max_distance. */
static BROTLI_INLINE void InitMatchRow(MatchRow* self, const ZopfliCostModel* model,
    const BrotliDistanceParams* params, const BackwardMatch* matches, size_t num_matches, size_t min_len,
    size_t max_len, size_t max_distance) {
  size_t len = min_len;
  size_t j;
  self->first = min_len;
  for (j = 0; j < num_matches; ++j) {
    const size_t last = BackwardMatchLength(&matches[j]);
    if (matches[j].distance > max_distance || last > max_len) break;
    if (len <= last) {
      uint16_t symbol;
      uint32_t extra_bits;
      float extra;
      float cost;
      PrefixEncodeCopyDistance(matches[j].distance + BROTLI_NUM_DISTANCE_SHORT_CODES - 1,
          params->num_direct_distance_codes, params->distance_postfix_bits, &symbol, &extra_bits);
      extra = (float)(uint32_t)(symbol >> 10);
      cost = ZopfliCostModelGetDistanceCost(model, symbol & 0x3FF);
      for (; len <= last; ++len) {
        self->extra[len] = extra;
        self->cost[len] = cost;
        self->distance[len] = matches[j].distance;
      }
    }
  }
  self->end = len;
  self->num_matches = j;
}

/* Updates the nodes that the row's copies lead to from start_pos, as RelaxRow does for one distance. Returns the last
   length that improved one, or 0. REQUIRES: the command costs of inscode are filled */
static BROTLI_INLINE size_t RelaxMatchRow(const MatchRow* self, const ZopfliCostModel* model, ZopfliNode* nodes,
    size_t pos, size_t start_pos, uint16_t inscode, float base_cost) {
  const float* const node_costs = model->copy_costs_->nodes + pos;
  const float* const extra = model->copy_costs_->extra;
  const float* const command = model->copy_costs_->command[inscode];
  const v128_t base = wasm_f32x4_splat(base_cost);
  size_t result = 0;
  size_t len;
  for (len = self->first; len < self->end; len += 4) {
    const v128_t distance = wasm_f32x4_add(wasm_f32x4_add(base, wasm_v128_load(self->extra + len)),
        wasm_v128_load(self->cost + len));
    const v128_t cost = wasm_f32x4_add(wasm_f32x4_add(distance, wasm_v128_load(extra + len)),
        wasm_v128_load(command + len));
    uint32_t better = wasm_i32x4_bitmask(wasm_f32x4_lt(cost, wasm_v128_load(node_costs + len)));
    float costs[4];
    if (self->end - len < 4) better &= (1u << (self->end - len)) - 1;
    if (better == 0) continue;
    wasm_v128_store(costs, cost);
    for (; better != 0; better &= better - 1) {
      const size_t k = (size_t)__builtin_ctz(better);
      const CopyGroup group = { pos, start_pos, self->distance[len + k], 0 };
      UpdateZopfliNode(model, nodes, &group, len + k, len + k, costs[k]);
      result = len + k;
    }
  }
  return result;
}

#endif /* MILLRACE_RELAX_MATCHES_SIMD_H_ */
