//! The parts of zstd's C library that its encoder and its decoder have in common.

use crate::codec::{Fault, FaultKind};
use crate::libc::text;
use core::ffi::c_char;

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
const ERROR_DICTIONARY_CORRUPTED: u32 = 30;
const ERROR_MEMORY: u32 = 64;

/// The fault of a call that may have loaded a dictionary: zstd says of a damaged one that memory ran out. `load` loads it
/// again, in a way that says what is wrong.
pub fn of_dictionary(fault: Fault, load: impl FnOnce() -> usize) -> Fault {
    match fault.kind {
        FaultKind::Memory if unsafe { ZSTD_getErrorCode(load()) } == ERROR_DICTIONARY_CORRUPTED => {
            Fault::new(FaultKind::Dictionary, "the dictionary is damaged")
        }
        _ => fault,
    }
}

/// The result of a call. An error is one of `kind`, unless memory ran out.
pub fn check(code: usize, kind: FaultKind) -> Result<usize, Fault> {
    if unsafe { ZSTD_isError(code) } == 0 {
        return Ok(code);
    }
    if unsafe { ZSTD_getErrorCode(code) } == ERROR_MEMORY {
        return Err(Fault::memory());
    }
    Err(Fault::new(kind, unsafe { text(ZSTD_getErrorName(code)) }))
}
