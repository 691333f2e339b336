//! Finds the pieces that start at a place in a text. Pieces are sorted by their bytes, so those that share a
//! prefix are neighbours: a lookup narrows a range of ids code point by code point and stops when it's empty.
//! Only tables of first bytes are built at open; the pieces themselves stay in the mapped file.

use std::cmp::Ordering;

use crate::error::TableError;
use crate::format::Layout;
use crate::normalise::MARK_BYTES;

/// Where pieces start in the blob, and where they start by their first bytes.
pub(crate) struct Lexicon {
    starts: Vec<u32>,
    plain: Buckets,
    /// By the bytes behind a word mark: a third of all pieces begin with one, too many to search each time.
    marked: Buckets,
}

impl Lexicon {
    /// Checks that the pieces fill the blob and are UTF-8, sorted and all different.
    pub(crate) fn build(bytes: &[u8], layout: &Layout) -> Result<Self, TableError> {
        let blob = &bytes[layout.blob.clone()];
        let starts: Vec<u32> = layout.starts(bytes).collect();
        let ascending = starts.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascending || starts[0] != 0 || starts[layout.pieces] as usize != blob.len() {
            return Err(TableError::Damaged("its pieces do not fill their space"));
        }
        if std::str::from_utf8(blob).is_err() {
            return Err(TableError::Damaged("its pieces are not UTF-8"));
        }
        let mut plain = Buckets::new();
        let mut marked = Buckets::new();
        let mut before: &[u8] = &[];
        for (id, pair) in starts.windows(2).enumerate() {
            let piece = &blob[pair[0] as usize..pair[1] as usize];
            let inside_a_code_point = piece[0] & 0xC0 == 0x80;
            if piece <= before || inside_a_code_point {
                return Err(TableError::Damaged("its pieces are not sorted"));
            }
            before = piece;
            plain.push(piece, id as u32);
            if let Some(rest @ [_, ..]) = piece.strip_prefix(&MARK_BYTES) {
                marked.push(rest, id as u32);
            }
        }
        plain.finish();
        marked.finish();
        Ok(Self { starts, plain, marked })
    }

    pub(crate) fn over<'a>(&'a self, blob: &'a [u8]) -> Pieces<'a> {
        Pieces { lexicon: self, blob }
    }
}

/// First ids by two bytes: bucket `b` holds the ids `firsts[b]..firsts[b + 1]`.
struct Buckets {
    firsts: Vec<u32>,
    filled: usize,
    end: u32,
}

const BUCKETS: usize = 1 << 16;

impl Buckets {
    fn new() -> Self {
        Self { firsts: vec![0; BUCKETS + 1], filled: 0, end: 0 }
    }

    /// Pieces come in ascending order and without a gap between their ids.
    fn push(&mut self, piece: &[u8], id: u32) {
        let bucket = bucket(piece);
        if self.filled <= bucket {
            self.firsts[self.filled..=bucket].fill(id);
            self.filled = bucket + 1;
        }
        self.end = id + 1;
    }

    fn finish(&mut self) {
        self.firsts[self.filled..].fill(self.end);
    }

    /// Ids that can begin with this code point, and how many of its bytes that settles.
    fn of(&self, code_point: &[u8]) -> (Span, usize) {
        let first = bucket(code_point);
        let (last, settled) = match code_point.len() {
            1 => (first + BUCKETS / 256, 1),
            _ => (first + 1, 2),
        };
        (Span(self.firsts[first], self.firsts[last]), settled)
    }
}

/// The first two bytes as a number; a lone byte sorts before all that follow it.
fn bucket(bytes: &[u8]) -> usize {
    let byte = |at| usize::from(bytes.get(at).copied().unwrap_or(0));
    byte(0) << 8 | byte(1)
}

/// Ids from the first up to the second, which is left out.
#[derive(Clone, Copy)]
struct Span(u32, u32);

pub(crate) struct Pieces<'a> {
    lexicon: &'a Lexicon,
    blob: &'a [u8],
}

impl Pieces<'_> {
    /// Calls `found(n, id)` for each piece that equals `n` code points of `text` from the first bound on,
    /// shortest first. `bounds` are the byte positions between the code points that may be used.
    pub(crate) fn starting_at(&self, text: &[u8], bounds: &[u32], mut found: impl FnMut(usize, u32)) {
        let Some(start) = bounds.first().map(|bound| *bound as usize) else {
            return;
        };
        let mut span = Span(0, 0);
        for (place, pair) in bounds.windows(2).enumerate() {
            let (from, to) = (pair[0] as usize, pair[1] as usize);
            let code_point = &text[from..to];
            let mut settled = 0;
            if place == 0 {
                (span, settled) = self.lexicon.plain.of(code_point);
            } else if place == 1 && text[start..from] == MARK_BYTES {
                (span, settled) = self.lexicon.marked.of(code_point);
            }
            if settled < code_point.len() {
                span = self.narrow(span, from - start + settled, &code_point[settled..]);
            }
            if span.0 >= span.1 {
                return;
            }
            if self.piece(span.0).len() == to - start {
                found(place + 1, span.0);
            }
        }
    }

    /// The ids of a span that go on with `next` behind the `depth` bytes they share.
    fn narrow(&self, span: Span, depth: usize, next: &[u8]) -> Span {
        if let [next] = next {
            // Slices of one byte would be compared by a call into the C library.
            return self.narrow_by(span, |piece| piece.get(depth).cmp(&Some(next)));
        }
        self.narrow_by(span, |piece| piece[depth..piece.len().min(depth + next.len())].cmp(next))
    }

    fn narrow_by(&self, span: Span, compare: impl Fn(&[u8]) -> Ordering) -> Span {
        let compare = |id| compare(self.piece(id));
        let low = partition(span, |id| compare(id).is_lt());
        // Most spans are short by now, so the end is near: reach for it in doubling steps.
        let mut reach = 1;
        let mut high = Span(low, low);
        while high.1 < span.1 && compare(high.1).is_eq() {
            high = Span(high.1 + 1, (high.1 + 1).saturating_add(reach).min(span.1));
            reach *= 2;
        }
        Span(low, partition(high, |id| compare(id).is_eq()))
    }

    fn piece(&self, id: u32) -> &[u8] {
        let starts = &self.lexicon.starts;
        &self.blob[starts[id as usize] as usize..starts[id as usize + 1] as usize]
    }
}

/// The first id of a span for which `before` is false; it is true for those in front of that one.
fn partition(span: Span, before: impl Fn(u32) -> bool) -> u32 {
    let Span(mut low, mut high) = span;
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}
