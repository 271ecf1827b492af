//! Zstandard encoder (RFC 8878) with dictionaries, over the C library.

use crate::codec::{Codec, Fault, FaultKind, Operation, Output, Progress};
use crate::zstd::{check, of_dictionary, InBuffer, OutBuffer};
use crate::{dictionary, Parameters};
use alloc::{boxed::Box, vec::Vec};
use core::ffi::{c_int, c_ulonglong};

const DCZ: u32 = 1;
const DCZ_MAGIC: &[u8] = &[0x5e, 0x2a, 0x4d, 0x18, 0x20, 0, 0, 0];

const C_COMPRESSION_LEVEL: c_int = 100;
const C_WINDOW_LOG: c_int = 101;
const C_HASH_LOG: c_int = 102;
const C_CHAIN_LOG: c_int = 103;
const C_CONTENT_SIZE_FLAG: c_int = 200;
const C_CHECKSUM_FLAG: c_int = 201;
/// Of zstd's experimental parameters: the input stays where it is until all of it is consumed, and there is room for
/// all output.
const C_STABLE_IN_BUFFER: c_int = 1006;
const C_STABLE_OUT_BUFFER: c_int = 1007;
const END: c_int = 2;

/// Browsers refuse windows above 8 MiB (RFC 9659).
const WEB_WINDOW_LOG: u32 = 23;

#[repr(C)]
struct Context([u8; 0]);

#[repr(C)]
struct CompressionParameters {
    window_log: u32,
    chain_log: u32,
    hash_log: u32,
    search_log: u32,
    min_match: u32,
    target_length: u32,
    strategy: c_int,
}

extern "C" {
    fn ZSTD_getCParams(level: c_int, size: c_ulonglong, dictionary: usize)
        -> CompressionParameters;
    fn ZSTD_adjustCParams(
        parameters: CompressionParameters,
        size: c_ulonglong,
        dictionary: usize,
    ) -> CompressionParameters;
    fn ZSTD_estimateCStreamSize_usingCParams(parameters: CompressionParameters) -> usize;
    fn ZSTD_createCCtx() -> *mut Context;
    fn ZSTD_freeCCtx(context: *mut Context) -> usize;
    fn ZSTD_CCtx_setParameter(context: *mut Context, parameter: c_int, value: c_int) -> usize;
    fn ZSTD_CCtx_setPledgedSrcSize(context: *mut Context, size: c_ulonglong) -> usize;
    fn ZSTD_CCtx_loadDictionary(context: *mut Context, dictionary: *const u8, size: usize)
        -> usize;
    fn ZSTD_compressBegin_usingDict(
        context: *mut Context,
        dictionary: *const u8,
        size: usize,
        level: c_int,
    ) -> usize;
    fn ZSTD_CCtx_refPrefix(context: *mut Context, prefix: *const u8, size: usize) -> usize;
    fn ZSTD_compressBound(size: usize) -> usize;
    fn ZSTD_compressStream2(
        context: *mut Context,
        out: *mut OutBuffer,
        input: *mut InBuffer,
        operation: c_int,
    ) -> usize;
}

struct Encoder {
    context: *mut Context,
    /// What the context's prefix points to, or what it loads with the first step.
    dictionary: Vec<u8>,
    /// Whether it is loaded, and not only referred to.
    loads_dictionary: bool,
    /// What of the dictionary header is not written yet.
    header: Vec<u8>,
    /// All input comes with the first step, and is compressed where it is.
    whole: bool,
    /// That input, and the room for output that is left.
    given: Option<(InBuffer, usize)>,
    finished: bool,
}

impl Drop for Encoder {
    fn drop(&mut self) {
        unsafe { ZSTD_freeCCtx(self.context) };
    }
}

/// RFC 9842, section 5: a dcz window may have 8 MiB, or 1.25 times the dictionary if that is more, up to 128 MiB.
fn dcz_window_log(dictionary: u64, size: u64) -> u32 {
    let needed = 64 - (dictionary + size).saturating_sub(1).leading_zeros();
    let allowed = (63
        - (dictionary + dictionary / 4)
            .max(1 << WEB_WINDOW_LOG)
            .leading_zeros())
    .min(27);
    needed.clamp(10, allowed)
}

/// log2 of the window in bytes, requested or chosen; 0 if zstd chooses it.
fn window_log(parameters: &Parameters) -> u32 {
    match (parameters.window, parameters.format == DCZ) {
        (0, true) => dcz_window_log(
            parameters.dictionary.len() as u64,
            parameters.size.unwrap_or(u64::MAX >> 1),
        ),
        (0, false) if parameters.level >= 20 => WEB_WINDOW_LOG, // zstd would take 25 to 27
        (log, _) => log,
    }
}

/// What zstd chooses for a level, with the window; of lean streams with tables no larger than the window has places:
/// those of high levels, for 128 MiB, would take 640 MiB, since zstd makes them smaller for a known size only.
fn chosen(parameters: &Parameters) -> CompressionParameters {
    let size = parameters.size.unwrap_or(0); // 0 stands for unknown
    let mut chosen = unsafe { ZSTD_getCParams(parameters.level, size, 0) };
    let log = window_log(parameters);
    if log > 0 {
        chosen.window_log = log;
    }
    if parameters.lean {
        chosen.hash_log = chosen.hash_log.min(chosen.window_log + 1);
        chosen.chain_log = chosen.chain_log.min(chosen.window_log + 1);
    }
    chosen
}

pub fn estimate(parameters: &Parameters) -> usize {
    let size = parameters.size.unwrap_or(0);
    unsafe {
        ZSTD_estimateCStreamSize_usingCParams(ZSTD_adjustCParams(chosen(parameters), size, 0))
    }
}

pub fn open(parameters: Parameters) -> Result<Box<dyn Codec>, Fault> {
    let refuse = |message: &str| Err(Fault::new(FaultKind::Parameter, message));
    if parameters.format > DCZ {
        return refuse("unknown format for zstd");
    }
    if !(1..=22).contains(&parameters.level) {
        return refuse("level is out of range for zstd: use 1 to 22");
    }
    if !matches!(parameters.window, 0 | 10..=27) {
        return refuse("windowLog is out of range for zstd: use 10 to 27");
    }
    let dcz = parameters.format == DCZ;
    if dcz && parameters.dictionary.is_empty() {
        return refuse("dcz needs a dictionary");
    }
    let window_log = window_log(&parameters);
    let tables = parameters.lean.then(|| chosen(&parameters));
    let context = unsafe { ZSTD_createCCtx() };
    if context.is_null() {
        return Err(Fault::memory());
    }
    let mut encoder = Encoder {
        context,
        header: Vec::new(),
        loads_dictionary: !dcz && !parameters.dictionary.is_empty(),
        dictionary: parameters.dictionary,
        whole: parameters.whole,
        given: None,
        finished: false,
    };
    let dictionary = &encoder.dictionary;
    unsafe {
        check(
            ZSTD_CCtx_setParameter(context, C_COMPRESSION_LEVEL, parameters.level),
            FaultKind::Parameter,
        )?;
        check(
            ZSTD_CCtx_setParameter(context, C_WINDOW_LOG, window_log as c_int),
            FaultKind::Parameter,
        )?;
        check(
            ZSTD_CCtx_setParameter(context, C_CHECKSUM_FLAG, parameters.checksum.into()),
            FaultKind::Parameter,
        )?;
        if let Some(CompressionParameters {
            hash_log,
            chain_log,
            ..
        }) = tables
        {
            for (name, log) in [(C_HASH_LOG, hash_log), (C_CHAIN_LOG, chain_log)] {
                check(
                    ZSTD_CCtx_setParameter(context, name, log as c_int),
                    FaultKind::Parameter,
                )?;
            }
        }
        if let Some(size) = parameters.size {
            check(
                ZSTD_CCtx_setPledgedSrcSize(context, size),
                FaultKind::Parameter,
            )?;
        }
        if dcz {
            // A delta is small and its reader allocates by the window: the content's size would be 3 bytes for nothing.
            check(
                ZSTD_CCtx_setParameter(context, C_CONTENT_SIZE_FLAG, 0),
                FaultKind::Parameter,
            )?;
            check(
                ZSTD_CCtx_refPrefix(context, dictionary.as_ptr(), dictionary.len()),
                FaultKind::Parameter,
            )?;
        } else if !dictionary.is_empty() {
            check(
                ZSTD_CCtx_loadDictionary(context, dictionary.as_ptr(), dictionary.len()),
                FaultKind::Parameter,
            )?;
        }
    }
    if dcz {
        encoder.header = dictionary::header(DCZ_MAGIC, &encoder.dictionary);
    }
    Ok(Box::new(encoder))
}

impl Encoder {
    /// The result of a step.
    fn checked(&self, code: usize, kind: FaultKind) -> Result<usize, Fault> {
        check(code, kind).map_err(|fault| match self.loads_dictionary {
            true => of_dictionary(fault, || unsafe {
                let dictionary = &self.dictionary;
                ZSTD_compressBegin_usingDict(self.context, dictionary.as_ptr(), dictionary.len(), 1)
            }),
            false => fault,
        })
    }

    /// Compresses a block straight to the output, with no window buffer between: the bytes are those of ZSTD_compress2.
    fn step_whole(&mut self, input: &mut &[u8], output: &mut Output) -> Result<Progress, Fault> {
        output.reserve(unsafe { ZSTD_compressBound(input.len()) })?;
        let spare = output.spare()?;
        if self.given.is_none() {
            for parameter in [C_STABLE_IN_BUFFER, C_STABLE_OUT_BUFFER] {
                let code = unsafe { ZSTD_CCtx_setParameter(self.context, parameter, 1) };
                check(code, FaultKind::Parameter)?;
            }
        }
        let (from, room) = self.given.get_or_insert((
            InBuffer {
                source: input.as_ptr(),
                size: input.len(),
                position: 0,
            },
            spare.len(),
        ));
        // What the blocks before have left, though each begins at the output's first byte.
        let mut out = OutBuffer {
            destination: spare.as_mut_ptr().cast(),
            size: *room,
            position: 0,
        };
        let code = unsafe { ZSTD_compressStream2(self.context, &mut out, from, END) };
        let (made, left) = (out.position, from.size - from.position);
        *room -= made;
        self.checked(code, FaultKind::Memory)?;
        unsafe { output.commit(made) };
        *input = &input[input.len() - left..];
        self.finished = input.is_empty();
        Ok(if self.finished {
            Progress::Finished
        } else {
            Progress::HasOutput
        })
    }
}

impl Codec for Encoder {
    fn step(
        &mut self,
        input: &mut &[u8],
        operation: Operation,
        output: &mut Output,
    ) -> Result<Progress, Fault> {
        let header = self.header.len().min(output.room());
        output.extend(&self.header[..header])?;
        self.header.drain(..header);
        if self.finished {
            return Ok(Progress::Finished);
        }
        if self.whole
            && operation == Operation::Finish
            && output.room() >= unsafe { ZSTD_compressBound(input.len()) }
        {
            return self.step_whole(input, output);
        }
        self.whole = false;
        loop {
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
            let code = unsafe {
                ZSTD_compressStream2(self.context, &mut out, &mut from, operation as c_int)
            };
            let (consumed, written) = (from.position, out.position);
            *input = &input[consumed..];
            unsafe { output.commit(written) };
            let remaining = self.checked(code, FaultKind::Parameter)?; // after accepted parameters: the size was not kept
            match operation {
                Operation::Finish if remaining == 0 => {
                    self.finished = true;
                    return Ok(Progress::Finished);
                }
                Operation::Flush if remaining == 0 && input.is_empty() => {
                    return Ok(Progress::NeedsInput)
                }
                Operation::Process if input.is_empty() => return Ok(Progress::NeedsInput),
                _ => {}
            }
        }
    }
}
