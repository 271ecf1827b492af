//! The header of Dictionary-Compressed Brotli and Zstandard (RFC 9842, sections 4 and 5): a magic number and the
//! SHA-256 of the dictionary, before an ordinary stream.

#[cfg(any(feature = "brotli-decoder", feature = "zstd-decoder"))]
use crate::codec::{Fault, FaultKind};
use crate::sha256::sha256;
use alloc::vec::Vec;

pub fn header(magic: &[u8], dictionary: &[u8]) -> Vec<u8> {
    let mut header = magic.to_vec();
    header.extend_from_slice(&sha256(dictionary));
    header
}

/// Reads a header that may arrive in pieces, and compares it with the dictionary at hand.
#[cfg(any(feature = "brotli-decoder", feature = "zstd-decoder"))]
pub struct HeaderReader {
    expected: Vec<u8>,
    magic_length: usize,
    seen: Vec<u8>,
}

#[cfg(any(feature = "brotli-decoder", feature = "zstd-decoder"))]
impl HeaderReader {
    pub fn new(magic: &[u8], dictionary: &[u8]) -> Self {
        Self {
            expected: header(magic, dictionary),
            magic_length: magic.len(),
            seen: Vec::new(),
        }
    }

    /// Consumes the header's bytes from `input`; true once the header is complete and right.
    pub fn read(&mut self, input: &mut &[u8]) -> Result<bool, Fault> {
        let (head, rest) = input.split_at(input.len().min(self.expected.len() - self.seen.len()));
        self.seen.extend_from_slice(head);
        *input = rest;
        let magic = self.seen.len().min(self.magic_length);
        if self.seen[..magic] != self.expected[..magic] {
            return Err(Fault::corrupt(
                "the dictionary header's magic number is missing",
            ));
        }
        if self.seen.len() < self.expected.len() {
            return Ok(false);
        }
        if self.seen != self.expected {
            return Err(Fault::new(
                FaultKind::Dictionary,
                [
                    "wrong dictionary: the data needs the one with SHA-256 ",
                    &hex(&self.seen[self.magic_length..]),
                    ", the one given has ",
                    &hex(&self.expected[self.magic_length..]),
                ]
                .concat(),
            ));
        }
        Ok(true)
    }
}

#[cfg(any(feature = "brotli-decoder", feature = "zstd-decoder"))]
fn hex(bytes: &[u8]) -> alloc::string::String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from_digit(digit.into(), 16).unwrap_or('?'))
        .collect()
}
