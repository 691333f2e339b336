//! Turns text into a vector with a table of token vectors: no network, no matrix product, no model run.
//! It embeds; it knows nothing of prefixes, caching, or what a vector is used for.
//!
//! ```text
//! text ─ normalise ─> code points ─ viterbi (lexicon) ─> piece ids ─ pool (rows) ─> unit vector
//! ```
//!
//! Each stage repeats the arithmetic of the table's README step by step, so that the plain TypeScript twin
//! gives the same bits: path scores add in f64, rows add in f32, the norm adds in f64.

#![deny(unsafe_code)]

mod error;
mod format;
mod lexicon;
#[expect(unsafe_code, reason = "mapping a file is unsafe; this module is the only place")]
mod map;
mod normalise;
mod pool;
mod viterbi;

use std::fmt;
use std::path::Path;

pub use error::TableError;
pub use normalise::normalise;

use format::Layout;
use lexicon::Lexicon;
use map::Bytes;

/// A token table, checked once at open. Shared freely between threads.
pub struct StaticTable {
    bytes: Bytes,
    layout: Layout,
    lexicon: Lexicon,
    centre: Vec<f32>,
}

impl fmt::Debug for StaticTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StaticTable").field("layout", &self.layout).finish_non_exhaustive()
    }
}

impl StaticTable {
    /// Maps a table file. Pages are read when a text first needs them.
    pub fn open(path: &Path) -> Result<Self, TableError> {
        Self::build(Bytes::map(path)?)
    }

    /// A table held in memory.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, TableError> {
        Self::build(Bytes::Owned(bytes))
    }

    fn build(bytes: Bytes) -> Result<Self, TableError> {
        let layout = Layout::parse(bytes.as_slice())?;
        let lexicon = Lexicon::build(bytes.as_slice(), &layout)?;
        let centre = layout.centre(bytes.as_slice()).collect();
        Ok(Self { bytes, layout, lexicon, centre })
    }

    /// Length of a vector.
    pub fn dimension(&self) -> usize {
        self.layout.dimension
    }

    /// Number of pieces; ids run below it.
    pub fn pieces(&self) -> usize {
        self.layout.pieces
    }

    /// The unit direction that every text shares.
    pub fn centre(&self) -> &[f32] {
        &self.centre
    }

    /// Piece ids of a text, in order. Code points without a piece give none.
    pub fn encode(&self, text: &str) -> Vec<u32> {
        let bytes = self.bytes.as_slice();
        let pieces = self.lexicon.over(&bytes[self.layout.blob.clone()]);
        viterbi::segment(&normalise(text), &pieces, bytes, &self.layout)
    }

    /// Writes the unit vector of a text, or zeros for a text without pieces.
    ///
    /// # Panics
    /// When `row` has not exactly [`StaticTable::dimension`] entries.
    pub fn embed_into(&self, text: &str, row: &mut [f32]) {
        let ids = self.encode(text);
        pool::pool(self.bytes.as_slice(), &self.layout, &ids, row);
    }
}
