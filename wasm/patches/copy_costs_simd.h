/* Costs of commands in the order in which UpdateNodes (backward_references_hq.c) needs them: for one insert code, those
   of all copy lengths in a row. */

#ifndef MILLRACE_COPY_COSTS_SIMD_H_
#define MILLRACE_COPY_COSTS_SIMD_H_

/* Lengths below this are in the tables: all that a match is tried with one by one (MAX_ZOPFLI_LEN_QUALITY_11 is 325).
   Four lengths can be read from each of them on. */
#define TABLE_LENGTHS 329
/* Shorter copies have a code below 16; after an insert code below 8 they may repeat the last distance at no cost. */
#define IMPLICIT_LENGTHS 70
#define IMPLICIT_INSERT_CODES 8

typedef struct CopyCosts {
  /* The nodes' costs side by side; in ZopfliNode 12 other bytes lie between two of them. */
  float* nodes;
  /* Number of extra bits of a copy length. */
  float extra[TABLE_LENGTHS + 3];
  /* Cost of the command symbol by insert code and copy length. */
  float command[BROTLI_NUM_INS_COPY_CODES][TABLE_LENGTHS + 3];
  /* The same with the last distance implied. */
  float implicit[IMPLICIT_INSERT_CODES][IMPLICIT_LENGTHS + 3];
  /* Insert codes whose rows are filled: small inputs use few of them. */
  uint8_t filled[BROTLI_NUM_INS_COPY_CODES];
} CopyCosts;

/* Forgets all costs. REQUIRES: self->nodes has room for num_bytes + 4 */
static void ResetCopyCosts(CopyCosts* self, size_t num_bytes) {
  size_t i;
  for (i = 0; i < num_bytes + 4; ++i) self->nodes[i] = kInfinity;
  for (i = 2; i < TABLE_LENGTHS + 3; ++i) self->extra[i] = (float)GetCopyExtra(GetCopyLengthCode(i));
  for (i = 0; i < BROTLI_NUM_INS_COPY_CODES; ++i) self->filled[i] = 0;
}

static void FillCopyCosts(CopyCosts* self, const float* cost_cmd, uint16_t inscode) {
  size_t len;
  for (len = 2; len < TABLE_LENGTHS + 3; ++len) {
    self->command[inscode][len] = cost_cmd[CombineLengthCodes(inscode, GetCopyLengthCode(len), BROTLI_FALSE)];
  }
  if (inscode < IMPLICIT_INSERT_CODES) {
    for (len = 2; len < IMPLICIT_LENGTHS + 3; ++len) {
      self->implicit[inscode][len] = cost_cmd[CombineLengthCodes(inscode, GetCopyLengthCode(len), BROTLI_TRUE)];
    }
  }
  self->filled[inscode] = 1;
}

#endif /* MILLRACE_COPY_COSTS_SIMD_H_ */
