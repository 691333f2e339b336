//! Bounded selection. `TopRecords` keeps the best records with their best block; `Pool` keeps the best rows
//! of a first pass. Both fill a buffer to twice what they keep and then cut it back: cheaper than a heap,
//! because most rows fail the bound and are never stored.

use std::cmp::Ordering;

/// A scored row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hit {
    pub(crate) score: f32,
    pub(crate) time: f64,
    pub(crate) key: u64,
    pub(crate) block: u32,
}

impl Hit {
    /// Best first: higher score, newer, class 0, larger key, earlier block.
    fn order(&self, other: &Self) -> Ordering {
        other
            .score
            .total_cmp(&self.score)
            .then_with(|| other.time.partial_cmp(&self.time).unwrap_or(Ordering::Equal))
            .then_with(|| (self.key & 1).cmp(&(other.key & 1)))
            .then_with(|| other.key.cmp(&self.key))
            .then_with(|| self.block.cmp(&other.block))
    }
}

/// The best `limit` records, each by its best block.
#[derive(Clone, Debug)]
pub(crate) struct TopRecords {
    limit: usize,
    floor: f32,
    bound: f32,
    hits: Vec<Hit>,
}

impl TopRecords {
    pub(crate) fn new(limit: usize, floor: f32) -> Self {
        Self { limit, floor, bound: floor, hits: Vec::new() }
    }

    /// Rows that score less cannot enter. Rises to the score of the last record once there are `limit`.
    pub(crate) fn bound(&self) -> f32 {
        self.bound
    }

    /// Takes a row in when it may be among the best. A score that is not a number never is.
    pub(crate) fn push(&mut self, hit: Hit) {
        let passes = hit.score >= self.bound;
        if !passes || self.limit == 0 {
            return;
        }
        // Negative zero is an equal of zero, and must order like it.
        self.hits.push(Hit { score: hit.score + 0.0, ..hit });
        if self.hits.len() >= self.limit.saturating_mul(2).saturating_add(64) {
            self.cut();
        }
    }

    /// Scores of the records, best first, as of the last [`TopRecords::cut`].
    pub(crate) fn scores(&self) -> impl Iterator<Item = f32> {
        self.hits.iter().map(|hit| hit.score)
    }

    pub(crate) fn absorb(&mut self, other: Self) {
        for hit in other.hits {
            self.push(hit);
        }
    }

    /// Sorts, keeps one hit per record and at most `limit` records.
    pub(crate) fn cut(&mut self) {
        self.hits.sort_unstable_by(|a, b| a.key.cmp(&b.key).then_with(|| a.order(b)));
        self.hits.dedup_by_key(|hit| hit.key);
        self.hits.sort_unstable_by(Hit::order);
        self.hits.truncate(self.limit);
        self.bound = match self.hits.last() {
            Some(last) if self.hits.len() == self.limit => last.score,
            _ => self.floor,
        };
    }

    pub(crate) fn into_sorted(mut self) -> Vec<Hit> {
        self.cut();
        self.hits
    }
}

/// The best rows of a first pass. Ranks ascend: the smaller, the better; equal ranks prefer later rows.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    keep: usize,
    bound: u32,
    dropped: bool,
    /// Rank in the high half, complement of the row number in the low half.
    items: Vec<u64>,
}

impl Pool {
    pub(crate) fn new(keep: usize) -> Self {
        Self { keep, bound: if keep == 0 { 0 } else { u32::MAX }, dropped: keep == 0, items: Vec::new() }
    }

    /// Ranks above this cannot enter.
    pub(crate) fn bound(&self) -> u32 {
        self.bound
    }

    pub(crate) fn push(&mut self, rank: u32, row: u32) {
        if rank > self.bound || self.keep == 0 {
            return;
        }
        self.items.push(u64::from(rank) << 32 | u64::from(!row));
        if self.items.len() >= self.keep * 2 + 64 {
            self.cut();
        }
    }

    pub(crate) fn absorb(&mut self, other: Self) {
        self.dropped |= other.dropped || other.bound < u32::MAX;
        self.bound = self.bound.min(other.bound);
        self.items.extend(other.items);
    }

    fn cut(&mut self) {
        if self.items.len() <= self.keep {
            return;
        }
        let (_, last, _) = self.items.select_nth_unstable(self.keep - 1);
        self.bound = (*last >> 32) as u32;
        self.items.truncate(self.keep);
        self.dropped = true;
    }

    /// Ranks and rows in no order, and the rank at which rows may have been dropped, if any were.
    pub(crate) fn finish(mut self) -> (Vec<(u32, u32)>, Option<u32>) {
        self.cut();
        let cut = self.dropped.then_some(self.bound);
        (self.items.into_iter().map(|item| ((item >> 32) as u32, !(item as u32))).collect(), cut)
    }
}

/// A rank that ascends as the score descends, for scores without NaN.
pub(crate) fn rank_of(score: f32) -> u32 {
    let bits = score.to_bits();
    // Ascending order of the bits first: flip all of a negative number, the sign of a positive one.
    let ascending = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
    !ascending
}

/// The score that has this rank.
pub(crate) fn score_of(rank: u32) -> f32 {
    let ascending = !rank;
    f32::from_bits(if ascending >> 31 == 1 { ascending & !(1 << 31) } else { !ascending })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hit() -> impl Strategy<Value = Hit> {
        (-3_i8..3, 0_u8..3, 0_u64..12, 0_u32..4).prop_map(|(score, time, key, block)| Hit {
            score: f32::from(score) / 2.0,
            time: f64::from(time),
            key,
            block,
        })
    }

    fn naive(hits: &[Hit], limit: usize, floor: f32) -> Vec<Hit> {
        let mut best: Vec<Hit> = Vec::new();
        for hit in hits.iter().filter(|hit| hit.score >= floor) {
            match best.iter_mut().find(|other| other.key == hit.key) {
                Some(other) if hit.order(other) == Ordering::Less => *other = *hit,
                Some(_) => {}
                None => best.push(*hit),
            }
        }
        best.sort_by(Hit::order);
        best.truncate(limit);
        best
    }

    proptest! {
        #[test]
        fn records_match_a_full_sort(
            hits in prop::collection::vec(hit(), 0..400), limit in 0_usize..9, floor in -2_i8..2,
        ) {
            let floor = f32::from(floor) / 2.0;
            let mut top = TopRecords::new(limit, floor);
            let mut halves = [TopRecords::new(limit, floor), TopRecords::new(limit, floor)];
            for (i, hit) in hits.iter().enumerate() {
                top.push(*hit);
                halves[i % 2].push(*hit);
            }
            let [mut left, right] = halves;
            left.absorb(right);
            let expected = naive(&hits, limit, floor);
            prop_assert_eq!(&top.into_sorted(), &expected);
            prop_assert_eq!(&left.into_sorted(), &expected);
        }

        #[test]
        fn a_pool_keeps_the_smallest_ranks(ranks in prop::collection::vec(0_u32..50, 0..600), keep in 0_usize..40) {
            let mut pool = Pool::new(keep);
            for (row, rank) in ranks.iter().enumerate() {
                pool.push(*rank, row as u32);
            }
            let (mut found, cut) = pool.finish();
            found.sort_unstable_by_key(|(rank, row)| (*rank, !row));
            let mut expected: Vec<_> = ranks.iter().enumerate().map(|(row, rank)| (*rank, row as u32)).collect();
            expected.sort_unstable_by_key(|(rank, row)| (*rank, !row));
            expected.truncate(keep);
            prop_assert_eq!(found, expected);
            prop_assert_eq!(cut.is_some(), ranks.len() > keep || keep == 0);
        }

        #[test]
        fn ranks_turn_scores_round(a in -2.0_f32..2.0, b in -2.0_f32..2.0) {
            prop_assert_eq!(score_of(rank_of(a)), a);
            prop_assert_eq!(rank_of(a) < rank_of(b), a > b);
        }
    }

    #[test]
    fn nan_never_enters() {
        let mut top = TopRecords::new(3, f32::NEG_INFINITY);
        top.push(Hit { score: f32::NAN, time: 0.0, key: 1, block: 0 });
        assert!(top.into_sorted().is_empty());
    }
}
