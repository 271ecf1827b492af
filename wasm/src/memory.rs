//! The allocator: dlmalloc, as in Rust's library, over a memory that grows ahead of need.
//!
//! JavaScriptCore has few memories that grow in place. It copies all others: an allocator that grows by what it lacks
//! would have a large memory copied hundreds of times.

use crate::Global;
use core::alloc::{GlobalAlloc, Layout};
use core::arch::wasm32::{memory_grow, memory_size};
use core::ptr::null_mut;
use dlmalloc::{Allocator, Dlmalloc};
use wasm_bindgen::prelude::wasm_bindgen;

const PAGE: usize = 64 * 1024;

/// The bounds of the part of memory that the allocator has not taken yet, once it has taken some; it gives nothing back.
static UNUSED: Global<Option<(usize, usize)>> = Global::new(None);

fn unused() -> (usize, usize) {
    extern "C" {
        static __heap_base: u8;
    }
    UNUSED
        .get()
        .unwrap_or_else(|| ((&raw const __heap_base) as usize, memory_size(0) * PAGE))
}

/// Makes `size` bytes available, with `ahead` more if there is as much; false if memory ran out.
fn grow(size: usize, ahead: usize) -> bool {
    let (start, end) = unused();
    let missing = size.saturating_sub(end - start);
    let grown = |bytes: usize| {
        let pages = bytes.div_ceil(PAGE);
        let grown = memory_grow(0, pages) != usize::MAX;
        if grown {
            *UNUSED.get() = Some((start, end.saturating_add(pages * PAGE)));
        }
        grown
    };
    missing == 0 || grown(missing.saturating_add(ahead)) || grown(missing)
}

/// Where the allocator takes memory from.
struct System;

unsafe impl Allocator for System {
    fn alloc(&self, size: usize) -> (*mut u8, usize, u32) {
        let (start, _) = unused();
        if !grow(size, start / 2) {
            return (null_mut(), 0, 0);
        }
        let (start, end) = unused();
        *UNUSED.get() = Some((start + size, end));
        (start as *mut u8, size, 0)
    }
    fn remap(&self, _: *mut u8, _: usize, _: usize, _: bool) -> *mut u8 {
        null_mut()
    }
    fn free_part(&self, _: *mut u8, _: usize, _: usize) -> bool {
        false
    }
    fn free(&self, _: *mut u8, _: usize) -> bool {
        false
    }
    fn can_release_part(&self, _: u32) -> bool {
        false
    }
    fn allocates_zeros(&self) -> bool {
        true
    }
    fn page_size(&self) -> usize {
        PAGE
    }
}

struct Heap(Global<Dlmalloc<System>>);

#[global_allocator]
static HEAP: Heap = Heap(Global::new(Dlmalloc::new_with_allocator(System)));

unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.0.get().malloc(layout.size(), layout.align())
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.0.get().calloc(layout.size(), layout.align())
    }
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        self.0
            .get()
            .realloc(block, layout.size(), layout.align(), size)
    }
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        self.0.get().free(block, layout.size(), layout.align())
    }
}

/// Number of bytes of memory that were in use at one time; those behind them have never been touched.
#[wasm_bindgen]
pub fn memory_used() -> usize {
    unused().0
}

/// Grows the memory once for `size` bytes, where many sessions are to come; without effect if there is not as much.
#[wasm_bindgen]
pub fn reserve(size: usize) {
    grow(size, 0);
}
