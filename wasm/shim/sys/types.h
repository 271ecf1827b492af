/* libc for wasm32-unknown-unknown. */
#pragma once
#include <stddef.h>
