/* Relaxes the nodes of four copy lengths at once (UpdateNodes in backward_references_hq.c). The scalar loop derives two
   codes and reads three tables for each length: 54 million times for 1.5 MB of source text, of which 9% improve a node.

   Bit-exact: each lane's additions of floats are the scalar loop's, in its order, and so is the order of updates. */

#ifndef MILLRACE_RELAX_COPIES_SIMD_H_
#define MILLRACE_RELAX_COPIES_SIMD_H_

#include <wasm_simd128.h>

/* Updates the nodes that copies of first to last bytes lead to, where that costs less than what is known: dist_cost plus
   the extra bits plus the command's cost. Returns the last length that did, or 0. */
static BROTLI_INLINE size_t RelaxRow(const ZopfliCostModel* model, ZopfliNode* nodes, const CopyGroup* group,
    size_t first, size_t last, float dist_cost, const float* command) {
  const float* const node_costs = model->copy_costs_->nodes + group->pos;
  const float* const extra = model->copy_costs_->extra;
  const v128_t distance = wasm_f32x4_splat(dist_cost);
  size_t result = 0;
  size_t len;
  for (len = first; len <= last; len += 4) {
    const v128_t cost = wasm_f32x4_add(wasm_f32x4_add(distance, wasm_v128_load(extra + len)),
        wasm_v128_load(command + len));
    uint32_t better = wasm_i32x4_bitmask(wasm_f32x4_lt(cost, wasm_v128_load(node_costs + len)));
    float costs[4];
    if (last - len < 3) better &= (2u << (last - len)) - 1;
    if (better == 0) continue;
    wasm_v128_store(costs, cost);
    for (; better != 0; better &= better - 1) {
      const size_t k = (size_t)__builtin_ctz(better);
      UpdateZopfliNode(model, nodes, group, len + k, len + k, costs[k]);
      result = len + k;
    }
  }
  return result;
}

#endif /* MILLRACE_RELAX_COPIES_SIMD_H_ */
