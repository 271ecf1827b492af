/* libc for wasm32-unknown-unknown: defined in ../src/libc.rs. */
#pragma once
#include <stddef.h>
#define EXIT_FAILURE 1
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void free(void *pointer);
_Noreturn void exit(int status);
