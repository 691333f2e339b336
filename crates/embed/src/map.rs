//! The only mapping in this crate: a table file as bytes. It checks nothing of their content.

use std::fs::File;
use std::path::Path;

use memmap2::Mmap;

use crate::error::TableError;

pub(crate) enum Bytes {
    Mapped(Mmap),
    Owned(Vec<u8>),
}

impl Bytes {
    pub(crate) fn map(path: &Path) -> Result<Self, TableError> {
        let file = File::open(path).map_err(TableError::Unreadable)?;
        // SAFETY: the table is a shipped asset that nothing of ours writes to, and package managers replace
        // files by unlinking, which leaves this mapping whole. A foreign program that changed bytes in place
        // could only alter numbers: every offset is checked once and kept outside the mapping.
        let map = unsafe { Mmap::map(&file) }.map_err(TableError::Unreadable)?;
        Ok(Self::Mapped(map))
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Owned(bytes) => bytes,
        }
    }
}
