//! Brotli decoder (RFC 7932) with raw shared dictionaries, over Google's C.

use crate::codec::{Codec, Fault, FaultKind, Operation, Output, Progress};
use crate::dictionary::HeaderReader;
use crate::libc::text;
use crate::Parameters;
use alloc::{boxed::Box, vec::Vec};
use core::ffi::{c_char, c_int, c_void};
use core::ptr::{null, null_mut};

const DCB: u32 = 1;
const DCB_MAGIC: &[u8] = &[0xff, 0x44, 0x43, 0x42];

const RESULT_ERROR: c_int = 0;
const RESULT_SUCCESS: c_int = 1;
const RESULT_NEEDS_MORE_INPUT: c_int = 2;
/// The codes of `BrotliDecoderGetErrorCode` for memory that ran out, `BROTLI_DECODER_ERROR_ALLOC_*`.
const ALLOCATION_ERRORS: core::ops::RangeInclusive<c_int> = -30..=-21;
const SHARED_DICTIONARY_RAW: c_int = 0;

#[repr(C)]
struct State([u8; 0]);

extern "C" {
    fn BrotliDecoderCreateInstance(
        alloc: *const c_void,
        free: *const c_void,
        opaque: *mut c_void,
    ) -> *mut State;
    fn BrotliDecoderAttachDictionary(
        state: *mut State,
        kind: c_int,
        size: usize,
        data: *const u8,
    ) -> c_int;
    fn BrotliDecoderDecompressStream(
        state: *mut State,
        available_in: *mut usize,
        next_in: *mut *const u8,
        available_out: *mut usize,
        next_out: *mut *mut u8,
        total_out: *mut usize,
    ) -> c_int;
    fn BrotliDecoderGetErrorCode(state: *const State) -> c_int;
    fn BrotliDecoderErrorString(code: c_int) -> *const c_char;
    fn BrotliDecoderDestroyInstance(state: *mut State);
}

struct Decoder {
    state: *mut State,
    /// What the state's attached dictionary points to.
    _dictionary: Vec<u8>,
    header: Option<HeaderReader>,
    finished: bool,
}

impl Drop for Decoder {
    fn drop(&mut self) {
        unsafe { BrotliDecoderDestroyInstance(self.state) }
    }
}

/// The largest window that the format has; a stream takes as much of it as it fills.
pub fn estimate(_: &Parameters) -> usize {
    16 << 20
}

pub fn open(parameters: Parameters) -> Result<Box<dyn Codec>, Fault> {
    let refuse = |message: &str| Err(Fault::new(FaultKind::Parameter, message));
    if parameters.format > DCB {
        return refuse("unknown format for brotli");
    }
    let dictionary = parameters.dictionary;
    let header = match (parameters.format == DCB, dictionary.is_empty()) {
        (true, true) => return refuse("dcb needs a dictionary"),
        (true, false) => Some(HeaderReader::new(DCB_MAGIC, &dictionary)),
        (false, _) => None,
    };
    let state = unsafe { BrotliDecoderCreateInstance(null(), null(), null_mut()) };
    if state.is_null() {
        return Err(Fault::memory());
    }
    let decoder = Decoder {
        state,
        _dictionary: dictionary,
        header,
        finished: false,
    };
    let dictionary = &decoder._dictionary;
    if !dictionary.is_empty() {
        let attached = unsafe {
            BrotliDecoderAttachDictionary(
                state,
                SHARED_DICTIONARY_RAW,
                dictionary.len(),
                dictionary.as_ptr(),
            )
        };
        if attached == 0 {
            return refuse("brotli refused the dictionary");
        }
    }
    Ok(Box::new(decoder))
}

impl Codec for Decoder {
    fn step(
        &mut self,
        input: &mut &[u8],
        operation: Operation,
        output: &mut Output,
    ) -> Result<Progress, Fault> {
        let starved = |finish: bool| {
            if finish {
                Err(Fault::truncated())
            } else {
                Ok(Progress::NeedsInput)
            }
        };
        let finish = operation == Operation::Finish;
        if let Some(header) = &mut self.header {
            if !header.read(input)? {
                return starved(finish);
            }
            self.header = None;
        }
        while !self.finished {
            if output.room() == 0 {
                return Ok(Progress::HasOutput);
            }
            let spare = output.spare()?;
            let room = spare.len();
            let mut available_in = input.len();
            let mut next_in = input.as_ptr();
            let mut available_out = room;
            let mut next_out = spare.as_mut_ptr().cast::<u8>();
            let result = unsafe {
                BrotliDecoderDecompressStream(
                    self.state,
                    &mut available_in,
                    &mut next_in,
                    &mut available_out,
                    &mut next_out,
                    null_mut(),
                )
            };
            *input = &input[input.len() - available_in..];
            unsafe { output.commit(room - available_out) };
            match result {
                RESULT_ERROR => {
                    let code = unsafe { BrotliDecoderGetErrorCode(self.state) };
                    if ALLOCATION_ERRORS.contains(&code) {
                        return Err(Fault::memory());
                    }
                    let reason = unsafe { text(BrotliDecoderErrorString(code)) };
                    let reason = reason.trim_start_matches("_ERROR_");
                    return Err(Fault::corrupt(["corrupt data (", reason, ")"].concat()));
                }
                RESULT_SUCCESS => self.finished = true,
                // With no room left it may hold output back that this input gave.
                RESULT_NEEDS_MORE_INPUT if available_out > 0 => return starved(finish),
                _ => {} // needs more output
            }
        }
        if input.is_empty() {
            Ok(Progress::Finished)
        } else {
            Err(Fault::trailing())
        }
    }
}
