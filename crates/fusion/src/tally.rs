//! Sums scores by key and remembers the order in which keys first came.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::FusedRanking;

/// One multiply between two folds: keys may be whole numbers, whose low bits differ, or the bits of doubles,
/// whose high bits do. They are our own row numbers, so nobody can aim collisions at it, and the default
/// hasher took most of the time of a fusion of a few hundred rows.
#[derive(Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, key: u64) {
        let folded = self.0 ^ key ^ (key >> 32);
        let mixed = folded.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ (mixed >> 32);
    }
}

pub(crate) struct Tally {
    places: HashMap<u64, usize, BuildHasherDefault<KeyHasher>>,
    rows: Vec<(u64, f64)>,
}

impl Tally {
    pub(crate) fn with_capacity(rows: usize) -> Self {
        Self {
            places: HashMap::with_capacity_and_hasher(rows, BuildHasherDefault::default()),
            rows: Vec::with_capacity(rows),
        }
    }

    pub(crate) fn add(&mut self, key: u64, score: f64) {
        let place = *self.places.entry(key).or_insert_with(|| {
            self.rows.push((key, 0.0));
            self.rows.len() - 1
        });
        self.rows[place].1 += score;
    }

    /// Score descending; the sort is stable, so equal scores stay in the order of their first mention.
    pub(crate) fn into_ranking(self) -> FusedRanking {
        self.into_ranking_divided_by(1.0)
    }

    pub(crate) fn into_ranking_divided_by(mut self, divisor: f64) -> FusedRanking {
        for row in &mut self.rows {
            row.1 /= divisor;
        }
        self.rows.sort_by(|a, b| b.1.total_cmp(&a.1));
        let (keys, scores) = self.rows.into_iter().unzip();
        FusedRanking { keys, scores }
    }
}
