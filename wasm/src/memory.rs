//! The allocator: the smallest free block that is large enough, over a memory that grows ahead of need.
//!
//! A session takes few and large blocks, so the free ones are few, too: a list in the order of addresses is as fast as
//! dlmalloc, whose code would be a tenth of the smaller modules.
//!
//! JavaScriptCore has few memories that grow in place. It copies all others: an allocator that grows by what it lacks
//! would have a large memory copied hundreds of times.

use crate::Global;
use core::alloc::{GlobalAlloc, Layout};
use core::arch::wasm32::{memory_grow, memory_size};
use core::ptr::{addr_of_mut, null_mut, write_bytes};
use wasm_bindgen::prelude::wasm_bindgen;

const PAGE: usize = 64 * 1024;

/// What sizes and addresses of blocks are multiples of.
const UNIT: usize = 16;

/// What a free block begins with.
struct Free {
    size: usize,
    next: *mut Free,
}

impl Free {
    fn end(&self) -> usize {
        self as *const Self as usize + self.size
    }
}

struct Heap {
    /// The free blocks, none of which adjoins another, in the order of their addresses.
    first: *mut Free,
    /// The bounds of the part of memory that was in no block yet; 0 before the first.
    unused: (usize, usize),
}

static HEAP: Global<Heap> = Global::new(Heap {
    first: null_mut(),
    unused: (0, 0),
});

impl Heap {
    fn unused(&self) -> (usize, usize) {
        extern "C" {
            static __heap_base: u8;
        }
        match self.unused {
            (0, 0) => {
                let base = (&raw const __heap_base) as usize;
                (base.next_multiple_of(UNIT), memory_size(0) * PAGE)
            }
            unused => unused,
        }
    }

    /// Makes `size` bytes available, with `ahead` more if there is as much; false if memory ran out.
    fn grow(&mut self, size: usize, ahead: usize) -> bool {
        let (start, end) = self.unused();
        let missing = size.saturating_sub(end - start);
        let mut grown = |bytes: usize| {
            let pages = bytes.div_ceil(PAGE);
            let grown = memory_grow(0, pages) != usize::MAX;
            if grown {
                self.unused = (start, end.saturating_add(pages * PAGE));
            }
            grown
        };
        missing == 0 || grown(missing.saturating_add(ahead)) || grown(missing)
    }

    /// Makes the next `size` bytes of the unused part a block; returns its address, or 0 if memory ran out.
    fn extend(&mut self, size: usize) -> usize {
        let (start, _) = self.unused();
        if !self.grow(size, start / 2) {
            return 0;
        }
        let (start, end) = self.unused();
        self.unused = (start + size, end);
        start
    }

    /// Takes `size` bytes at a multiple of `align` from the free blocks; 0 if none has as many.
    unsafe fn take(&mut self, size: usize, align: usize) -> usize {
        let (mut best, mut least) = (null_mut::<*mut Free>(), usize::MAX);
        let mut link = addr_of_mut!(self.first);
        while let Some(block) = (*link).as_mut() {
            let front = (*link as usize).next_multiple_of(align) - *link as usize;
            if block.size >= front && block.size - front >= size && block.size < least {
                (best, least) = (link, block.size);
            }
            link = addr_of_mut!(block.next);
        }
        let Some(link) = best.as_mut() else { return 0 };
        let block = *link;
        let (start, end) = ((block as usize).next_multiple_of(align), (*block).end());
        let mut next = (*block).next;
        if start + size < end {
            let rest = (start + size) as *mut Free;
            rest.write(Free {
                size: end - start - size,
                next,
            });
            next = rest;
        }
        match start - block as usize {
            0 => *link = next,
            size => block.write(Free { size, next }),
        }
        start
    }

    unsafe fn allocate(&mut self, size: usize, align: usize) -> usize {
        let found = self.take(size, align);
        if found != 0 {
            return found;
        }
        let added = size + align - UNIT;
        match self.extend(added) {
            0 => 0,
            start => {
                self.release(start, added);
                self.take(size, align)
            }
        }
    }

    unsafe fn release(&mut self, start: usize, size: usize) {
        let mut previous = null_mut::<Free>();
        let mut next = self.first;
        while !next.is_null() && (next as usize) < start {
            (previous, next) = (next, (*next).next);
        }
        let mut block = start as *mut Free;
        block.write(Free { size, next });
        match previous.as_mut() {
            None => self.first = block,
            Some(before) if before.end() == start => {
                before.size += size;
                block = before;
            }
            Some(before) => before.next = block,
        }
        if (*block).end() == next as usize && !next.is_null() {
            (*block).size += (*next).size;
            (*block).next = (*next).next;
        }
    }

    /// Makes a block longer that ends at `end`, by `size` bytes that follow it; false if they are in use.
    unsafe fn lengthen(&mut self, end: usize, size: usize) -> bool {
        let mut link = addr_of_mut!(self.first);
        while !(*link).is_null() && (*link as usize) < end {
            link = addr_of_mut!((**link).next);
        }
        let top = self.unused().0;
        let block = *link;
        if block.is_null() || block as usize != end {
            return end == top && self.extend(size) != 0;
        }
        let (left, next) = ((*block).size, (*block).next);
        if left <= size {
            // It is used up, with what follows it at the end of all blocks.
            let missing = size - left;
            if missing > 0 && ((*block).end() != top || self.extend(missing) == 0) {
                return false;
            }
            *link = next;
            return true;
        }
        let rest = (end + size) as *mut Free;
        rest.write(Free {
            size: left - size,
            next,
        });
        *link = rest;
        true
    }
}

struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// The size that a block has for `size` bytes; layouts have none above isize::MAX.
fn rounded(size: usize) -> usize {
    size.next_multiple_of(UNIT)
}

unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HEAP.get()
            .allocate(rounded(layout.size()), layout.align().max(UNIT)) as *mut u8
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let block = self.alloc(layout);
        if !block.is_null() {
            write_bytes(block, 0, layout.size());
        }
        block
    }
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let (old, new) = (rounded(layout.size()), rounded(size));
        let end = block as usize + old;
        if new < old {
            HEAP.get().release(block as usize + new, old - new);
        } else if new > old && !HEAP.get().lengthen(end, new - old) {
            let moved = HEAP.get().allocate(new, layout.align().max(UNIT)) as *mut u8;
            if !moved.is_null() {
                moved.copy_from_nonoverlapping(block, layout.size());
                self.dealloc(block, layout);
            }
            return moved;
        }
        block
    }
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        HEAP.get().release(block as usize, rounded(layout.size()));
    }
}

/// Number of bytes of memory that were in use at one time; those behind them have never been touched.
#[wasm_bindgen]
pub fn memory_used() -> usize {
    HEAP.get().unused().0
}

/// Grows the memory once for `size` bytes, where many sessions are to come; without effect if there is not as much.
#[wasm_bindgen]
pub fn reserve(size: usize) {
    HEAP.get().grow(size, 0);
}
