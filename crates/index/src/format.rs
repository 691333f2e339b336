//! The bytes of an index: pointer file, head and region sizes. Works on byte slices and never sees a file.
//!
//! Pointer file `current`, 24 bytes, little endian:
//!
//! | at | bytes | field |
//! | --- | --- | --- |
//! | 0 | 8 | magic `CPVECCUR` |
//! | 8 | 8 | generation |
//! | 16 | 4 | CRC-32 of the 16 bytes before |
//! | 20 | 4 | zero |
//!
//! `head` holds two slots, one page apart, written in turn, and behind them the centre: float32, in the order
//! of the machine that wrote it, or nothing. A slot:
//!
//! | at | bytes | field |
//! | --- | --- | --- |
//! | 0 | 8 | magic `CPVECTOR` |
//! | 8 | 4 | byte order mark, in the order of the machine that wrote the regions |
//! | 12 | 4 | version |
//! | 16 | 4 | dimension |
//! | 20 | 4 | flags: 1 = a newer generation replaces this one |
//! | 24 | 16 | identity |
//! | 40 | 4 | CRC-32 of the centre, 0 without one |
//! | 44 | 4 | rows that the index held when the centre was learned |
//! | 48 | 8 | generation |
//! | 56 | 8 | published rows |
//! | 64 | 8 | sequence |
//! | 72 | 8 | serial: one more than in the slot written before |
//! | 80 | 4 | CRC-32 of the 80 bytes before |

use cpersona_limits::MAX_ROWS;

/// Raised whenever an older reader would misread the files.
pub(crate) const VERSION: u32 = 2;
/// Rows of one metadata block, and of one word of removal flags.
pub(crate) const BLOCK_ROWS: usize = 64;
/// Distance of the two slots: a torn page spoils one of them only.
pub(crate) const SLOT_STRIDE: usize = 4096;
/// Bytes of both slots; the centre follows them.
pub(crate) const HEAD_BYTES: usize = 2 * SLOT_STRIDE;
/// Bytes of a slot that carry meaning.
pub(crate) const SLOT_BYTES: usize = 84;
/// Bytes of `current`.
pub(crate) const POINTER_BYTES: usize = 24;

const POINTER_MAGIC: [u8; 8] = *b"CPVECCUR";
const HEAD_MAGIC: [u8; 8] = *b"CPVECTOR";
const ORDER_MARK: u32 = 0x0102_0304;
const SUPERSEDED: u32 = 1;

/// What makes two indexes the same kind: anything else here means other vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) dimension: u32,
    pub(crate) identity: [u8; 16],
}

/// One state of a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) kind: Kind,
    /// Checksum of the centre that the generation's sign bits leave out.
    pub(crate) centre: u32,
    pub(crate) centred_rows: u32,
    pub(crate) superseded: bool,
    pub(crate) generation: u64,
    pub(crate) published: u64,
    pub(crate) sequence: u64,
    pub(crate) serial: u64,
}

/// What a slot turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    Valid(Head),
    /// Intact, but of another version or byte order.
    Foreign,
    Damaged,
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk::<N>().copied()
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    array(bytes, at).map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    array(bytes, at).map(u64::from_le_bytes)
}

impl Head {
    /// The bytes of a slot.
    pub(crate) fn encode(&self) -> [u8; SLOT_BYTES] {
        let mut bytes = [0; SLOT_BYTES];
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        put(0, &HEAD_MAGIC);
        put(8, &ORDER_MARK.to_ne_bytes());
        put(12, &VERSION.to_le_bytes());
        put(16, &self.kind.dimension.to_le_bytes());
        put(20, &(if self.superseded { SUPERSEDED } else { 0 }).to_le_bytes());
        put(24, &self.kind.identity);
        put(40, &self.centre.to_le_bytes());
        put(44, &self.centred_rows.to_le_bytes());
        put(48, &self.generation.to_le_bytes());
        put(56, &self.published.to_le_bytes());
        put(64, &self.sequence.to_le_bytes());
        put(72, &self.serial.to_le_bytes());
        let sum = crc32fast::hash(&bytes[..80]);
        bytes[80..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Byte offset of the slot that this state goes to.
    pub(crate) const fn offset(&self) -> u64 {
        (self.serial % 2) * SLOT_STRIDE as u64
    }
}

/// Reads one slot from the start of `bytes`.
pub(crate) fn parse_slot(bytes: &[u8]) -> Slot {
    parse(bytes).unwrap_or(Slot::Damaged)
}

fn parse(bytes: &[u8]) -> Option<Slot> {
    if array(bytes, 0)? != HEAD_MAGIC || u32_at(bytes, 80)? != crc32fast::hash(bytes.get(..80)?) {
        return None;
    }
    if u32::from_ne_bytes(array(bytes, 8)?) != ORDER_MARK || u32_at(bytes, 12)? != VERSION {
        return Some(Slot::Foreign);
    }
    let head = Head {
        kind: Kind { dimension: u32_at(bytes, 16)?, identity: array(bytes, 24)? },
        centre: u32_at(bytes, 40)?,
        centred_rows: u32_at(bytes, 44)?,
        superseded: u32_at(bytes, 20)? & SUPERSEDED != 0,
        generation: u64_at(bytes, 48)?,
        published: u64_at(bytes, 56)?,
        sequence: u64_at(bytes, 64)?,
        serial: u64_at(bytes, 72)?,
    };
    (head.published <= MAX_ROWS).then_some(Slot::Valid(head))
}

/// The newest valid state in the bytes of `head`; foreign only when no slot is valid.
pub(crate) fn newest(bytes: &[u8]) -> Slot {
    let second = bytes.get(SLOT_STRIDE..).map_or(Slot::Damaged, parse_slot);
    match (parse_slot(bytes), second) {
        (Slot::Valid(a), Slot::Valid(b)) => Slot::Valid(if a.serial > b.serial { a } else { b }),
        (Slot::Valid(head), _) | (_, Slot::Valid(head)) => Slot::Valid(head),
        (Slot::Foreign, _) | (_, Slot::Foreign) => Slot::Foreign,
        _ => Slot::Damaged,
    }
}

/// The bytes of `current`.
pub(crate) fn encode_pointer(generation: u64) -> [u8; POINTER_BYTES] {
    let mut bytes = [0; POINTER_BYTES];
    bytes[..8].copy_from_slice(&POINTER_MAGIC);
    bytes[8..16].copy_from_slice(&generation.to_le_bytes());
    let sum = crc32fast::hash(&bytes[..16]);
    bytes[16..20].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// The generation that `current` names, or `None` when its bytes are not a pointer.
pub(crate) fn parse_pointer(bytes: &[u8]) -> Option<u64> {
    let intact = bytes.len() == POINTER_BYTES
        && array(bytes, 0)? == POINTER_MAGIC
        && u32_at(bytes, 16)? == crc32fast::hash(bytes.get(..16)?);
    if intact { u64_at(bytes, 8) } else { None }
}

/// A file of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Region {
    /// float32 rows.
    Vectors,
    /// int8 rows; their scales are in the metadata.
    Bytes,
    /// Sign bits, each row padded to whole words.
    Bits,
    /// Blocks of 64 rows; see [`Field`].
    Meta,
    /// Two equal words per 64 rows: bit `i` set means row `i` of the block is removed.
    Dead,
}

impl Region {
    pub(crate) const ALL: [Self; 5] = [Self::Vectors, Self::Bytes, Self::Bits, Self::Meta, Self::Dead];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Vectors => "vectors.f32",
            Self::Bytes => "vectors.i8",
            Self::Bits => "bits.u64",
            Self::Meta => "meta",
            Self::Dead => "dead",
        }
    }
}

/// An array inside a metadata block: the block holds 64 keys, then 64 times, and so on. A scan by scope
/// reads 256 bytes of each 2,048.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Keys,
    Times,
    Scopes,
    Blocks,
    Scales,
    Sums,
}

impl Field {
    /// Offset inside the block, and bytes per row.
    pub(crate) const fn place(self) -> (usize, usize) {
        match self {
            Self::Keys => (0, 8),
            Self::Times => (512, 8),
            Self::Scopes => (1024, 4),
            Self::Blocks => (1280, 4),
            Self::Scales => (1536, 4),
            Self::Sums => (1792, 4),
        }
    }
}

/// Bytes of a metadata block.
pub(crate) const META_BYTES: usize = 2048;
/// Bytes of removal flags per block.
pub(crate) const DEAD_BYTES: usize = 16;

/// Sizes that follow from the dimension.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) dimension: usize,
    /// Words of sign bits per row.
    pub(crate) words: usize,
}

impl Layout {
    pub(crate) const fn new(dimension: usize) -> Self {
        Self { dimension, words: dimension.div_ceil(64) }
    }

    /// Bytes that `rows` rows need in a region, or `None` when no file could hold them.
    pub(crate) fn bytes(&self, region: Region, rows: u64) -> Option<u64> {
        let blocks = rows.div_ceil(BLOCK_ROWS as u64);
        let (count, width) = match region {
            Region::Vectors => (rows, self.dimension.checked_mul(4)?),
            Region::Bytes => (rows, self.dimension),
            Region::Bits => (rows, self.words.checked_mul(8)?),
            Region::Meta => (blocks, META_BYTES),
            Region::Dead => (blocks, DEAD_BYTES),
        };
        let bytes = count.checked_mul(width as u64)?;
        (bytes <= isize::MAX as u64).then_some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpersona_limits::MAX_DIMENSION;

    fn head(serial: u64) -> Head {
        let kind = Kind { dimension: 384, identity: *b"0123456789abcdef" };
        Head {
            kind,
            centre: 7,
            centred_rows: 5,
            superseded: serial.is_multiple_of(2),
            generation: 3,
            published: 12,
            sequence: 99,
            serial,
        }
    }

    #[test]
    fn a_slot_reads_back() {
        for serial in [0, 1, u64::MAX] {
            assert_eq!(parse_slot(&head(serial).encode()), Slot::Valid(head(serial)));
        }
    }

    #[test]
    fn any_flipped_bit_spoils_a_slot() {
        let bytes = head(5).encode();
        for bit in 0..bytes.len() * 8 {
            let mut spoilt = bytes;
            spoilt[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(parse_slot(&spoilt), Slot::Damaged, "bit {bit}");
        }
    }

    #[test]
    fn short_input_is_damage() {
        let bytes = head(5).encode();
        for length in 0..bytes.len() {
            assert_eq!(parse_slot(&bytes[..length]), Slot::Damaged);
            assert_eq!(newest(&bytes[..length]), Slot::Damaged);
        }
    }

    #[test]
    fn the_newest_valid_slot_wins() {
        let mut bytes = vec![0; HEAD_BYTES];
        assert_eq!(newest(&bytes), Slot::Damaged);
        for serial in 0..5 {
            let state = head(serial);
            let at = state.offset() as usize;
            bytes[at..at + SLOT_BYTES].copy_from_slice(&state.encode());
            assert_eq!(newest(&bytes), Slot::Valid(state));
        }
        // A torn write of the next state leaves the one before.
        let next = head(5);
        let at = next.offset() as usize;
        for torn in 1..SLOT_BYTES {
            let mut bytes = bytes.clone();
            bytes[at..at + torn].copy_from_slice(&next.encode()[..torn]);
            let found = newest(&bytes);
            assert!(found == Slot::Valid(head(4)) || found == Slot::Valid(next), "{torn}: {found:?}");
        }
    }

    #[test]
    fn a_pointer_reads_back_and_notices_damage() {
        let bytes = encode_pointer(77);
        assert_eq!(parse_pointer(&bytes), Some(77));
        for at in 0..20 {
            let mut spoilt = bytes;
            spoilt[at] ^= 0x10;
            assert_eq!(parse_pointer(&spoilt), None);
            assert_eq!(parse_pointer(&bytes[..at]), None);
        }
    }

    #[test]
    fn sizes_never_overflow() {
        let layout = Layout::new(MAX_DIMENSION);
        for region in Region::ALL {
            assert!(layout.bytes(region, MAX_ROWS).is_some());
        }
        // More rows than 31 bits count: sizes stay exact.
        let (rows, width) = (1 << 31, MAX_DIMENSION as u64);
        assert_eq!(layout.bytes(Region::Vectors, rows), Some(rows * width * 4));
        assert_eq!(layout.bytes(Region::Bits, rows), Some(rows * width / 8));
        assert_eq!(layout.bytes(Region::Meta, rows), Some(rows / 64 * 2048));
        assert_eq!(layout.bytes(Region::Dead, rows + 1), Some((rows / 64 + 1) * 16));
        assert_eq!(layout.bytes(Region::Vectors, u64::MAX), None);
        assert_eq!(layout.bytes(Region::Bits, 1 << 60), None);
    }
}
