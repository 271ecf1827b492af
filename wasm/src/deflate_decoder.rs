//! gzip (RFC 1952, with several members), zlib (RFC 1950) and raw deflate (RFC 1951) decoder, over zlib-rs.

use crate::codec::{Codec, Fault, FaultKind, Operation, Output, Progress};
use crate::Parameters;
use core::ffi::CStr;
use core::mem::MaybeUninit;
use zlib_rs::c_api::z_stream;
use zlib_rs::inflate::{self, InflateConfig, InflateStream};
use zlib_rs::{InflateFlush, ReturnCode};

const GZIP: u32 = 0;
const ZLIB: u32 = 1;
const RAW: u32 = 2;

struct Decoder {
    inflate: Inflate,
    format: u32,
    finished: bool,
    /// Whether zeros may follow the last gzip member, and whether some have.
    may_be_padded: bool,
    is_padded: bool,
    /// Whether a gzip member has ended: what follows is another one, or foreign.
    is_later: bool,
}

/// The length of the magic number that a gzip member begins with.
const GZIP_MAGIC: usize = 2;

/// zlib-rs below its safe surface, whose `reset` forgets that the format is gzip: another one for each member would cost
/// more than to decode a small one.
struct Inflate(z_stream);

impl Inflate {
    fn new(format: u32) -> Result<Self, Fault> {
        let window_bits = match format {
            GZIP => 16 + 15,
            ZLIB => 15,
            _ => -15,
        };
        let mut stream = z_stream::default();
        match inflate::init(&mut stream, InflateConfig { window_bits }) {
            ReturnCode::Ok => Ok(Self(stream)),
            _ => Err(Fault::memory()),
        }
    }

    fn stream(&mut self) -> &mut InflateStream<'static> {
        unsafe { InflateStream::from_stream_mut(&mut self.0) }.expect("init() has succeeded")
    }

    fn reset(&mut self) {
        inflate::reset(self.stream());
    }

    /// Number of bytes of the stream, since the last reset.
    fn total_in(&self) -> usize {
        self.0.total_in as usize
    }

    /// Consumes from the front of `input` and returns how many bytes of `output` it has written.
    fn run(&mut self, input: &mut &[u8], output: &mut [MaybeUninit<u8>]) -> (ReturnCode, usize) {
        self.0.next_in = input.as_ptr();
        self.0.avail_in = input.len() as u32;
        self.0.next_out = output.as_mut_ptr().cast();
        self.0.avail_out = output.len() as u32;
        let result = unsafe { inflate::inflate(self.stream(), InflateFlush::NoFlush) };
        *input = &input[input.len() - self.0.avail_in as usize..];
        (result, output.len() - self.0.avail_out as usize)
    }

    fn corrupt(&self, result: ReturnCode) -> Fault {
        let message = match self.0.msg.is_null() {
            true => result.error_message(),
            false => self.0.msg,
        };
        Fault::corrupt(unsafe { CStr::from_ptr(message) }.to_string_lossy())
    }
}

impl Drop for Inflate {
    fn drop(&mut self) {
        inflate::end(self.stream());
    }
}

/// The window, and the tables of codes.
pub fn estimate(_: &Parameters) -> usize {
    48 << 10
}

pub fn open(parameters: Parameters) -> Result<Box<dyn Codec>, Fault> {
    let refuse = |message: &str| Err(Fault::new(FaultKind::Parameter, message));
    if parameters.format > RAW {
        return refuse(&format!("unknown format {} for deflate", parameters.format));
    }
    if parameters.window != 0 {
        return refuse("windowLog does not apply to deflate, whose window has 32 KiB");
    }
    if !parameters.dictionary.is_empty() {
        return refuse("dictionaries do not apply to deflate: use zstd or brotli");
    }
    Ok(Box::new(Decoder {
        inflate: Inflate::new(parameters.format)?,
        format: parameters.format,
        finished: false,
        may_be_padded: parameters.checksum,
        is_padded: false,
        is_later: false,
    }))
}

impl Codec for Decoder {
    fn step(
        &mut self,
        input: &mut &[u8],
        operation: Operation,
        output: &mut Output,
    ) -> Result<Progress, Fault> {
        let finish = operation == Operation::Finish;
        loop {
            if self.finished {
                if self.may_be_padded && input.first() == Some(&0) {
                    let end = input.iter().position(|byte| *byte != 0);
                    *input = &input[end.unwrap_or(input.len())..];
                    self.is_padded = true;
                }
                if input.is_empty() {
                    return Ok(if finish {
                        Progress::Finished
                    } else {
                        Progress::NeedsInput
                    });
                }
                // RFC 1952, section 2.2: a gzip file is a series of members.
                if self.format != GZIP || input[0] != 0x1f || self.is_padded {
                    return Err(Fault::trailing());
                }
                self.inflate.reset();
                self.finished = false;
                self.is_later = true;
            }
            if output.room() == 0 {
                return Ok(Progress::HasOutput);
            }
            let spare = output.spare()?;
            let room = spare.len();
            let (result, written) = self.inflate.run(input, spare);
            unsafe { output.commit(written) };
            match result {
                ReturnCode::StreamEnd => self.finished = true,
                ReturnCode::Ok | ReturnCode::BufError => {
                    if input.is_empty() && written < room {
                        return if finish {
                            Err(Fault::truncated())
                        } else {
                            Ok(Progress::NeedsInput)
                        };
                    }
                }
                _ if self.is_later && self.inflate.total_in() <= GZIP_MAGIC => {
                    return Err(Fault::trailing())
                }
                error => return Err(self.inflate.corrupt(error)),
            }
        }
    }
}
