//! gzip (RFC 1952, with several members), zlib (RFC 1950) and raw deflate (RFC 1951) decoder, over zlib-rs.

use crate::codec::{Codec, Fault, FaultKind, Operation, Output, Progress};
use crate::Parameters;
use zlib_rs::{Inflate, InflateFlush, Status};

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
const GZIP_MAGIC: u64 = 2;

fn inflate(format: u32) -> Inflate {
    match format {
        GZIP => Inflate::new(true, 16 + 15),
        ZLIB => Inflate::new(true, 15),
        _ => Inflate::new(false, 15),
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
        inflate: inflate(parameters.format),
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
                self.inflate = inflate(GZIP);
                self.finished = false;
                self.is_later = true;
            }
            if output.room() == 0 {
                return Ok(Progress::HasOutput);
            }
            let (before_in, before_out) = (self.inflate.total_in(), self.inflate.total_out());
            let spare = output.spare()?;
            let room = spare.len();
            let result = self
                .inflate
                .decompress_uninit(input, spare, InflateFlush::NoFlush);
            let written = (self.inflate.total_out() - before_out) as usize;
            *input = &input[(self.inflate.total_in() - before_in) as usize..];
            unsafe { output.commit(written) };
            match result {
                Ok(Status::StreamEnd) => self.finished = true,
                Ok(_) if input.is_empty() && written < room => {
                    return if finish {
                        Err(Fault::truncated())
                    } else {
                        Ok(Progress::NeedsInput)
                    };
                }
                Ok(_) => {}
                Err(_) if self.is_later && self.inflate.total_in() <= GZIP_MAGIC => {
                    return Err(Fault::trailing())
                }
                Err(error) => {
                    let reason = self.inflate.error_message().unwrap_or(error.as_str());
                    return Err(Fault::corrupt(reason));
                }
            }
        }
    }
}
