//! CRC-32 of gzip (RFC 1952, section 8) and Adler-32 of zlib (RFC 1950, section 8.2).
//!
//! CRC-32 takes three words at a time, each with a chain of its own, as in zlib. Its tables are made at the first use: as
//! data they would be 9 KB that do not shrink.

use crate::Global;
use core::arch::wasm32::*;

/// The polynomial, its bits in the order of the format.
const POLYNOMIAL: u32 = 0xedb8_8320;

/// The chains, and the bytes that all of them take at once.
const CHAINS: usize = 3;
const BLOCK: usize = CHAINS * 8;

struct Tables {
    /// The state after a byte, by the lowest byte of its sum with the state before.
    byte: [u32; 256],
    /// The same for each byte of a word, after the `BLOCK` bytes from the beginning of that word on.
    word: [[u32; 256]; 8],
}

static TABLES: Global<Tables> = Global::new(Tables {
    byte: [0; 256],
    word: [[0; 256]; 8],
});

fn tables() -> &'static Tables {
    let tables = TABLES.get();
    if tables.byte[1] == 0 {
        make(tables);
    }
    tables
}

#[cold]
fn make(Tables { byte, word }: &mut Tables) {
    for (i, state) in byte.iter_mut().enumerate() {
        *state = (0..8).fold(i as u32, |crc, _| {
            (crc >> 1) ^ (POLYNOMIAL & (crc & 1).wrapping_neg())
        });
    }
    for i in 0..256 {
        let mut state = i as u32;
        for length in 1..=BLOCK {
            state = after(byte, state);
            if let Some(table) = word.get_mut(BLOCK - length) {
                table[i] = state;
            }
        }
    }
}

/// The state after a byte that was added to it.
fn after(byte: &[u32; 256], state: u32) -> u32 {
    (state >> 8) ^ byte[(state & 0xff) as usize]
}

/// CRC-32 of `bytes` behind those of which `checksum` is; 0 before all.
pub fn crc32(checksum: u32, bytes: &[u8]) -> u32 {
    let tables = tables();
    let whole = bytes.len() / BLOCK * BLOCK;
    let (blocks, rest) = bytes.split_at(whole);
    let mut state = !checksum;
    if let Some(last) = whole.checked_sub(BLOCK) {
        let word = |at: usize| unsafe { blocks.as_ptr().add(at).cast::<u64>().read_unaligned() };
        let (mut first, mut second, mut third) = (state, 0, 0);
        for at in (0..last).step_by(BLOCK) {
            first = after_block(&tables.word, word(at) ^ u64::from(first));
            second = after_block(&tables.word, word(at + 8) ^ u64::from(second));
            third = after_block(&tables.word, word(at + 16) ^ u64::from(third));
        }
        // The last block joins the chains.
        state = 0;
        for (i, chain) in [first, second, third].into_iter().enumerate() {
            let sum = word(last + 8 * i) ^ u64::from(chain ^ state);
            state = sum.to_le_bytes().iter().fold(0, |state, next| {
                after(&tables.byte, state ^ u32::from(*next))
            });
        }
    }
    !rest.iter().fold(state, |state, next| {
        after(&tables.byte, state ^ u32::from(*next))
    })
}

/// The state of a chain at its next word, by its sum with the word before.
#[inline(always)]
fn after_block(word: &[[u32; 256]; 8], sum: u64) -> u32 {
    let at = |i: usize| word[i][(sum >> (8 * i)) as usize & 0xff];
    at(0) ^ at(1) ^ at(2) ^ at(3) ^ at(4) ^ at(5) ^ at(6) ^ at(7)
}

/// [`crc32`] for C and for zlib-rs, under the name of libdeflate's.
///
/// # Safety
/// `bytes` must point to `length` bytes; it may be null if `length` is 0.
#[cfg(feature = "deflate-encoder")]
#[no_mangle]
unsafe extern "C" fn libdeflate_crc32(checksum: u32, bytes: *const u8, length: usize) -> u32 {
    match length {
        0 => checksum,
        _ => crc32(checksum, core::slice::from_raw_parts(bytes, length)),
    }
}

/// The largest prime below 2^16, and the bytes that may be added up before sums pass 2^32.
const PRIME: u32 = 65521;
const LONGEST_SUM: usize = 5552;

/// Adler-32 of `bytes` behind those of which `checksum` is; 1 before all. By vectors, as opt-level "s" makes none of loops:
/// 2.7 times as fast.
pub fn adler32(checksum: u32, bytes: &[u8]) -> u32 {
    let (mut sum, mut sums) = (checksum & 0xffff, checksum >> 16);
    for piece in bytes.chunks(LONGEST_SUM) {
        let vectors = piece.chunks_exact(size_of::<v128>());
        let rest = vectors.remainder();
        let zero = u32x4_splat(0);
        let first = u32x4_replace_lane::<0>(zero, sum);
        // The bytes; what was added before each vector; the bytes by how often they count within theirs.
        let (mut added, mut before, mut weighted) = (first, zero, zero);
        for vector in vectors {
            let vector = unsafe { v128_load(vector.as_ptr().cast()) };
            before = u32x4_add(before, added);
            added = u32x4_add(
                added,
                u32x4_extadd_pairwise_u16x8(u16x8_extadd_pairwise_u8x16(vector)),
            );
            let low = i32x4_dot_i16x8(
                u16x8_extend_low_u8x16(vector),
                u16x8(16, 15, 14, 13, 12, 11, 10, 9),
            );
            let high = i32x4_dot_i16x8(
                u16x8_extend_high_u8x16(vector),
                u16x8(8, 7, 6, 5, 4, 3, 2, 1),
            );
            weighted = u32x4_add(weighted, u32x4_add(low, high));
        }
        sum = of_lanes(added);
        sums += of_lanes(u32x4_add(u32x4_shl(before, 4), weighted));
        for byte in rest {
            sum += u32::from(*byte);
            sums += sum;
        }
        sum %= PRIME;
        sums %= PRIME;
    }
    sums << 16 | sum
}

fn of_lanes(lanes: v128) -> u32 {
    let pairs = u32x4_add(lanes, i32x4_shuffle::<2, 3, 0, 1>(lanes, lanes));
    u32x4_extract_lane::<0>(pairs) + u32x4_extract_lane::<1>(pairs)
}

/// [`adler32`] for C and for zlib-rs, under the name of libdeflate's.
///
/// # Safety
/// `bytes` must point to `length` bytes; it may be null if `length` is 0.
#[cfg(feature = "deflate-encoder")]
#[no_mangle]
unsafe extern "C" fn libdeflate_adler32(checksum: u32, bytes: *const u8, length: usize) -> u32 {
    match length {
        0 => checksum,
        _ => adler32(checksum, core::slice::from_raw_parts(bytes, length)),
    }
}
