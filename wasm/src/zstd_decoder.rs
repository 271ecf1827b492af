//! Zstandard decoder (RFC 8878) with dictionaries, over the C library.

use crate::codec::{Codec, Fault, FaultKind, Operation, Output, Progress};
use crate::dictionary::HeaderReader;
use crate::zstd::{check, of_dictionary, InBuffer, OutBuffer, ZSTD_getErrorCode};
use crate::Parameters;
use alloc::{boxed::Box, string::String, vec::Vec};
use core::ffi::{c_int, c_uint, c_ulonglong};

const DCZ: u32 = 1;
const DCZ_MAGIC: &[u8] = &[0x5e, 0x2a, 0x4d, 0x18, 0x20, 0, 0, 0];

/// The largest window that the C library takes, and the smallest limit that it accepts.
const MAX_WINDOW: u32 = 1 << 27;
const MIN_WINDOW: u32 = 1 << 10;

/// Of `ZSTD_ErrorCode`.
const ERROR_PREFIX_UNKNOWN: u32 = 10;
const ERROR_WINDOW_TOO_LARGE: u32 = 16;
const ERROR_DICTIONARY_WRONG: u32 = 32;
const CONTENT_SIZE_UNKNOWN: c_ulonglong = c_ulonglong::MAX;
/// The type of frames that hold data; others are skipped.
const FRAME: c_int = 0;

#[repr(C)]
struct Context([u8; 0]);

#[repr(C)]
#[derive(Default)]
struct FrameHeader {
    content_size: c_ulonglong,
    window_size: c_ulonglong,
    block_size_max: c_uint,
    frame_type: c_int,
    header_size: c_uint,
    dictionary_id: c_uint,
    checksum_flag: c_uint,
    reserved: [c_uint; 2],
}

extern "C" {
    fn ZSTD_createDCtx() -> *mut Context;
    fn ZSTD_freeDCtx(context: *mut Context) -> usize;
    fn ZSTD_DCtx_setMaxWindowSize(context: *mut Context, size: usize) -> usize;
    fn ZSTD_DCtx_loadDictionary(context: *mut Context, dictionary: *const u8, size: usize)
        -> usize;
    fn ZSTD_decompressBegin_usingDict(
        context: *mut Context,
        dictionary: *const u8,
        size: usize,
    ) -> usize;
    fn ZSTD_DCtx_refPrefix(context: *mut Context, prefix: *const u8, size: usize) -> usize;
    fn ZSTD_estimateDStreamSize(window: usize) -> usize;
    fn ZSTD_getDictID_fromDict(dictionary: *const u8, size: usize) -> c_uint;
    fn ZSTD_getFrameHeader(header: *mut FrameHeader, source: *const u8, size: usize) -> usize;
    fn ZSTD_decompressStream(
        context: *mut Context,
        out: *mut OutBuffer,
        input: *mut InBuffer,
    ) -> usize;
}

struct Decoder {
    context: *mut Context,
    /// What the context's prefix points to.
    _dictionary: Vec<u8>,
    header: Option<HeaderReader>,
    /// All input comes with the first step, whose frame header then tells how much output to make place for.
    whole: bool,
    /// The largest window in bytes that a frame may ask for.
    max_window: u32,
    /// The number by which a frame may name the dictionary; 0 for none.
    dictionary_id: c_uint,
    /// Whether no frame has begun, or the last one is complete.
    between: bool,
    /// Whether a frame has ended: what follows is another one, or foreign.
    is_later: bool,
}

impl Drop for Decoder {
    fn drop(&mut self) {
        unsafe { ZSTD_freeDCtx(self.context) };
    }
}

pub fn estimate(parameters: &Parameters) -> usize {
    let window = match parameters.window {
        0 => MAX_WINDOW,
        size => size,
    };
    unsafe { ZSTD_estimateDStreamSize(window as usize) }
}

pub fn open(parameters: Parameters) -> Result<Box<dyn Codec>, Fault> {
    let refuse = |message: &str| Err(Fault::new(FaultKind::Parameter, message));
    if parameters.format > DCZ {
        return refuse("unknown format for zstd");
    }
    let max_window = match parameters.window {
        0 => MAX_WINDOW,
        size @ MIN_WINDOW..=MAX_WINDOW => size,
        _ => return refuse("maxWindow is out of range for zstd: use 1024 to 134217728"),
    };
    let dcz = parameters.format == DCZ;
    let dictionary = parameters.dictionary;
    let header = match (dcz, dictionary.is_empty()) {
        (true, true) => return refuse("dcz needs a dictionary"),
        (true, false) => Some(HeaderReader::new(DCZ_MAGIC, &dictionary)),
        (false, _) => None,
    };
    let context = unsafe { ZSTD_createDCtx() };
    if context.is_null() {
        return Err(Fault::memory());
    }
    let dictionary_id = match dcz {
        true => 0,
        false => unsafe { ZSTD_getDictID_fromDict(dictionary.as_ptr(), dictionary.len()) },
    };
    let decoder = Decoder {
        context,
        _dictionary: dictionary,
        header,
        whole: parameters.whole,
        max_window,
        dictionary_id,
        between: true,
        is_later: false,
    };
    let dictionary = &decoder._dictionary;
    unsafe {
        check(
            ZSTD_DCtx_setMaxWindowSize(context, max_window as usize),
            FaultKind::Parameter,
        )?;
        if dcz {
            check(
                ZSTD_DCtx_refPrefix(context, dictionary.as_ptr(), dictionary.len()),
                FaultKind::Parameter,
            )?;
        } else if !dictionary.is_empty() {
            let (start, size) = (dictionary.as_ptr(), dictionary.len());
            let code = ZSTD_DCtx_loadDictionary(context, start, size);
            check(code, FaultKind::Parameter).map_err(|fault| {
                of_dictionary(fault, || {
                    ZSTD_decompressBegin_usingDict(context, start, size)
                })
            })?;
        }
    }
    Ok(Box::new(decoder))
}

impl Decoder {
    /// The result of a call that decodes: how much more input it wants.
    fn decoded(&self, code: usize) -> Result<usize, Fault> {
        let kind = match unsafe { ZSTD_getErrorCode(code) } {
            ERROR_PREFIX_UNKNOWN if self.is_later => return Err(Fault::trailing()),
            ERROR_WINDOW_TOO_LARGE => return Err(self.window_fault()),
            ERROR_DICTIONARY_WRONG => FaultKind::Dictionary,
            _ => FaultKind::Corrupt,
        };
        check(code, kind)
    }

    fn window_fault(&self) -> Fault {
        Fault::new(
            FaultKind::Window,
            [
                "the data needs a larger window than maxWindow, ",
                &decimal(self.max_window),
                " bytes",
            ]
            .concat(),
        )
    }

    /// Reads the header of the next frame, if all of it is there. zstd does not look at the window of a frame that it can
    /// decode without one.
    fn begin_frame(&self, input: &[u8]) -> Result<Option<FrameHeader>, Fault> {
        let mut header = FrameHeader::default();
        let missing = unsafe { ZSTD_getFrameHeader(&mut header, input.as_ptr(), input.len()) };
        if missing != 0 || header.frame_type != FRAME {
            return Ok(None);
        }
        // In zstd's order, which is that of a header that comes in parts.
        if header.dictionary_id != 0 && header.dictionary_id != self.dictionary_id {
            return Err(Fault::new(FaultKind::Dictionary, "Dictionary mismatch"));
        }
        if header.window_size > self.max_window.into() {
            return Err(self.window_fault());
        }
        Ok(Some(header))
    }
}

impl Codec for Decoder {
    fn step(
        &mut self,
        input: &mut &[u8],
        operation: Operation,
        output: &mut Output,
    ) -> Result<Progress, Fault> {
        let finish = operation == Operation::Finish;
        if let Some(header) = &mut self.header {
            if !header.read(input)? {
                return if finish {
                    Err(Fault::truncated())
                } else {
                    Ok(Progress::NeedsInput)
                };
            }
            self.header = None;
        }
        loop {
            if input.is_empty() && self.between && self.is_later {
                return Ok(if finish {
                    Progress::Finished
                } else {
                    Progress::NeedsInput
                });
            }
            if self.between {
                let header = self.begin_frame(input)?;
                if let (true, Some(FrameHeader { content_size, .. })) = (self.whole, header) {
                    // With place for the whole frame, zstd decodes straight to it. A size that a header claims is only a
                    // claim: no more than 1,000 times the input is reserved ahead.
                    if content_size != CONTENT_SIZE_UNKNOWN {
                        output.reserve(content_size.min(input.len() as u64 * 1000) as usize)?;
                    }
                }
                self.whole = false;
            }
            if output.room() == 0 {
                return Ok(Progress::HasOutput);
            }
            let spare = output.spare()?;
            let mut out = OutBuffer {
                destination: spare.as_mut_ptr().cast(),
                size: spare.len(),
                position: 0,
            };
            let mut from = InBuffer {
                source: input.as_ptr(),
                size: input.len(),
                position: 0,
            };
            let code = unsafe { ZSTD_decompressStream(self.context, &mut out, &mut from) };
            let (consumed, written, full) = (from.position, out.position, out.position == out.size);
            *input = &input[consumed..];
            unsafe { output.commit(written) };
            self.between = self.decoded(code)? == 0;
            self.is_later |= self.between;
            if !self.between && input.is_empty() && !full {
                return if finish {
                    Err(Fault::truncated())
                } else {
                    Ok(Progress::NeedsInput)
                };
            }
        }
    }
}

fn decimal(mut number: u32) -> String {
    let mut digits = String::new();
    while number > 0 || digits.is_empty() {
        digits.insert(0, char::from(b'0' + (number % 10) as u8));
        number /= 10;
    }
    digits
}
