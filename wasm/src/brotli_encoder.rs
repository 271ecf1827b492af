//! Brotli encoder (RFC 7932) with raw shared dictionaries, over Google's C.

use crate::codec::{Codec, Fault, FaultKind, Operation, Output, Progress};
use crate::{dictionary, Parameters};
use alloc::{boxed::Box, vec::Vec};
use core::ffi::{c_int, c_void};
use core::ptr::{null, null_mut};

const BROTLI: u32 = 0;
const DCB: u32 = 1;
const DCB_MAGIC: &[u8] = &[0xff, 0x44, 0x43, 0x42];

const PARAM_QUALITY: c_int = 1;
const PARAM_LGWIN: c_int = 2;
const PARAM_SIZE_HINT: c_int = 5;
/// Of our patch.
const PARAM_LEAN: c_int = 1000;
const SHARED_DICTIONARY_RAW: c_int = 0;
const MAX_QUALITY: c_int = 11;

/// Above this size a 16 MiB window pays for its memory (195 MB in place of 67 MB at quality 11).
const LARGE: u64 = 4 << 20;

/// For streams of unknown length below the best qualities: buffers grow with the window, to 65 MB at 22 and 7 MB at 18.
const STREAM_WINDOW: u32 = 18;
const HIGH_QUALITY: i32 = 10;

#[repr(C)]
struct State([u8; 0]);
#[repr(C)]
struct Prepared([u8; 0]);

extern "C" {
    fn BrotliEncoderCreateInstance(
        alloc: *const c_void,
        free: *const c_void,
        opaque: *mut c_void,
    ) -> *mut State;
    fn BrotliEncoderSetParameter(state: *mut State, parameter: c_int, value: u32) -> c_int;
    fn BrotliEncoderPrepareDictionary(
        kind: c_int,
        size: usize,
        data: *const u8,
        quality: c_int,
        alloc: *const c_void,
        free: *const c_void,
        opaque: *mut c_void,
    ) -> *mut Prepared;
    fn BrotliEncoderAttachPreparedDictionary(state: *mut State, prepared: *const Prepared)
        -> c_int;
    fn BrotliEncoderDestroyPreparedDictionary(prepared: *mut Prepared);
    fn BrotliEncoderCompressStream(
        state: *mut State,
        operation: c_int,
        available_in: *mut usize,
        next_in: *mut *const u8,
        available_out: *mut usize,
        next_out: *mut *mut u8,
        total_out: *mut usize,
    ) -> c_int;
    fn BrotliEncoderHasMoreOutput(state: *mut State) -> c_int;
    fn BrotliEncoderIsFinished(state: *mut State) -> c_int;
    fn BrotliEncoderTakeOutput(state: *mut State, size: *mut usize) -> *const u8;
    fn BrotliEncoderDestroyInstance(state: *mut State);
}

struct Encoder {
    state: *mut State,
    prepared: *mut Prepared,
    /// What `prepared` points into.
    _dictionary: Vec<u8>,
    /// What of the dictionary header is not written yet.
    header: Vec<u8>,
}

impl Drop for Encoder {
    fn drop(&mut self) {
        unsafe {
            BrotliEncoderDestroyInstance(self.state);
            if !self.prepared.is_null() {
                BrotliEncoderDestroyPreparedDictionary(self.prepared);
            }
        }
    }
}

/// The ring buffer and the commands of a block, which grow with the window, and the hashes, which grow with the level.
pub fn estimate(parameters: &Parameters) -> usize {
    let hashes = match parameters.level {
        ..5 => 128 << 10,
        level @ 5..HIGH_QUALITY => (2 << 20) << (level - 5),
        _ => 4 << 20,
    };
    (16 << window_log(parameters)) + hashes
}

/// log2 of the window in bytes, requested or chosen.
fn window_log(parameters: &Parameters) -> u32 {
    match (parameters.window, parameters.size) {
        (0, Some(size)) if size > LARGE => 24,
        (0, None) if parameters.level < HIGH_QUALITY => STREAM_WINDOW,
        (0, _) => 22,
        (log, _) => log,
    }
}

pub fn open(parameters: Parameters) -> Result<Box<dyn Codec>, Fault> {
    let refuse = |message: &str| Err(Fault::new(FaultKind::Parameter, message));
    if parameters.format > DCB {
        return refuse("unknown format for brotli");
    }
    if !(0..=MAX_QUALITY).contains(&parameters.level) {
        return refuse("level is out of range for brotli: use 0 to 11");
    }
    let window_log = window_log(&parameters);
    if !(10..=24).contains(&window_log) {
        return refuse("windowLog is out of range for brotli: use 10 to 24");
    }
    if parameters.format == DCB && parameters.dictionary.is_empty() {
        return refuse("dcb needs a dictionary");
    }
    let state = unsafe { BrotliEncoderCreateInstance(null(), null(), null_mut()) };
    if state.is_null() {
        return Err(Fault::memory());
    }
    let mut encoder = Encoder {
        state,
        prepared: null_mut(),
        _dictionary: parameters.dictionary,
        header: Vec::new(),
    };
    let size_hint = parameters.size.map_or(0, |size| size.min(1 << 30) as u32);
    unsafe {
        let accepted = BrotliEncoderSetParameter(state, PARAM_QUALITY, parameters.level as u32)
            != 0
            && BrotliEncoderSetParameter(state, PARAM_LGWIN, window_log) != 0
            && BrotliEncoderSetParameter(state, PARAM_SIZE_HINT, size_hint) != 0
            && (!parameters.lean || BrotliEncoderSetParameter(state, PARAM_LEAN, 1) != 0);
        if !accepted {
            return refuse("brotli refused its parameters");
        }
        if !encoder._dictionary.is_empty() {
            let dictionary = &encoder._dictionary;
            encoder.prepared = BrotliEncoderPrepareDictionary(
                SHARED_DICTIONARY_RAW,
                dictionary.len(),
                dictionary.as_ptr(),
                MAX_QUALITY,
                null(),
                null(),
                null_mut(),
            );
            if encoder.prepared.is_null() {
                return Err(Fault::memory());
            }
            if BrotliEncoderAttachPreparedDictionary(state, encoder.prepared) == 0 {
                return refuse("brotli refused the dictionary");
            }
        }
    }
    if parameters.format != BROTLI {
        encoder.header = dictionary::header(DCB_MAGIC, &encoder._dictionary);
    }
    Ok(Box::new(encoder))
}

impl Encoder {
    /// Moves what the encoder has ready to `output`; false once the limit is reached with more to come.
    fn take(&mut self, output: &mut Output) -> Result<bool, Fault> {
        let header = self.header.len().min(output.room());
        output.extend(&self.header[..header])?;
        self.header.drain(..header);
        while unsafe { BrotliEncoderHasMoreOutput(self.state) } != 0 {
            let mut size = output.room();
            if size == 0 {
                return Ok(false); // TakeOutput reads a size of 0 as "everything"
            }
            let bytes = unsafe {
                let pointer = BrotliEncoderTakeOutput(self.state, &mut size);
                core::slice::from_raw_parts(pointer, size)
            };
            output.extend(bytes)?;
        }
        Ok(self.header.is_empty())
    }
}

impl Codec for Encoder {
    fn step(
        &mut self,
        input: &mut &[u8],
        operation: Operation,
        output: &mut Output,
    ) -> Result<Progress, Fault> {
        let operation_code = match operation {
            Operation::Process => 0,
            Operation::Flush => 1,
            Operation::Finish => 2,
        };
        loop {
            if !self.take(output)? {
                return Ok(Progress::HasOutput);
            }
            if unsafe { BrotliEncoderIsFinished(self.state) } != 0 {
                return Ok(Progress::Finished);
            }
            let mut available_in = input.len();
            let mut next_in = input.as_ptr();
            let mut available_out = 0;
            let ok = unsafe {
                BrotliEncoderCompressStream(
                    self.state,
                    operation_code,
                    &mut available_in,
                    &mut next_in,
                    &mut available_out,
                    &mut null_mut(),
                    null_mut(),
                )
            };
            if ok == 0 {
                return Err(Fault::memory()); // after accepted parameters nothing else can fail
            }
            *input = &input[input.len() - available_in..];
            let has_output = unsafe { BrotliEncoderHasMoreOutput(self.state) } != 0;
            if input.is_empty() && !has_output && operation != Operation::Finish {
                return Ok(Progress::NeedsInput);
            }
        }
    }
}
