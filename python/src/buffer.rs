//! Memory of Python objects, which calls read and write while other threads of the interpreter run.
//!
//! An object that lends its memory (the buffer protocol) does not move or free it until it is given back, but
//! another thread may change what is in it. So no reference to it is made: each byte is copied out once, into
//! memory of our own, before anything is computed of it.
#![expect(unsafe_code, reason = "the buffer protocol lends memory by its address")]

use crate::raised::usage;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::io::{self, Read, Seek, SeekFrom, Write};
use zeroize::{Zeroize, Zeroizing};

/// The memory of an object, in one piece, byte by byte.
pub struct Lent {
    memory: PyBuffer<u8>,
}

impl Lent {
    /// The memory of an argument of this name.
    ///
    /// # Errors
    /// `TypeError` if it does not lend its memory as bytes; `divisi.UsageError` if it is not in one piece.
    pub fn of(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Lent> {
        let memory = PyBuffer::<u8>::get(object).map_err(|error| {
            // what lends memory, and has none any more: a file in memory that is closed
            if error.is_instance_of::<PyValueError>(object.py()) {
                return error;
            }
            let kind =
                object.get_type().name().map_or_else(|_| "this object".into(), |name| name.to_string());
            PyTypeError::new_err(format!(
                "{name} is {kind}: give bytes, a bytearray, a memoryview or an array whose dtype is uint8"
            ))
        })?;
        if !memory.is_c_contiguous() {
            let error = format!("{name} is not in one piece in C order: give a contiguous copy of it");
            return Err(usage(object.py(), &error));
        }
        Ok(Lent { memory })
    }

    /// The same, if it can be written.
    ///
    /// # Errors
    /// Those of [`Lent::of`]; `divisi.UsageError` if it is read-only.
    pub fn writable(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Lent> {
        let lent = Lent::of(object, name)?;
        if lent.memory.readonly() {
            let error =
                format!("{name} is read-only, so that it cannot be wiped: give a bytearray or an array");
            return Err(usage(object.py(), &error));
        }
        Ok(lent)
    }

    /// Its length in bytes.
    pub fn len(&self) -> usize {
        self.memory.len_bytes()
    }

    /// A reader from the beginning.
    pub fn reader(&self) -> LentReader<'_> {
        LentReader { lent: self, at: 0 }
    }

    /// A writer from the beginning, of memory that is [`Lent::writable`].
    pub fn writer(&self) -> LentWriter<'_> {
        LentWriter { lent: self, at: 0 }
    }

    /// A copy, which is wiped.
    pub fn copy(&self) -> Zeroizing<Vec<u8>> {
        let mut copy = Zeroizing::new(vec![0; self.len()]);
        self.take(0, &mut copy);
        copy
    }

    /// Overwrite memory that is [`Lent::writable`] with zeros.
    pub fn wipe(&self) {
        let zeros = [0; 4096];
        let mut at = 0;
        while at < self.len() {
            at += self.put(at, &zeros);
        }
        // no compiler may leave out the writes, which nobody here reads
        std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
    }

    /// Copy bytes out, from this place on; returns how many.
    fn take(&self, at: usize, out: &mut [u8]) -> usize {
        let bytes = self.len().saturating_sub(at).min(out.len());
        if bytes > 0 {
            // SAFETY: the object has lent `len` bytes at this address in one piece, until `memory` is
            // dropped, and `at + bytes` is at most `len`. `out` is memory of our own: they do not overlap.
            // Another thread may change the bytes meanwhile: whatever is copied is a byte, and is read once.
            unsafe {
                let from = self.memory.buf_ptr().cast::<u8>().add(at);
                std::ptr::copy_nonoverlapping(from, out.as_mut_ptr(), bytes);
            }
        }
        bytes
    }

    /// Copy bytes in, from this place on; returns how many.
    fn put(&self, at: usize, bytes: &[u8]) -> usize {
        let length = if self.memory.readonly() { 0 } else { self.len() };
        let count = length.saturating_sub(at).min(bytes.len());
        if count > 0 {
            // SAFETY: as above; and the object has said that its memory may be written.
            unsafe {
                let to = self.memory.buf_ptr().cast::<u8>().add(at);
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, count);
            }
        }
        count
    }
}

/// Reads lent memory.
pub struct LentReader<'a> {
    lent: &'a Lent,
    at: usize,
}

impl Read for LentReader<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let bytes = self.lent.take(self.at, out);
        self.at += bytes;
        Ok(bytes)
    }
}

impl Seek for LentReader<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let to = match to {
            SeekFrom::Start(to) => usize::try_from(to).ok(),
            SeekFrom::Current(by) => isize::try_from(by).ok().and_then(|by| self.at.checked_add_signed(by)),
            SeekFrom::End(by) => {
                isize::try_from(by).ok().and_then(|by| self.lent.len().checked_add_signed(by))
            }
        };
        self.at = to.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at as u64)
    }
}

/// Writes lent memory.
pub struct LentWriter<'a> {
    lent: &'a Lent,
    at: usize,
}

impl Write for LentWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.lent.put(self.at, bytes);
        self.at += written;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes memory of our own, which is wiped if the call fails.
pub struct Slice<'a> {
    /// The memory.
    pub all: &'a mut [u8],
    /// How much of it is written.
    pub at: usize,
}

impl Write for Slice<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let rest = self.all.get_mut(self.at..).unwrap_or_default();
        let count = rest.len().min(bytes.len());
        if let (Some(to), Some(from)) = (rest.get_mut(..count), bytes.get(..count)) {
            to.copy_from_slice(from);
        }
        self.at += count;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Slice<'_> {
    /// Wipe what was written.
    pub fn wipe(&mut self) {
        self.all.zeroize();
    }
}
