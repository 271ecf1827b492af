//! Zstandard decoder (RFC 8878) with dictionaries, over the C library.

use crate::codec::{Codec, Fault, FaultKind, Operation, Output, Progress};
use crate::dictionary::HeaderReader;
use crate::Parameters;
use core::ffi::{c_char, c_int, c_ulonglong, CStr};

const DCZ: u32 = 1;
const DCZ_MAGIC: &[u8] = &[0x5e, 0x2a, 0x4d, 0x18, 0x20, 0, 0, 0];

const D_WINDOW_LOG_MAX: c_int = 100;
const CONTENT_SIZE_UNKNOWN: c_ulonglong = c_ulonglong::MAX;
const CONTENT_SIZE_ERROR: c_ulonglong = c_ulonglong::MAX - 1;

#[repr(C)]
struct Context([u8; 0]);
#[repr(C)]
struct InBuffer {
    source: *const u8,
    size: usize,
    position: usize,
}
#[repr(C)]
struct OutBuffer {
    destination: *mut u8,
    size: usize,
    position: usize,
}

extern "C" {
    fn ZSTD_createDCtx() -> *mut Context;
    fn ZSTD_freeDCtx(context: *mut Context) -> usize;
    fn ZSTD_DCtx_setParameter(context: *mut Context, parameter: c_int, value: c_int) -> usize;
    fn ZSTD_DCtx_loadDictionary(context: *mut Context, dictionary: *const u8, size: usize)
        -> usize;
    fn ZSTD_DCtx_refPrefix(context: *mut Context, prefix: *const u8, size: usize) -> usize;
    fn ZSTD_getFrameContentSize(source: *const u8, size: usize) -> c_ulonglong;
    fn ZSTD_decompressStream(
        context: *mut Context,
        out: *mut OutBuffer,
        input: *mut InBuffer,
    ) -> usize;
    fn ZSTD_isError(code: usize) -> u32;
    fn ZSTD_getErrorName(code: usize) -> *const c_char;
}

struct Decoder {
    context: *mut Context,
    /// What the context's prefix points to.
    _dictionary: Vec<u8>,
    header: Option<HeaderReader>,
    /// All input comes with the first step, whose frame header then tells how much output to make place for.
    whole: bool,
    /// Between two frames, after at least one.
    frame_complete: bool,
}

impl Drop for Decoder {
    fn drop(&mut self) {
        unsafe { ZSTD_freeDCtx(self.context) };
    }
}

fn check(code: usize, kind: FaultKind) -> Result<usize, Fault> {
    if unsafe { ZSTD_isError(code) } == 0 {
        return Ok(code);
    }
    let name = unsafe { CStr::from_ptr(ZSTD_getErrorName(code)) };
    Err(Fault::new(kind, name.to_string_lossy()))
}

pub fn open(parameters: Parameters) -> Result<Box<dyn Codec>, Fault> {
    let refuse = |message: String| Err(Fault::new(FaultKind::Parameter, message));
    if parameters.format > DCZ {
        return refuse(format!("unknown format {} for zstd", parameters.format));
    }
    if !matches!(parameters.window_log, 0 | 10..=27) {
        return refuse(format!(
            "windowLog {} is out of range for zstd: use 10 to 27",
            parameters.window_log
        ));
    }
    let dcz = parameters.format == DCZ;
    let dictionary = parameters.dictionary;
    let header = match (dcz, dictionary.is_empty()) {
        (true, true) => return refuse("dcz needs a dictionary".into()),
        (true, false) => Some(HeaderReader::new(DCZ_MAGIC, &dictionary)),
        (false, _) => None,
    };
    let context = unsafe { ZSTD_createDCtx() };
    if context.is_null() {
        return Err(Fault::memory());
    }
    let decoder = Decoder {
        context,
        _dictionary: dictionary,
        header,
        whole: parameters.whole,
        frame_complete: false,
    };
    let dictionary = &decoder._dictionary;
    unsafe {
        if parameters.window_log > 0 {
            let code =
                ZSTD_DCtx_setParameter(context, D_WINDOW_LOG_MAX, parameters.window_log as c_int);
            check(code, FaultKind::Parameter)?;
        }
        if dcz {
            check(
                ZSTD_DCtx_refPrefix(context, dictionary.as_ptr(), dictionary.len()),
                FaultKind::Parameter,
            )?;
        } else if !dictionary.is_empty() {
            check(
                ZSTD_DCtx_loadDictionary(context, dictionary.as_ptr(), dictionary.len()),
                FaultKind::Parameter,
            )?;
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
        if core::mem::take(&mut self.whole) {
            // With place for the whole frame, zstd decodes straight to it. A size that a header claims is only a claim:
            // no more than 1,000 times the input is reserved ahead.
            let size = unsafe { ZSTD_getFrameContentSize(input.as_ptr(), input.len()) };
            if size != CONTENT_SIZE_UNKNOWN && size != CONTENT_SIZE_ERROR {
                output.reserve(size.min(input.len() as u64 * 1000) as usize)?;
            }
        }
        loop {
            if input.is_empty() && self.frame_complete {
                return Ok(if finish {
                    Progress::Finished
                } else {
                    Progress::NeedsInput
                });
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
            self.frame_complete = check(code, FaultKind::Corrupt)? == 0;
            if !self.frame_complete && input.is_empty() && !full {
                return if finish {
                    Err(Fault::truncated())
                } else {
                    Ok(Progress::NeedsInput)
                };
            }
        }
    }
}
