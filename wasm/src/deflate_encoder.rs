//! gzip (RFC 1952), zlib (RFC 1950) and raw deflate (RFC 1951): libdeflate for whole buffers, zlib-rs for streams.

use crate::codec::{Codec, Fault, FaultKind, Operation, Output, Progress};
use crate::Parameters;
use alloc::{boxed::Box, vec::Vec};
use core::ffi::c_int;
use zlib_rs::{Deflate, DeflateConfig, DeflateFlush, Status};

const GZIP: u32 = 0;
const ZLIB: u32 = 1;
const RAW: u32 = 2;

/// zlib's best level; libdeflate's go to 12.
const STREAM_MAX_LEVEL: i32 = 9;

/// log2 of the format's window in bytes, and of that of lean streams: 64 KiB less.
const WINDOW_BITS: i32 = 15;
const LEAN_WINDOW_BITS: i32 = 14;

/// zlib's measure of the symbols that wait for the end of their block, 16 Ki by default, and that of lean streams:
/// 56 KiB less.
const MEM_LEVEL: i32 = 8;
const LEAN_MEM_LEVEL: i32 = 7;

#[repr(C)]
struct Compressor([u8; 0]);

type Compress = unsafe extern "C" fn(*mut Compressor, *const u8, usize, *mut u8, usize) -> usize;

extern "C" {
    fn libdeflate_alloc_compressor(level: c_int) -> *mut Compressor;
    fn libdeflate_is_paused(compressor: *const Compressor) -> bool; // of our patch
    fn libdeflate_free_compressor(compressor: *mut Compressor);
    fn libdeflate_gzip_compress_bound(compressor: *mut Compressor, size: usize) -> usize;
    fn libdeflate_gzip_compress(
        c: *mut Compressor,
        i: *const u8,
        n: usize,
        o: *mut u8,
        room: usize,
    ) -> usize;
    fn libdeflate_zlib_compress(
        c: *mut Compressor,
        i: *const u8,
        n: usize,
        o: *mut u8,
        room: usize,
    ) -> usize;
    fn libdeflate_deflate_compress(
        c: *mut Compressor,
        i: *const u8,
        n: usize,
        o: *mut u8,
        room: usize,
    ) -> usize;
}

/// The window, the hash chains and the symbols of a block, or libdeflate's compressor for whole buffers.
pub fn estimate(_: &Parameters) -> usize {
    288 << 10
}

pub fn open(parameters: Parameters) -> Result<Box<dyn Codec>, Fault> {
    let refuse = |message: &str| Err(Fault::new(FaultKind::Parameter, message));
    let Parameters { format, level, .. } = parameters;
    if format > RAW {
        return refuse("unknown format for deflate");
    }
    if !(1..=12).contains(&level) {
        return refuse("level is out of range for deflate: use 1 to 12");
    }
    if parameters.window != 0 {
        return refuse("windowLog does not apply to deflate, whose window has 32 KiB");
    }
    if !parameters.dictionary.is_empty() {
        return refuse("dictionaries do not apply to deflate: use zstd or brotli");
    }
    if !parameters.whole {
        let (window_bits, mem_level) = if parameters.lean {
            (LEAN_WINDOW_BITS, LEAN_MEM_LEVEL)
        } else {
            (WINDOW_BITS, MEM_LEVEL)
        };
        return Ok(Box::new(StreamEncoder(Deflate::new_with_config(
            DeflateConfig {
                level: level.min(STREAM_MAX_LEVEL),
                window_bits: match format {
                    GZIP => 16 + window_bits,
                    ZLIB => window_bits,
                    _ => -window_bits,
                },
                mem_level,
                ..DeflateConfig::default()
            },
        ))));
    }
    let compressor = unsafe { libdeflate_alloc_compressor(level) };
    if compressor.is_null() {
        return Err(Fault::memory());
    }
    let compress = match format {
        GZIP => libdeflate_gzip_compress,
        ZLIB => libdeflate_zlib_compress,
        _ => libdeflate_deflate_compress as Compress,
    };
    Ok(Box::new(WholeEncoder {
        compressor,
        compress,
        compressed: None,
    }))
}

struct WholeEncoder {
    compressor: *mut Compressor,
    compress: Compress,
    /// The result, as far as it is made, and how much of it is handed out.
    compressed: Option<(Vec<u8>, usize)>,
}

impl Drop for WholeEncoder {
    fn drop(&mut self) {
        unsafe { libdeflate_free_compressor(self.compressor) }
    }
}

impl Codec for WholeEncoder {
    fn step(
        &mut self,
        input: &mut &[u8],
        operation: Operation,
        output: &mut Output,
    ) -> Result<Progress, Fault> {
        if operation != Operation::Finish {
            return Err(Fault::new(
                FaultKind::Parameter,
                "a whole buffer is compressed by steps that finish",
            ));
        }
        let is_first = self.compressed.is_none();
        let (bytes, taken) = self.compressed.get_or_insert_default();
        if is_first || unsafe { libdeflate_is_paused(self.compressor) } {
            let bound = unsafe { libdeflate_gzip_compress_bound(self.compressor, input.len()) };
            bytes
                .try_reserve_exact(bound)
                .map_err(|_| Fault::memory())?;
            unsafe {
                let written = (self.compress)(
                    self.compressor,
                    input.as_ptr(),
                    input.len(),
                    bytes.as_mut_ptr(),
                    bound,
                );
                if libdeflate_is_paused(self.compressor) {
                    return Ok(Progress::HasOutput); // after a block: the next step has the same input
                }
                bytes.set_len(written);
            }
            *input = &[];
        }
        let next = (*taken + output.room()).min(bytes.len());
        output.extend(&bytes[*taken..next])?;
        *taken = next;
        Ok(if next == bytes.len() {
            Progress::Finished
        } else {
            Progress::HasOutput
        })
    }
}

struct StreamEncoder(Deflate);

impl Codec for StreamEncoder {
    fn step(
        &mut self,
        input: &mut &[u8],
        operation: Operation,
        output: &mut Output,
    ) -> Result<Progress, Fault> {
        let flush = match operation {
            Operation::Process => DeflateFlush::NoFlush,
            Operation::Flush => DeflateFlush::SyncFlush,
            Operation::Finish => DeflateFlush::Finish,
        };
        loop {
            if output.room() == 0 {
                return Ok(Progress::HasOutput);
            }
            let (before_in, before_out) = (self.0.total_in(), self.0.total_out());
            let spare = output.spare()?;
            let room = spare.len();
            let status = self
                .0
                .compress_uninit(input, spare, flush)
                .map_err(|error| Fault::new(FaultKind::Memory, error.as_str()))?;
            let written = (self.0.total_out() - before_out) as usize;
            *input = &input[(self.0.total_in() - before_in) as usize..];
            unsafe { output.commit(written) };
            if status == Status::StreamEnd {
                return Ok(Progress::Finished);
            }
            // Room to spare means that the encoder holds nothing back that this operation asked for.
            if input.is_empty() && written < room && operation != Operation::Finish {
                return Ok(Progress::NeedsInput);
            }
        }
    }
}
