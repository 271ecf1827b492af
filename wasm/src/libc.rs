//! The few libc functions that the C codecs call; wasm32-unknown-unknown has none. Modules export all of them: deflate's have
//! those that libdeflate and zlib-rs call, or none.
#![cfg(not(feature = "deflate-decoder"))]
#![cfg_attr(feature = "deflate-encoder", allow(unused_imports))]

use alloc::alloc::{alloc, alloc_zeroed, dealloc, Layout};
use alloc::{borrow::ToOwned, string::String};
use core::ffi::{c_char, c_int, c_void, CStr};

/// Room before each block for its size, which `dealloc` asks for and `free` does not know. Keeps blocks 16-byte aligned.
const HEADER: usize = 16;

fn layout(size: usize) -> Option<Layout> {
    Layout::from_size_align(size.checked_add(HEADER)?, HEADER).ok()
}

unsafe fn with_header(block: *mut u8, layout: Layout) -> *mut c_void {
    if block.is_null() {
        return core::ptr::null_mut();
    }
    block.cast::<usize>().write(layout.size());
    block.add(HEADER).cast()
}

#[no_mangle]
unsafe extern "C" fn malloc(size: usize) -> *mut c_void {
    layout(size).map_or(core::ptr::null_mut(), |layout| {
        with_header(alloc(layout), layout)
    })
}

#[cfg(not(feature = "deflate-encoder"))]
#[no_mangle]
unsafe extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    count
        .checked_mul(size)
        .and_then(layout)
        .map_or(core::ptr::null_mut(), |layout| {
            with_header(alloc_zeroed(layout), layout)
        })
}

#[no_mangle]
unsafe extern "C" fn free(pointer: *mut c_void) {
    if pointer.is_null() {
        return;
    }
    let block = pointer.cast::<u8>().sub(HEADER);
    let size = block.cast::<usize>().read();
    dealloc(block, Layout::from_size_align_unchecked(size, HEADER));
}

#[cfg(not(feature = "deflate-encoder"))]
#[no_mangle]
unsafe extern "C" fn strlen(string: *const c_char) -> usize {
    let mut length = 0;
    while *string.add(length) != 0 {
        length += 1;
    }
    length
}

/// A text of a C library, whose texts are ASCII.
///
/// # Safety
/// `string` must be a text that ends with a zero.
#[allow(dead_code)] // by encoders whose C reports no errors
pub unsafe fn text(string: *const c_char) -> String {
    String::from_utf8_unchecked(CStr::from_ptr(string).to_bytes().to_owned())
}

#[cfg(not(feature = "deflate-encoder"))]
#[no_mangle]
extern "C" fn exit(_status: c_int) -> ! {
    core::arch::wasm32::unreachable()
}
