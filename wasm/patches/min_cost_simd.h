/* Finds the cheapest of the matches at one position (deflate_find_min_cost_path in deflate_compress.c), four lengths a
   step: 69% of the time at levels 10 to 12.

   Bit-exact: costs are integers, and of equal costs the first in the scalar loop's order wins, the shortest length. */

#ifndef MILLRACE_MIN_COST_SIMD_H_
#define MILLRACE_MIN_COST_SIMD_H_

#include <wasm_simd128.h>

/* The choice at a position: what it costs to get to the end of the block, and the item that begins the way. */
struct min_cost_choice {
	u32 cost;
	u32 item;
};

/* The four cheapest choices so far, each of other lengths. */
struct min_cost_lanes {
	v128_t cost;
	v128_t item;
};

/* Considers the lengths first to last at one offset. cost_to_end and length_cost are indexed by length. */
static forceinline void
min_cost_consider(struct min_cost_lanes *best, u32 first, u32 last, u32 offset_item, u32 offset_cost,
		  const u32 *length_cost, const u32 *cost_to_end)
{
	const v128_t offset_costs = wasm_u32x4_splat(offset_cost);
	const v128_t lasts = wasm_u32x4_splat(last);
	const v128_t offset_items = wasm_u32x4_splat(offset_item);
	v128_t lengths = wasm_i32x4_add(wasm_u32x4_splat(first), wasm_u32x4_const(0, 1, 2, 3));
	u32 length;

	for (length = first; length <= last; length += 4) {
		const v128_t cost = wasm_i32x4_add(wasm_i32x4_add(offset_costs, wasm_v128_load(length_cost + length)),
						   wasm_v128_load(cost_to_end + length));
		const v128_t better = wasm_v128_andnot(wasm_u32x4_lt(cost, best->cost), wasm_i32x4_gt(lengths, lasts));

		best->cost = wasm_v128_bitselect(cost, best->cost, better);
		best->item = wasm_v128_bitselect(wasm_v128_or(lengths, offset_items), best->item, better);
		lengths = wasm_i32x4_add(lengths, wasm_u32x4_const_splat(4));
	}
}

static forceinline void
min_cost_take(struct min_cost_choice *choice, u32 *length, u32 cost, u32 item, u32 length_mask)
{
	if (cost < choice->cost || (cost == choice->cost && (item & length_mask) < *length)) {
		choice->cost = cost;
		choice->item = item;
		*length = item & length_mask;
	}
}

/* The cheapest of the lanes if it costs less than the literal in choice. length_mask takes the length out of an item. */
static forceinline void
min_cost_choose(const struct min_cost_lanes *best, struct min_cost_choice *choice, u32 length_mask)
{
	u32 length = 0; /* at equal cost the literal stays */

	min_cost_take(choice, &length, wasm_u32x4_extract_lane(best->cost, 0), wasm_u32x4_extract_lane(best->item, 0),
		      length_mask);
	min_cost_take(choice, &length, wasm_u32x4_extract_lane(best->cost, 1), wasm_u32x4_extract_lane(best->item, 1),
		      length_mask);
	min_cost_take(choice, &length, wasm_u32x4_extract_lane(best->cost, 2), wasm_u32x4_extract_lane(best->item, 2),
		      length_mask);
	min_cost_take(choice, &length, wasm_u32x4_extract_lane(best->cost, 3), wasm_u32x4_extract_lane(best->item, 3),
		      length_mask);
}

#endif /* MILLRACE_MIN_COST_SIMD_H_ */
