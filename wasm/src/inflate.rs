//! The decoder of deflate's blocks (RFC 1951), in steps of any size.
//!
//! Tables of codes are made as libdeflate makes them. All that a symbol needs fits into the 64 bits of the buffer, so it is
//! taken whole, or waits there for more input. Data is refused with zlib's words.

use crate::codec::{Fault, Output};
use alloc::vec::Vec;

/// How a step ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Status {
    NeedsInput,
    HasOutput,
    /// The last block is complete. What follows is in the buffer of bits first.
    End,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the header of a block.
    Block,
    /// In a stored block, of which that many bytes are left.
    Stored(usize),
    /// Before the number of codes.
    Counts,
    /// Before the length of a code for lengths of codes, or of a code itself.
    Precode(usize),
    Lengths(usize),
    /// Before a symbol.
    Symbols,
    /// In a match, of which that many bytes are left.
    Match {
        length: usize,
        distance: usize,
    },
    End,
}

pub const WINDOW: usize = 32 * 1024;

/// Bits that tables of codes look up at once; the longest code has 15.
const LITERAL_BITS: u32 = 10;
const DISTANCE_BITS: u32 = 8;
const PRECODE_BITS: u32 = 7;
const MAX_CODE_BITS: usize = 15;

/// The places that tables may need with the codes that are too long for a look-up at once, by zlib's enough.c.
const LITERAL_TABLE: usize = 1334;
const DISTANCE_TABLE: usize = 402;

const LITERALS: usize = 288;
const DISTANCES: usize = 32;
const END_OF_BLOCK: usize = 256;

/*
 * An entry of a table:
 *   literal   LITERAL | byte << 16 | bits
 *   match     base << 16 | bits of the code << 8 | bits with those that are added to the base
 *   others    SPECIAL, with SUBTABLE | place of the subtable << 16 | its bits << 8 | bits so far, or END | bits, or of an
 *             invalid code with bits alone
 */
const LITERAL: u32 = 1 << 31;
const SPECIAL: u32 = 1 << 15;
const SUBTABLE: u32 = 1 << 14;
const END: u32 = 1 << 13;

const MAX_MATCH: usize = 258;

/// The longest write of a match: copies are made by words, and pass its end.
const MAX_WRITE: usize = MAX_MATCH + 16;

/// The bytes that a symbol and its distance read ahead.
const MAX_READ: usize = 16;

/// The bytes that are made at once, of which the checksum is made while they are in the cache.
const PIECE: usize = 64 * 1024;

const PRECODE_ORDER: [u8; 19] = [
    16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
];

pub struct Inflate {
    bits: u64,
    count: u32,
    state: State,
    is_last: bool,
    /// The bytes before those of this step, from `next` on around; none while all were made in this step.
    window: Vec<u8>,
    next: usize,
    kept: usize,
    literal_count: usize,
    distance_count: usize,
    precode_count: usize,
    lengths: [u8; LITERALS + DISTANCES],
    literals: [u32; LITERAL_TABLE],
    distances: [u32; DISTANCE_TABLE],
}

impl Inflate {
    pub fn new() -> Self {
        Self {
            bits: 0,
            count: 0,
            state: State::Block,
            is_last: false,
            window: Vec::new(),
            next: 0,
            kept: 0,
            literal_count: 0,
            distance_count: 0,
            precode_count: 0,
            lengths: [0; LITERALS + DISTANCES],
            literals: [0; LITERAL_TABLE],
            distances: [0; DISTANCE_TABLE],
        }
    }

    /// Begins another stream, at the byte behind the last one.
    pub fn reset(&mut self) {
        self.state = State::Block;
        self.is_last = false;
        self.next = 0;
        self.kept = 0;
    }

    /// Whether `wanted` bits, 56 at most, are in the buffer, after taking from `input` what they lack.
    pub fn has(&mut self, input: &mut &[u8], wanted: u32) -> bool {
        while self.count < wanted {
            let Some((byte, rest)) = input.split_first() else {
                return false;
            };
            self.bits |= u64::from(*byte) << self.count;
            self.count += 8;
            *input = rest;
        }
        true
    }

    /// The next byte, if there is one.
    pub fn peek(&mut self, input: &mut &[u8]) -> Option<u8> {
        self.has(input, 8).then_some(self.bits as u8)
    }

    /// Takes bits that are in the buffer.
    pub fn take(&mut self, count: u32) -> u64 {
        let taken = self.bits & ((1 << count) - 1);
        self.bits >>= count;
        self.count -= count;
        taken
    }

    /// Decodes a piece, at most. `start` is where the bytes of this stream begin in `output`.
    pub fn run(
        &mut self,
        input: &mut &[u8],
        output: &mut Output,
        start: usize,
    ) -> Result<Status, Fault> {
        loop {
            match self.state {
                State::Block if self.is_last => {
                    self.take(self.count % 8);
                    self.state = State::End;
                }
                State::Block => {
                    if !self.has(input, 3) {
                        return Ok(Status::NeedsInput);
                    }
                    self.is_last = self.take(1) == 1;
                    match self.take(2) {
                        0 => {
                            self.take(self.count % 8);
                            self.state = State::Stored(usize::MAX);
                        }
                        1 => self.use_fixed_codes(),
                        2 => self.state = State::Counts,
                        _ => return Err(Fault::corrupt("invalid block type")),
                    }
                }
                State::Stored(usize::MAX) => {
                    if !self.has(input, 32) {
                        return Ok(Status::NeedsInput);
                    }
                    let (length, complement) = (self.take(16), self.take(16));
                    if length != complement ^ 0xffff {
                        return Err(Fault::corrupt("invalid stored block lengths"));
                    }
                    self.state = State::Stored(length as usize);
                }
                State::Stored(0) => self.state = State::Block,
                State::Stored(left) => {
                    if output.room() == 0 {
                        return Ok(Status::HasOutput);
                    }
                    let taken = if self.count > 0 {
                        output.extend(&[self.take(8) as u8])?;
                        1
                    } else {
                        let length = left.min(input.len()).min(output.room());
                        if length == 0 {
                            return Ok(Status::NeedsInput);
                        }
                        output.extend(&input[..length])?;
                        *input = &input[length..];
                        length
                    };
                    self.state = State::Stored(left - taken);
                }
                State::Counts => {
                    if !self.has(input, 14) {
                        return Ok(Status::NeedsInput);
                    }
                    self.literal_count = self.take(5) as usize + 257;
                    self.distance_count = self.take(5) as usize + 1;
                    self.precode_count = self.take(4) as usize + 4;
                    if self.literal_count > 286 || self.distance_count > 30 {
                        return Err(Fault::corrupt("too many length or distance symbols"));
                    }
                    self.lengths = [0; LITERALS + DISTANCES];
                    self.state = State::Precode(0);
                }
                State::Precode(i) if i < self.precode_count => {
                    if !self.has(input, 3) {
                        return Ok(Status::NeedsInput);
                    }
                    self.lengths[PRECODE_ORDER[i] as usize] = self.take(3) as u8;
                    self.state = State::Precode(i + 1);
                }
                State::Precode(_) => {
                    let entry = |symbol| (symbol as u32) << 16;
                    let lengths = &self.lengths[..PRECODE_ORDER.len()];
                    if !build(&mut self.distances, PRECODE_BITS, lengths, false, entry) {
                        return Err(Fault::corrupt("invalid code lengths set"));
                    }
                    self.state = State::Lengths(0);
                }
                State::Lengths(i) if i < self.literal_count + self.distance_count => {
                    self.has(input, 14); // or less, if that is all
                    let entry = self.distances[(self.bits & ((1 << PRECODE_BITS) - 1)) as usize];
                    let symbol = (entry >> 16) as u8;
                    let bits = entry & 0xff;
                    let added = match symbol {
                        ..16 => 0,
                        16 => 2,
                        17 => 3,
                        _ => 7,
                    };
                    if bits + added > self.count {
                        return Ok(Status::NeedsInput);
                    }
                    self.take(bits);
                    let added = self.take(added) as usize;
                    let (length, times) = match symbol {
                        ..16 => (symbol, 1),
                        16 if i == 0 => return Err(Fault::corrupt("invalid bit length repeat")),
                        16 => (self.lengths[i - 1], 3 + added),
                        17 => (0, 3 + added),
                        _ => (0, 11 + added),
                    };
                    let end = i + times;
                    if end > self.literal_count + self.distance_count {
                        return Err(Fault::corrupt("invalid bit length repeat"));
                    }
                    self.lengths[i..end].fill(length);
                    self.state = State::Lengths(end);
                }
                State::Lengths(_) => self.use_codes()?,
                State::Symbols => {
                    if output.room() == 0 {
                        return Ok(Status::HasOutput);
                    }
                    let spare = output.spare()?;
                    let room = spare.len().min(PIECE);
                    let first = spare.as_mut_ptr().cast::<u8>();
                    let made = output.bytes().len() - start;
                    let mut target = first;
                    let status = unsafe {
                        let status =
                            self.decode(input, &mut target, first.add(room), first.sub(made));
                        output.commit(target.offset_from(first) as usize);
                        status
                    };
                    match status.map_err(Fault::corrupt)? {
                        Status::End => self.state = State::Block,
                        status => return Ok(status),
                    }
                }
                State::Match { length, distance } => {
                    if output.room() == 0 {
                        return Ok(Status::HasOutput);
                    }
                    let spare = output.spare()?;
                    let now = length.min(spare.len());
                    let target = spare.as_mut_ptr().cast::<u8>();
                    unsafe {
                        let made = output.bytes().len() - start;
                        self.copy_back(target, target.sub(made), now, distance);
                        output.commit(now);
                    }
                    self.state = match length - now {
                        0 => State::Symbols,
                        length => State::Match { length, distance },
                    };
                }
                State::End => return Ok(Status::End),
            }
        }
    }

    /// Decodes symbols of a block to `target`, up to `end`: fast while there is input and room for the longest, then one by
    /// one. `begin` is the first byte of this step.
    unsafe fn decode(
        &mut self,
        input: &mut &[u8],
        target: &mut *mut u8,
        end: *mut u8,
        begin: *mut u8,
    ) -> Result<Status, &'static str> {
        loop {
            if input.len() >= MAX_READ && end.offset_from(*target) >= MAX_WRITE as isize {
                if self.decode_fast(input, target, end, begin)? {
                    return Ok(Status::End);
                }
                continue;
            }
            if *target == end {
                return Ok(Status::HasOutput);
            }
            self.has(input, 48); // or less, if that is all
            let (mut bits, mut count) = (self.bits, self.count);
            let entry = lookup(&self.literals, LITERAL_BITS, &mut bits, &mut count);
            let Some(mut entry) = entry else {
                return Ok(Status::NeedsInput);
            };
            if entry & 0xff > count {
                return Ok(Status::NeedsInput);
            }
            let mut take = |entry: u32| {
                let taken = bits & ((1 << (entry & 0xff)) - 1);
                bits >>= entry & 0xff;
                count -= entry & 0xff;
                (entry >> 16) as usize + (taken >> (entry >> 8 & 0x1f)) as usize
            };
            if entry & (LITERAL | SPECIAL) != 0 {
                if entry & (LITERAL | END) == 0 {
                    return Err("invalid literal/length code");
                }
                take(entry);
                (self.bits, self.count) = (bits, count);
                if entry & LITERAL == 0 {
                    return Ok(Status::End);
                }
                **target = (entry >> 16) as u8;
                *target = target.add(1);
                continue;
            }
            let length = take(entry);
            match lookup(&self.distances, DISTANCE_BITS, &mut bits, &mut count) {
                Some(found) if found & 0xff <= count => entry = found,
                _ => return Ok(Status::NeedsInput),
            }
            if entry & SPECIAL != 0 {
                return Err("invalid distance code");
            }
            let taken = bits & ((1 << (entry & 0xff)) - 1);
            let distance = (entry >> 16) as usize + (taken >> (entry >> 8 & 0x1f)) as usize;
            self.bits = bits >> (entry & 0xff);
            self.count = count - (entry & 0xff);
            if distance > target.offset_from(begin) as usize + self.kept {
                return Err("invalid distance too far back");
            }
            let now = length.min(end.offset_from(*target) as usize);
            self.copy_back(*target, begin, now, distance);
            *target = target.add(now);
            if now < length {
                self.state = State::Match {
                    length: length - now,
                    distance,
                };
                return Ok(Status::HasOutput);
            }
        }
    }

    /// Decodes while there are `MAX_READ` bytes of input and room for `MAX_WRITE`; returns whether the block has ended.
    unsafe fn decode_fast(
        &mut self,
        input: &mut &[u8],
        target: &mut *mut u8,
        end: *mut u8,
        begin: *mut u8,
    ) -> Result<bool, &'static str> {
        let mut from = input.as_ptr();
        let input_end = from.add(input.len());
        let last_read = input_end.sub(MAX_READ);
        let last_write = end.sub(MAX_WRITE);
        let mut out = *target;
        let (mut bits, mut count) = (self.bits, self.count);
        let literals = self.literals.as_ptr();
        let distances = self.distances.as_ptr();
        macro_rules! refill {
            () => {
                bits |= from.cast::<u64>().read_unaligned() << count;
                from = from.add((63 - count as usize) >> 3);
                count |= 56;
            };
        }
        macro_rules! take {
            ($entry:expr) => {
                bits >>= $entry & 0xff;
                count -= $entry & 0xff;
            };
        }
        macro_rules! value {
            ($entry:expr, $bits:expr) => {
                ($entry >> 16) as usize
                    + (($bits & ((1 << ($entry & 0xff)) - 1)) >> ($entry >> 8 & 0x1f)) as usize
            };
        }
        macro_rules! look_up {
            ($table:expr, $bits:expr) => {
                *$table.add((bits & ((1 << $bits) - 1)) as usize)
            };
        }
        macro_rules! subtable {
            ($table:expr, $entry:expr) => {
                *$table.add(
                    ($entry >> 16) as usize + (bits & ((1 << ($entry >> 8 & 0x1f)) - 1)) as usize,
                )
            };
        }
        let result = loop {
            if from > last_read || out > last_write {
                break Ok(false);
            }
            refill!();
            let mut entry = look_up!(literals, LITERAL_BITS);
            if entry & LITERAL != 0 {
                take!(entry);
                *out = (entry >> 16) as u8;
                out = out.add(1);
                entry = look_up!(literals, LITERAL_BITS);
                if entry & LITERAL != 0 {
                    take!(entry);
                    *out = (entry >> 16) as u8;
                    out = out.add(1);
                    entry = look_up!(literals, LITERAL_BITS);
                    if entry & LITERAL != 0 {
                        take!(entry);
                        *out = (entry >> 16) as u8;
                        out = out.add(1);
                        continue;
                    }
                }
            }
            if entry & SPECIAL != 0 {
                if entry & SUBTABLE != 0 {
                    take!(entry);
                    entry = subtable!(literals, entry);
                    if entry & LITERAL != 0 {
                        take!(entry);
                        *out = (entry >> 16) as u8;
                        out = out.add(1);
                        continue;
                    }
                }
                if entry & SPECIAL != 0 {
                    if entry & END != 0 {
                        take!(entry);
                        break Ok(true);
                    }
                    break Err("invalid literal/length code");
                }
            }
            let length = value!(entry, bits);
            take!(entry);
            refill!();
            entry = look_up!(distances, DISTANCE_BITS);
            if entry & SPECIAL != 0 {
                if entry & SUBTABLE != 0 {
                    take!(entry);
                    entry = subtable!(distances, entry);
                }
                if entry & SPECIAL != 0 {
                    break Err("invalid distance code");
                }
            }
            let distance = value!(entry, bits);
            take!(entry);
            let made = out.offset_from(begin) as usize;
            if distance > made {
                if distance > made + self.kept {
                    break Err("invalid distance too far back");
                }
                self.copy_back(out, begin, length, distance);
                out = out.add(length);
                continue;
            }
            let mut source = out.sub(distance).cast_const();
            let mut to = out;
            out = out.add(length);
            if distance >= 8 {
                // Two words at first, which most matches have no more than.
                to.cast::<u64>()
                    .write_unaligned(source.cast::<u64>().read_unaligned());
                to.add(8)
                    .cast::<u64>()
                    .write_unaligned(source.add(8).cast::<u64>().read_unaligned());
                if length > 16 {
                    to = to.add(16);
                    source = source.add(16);
                    while to < out {
                        to.cast::<u64>()
                            .write_unaligned(source.cast::<u64>().read_unaligned());
                        to = to.add(8);
                        source = source.add(8);
                    }
                }
            } else if distance == 1 {
                let word = u64::from(*source) * 0x0101_0101_0101_0101;
                while to < out {
                    to.cast::<u64>().write_unaligned(word);
                    to = to.add(8);
                }
            } else {
                // A word that overlaps itself: only its first bytes are right, as many as the distance.
                while to < out {
                    to.cast::<u64>()
                        .write_unaligned(source.cast::<u64>().read_unaligned());
                    to = to.add(distance);
                    source = source.add(distance);
                }
            }
        };
        self.count = count;
        self.bits = bits & ((1 << count) - 1); // bytes above were read ahead, and are still in the input
        *input = core::slice::from_raw_parts(from, input_end.offset_from(from) as usize);
        *target = out;
        result
    }

    /// Copies a match whose distance was checked, of the window's bytes and of this step's, which start at `begin`.
    unsafe fn copy_back(
        &self,
        mut target: *mut u8,
        begin: *mut u8,
        mut length: usize,
        distance: usize,
    ) {
        let made = target.offset_from(begin) as usize;
        let mut before = distance.saturating_sub(made); // bytes of the window that it begins with
        while before > 0 && length > 0 {
            let start = (self.next + WINDOW - before) % WINDOW;
            let now = before.min(length).min(WINDOW - start);
            target.copy_from_nonoverlapping(self.window.as_ptr().add(start), now);
            target = target.add(now);
            before -= now;
            length -= now;
        }
        for _ in 0..length {
            *target = *target.sub(distance);
            target = target.add(1);
        }
    }

    /// Keeps what later steps may refer to, of the `bytes` that this step has made of this stream.
    pub fn keep(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        if self.window.is_empty() {
            let room = self.window.try_reserve_exact(WINDOW);
            room.map_err(|_| Fault::memory())?;
            self.window.resize(WINDOW, 0);
        }
        let last = &bytes[bytes.len().saturating_sub(WINDOW)..];
        let (head, tail) = last.split_at(last.len().min(WINDOW - self.next));
        self.window[self.next..self.next + head.len()].copy_from_slice(head);
        self.window[..tail.len()].copy_from_slice(tail);
        self.next = (self.next + last.len()) % WINDOW;
        self.kept = (self.kept + last.len()).min(WINDOW);
        Ok(())
    }

    fn use_fixed_codes(&mut self) {
        self.lengths[..144].fill(8);
        self.lengths[144..256].fill(9);
        self.lengths[256..280].fill(7);
        self.lengths[280..LITERALS].fill(8);
        self.lengths[LITERALS..].fill(5);
        let (literals, distances) = self.lengths.split_at(LITERALS);
        build(&mut self.literals, LITERAL_BITS, literals, true, literal);
        build(
            &mut self.distances,
            DISTANCE_BITS,
            distances,
            true,
            distance,
        );
        self.state = State::Symbols;
    }

    fn use_codes(&mut self) -> Result<(), Fault> {
        let (literals, distances) = self.lengths.split_at(self.literal_count);
        let distances = &distances[..self.distance_count];
        if literals[END_OF_BLOCK] == 0 {
            return Err(Fault::corrupt("invalid code -- missing end-of-block"));
        }
        if !build(&mut self.literals, LITERAL_BITS, literals, true, literal) {
            return Err(Fault::corrupt("invalid literal/lengths set"));
        }
        if !build(
            &mut self.distances,
            DISTANCE_BITS,
            distances,
            true,
            distance,
        ) {
            return Err(Fault::corrupt("invalid distances set"));
        }
        self.state = State::Symbols;
        Ok(())
    }
}

/// The entry of a code in the buffer, after taking the part of it that leads to a subtable; `None` if it lacks bits.
fn lookup(table: &[u32], table_bits: u32, bits: &mut u64, count: &mut u32) -> Option<u32> {
    let entry = table[(*bits & ((1 << table_bits) - 1)) as usize];
    if entry & SUBTABLE == 0 {
        return Some(entry);
    }
    *count = count.checked_sub(table_bits)?;
    *bits >>= table_bits;
    let place = *bits & ((1 << (entry >> 8 & 0x1f)) - 1);
    Some(table[(entry >> 16) as usize + place as usize])
}

/// What an entry has besides its bits: those of symbols of the literals' code.
fn literal(symbol: usize) -> u32 {
    match symbol {
        ..END_OF_BLOCK => LITERAL | (symbol as u32) << 16,
        END_OF_BLOCK => SPECIAL | END,
        285 => (MAX_MATCH as u32) << 16,
        286.. => SPECIAL,
        _ => ranged(symbol as u32 - 257, 2, 3),
    }
}

fn distance(symbol: usize) -> u32 {
    match symbol {
        30.. => SPECIAL,
        _ => ranged(symbol as u32, 1, 1),
    }
}

/// Of symbols with a range each: the first `2 << log` of one value from `first` on, then `1 << log` each of twice as many.
fn ranged(symbol: u32, log: u32, first: u32) -> u32 {
    let added = (symbol >> log).saturating_sub(1);
    let base = match added {
        0 => symbol,
        _ => ((1 << log) + (symbol & ((1 << log) - 1))) << added,
    };
    (base + first) << 16 | added
}

/// Makes the table of a code by the lengths of its symbols. Returns whether they are a code: complete, or of no symbol, which
/// is refused with what it leads to, as in zlib; or, with `may_lack`, of one symbol with one bit.
fn build(
    table: &mut [u32],
    table_bits: u32,
    lengths: &[u8],
    may_lack: bool,
    entry_of: impl Fn(usize) -> u32,
) -> bool {
    let mut counts = [0u32; MAX_CODE_BITS + 1];
    for length in lengths {
        counts[*length as usize] += 1;
    }
    counts[0] = 0;
    let mut places = [0u32; MAX_CODE_BITS + 2];
    let mut left = 1i32;
    let mut longest = 0;
    for length in 1..=MAX_CODE_BITS {
        places[length + 1] = places[length] + counts[length];
        left = left * 2 - counts[length] as i32;
        if left < 0 {
            return false;
        }
        if counts[length] > 0 {
            longest = length;
        }
    }
    if left > 0 {
        if longest > usize::from(may_lack) {
            return false;
        }
        table[..1 << table_bits].fill(SPECIAL | 1); // what no symbol has is an invalid code
    }
    let mut sorted = [0u16; LITERALS];
    for (symbol, length) in lengths.iter().enumerate() {
        if *length > 0 {
            let place = &mut places[*length as usize];
            sorted[*place as usize] = symbol as u16;
            *place += 1;
        }
    }
    if left > 0 {
        if longest == 1 {
            let entry = with_bits(entry_of(sorted[0] as usize), 1);
            table[..1 << table_bits]
                .iter_mut()
                .step_by(2)
                .for_each(|place| *place = entry);
        }
        return true;
    }
    let mut symbols = sorted.iter().map(|symbol| entry_of(*symbol as usize));
    let mut next = || symbols.next().unwrap_or(SPECIAL);
    let mut code = 0usize; // with its first bit lowest
    let mut length = 1;
    let mut filled = 2; // places of the table that have entries, which codes one bit longer need twice
    while length <= table_bits {
        for _ in 0..counts[length as usize] {
            table[code] = with_bits(next(), length);
            if code == filled - 1 {
                while filled < 1 << table_bits {
                    table.copy_within(..filled, filled);
                    filled *= 2;
                }
                return true;
            }
            code = after(code, length);
        }
        length += 1;
        if length <= table_bits {
            table.copy_within(..filled, filled);
            filled *= 2;
        }
    }
    let mut end = 1 << table_bits;
    let mut start = end;
    let mut prefix = usize::MAX;
    let mask = (1 << table_bits) - 1;
    loop {
        for done in 0..counts[length as usize] {
            if code & mask != prefix {
                prefix = code & mask;
                start = end;
                // As many bits as the codes with this prefix have.
                let mut bits = length - table_bits;
                let mut used = counts[length as usize] - done;
                while used < 1 << bits {
                    bits += 1;
                    used = used * 2 + counts[(table_bits + bits) as usize];
                }
                end = start + (1 << bits);
                table[prefix] = SPECIAL | SUBTABLE | (start as u32) << 16 | bits << 8 | table_bits;
            }
            let entry = with_bits(next(), length - table_bits);
            let step = 1 << (length - table_bits);
            table[start + (code >> table_bits)..end]
                .iter_mut()
                .step_by(step)
                .for_each(|place| *place = entry);
            if code == (1 << length) - 1 {
                return true;
            }
            code = after(code, length);
        }
        length += 1;
    }
}

/// The entry of a symbol whose code has `bits`, besides those that it adds to its base.
fn with_bits(entry: u32, bits: u32) -> u32 {
    match entry & (LITERAL | SPECIAL) {
        0 => entry + (bits << 8 | bits),
        _ => entry | bits,
    }
}

/// The code of `length` bits that follows `code`, which is not the last one: both with their first bit lowest.
fn after(code: usize, length: u32) -> usize {
    let highest_zero = 1 << (code ^ ((1 << length) - 1)).ilog2();
    code & (highest_zero - 1) | highest_zero
}
