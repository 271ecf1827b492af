/* libc for wasm32-unknown-unknown: mem* come from compiler_builtins, strlen from ../src/libc.rs. */
#pragma once
#include <stddef.h>
void *memcpy(void *restrict destination, const void *restrict source, size_t size);
void *memmove(void *destination, const void *source, size_t size);
void *memset(void *destination, int value, size_t size);
int memcmp(const void *left, const void *right, size_t size);
size_t strlen(const char *string);
