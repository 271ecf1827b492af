/* libc for wasm32-unknown-unknown. */
#pragma once
#include <string.h>
