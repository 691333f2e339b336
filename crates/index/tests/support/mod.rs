//! Rows with names instead of parallel slices, and the search as anyone would write it first.

#![allow(dead_code, reason = "each test file uses a part")]

use std::cmp::Ordering;

use cpersona_index::{AgeCut, IndexError, Kernels, Options, Rows, SearchRequest, SearchResult, VectorIndex};

pub(crate) const IDENTITY: [u8; 16] = *b"sixteen bytes it";

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) key: u64,
    pub(crate) block: u32,
    pub(crate) scope: u32,
    pub(crate) time: f64,
    pub(crate) vector: Vec<f32>,
}

/// Owned parallel arrays.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub(crate) keys: Vec<u64>,
    pub(crate) blocks: Vec<u32>,
    pub(crate) scopes: Vec<u32>,
    pub(crate) times: Vec<f64>,
    pub(crate) vectors: Vec<f32>,
}

impl Table {
    pub(crate) fn new(rows: &[Row]) -> Self {
        Self {
            keys: rows.iter().map(|row| row.key).collect(),
            blocks: rows.iter().map(|row| row.block).collect(),
            scopes: rows.iter().map(|row| row.scope).collect(),
            times: rows.iter().map(|row| row.time).collect(),
            vectors: rows.iter().flat_map(|row| row.vector.iter().copied()).collect(),
        }
    }

    pub(crate) fn rows(&self) -> Rows<'_> {
        Rows {
            keys: &self.keys,
            blocks: &self.blocks,
            scopes: &self.scopes,
            times: &self.times,
            vectors: &self.vectors,
        }
    }
}

pub(crate) fn append(index: &VectorIndex, rows: &[Row]) -> Result<(), IndexError> {
    index.append(Table::new(rows).rows())
}

pub(crate) fn options(dimension: usize) -> Options {
    Options::new(dimension, IDENTITY)
}

/// An index with the lock held.
pub(crate) fn open_locked(folder: &std::path::Path, dimension: usize) -> VectorIndex {
    let index = VectorIndex::open(folder, options(dimension)).unwrap();
    assert!(index.try_lock().unwrap());
    index
}

/// Deterministic numbers in −1..1.
pub(crate) struct Seeded(pub(crate) u64);

impl Seeded {
    pub(crate) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn number(&mut self) -> f32 {
        (self.word() >> 40) as f32 / 8_388_608.0 - 1.0
    }

    pub(crate) fn unit(&mut self, dimension: usize) -> Vec<f32> {
        let vector: Vec<f32> = (0..dimension).map(|_| self.number()).collect();
        unit(&vector)
    }
}

pub(crate) fn unit(vector: &[f32]) -> Vec<f32> {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    vector.iter().map(|value| value / length.max(1e-20)).collect()
}

/// `count` rows of single-block records, keys and times ascending.
pub(crate) fn rows(count: usize, dimension: usize, seed: u64) -> Vec<Row> {
    let mut seeded = Seeded(seed);
    (0..count)
        .map(|i| Row {
            key: i as u64 * 2,
            block: 0,
            scope: (i % 3) as u32,
            time: 1000.0 + i as f64,
            vector: seeded.unit(dimension),
        })
        .collect()
}

struct Scored<'a>(f32, &'a Row);

fn order(a: &Scored<'_>, b: &Scored<'_>) -> Ordering {
    b.0.partial_cmp(&a.0)
        .unwrap()
        .then(b.1.time.partial_cmp(&a.1.time).unwrap())
        .then((a.1.key % 2).cmp(&(b.1.key % 2)))
        .then(b.1.key.cmp(&a.1.key))
        .then(a.1.block.cmp(&b.1.block))
}

/// The contract, one condition after the other. `stored` are the live rows of the index.
pub(crate) fn naive(
    stored: &[Row],
    request: &SearchRequest<'_>,
    extra: &[Row],
    kernels: Kernels,
) -> SearchResult {
    let everything = AgeCut { times: [f64::NEG_INFINITY; 2], keys: [0.0; 2] };
    let near = |row: &&Row| request.near.unwrap_or(everything).admits(row.time, row.key);
    let far = |row: &&Row| !near(row) && request.far.is_some_and(|cut| cut.admits(row.time, row.key));
    let visible: Vec<&Row> = stored
        .iter()
        .filter(|row| !request.masked.is_some_and(|keys| keys.contains(&row.key)))
        .chain(extra)
        .filter(|row| request.scopes.is_none_or(|codes| codes.contains(&row.scope)))
        .filter(|row| request.only.is_none_or(|keys| keys.contains(&row.key)))
        .collect();
    let list = |rows: Vec<&Row>, limit: usize| -> Vec<(u64, u32, f32)> {
        let mut scored: Vec<Scored<'_>> = rows
            .into_iter()
            .map(|row| Scored(kernels.dot_f32(request.query, &row.vector), row))
            .filter(|scored| scored.0 >= request.floor)
            .collect();
        scored.sort_by(order);
        let mut seen = Vec::new();
        scored.retain(|scored| {
            let fresh = !seen.contains(&scored.1.key);
            seen.push(scored.1.key);
            fresh
        });
        scored.iter().take(limit).map(|scored| (scored.1.key, scored.1.block, scored.0)).collect()
    };
    let near_list = list(visible.iter().copied().filter(near).collect(), request.near_limit);
    let far_list = list(visible.iter().copied().filter(far).collect(), request.far_limit);
    let all = near_list.iter().chain(&far_list);
    SearchResult {
        near_count: near_list.len(),
        keys: all.clone().map(|hit| hit.0).collect(),
        blocks: all.clone().map(|hit| hit.1).collect(),
        scores: all.map(|hit| hit.2).collect(),
        ..SearchResult::default()
    }
}

/// Compares answers, with scores bit for bit (negative zero counting as zero).
pub(crate) fn assert_same(found: &SearchResult, expected: &SearchResult, what: &str) {
    assert_eq!(found.near_count, expected.near_count, "{what}: near count");
    assert_eq!(found.keys, expected.keys, "{what}: keys, scores {:?} {:?}", found.scores, expected.scores);
    assert_eq!(found.blocks, expected.blocks, "{what}: blocks");
    let bits = |scores: &[f32]| scores.iter().map(|score| (score + 0.0).to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&found.scores), bits(&expected.scores), "{what}: scores");
}
