//! The only file that maps memory. A `Map` is read-only and never changes its size; who keeps one must check
//! the file's real length before reading, because a file that someone else cuts takes its pages away.

use std::fs::File;
use std::io;
use std::sync::atomic::AtomicU64;

use memmap2::Mmap;

/// Types that may be read from any bytes.
///
/// # Safety
/// Every bit pattern must be a value, without padding.
pub(crate) unsafe trait Plain: Copy {}

// SAFETY: every pattern of four bytes is an f32.
unsafe impl Plain for f32 {}
// SAFETY: every pattern of eight bytes is an f64.
unsafe impl Plain for f64 {}
// SAFETY: every byte is an i8.
unsafe impl Plain for i8 {}
// SAFETY: every byte is a u8.
unsafe impl Plain for u8 {}
// SAFETY: every pattern of four bytes is a u32.
unsafe impl Plain for u32 {}
// SAFETY: every pattern of eight bytes is a u64.
unsafe impl Plain for u64 {}

/// A file in memory, from its start.
#[derive(Debug)]
pub(crate) struct Map(Option<Mmap>);

impl Map {
    /// Nothing mapped.
    pub(crate) const fn empty() -> Self {
        Self(None)
    }

    /// Maps the first `length` bytes.
    pub(crate) fn new(file: &File, length: u64) -> io::Result<Self> {
        let length = usize::try_from(length).map_err(|_| io::ErrorKind::OutOfMemory)?;
        if length == 0 {
            return Ok(Self(None));
        }
        let mut options = memmap2::MmapOptions::new();
        options.len(length);
        // SAFETY: published bytes never change and we never cut a file that may be mapped; removal flags,
        // which do change, are read through `word` only. Foreign truncation is checked for before each scan.
        let map = unsafe { options.map(file) }?;
        Ok(Self(Some(map)))
    }

    /// Bytes that are mapped.
    pub(crate) fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |map| map.len())
    }

    /// `count` values that start `offset` bytes into the file.
    ///
    /// # Panics
    /// When they do not lie inside the mapping, or not at an address fit for their type.
    pub(crate) fn values<T: Plain>(&self, offset: usize, count: usize) -> &[T] {
        if count == 0 {
            return &[];
        }
        let bytes = self.inside(offset, count.checked_mul(size_of::<T>()));
        assert!(bytes.as_ptr().cast::<T>().is_aligned(), "misaligned values");
        // SAFETY: the bytes are in bounds, aligned, and any bytes are a valid `T`; the slice borrows the map.
        unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), count) }
    }

    /// A word that another process may change.
    ///
    /// # Panics
    /// When it does not lie inside the mapping.
    pub(crate) fn word(&self, offset: usize) -> &AtomicU64 {
        let start = self.inside(offset, Some(8)).as_ptr().cast_mut().cast::<u64>();
        assert!(start.is_aligned(), "misaligned word");
        // SAFETY: eight bytes in bounds and aligned, borrowed from the map; only loads follow, which is all
        // that read-only memory allows.
        unsafe { AtomicU64::from_ptr(start) }
    }

    fn inside(&self, offset: usize, bytes: Option<usize>) -> &[u8] {
        let end = bytes.and_then(|bytes| offset.checked_add(bytes));
        self.0
            .as_ref()
            .zip(end)
            .and_then(|(map, end)| map.get(offset..end))
            .expect("rows inside the mapping, as checked when the snapshot was taken")
    }
}

/// The bytes of values, in the machine's order: what the files hold.
pub(crate) fn as_bytes<T: Plain>(values: &[T]) -> &[u8] {
    // SAFETY: `Plain` types have no padding, and the slice borrows the values.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}
