//! What every encoder and decoder offers: consume input, append output, say how far it came.

use alloc::{string::String, vec::Vec};
use core::mem::MaybeUninit;

/// What a step asks for besides consuming its input.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Process,
    Flush,
    Finish,
}

/// How far a step came.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// All input is consumed and all output that it gave is written.
    NeedsInput = 0,
    /// The output reached its limit; step again without new input.
    HasOutput = 1,
    /// The stream is complete.
    Finished = 2,
}

/// Why a step or an opening failed: a class for the caller's error type, and words for its message.
pub struct Fault {
    pub kind: FaultKind,
    pub message: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// A parameter is out of range.
    Parameter = -1,
    /// The data cannot be decoded.
    Corrupt = -2,
    /// The data ends too early.
    Truncated = -3,
    /// The data was made with another dictionary.
    Dictionary = -4,
    /// Memory ran out.
    Memory = -5,
    /// The data goes on after its end.
    Trailing = -6,
    /// The data asks for a larger window than it may have.
    Window = -7,
}

impl Fault {
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }
    pub fn corrupt(message: impl Into<String>) -> Self {
        Self::new(FaultKind::Corrupt, message)
    }
    pub fn truncated() -> Self {
        Self::new(FaultKind::Truncated, "the data ends before the stream does")
    }
    pub fn trailing() -> Self {
        Self::new(
            FaultKind::Trailing,
            "unexpected bytes after the end of the stream",
        )
    }
    pub fn memory() -> Self {
        Self::new(FaultKind::Memory, "out of memory")
    }
}

pub trait Codec {
    /// Consumes from the front of `input` and appends to `output` until one of them is used up.
    fn step(
        &mut self,
        input: &mut &[u8],
        operation: Operation,
        output: &mut Output,
    ) -> Result<Progress, Fault>;
}

/// The bytes that a step produced: a buffer that grows, but never past the limit of that step.
pub struct Output {
    bytes: Vec<u8>,
    limit: usize,
}

const FIRST_GROWTH: usize = 16 * 1024;

impl Output {
    pub fn new() -> Self {
        Self {
            bytes: Vec::new(),
            limit: 0,
        }
    }

    /// Empties the buffer for a step that may produce `limit` bytes.
    pub fn restart(&mut self, limit: usize) {
        self.bytes.clear();
        self.limit = limit;
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// How many bytes this step may still produce.
    pub fn room(&self) -> usize {
        self.limit - self.bytes.len()
    }

    /// Makes place for up to `expected` bytes at once, as far as the limit goes.
    pub fn reserve(&mut self, expected: usize) -> Result<(), Fault> {
        self.bytes
            .try_reserve_exact(expected.min(self.room()))
            .map_err(|_| Fault::memory())
    }

    /// The place to write to next: not empty unless the limit is reached.
    pub fn spare(&mut self) -> Result<&mut [MaybeUninit<u8>], Fault> {
        let room = self.room();
        if room > 0 && self.bytes.len() == self.bytes.capacity() {
            let growth = self.bytes.len().max(FIRST_GROWTH).min(room);
            self.bytes
                .try_reserve_exact(growth)
                .map_err(|_| Fault::memory())?;
        }
        let spare = self.bytes.spare_capacity_mut();
        let length = spare.len().min(room);
        Ok(&mut spare[..length])
    }

    /// Counts `written` bytes of `spare()` as produced.
    ///
    /// # Safety
    /// The first `written` bytes of `spare()` must have been written.
    pub unsafe fn commit(&mut self, written: usize) {
        debug_assert!(written <= self.room());
        self.bytes.set_len(self.bytes.len() + written);
    }

    /// Appends `bytes`, which must fit in `room()`.
    pub fn extend(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        debug_assert!(bytes.len() <= self.room());
        if self.bytes.capacity() - self.bytes.len() < bytes.len() {
            let growth = bytes
                .len()
                .max(self.bytes.len())
                .max(FIRST_GROWTH)
                .min(self.room());
            self.bytes
                .try_reserve_exact(growth)
                .map_err(|_| Fault::memory())?;
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }
}
