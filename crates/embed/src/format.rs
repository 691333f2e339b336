//! The table's byte layout, little-endian and without padding. Parses `&[u8]`, never a file, and trusts no
//! length before it is checked.
//!
//! ```text
//! 0   "STE1"  version u32  V u32  d u32  longest u32  unk f32  B u32  bits u32
//! 32  scores f32[V] | starts u32[V + 1] | scales f32[V] | centre f32[d] | rows V·d·bits/8 | blob B
//! ```

use std::ops::Range;

use cpersona_limits::MAX_DIMENSION;

use crate::error::TableError;

const MAGIC: &[u8] = b"STE1";
const VERSION: u32 = 1;
const HEADER: usize = 32;

/// How a row entry is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowBits {
    /// Two entries a byte, the even dimension in the low nibble, value = nibble - 8.
    Four,
    /// One signed byte.
    Eight,
}

/// Where each array lies. All ranges are inside the bytes that were parsed.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) pieces: usize,
    pub(crate) dimension: usize,
    /// Longest piece in code points.
    pub(crate) longest: usize,
    /// Score of a code point without a piece.
    pub(crate) unknown: f64,
    pub(crate) bits: RowBits,
    scores: Range<usize>,
    starts: Range<usize>,
    scales: Range<usize>,
    centre: Range<usize>,
    rows: Range<usize>,
    pub(crate) blob: Range<usize>,
}

impl Layout {
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, TableError> {
        if bytes.len() < HEADER || &bytes[..4] != MAGIC {
            return Err(TableError::Damaged("it does not start with its mark"));
        }
        if word(bytes, 4) != VERSION {
            return Err(TableError::Damaged("its version is not 1"));
        }
        let pieces = word(bytes, 8) as usize;
        let dimension = word(bytes, 12) as usize;
        let unknown = f32::from_bits(word(bytes, 20));
        let bits = match word(bytes, 28) {
            4 => RowBits::Four,
            8 => RowBits::Eight,
            _ => return Err(TableError::Damaged("row entries have neither 4 nor 8 bits")),
        };
        if dimension == 0 || !dimension.is_multiple_of(2) || dimension > MAX_DIMENSION {
            return Err(TableError::Damaged("its dimension is out of range"));
        }
        if pieces == 0 || i32::try_from(pieces).is_err() || !unknown.is_finite() {
            return Err(TableError::Damaged("a header field is out of range"));
        }
        let row = match bits {
            RowBits::Four => dimension / 2,
            RowBits::Eight => dimension,
        };
        let mut cursor = Cursor(HEADER);
        let layout = Self {
            pieces,
            dimension,
            longest: word(bytes, 16) as usize,
            unknown: f64::from(unknown),
            bits,
            scores: cursor.take(pieces, 4)?,
            starts: cursor.take(pieces + 1, 4)?,
            scales: cursor.take(pieces, 4)?,
            centre: cursor.take(dimension, 4)?,
            rows: cursor.take(pieces, row)?,
            blob: cursor.take(word(bytes, 24) as usize, 1)?,
        };
        if cursor.0 != bytes.len() {
            return Err(TableError::Damaged("its length differs from its header"));
        }
        let numbers = [&layout.scores, &layout.scales, &layout.centre];
        if !numbers.into_iter().all(|range| floats(&bytes[range.clone()]).all(f32::is_finite)) {
            return Err(TableError::Damaged("a score, scale or centre is not finite"));
        }
        Ok(layout)
    }

    pub(crate) fn score(&self, bytes: &[u8], piece: u32) -> f32 {
        f32::from_bits(word(bytes, self.scores.start + piece as usize * 4))
    }

    pub(crate) fn scale(&self, bytes: &[u8], piece: u32) -> f32 {
        f32::from_bits(word(bytes, self.scales.start + piece as usize * 4))
    }

    pub(crate) fn centre<'a>(&self, bytes: &'a [u8]) -> impl Iterator<Item = f32> + use<'a> {
        floats(&bytes[self.centre.clone()])
    }

    /// Where each piece starts in the blob, with the blob's end as the last entry; not yet checked.
    pub(crate) fn starts<'a>(&self, bytes: &'a [u8]) -> impl Iterator<Item = u32> + use<'a> {
        let (words, _) = bytes[self.starts.clone()].as_chunks();
        words.iter().map(|bytes| u32::from_le_bytes(*bytes))
    }

    pub(crate) fn row<'a>(&self, bytes: &'a [u8], piece: u32) -> &'a [u8] {
        let length = self.rows.len() / self.pieces;
        let start = self.rows.start + piece as usize * length;
        &bytes[start..start + length]
    }
}

struct Cursor(usize);

impl Cursor {
    fn take(&mut self, count: usize, size: usize) -> Result<Range<usize>, TableError> {
        let end = count
            .checked_mul(size)
            .and_then(|length| self.0.checked_add(length))
            .ok_or(TableError::Damaged("its header asks for too much"))?;
        let start = std::mem::replace(&mut self.0, end);
        Ok(start..end)
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let field = &bytes[at..at + 4];
    u32::from_le_bytes([field[0], field[1], field[2], field[3]])
}

fn floats(bytes: &[u8]) -> impl Iterator<Item = f32> + use<'_> {
    let (words, _) = bytes.as_chunks();
    words.iter().map(|bytes| f32::from_le_bytes(*bytes))
}
