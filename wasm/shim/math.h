/* libc for wasm32-unknown-unknown: log2 comes from compiler_builtins. */
#pragma once
#define HUGE_VAL (__builtin_huge_val())
double log2(double value);
