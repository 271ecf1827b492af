//! gzip (RFC 1952, with several members), zlib (RFC 1950) and raw deflate (RFC 1951) decoder.

use crate::checksums::{adler32, crc32};
use crate::codec::{Codec, Fault, FaultKind, Operation, Output, Progress};
use crate::inflate::{Inflate, Status, WINDOW};
use crate::Parameters;
use alloc::boxed::Box;

const GZIP: u32 = 0;
const ZLIB: u32 = 1;
const RAW: u32 = 2;

const GZIP_MAGIC: u64 = 0x8b1f;
/// The first byte of the magic number: anything else behind a member is foreign.
const GZIP_FIRST: u8 = 0x1f;
const DEFLATE: u32 = 8;

/// Flags of a gzip header.
const HEADER_CHECKSUM: u32 = 2;
const EXTRA: u32 = 4;
const NAME: u32 = 8;
const COMMENT: u32 = 16;
const RESERVED: u32 = 0xe0;

/// Of a zlib header: log2 of the largest window, less 8, and the flag of a dictionary.
const ZLIB_MAX_WINDOW: u32 = 7;
const ZLIB_DICTIONARY: u32 = 0x2000;

/// The part of a stream that comes next.
#[derive(Clone, Copy)]
enum Part {
    /// A zlib header, and what it names a dictionary by; then gzip's fields in their order.
    Zlib,
    Dictionary,
    Magic,
    Method,
    Time,
    ExtraLength,
    Extra(u64),
    Name,
    Comment,
    HeaderChecksum,
    Data,
    Checksum,
    Length,
    /// The end of a stream, or another gzip member, or padding.
    End,
}

struct Decoder {
    inflate: Inflate,
    format: u32,
    part: Part,
    flags: u32,
    /// The checksum of the header, then of the data.
    checksum: u32,
    /// Number of bytes of the data.
    length: u32,
    /// Whether zeros may follow the last gzip member, and whether some have.
    may_be_padded: bool,
    is_padded: bool,
    /// Whether a gzip member has ended: what follows is another one, or foreign.
    is_later: bool,
}

/// The decoder with its tables, and the window.
pub fn estimate(_: &Parameters) -> usize {
    WINDOW + core::mem::size_of::<Decoder>()
}

pub fn open(parameters: Parameters) -> Result<Box<dyn Codec>, Fault> {
    let refuse = |message: &str| Err(Fault::new(FaultKind::Parameter, message));
    if parameters.format > RAW {
        return refuse("unknown format for deflate");
    }
    if parameters.window != 0 {
        return refuse("windowLog does not apply to deflate, whose window has 32 KiB");
    }
    if !parameters.dictionary.is_empty() {
        return refuse("dictionaries do not apply to deflate: use zstd or brotli");
    }
    let mut decoder = Box::new(Decoder {
        inflate: Inflate::new(),
        format: parameters.format,
        part: Part::Data,
        flags: 0,
        checksum: 0,
        length: 0,
        may_be_padded: parameters.checksum,
        is_padded: false,
        is_later: false,
    });
    decoder.begin();
    Ok(decoder)
}

impl Decoder {
    fn begin(&mut self) {
        self.inflate.reset();
        self.length = 0;
        self.checksum = 0;
        self.part = match self.format {
            GZIP => Part::Magic,
            ZLIB => Part::Zlib,
            _ => Part::Data,
        };
    }

    /// Takes a field of the header of up to 6 bytes, once all of it is there.
    fn field(&mut self, input: &mut &[u8], length: usize) -> Option<u64> {
        if !self.inflate.has(input, 8 * length as u32) {
            return None;
        }
        let field = self.inflate.take(8 * length as u32);
        self.checksum = crc32(self.checksum, &field.to_le_bytes()[..length]);
        Some(field)
    }

    /// Reads what stands before and behind the data; returns whether all of it was there.
    fn read_frame(&mut self, input: &mut &[u8]) -> Result<bool, Fault> {
        let corrupt = |message| Err(Fault::corrupt(message));
        macro_rules! field {
            ($length:expr) => {
                match self.field(input, $length) {
                    Some(field) => field,
                    None => return Ok(false),
                }
            };
        }
        loop {
            self.part = match self.part {
                Part::Zlib => {
                    let field = field!(2) as u32;
                    if (field << 8 & 0xff00 | field >> 8) % 31 != 0 {
                        return corrupt("incorrect header check");
                    }
                    if field & 0xf != DEFLATE {
                        return corrupt("unknown compression method");
                    }
                    if field >> 4 & 0xf > ZLIB_MAX_WINDOW {
                        return corrupt("invalid window size");
                    }
                    self.checksum = 1;
                    match field & ZLIB_DICTIONARY {
                        0 => Part::Data,
                        _ => Part::Dictionary,
                    }
                }
                Part::Dictionary => {
                    field!(4);
                    return corrupt("need dictionary");
                }
                Part::Magic => match field!(2) {
                    GZIP_MAGIC => Part::Method,
                    _ if self.is_later => return Err(Fault::trailing()),
                    _ => return corrupt("incorrect header check"),
                },
                Part::Method => {
                    let field = field!(2) as u32;
                    self.flags = field >> 8;
                    if field & 0xff != DEFLATE {
                        return corrupt("unknown compression method");
                    }
                    if self.flags & RESERVED != 0 {
                        return corrupt("unknown header flags set");
                    }
                    Part::Time
                }
                Part::Time => {
                    field!(6);
                    Part::ExtraLength
                }
                Part::ExtraLength if self.flags & EXTRA == 0 => Part::Name,
                Part::ExtraLength => Part::Extra(field!(2)),
                Part::Extra(0) => Part::Name,
                Part::Extra(left) => {
                    field!(1);
                    Part::Extra(left - 1)
                }
                Part::Name => match self.flags & NAME != 0 && field!(1) != 0 {
                    true => Part::Name,
                    false => Part::Comment,
                },
                Part::Comment => match self.flags & COMMENT != 0 && field!(1) != 0 {
                    true => Part::Comment,
                    false => Part::HeaderChecksum,
                },
                Part::HeaderChecksum => {
                    let computed = u64::from(self.checksum & 0xffff);
                    if self.flags & HEADER_CHECKSUM != 0 && field!(2) != computed {
                        return corrupt("header crc mismatch");
                    }
                    self.checksum = 0;
                    Part::Data
                }
                Part::Checksum => {
                    let computed = self.checksum;
                    let field = field!(4) as u32;
                    let (expected, next) = match self.format {
                        GZIP => (field, Part::Length),
                        _ => (field.swap_bytes(), Part::End),
                    };
                    if computed != expected {
                        return corrupt("incorrect data check");
                    }
                    next
                }
                Part::Length => {
                    if field!(4) as u32 != self.length {
                        return corrupt("incorrect length check");
                    }
                    Part::End
                }
                Part::Data | Part::End => return Ok(true),
            };
        }
    }

    /// Looks behind the end of a stream; returns whether another member begins there.
    fn begins_another(&mut self, input: &mut &[u8]) -> Result<bool, Fault> {
        while let Some(next) = self.inflate.peek(input) {
            if self.may_be_padded && next == 0 {
                self.inflate.take(8);
                self.is_padded = true;
                continue;
            }
            // RFC 1952, section 2.2: a gzip file is a series of members.
            if self.format != GZIP || next != GZIP_FIRST || self.is_padded {
                return Err(Fault::trailing());
            }
            self.is_later = true;
            self.begin();
            return Ok(true);
        }
        Ok(false)
    }

    fn add_to_checksum(&mut self, bytes: &[u8]) {
        self.length = self.length.wrapping_add(bytes.len() as u32);
        match self.format {
            GZIP => self.checksum = crc32(self.checksum, bytes),
            ZLIB => self.checksum = adler32(self.checksum, bytes),
            _ => {}
        }
    }
}

impl Codec for Decoder {
    fn step(
        &mut self,
        input: &mut &[u8],
        operation: Operation,
        output: &mut Output,
    ) -> Result<Progress, Fault> {
        let starved = match operation {
            Operation::Finish => Err(Fault::truncated()),
            _ => Ok(Progress::NeedsInput),
        };
        let mut start = 0; // of what this step makes of the stream
        loop {
            if !self.read_frame(input)? {
                return starved;
            }
            if let Part::End = self.part {
                if self.begins_another(input)? {
                    start = output.bytes().len();
                    continue;
                }
                return Ok(match operation {
                    Operation::Finish => Progress::Finished,
                    _ => Progress::NeedsInput,
                });
            }
            let before = output.bytes().len();
            let status = self.inflate.run(input, output, start)?;
            self.add_to_checksum(&output.bytes()[before..]);
            match status {
                Status::End if self.format == RAW => self.part = Part::End,
                Status::End => self.part = Part::Checksum,
                Status::HasOutput if output.room() > 0 => {}
                _ => {
                    self.inflate.keep(&output.bytes()[start..])?;
                    return match status {
                        Status::HasOutput => Ok(Progress::HasOutput),
                        _ => starved,
                    };
                }
            }
        }
    }
}
