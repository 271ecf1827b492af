//! The parts of zstd's C library that its encoder and its decoder have in common.

use crate::codec::{Fault, FaultKind};
use core::ffi::{c_char, CStr};

#[repr(C)]
pub struct InBuffer {
    pub source: *const u8,
    pub size: usize,
    pub position: usize,
}
#[repr(C)]
pub struct OutBuffer {
    pub destination: *mut u8,
    pub size: usize,
    pub position: usize,
}

extern "C" {
    fn ZSTD_isError(code: usize) -> u32;
    pub fn ZSTD_getErrorCode(code: usize) -> u32;
    fn ZSTD_getErrorName(code: usize) -> *const c_char;
}

/// Of `ZSTD_ErrorCode`.
const ERROR_MEMORY: u32 = 64;

/// The result of a call. An error is one of `kind`, unless memory ran out.
pub fn check(code: usize, kind: FaultKind) -> Result<usize, Fault> {
    if unsafe { ZSTD_isError(code) } == 0 {
        return Ok(code);
    }
    if unsafe { ZSTD_getErrorCode(code) } == ERROR_MEMORY {
        return Err(Fault::memory());
    }
    let name = unsafe { CStr::from_ptr(ZSTD_getErrorName(code)) };
    Err(Fault::new(kind, name.to_string_lossy()))
}
