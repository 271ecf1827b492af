//! zstd, brotli and deflate for WebAssembly, behind one small surface.
//!
//! Every artefact (one feature each, see Cargo.toml) exports the same functions over numbers, so one driver in
//! TypeScript serves all of them and no generated glue is needed. A session is one stream:
//!
//! ```text
//! open(…) ─▶ [ input(n) ─▶ write n bytes ─▶ step(n, …) ─▶ read output() ]* ─▶ close()
//! ```
//!
//! Rust's `std` and `core::fmt` would be a quarter of the smaller modules: messages are put together without them, and a
//! panic, which has no other way out here, traps.
#![no_std]

extern crate alloc;

#[allow(dead_code)] // shared by six artefacts, none of which uses all of it
mod codec;
#[cfg(any(
    feature = "brotli-encoder",
    feature = "brotli-decoder",
    feature = "zstd-encoder",
    feature = "zstd-decoder"
))]
mod dictionary;
mod libc;
mod memory;
#[cfg(any(
    feature = "brotli-encoder",
    feature = "brotli-decoder",
    feature = "zstd-encoder",
    feature = "zstd-decoder"
))]
mod sha256;

#[cfg(feature = "brotli-decoder")]
mod brotli_decoder;
#[cfg(feature = "brotli-encoder")]
mod brotli_encoder;
#[cfg(any(feature = "deflate-encoder", feature = "deflate-decoder"))]
mod checksums;
#[cfg(feature = "deflate-decoder")]
mod deflate_decoder;
#[cfg(feature = "deflate-encoder")]
mod deflate_encoder;
#[cfg(feature = "deflate-decoder")]
mod inflate;
#[cfg(any(feature = "zstd-encoder", feature = "zstd-decoder"))]
mod zstd;
#[cfg(feature = "zstd-decoder")]
mod zstd_decoder;
#[cfg(feature = "zstd-encoder")]
mod zstd_encoder;

#[cfg(feature = "brotli-decoder")]
use brotli_decoder as codec_of_feature;
#[cfg(feature = "brotli-encoder")]
use brotli_encoder as codec_of_feature;
#[cfg(feature = "deflate-decoder")]
use deflate_decoder as codec_of_feature;
#[cfg(feature = "deflate-encoder")]
use deflate_encoder as codec_of_feature;
#[cfg(feature = "zstd-decoder")]
use zstd_decoder as codec_of_feature;
#[cfg(feature = "zstd-encoder")]
use zstd_encoder as codec_of_feature;

use alloc::{boxed::Box, string::String, vec::Vec};
use codec::{Codec, Fault, FaultKind, Operation, Output};
use core::cell::UnsafeCell;
use wasm_bindgen::prelude::wasm_bindgen;

/// How a session is opened; each codec reads what concerns it and refuses what it cannot do.
pub struct Parameters {
    /// Which of the module's formats: 0, 1, … in the order of the TypeScript driver.
    pub format: u32,
    pub level: i32,
    /// For encoders log2 of the window in bytes, for decoders the largest one in bytes; 0 for the codec's choice.
    pub window: u32,
    /// How many bytes the stream will have, if that is known.
    pub size: Option<u64>,
    /// Whether all input comes with the first step.
    pub whole: bool,
    /// Whether what is compressed gets a checksum, where the format lets one choose.
    pub checksum: bool,
    /// Whether a stream should take little memory, for somewhat more bytes.
    pub lean: bool,
    pub dictionary: Vec<u8>,
}

pub struct Session {
    codec: Box<dyn Codec>,
    input: Vec<u8>,
    /// The part of `input` that is not consumed yet.
    pending: core::ops::Range<usize>,
    output: Output,
}

/// A value of the module, which has one thread; no reference to it outlives a call from outside.
struct Global<T>(UnsafeCell<T>);

unsafe impl<T> Sync for Global<T> {}

impl<T> Global<T> {
    const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    #[allow(clippy::mut_from_ref)]
    fn get(&self) -> &mut T {
        unsafe { &mut *self.0.get() }
    }
}

static FAULT: Global<Fault> = Global::new(Fault {
    kind: FaultKind::Parameter,
    message: String::new(),
});
static DICTIONARY: Global<Vec<u8>> = Global::new(Vec::new());

fn report(fault: Fault) -> FaultKind {
    *FAULT.get() = fault;
    FAULT.get().kind
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    core::arch::wasm32::unreachable()
}

/// Reserves `length` bytes for the dictionary of the next `open` and returns their address; 0 if memory ran out.
#[wasm_bindgen]
pub fn dictionary(length: usize) -> *mut u8 {
    let dictionary = DICTIONARY.get();
    dictionary.clear();
    if dictionary.try_reserve_exact(length).is_err() {
        return core::ptr::null_mut();
    }
    dictionary.resize(length, 0);
    dictionary.as_mut_ptr()
}

/// Number of bytes that a session's codec takes at most, about; its buffers for input and output come on top of it.
#[wasm_bindgen]
pub fn estimate(level: i32, window: u32, size: f64, lean: bool) -> f64 {
    codec_of_feature::estimate(&Parameters {
        format: 0,
        level,
        window,
        size: (size >= 0.0).then_some(size as u64),
        whole: false,
        checksum: false,
        lean,
        dictionary: Vec::new(),
    }) as f64
}

/// Opens a stream and returns its session; 0 if that fails, see `fault`. A negative `size` means unknown.
#[wasm_bindgen]
pub fn open(
    format: u32,
    level: i32,
    window: u32,
    size: f64,
    whole: bool,
    checksum: bool,
    lean: bool,
) -> *mut Session {
    let parameters = Parameters {
        format,
        level,
        window,
        size: (size >= 0.0).then_some(size as u64),
        whole,
        checksum,
        lean,
        dictionary: core::mem::take(DICTIONARY.get()),
    };
    match codec_of_feature::open(parameters) {
        Ok(codec) => Box::into_raw(Box::new(Session {
            codec,
            input: Vec::new(),
            pending: 0..0,
            output: Output::new(),
        })),
        Err(fault) => {
            report(fault);
            core::ptr::null_mut()
        }
    }
}

/// Returns the address where `length` bytes of input go before the next `step`; 0 if memory ran out.
///
/// # Safety
/// `session` must come from `open` and not be closed; its previous input must be consumed.
#[wasm_bindgen]
pub unsafe fn input(session: *mut Session, length: usize) -> *mut u8 {
    let session = &mut *session;
    if session.input.len() < length {
        // Contents need not survive: dropping the old buffer first keeps the peak at one buffer.
        session.input = Vec::new();
        if session.input.try_reserve_exact(length).is_err() {
            return core::ptr::null_mut();
        }
        session.input.resize(length, 0);
    }
    session.input.as_mut_ptr()
}

/// Consumes the `length` bytes written to `input` and produces up to `limit` bytes of output.
///
/// `operation` is 0 to process, 1 to flush, 2 to finish. Returns the progress (0 needs input, 1 has more output: step
/// again with `length` 0, 2 finished) or a negative kind of fault.
///
/// # Safety
/// `session` must come from `open` and not be closed; `length` must not pass what `input` reserved.
#[wasm_bindgen]
pub unsafe fn step(session: *mut Session, length: usize, operation: u32, limit: usize) -> i32 {
    let session = &mut *session;
    if length > 0 {
        session.pending = 0..length;
    }
    let operation = match operation {
        0 => Operation::Process,
        1 => Operation::Flush,
        _ => Operation::Finish,
    };
    session.output.restart(limit);
    let mut rest = &session.input[session.pending.clone()];
    let result = session
        .codec
        .step(&mut rest, operation, &mut session.output);
    session.pending.start = session.pending.end - rest.len();
    match result {
        Ok(progress) => progress as i32,
        Err(fault) => report(fault) as i32,
    }
}

/// Address of the bytes that the last `step` produced.
///
/// # Safety
/// `session` must come from `open` and not be closed.
#[wasm_bindgen]
pub unsafe fn output(session: *mut Session) -> *const u8 {
    (*session).output.bytes().as_ptr()
}

/// Number of bytes that the last `step` produced.
///
/// # Safety
/// `session` must come from `open` and not be closed.
#[wasm_bindgen]
pub unsafe fn output_length(session: *mut Session) -> usize {
    (*session).output.bytes().len()
}

/// Frees the session.
///
/// # Safety
/// `session` must come from `open` and not be closed.
#[wasm_bindgen]
pub unsafe fn close(session: *mut Session) {
    drop(Box::from_raw(session));
}

/// The kind of the last fault.
#[wasm_bindgen]
pub fn fault_kind() -> i32 {
    FAULT.get().kind as i32
}

/// Address of the last fault's message (UTF-8).
#[wasm_bindgen]
pub fn fault() -> *const u8 {
    FAULT.get().message.as_ptr()
}

/// Length of the last fault's message in bytes.
#[wasm_bindgen]
pub fn fault_length() -> usize {
    FAULT.get().message.len()
}
