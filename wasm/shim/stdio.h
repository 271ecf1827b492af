/* libc for wasm32-unknown-unknown: included by the C libraries, used only by their debug builds. */
#pragma once
