//! What the steps of a search cost on this machine and how many candidates they need, learned from the
//! searches themselves. Starts from measured defaults; wrong figures cost time, never answers.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::format::BLOCK_ROWS;
use crate::request::Method;

/// A step whose time is proportional to the rows it touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// float32 rows one after the other.
    Floats,
    /// int8 rows one after the other.
    Bytes,
    /// Sign-bit rows one after the other.
    Bits,
    /// Scattered int8 rows.
    BytesAt,
    /// Scattered float32 rows.
    FloatsAt,
    /// Rows that the sign-bit pass kept: put in order, read as int8 and scaled.
    Kept,
}

/// Runs shorter than this say more about the clock than about the step.
const LEAST_TIMED: Duration = Duration::from_micros(20);
/// Times of what is known that a slower measurement counts as, at most.
const MOST_SLOWER: f32 = 2.0;
/// Work of a two-step method that does not depend on the rows, in nanoseconds.
const TWO_STEPS: f32 = 8_000.0;
/// Too small a pool costs a second pass, too large a one little: it shrinks slowly.
const EASY_SEARCHES: u32 = 16;
/// Vectors whose signs tell little stay that way: so many searches pass before a small pool is tried again.
const REFUSED_SEARCHES: u32 = 200;
/// Doublings of the pool beyond any index.
const MOST_LEVELS: u32 = 24;
/// What a scattered row of sign bits costs beyond a contiguous one, in nanoseconds.
const SCATTERED_BITS: f32 = 8.0;
/// Selected rows per block from which on a scan counts as contiguous.
const DENSE: usize = 32;

/// Shared by all searches of one index.
#[derive(Debug)]
pub(crate) struct Costs {
    /// Nanoseconds per row, as the bits of a float32, by step.
    steps: [AtomicU32; 6],
    /// Doublings of the rows that the sign-bit pass keeps, as recent searches needed them.
    level: AtomicU32,
    /// Searches in a row that would have done with less.
    easy: AtomicU32,
    /// Searches that took another method because of the level.
    refused: AtomicU32,
}

impl Costs {
    /// Defaults from the machine of the record: bytes at memory speed, plus a share per row.
    pub(crate) fn new(dimension: usize) -> Self {
        let bytes = dimension as f32;
        let steps = [
            bytes * 0.14,
            bytes * 0.03 + 2.0,
            bytes * 0.0025 + 1.0,
            bytes * 0.08 + 20.0,
            bytes * 0.3 + 40.0,
            bytes * 0.15 + 80.0,
        ];
        Self {
            steps: steps.map(|cost: f32| AtomicU32::new(cost.to_bits())),
            level: AtomicU32::new(0),
            easy: AtomicU32::new(0),
            refused: AtomicU32::new(0),
        }
    }

    fn of(&self, step: Step) -> f32 {
        f32::from_bits(self.steps[step as usize].load(Ordering::Relaxed))
    }

    /// Takes one measurement in. Faster ones count at once, slower ones a little, and none as more than twice
    /// what is known: a cold page cache or a busy machine passes.
    pub(crate) fn learn(&self, step: Step, rows: usize, took: Duration) {
        if took < LEAST_TIMED || rows == 0 {
            return;
        }
        let known = self.of(step);
        let seen = (took.as_nanos() as f32 / rows as f32).min(known * MOST_SLOWER);
        let share = if seen < known { 0.5 } else { 0.0625 };
        self.steps[step as usize].store((known + (seen - known) * share).to_bits(), Ordering::Relaxed);
    }

    /// Doublings with which a search should begin.
    pub(crate) fn level(&self) -> u32 {
        self.level.load(Ordering::Relaxed)
    }

    /// Other sign bits: what the former ones needed says nothing.
    pub(crate) fn forget_level(&self) {
        self.level.store(0, Ordering::Relaxed);
        self.easy.store(0, Ordering::Relaxed);
        self.refused.store(0, Ordering::Relaxed);
    }

    /// Rows that a sign-bit pass keeps for a list of `limit` records. On text embeddings of 384 elements 0.995
    /// of the answers lay within 60 to 120 times as many rows, whether of 5,000 or of 115,000.
    pub(crate) fn bits_keep(limit: usize, level: u32) -> usize {
        let least = limit.saturating_mul(64).saturating_add(256);
        if limit == 0 { 0 } else { least.saturating_mul(1 << level) }
    }

    /// Rows that the int8 pass should keep for a list of `limit` records.
    pub(crate) fn bytes_keep(limit: usize) -> usize {
        if limit == 0 { 0 } else { limit.saturating_mul(4).saturating_add(64) }
    }

    /// The sign-bit pass kept far more than it needed. Many times in a row, and it keeps less.
    pub(crate) fn eased(&self) {
        if self.easy.fetch_add(1, Ordering::Relaxed) + 1 >= EASY_SEARCHES {
            let level = self.level.load(Ordering::Relaxed);
            self.level.store(level.saturating_sub(1), Ordering::Relaxed);
            self.easy.store(0, Ordering::Relaxed);
        }
    }

    /// A pass of this level kept too few: whether one that keeps `steps` doublings more is worth it, after
    /// `passes` for which the search has paid. Together they stay below what another method costs, so a search
    /// whose signs disappoint takes at most twice that; the next one begins with the larger pool, or without.
    pub(crate) fn again(&self, work: Work, limits: [usize; 2], passes: &mut Passes, steps: u32) -> bool {
        passes.spent += self.bits(work, limits, passes.level);
        passes.level = (passes.level + steps).min(MOST_LEVELS);
        self.level.fetch_max(passes.level, Ordering::Relaxed);
        self.easy.store(0, Ordering::Relaxed);
        self.refused.store(0, Ordering::Relaxed);
        let other = self.exact(work).min(self.bytes(work, limits));
        passes.spent + self.bits(work, limits, passes.level) < other
    }

    /// The cheapest exact-ending method.
    pub(crate) fn choose(&self, work: Work, limits: [usize; 2]) -> Method {
        let level = self.level();
        let (method, _) = self.plan(work, limits, level);
        if method == Method::Bits || level == 0 || self.plan(work, limits, 0).0 != Method::Bits {
            return method;
        }
        if self.refused.fetch_add(1, Ordering::Relaxed) < REFUSED_SEARCHES {
            return method;
        }
        self.refused.store(0, Ordering::Relaxed);
        self.level.store(0, Ordering::Relaxed);
        Method::Bits
    }

    /// The cheapest exact-ending method and what it should take, in nanoseconds.
    fn plan(&self, work: Work, limits: [usize; 2], level: u32) -> (Method, f32) {
        let exact = self.exact(work);
        let bytes = self.bytes(work, limits);
        let bits = self.bits(work, limits, level);
        if exact <= bytes.min(bits) || !work.cuts(limits.map(Self::bytes_keep)) {
            (Method::Exact, exact)
        } else if bits < bytes && work.cuts(limits.map(|limit| Self::bits_keep(limit, level))) {
            (Method::Bits, bits)
        } else {
            (Method::Int8, bytes)
        }
    }

    /// One pass over all selected rows. Scattered rows were never measured dearer than all rows of their blocks.
    fn scan(&self, work: Work, step: Step, scattered: f32) -> f32 {
        let rows = work.total() as f32;
        let whole = (work.blocks * BLOCK_ROWS) as f32 * self.of(step);
        if work.is_dense() { rows * self.of(step) } else { whole.min(rows * scattered) }
    }

    fn exact(&self, work: Work) -> f32 {
        self.scan(work, Step::Floats, self.of(Step::FloatsAt))
    }

    fn bytes(&self, work: Work, limits: [usize; 2]) -> f32 {
        self.scan(work, Step::Bytes, self.of(Step::BytesAt)) + self.rescored(work, limits)
    }

    /// One pass that suffices.
    fn bits(&self, work: Work, limits: [usize; 2], level: u32) -> f32 {
        let kept = work.kept(limits.map(|limit| Self::bits_keep(limit, level)));
        self.scan(work, Step::Bits, self.of(Step::Bits) + SCATTERED_BITS)
            + kept as f32 * self.of(Step::Kept)
            + self.rescored(work, limits)
            + TWO_STEPS
    }

    fn rescored(&self, work: Work, limits: [usize; 2]) -> f32 {
        work.kept(limits.map(Self::bytes_keep)) as f32 * self.of(Step::FloatsAt) + TWO_STEPS
    }
}

/// The sign-bit passes of one search.
#[derive(Debug)]
pub(crate) struct Passes {
    /// Doublings of the pool of the next one.
    pub(crate) level: u32,
    /// Price of those that kept too few, in nanoseconds.
    spent: f32,
}

impl Passes {
    pub(crate) fn new(level: u32) -> Self {
        Self { level, spent: 0.0 }
    }
}

/// What a search has to scan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    /// Selected rows of the near and the far list.
    pub(crate) rows: [usize; 2],
    /// Blocks that hold them.
    pub(crate) blocks: usize,
}

impl Work {
    fn total(&self) -> usize {
        self.rows[0] + self.rows[1]
    }

    /// Rows that pools of these sizes hold in the end.
    fn kept(&self, keep: [usize; 2]) -> usize {
        self.rows[0].min(keep[0]) + self.rows[1].min(keep[1])
    }

    /// Whether a first pass with such pools leaves rows out: one that keeps all is wasted.
    pub(crate) fn cuts(&self, keep: [usize; 2]) -> bool {
        self.kept(keep) < self.total()
    }

    /// Whether the rows lie together, as without a narrow scope.
    pub(crate) fn is_dense(&self) -> bool {
        self.total() >= self.blocks * DENSE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_rows_are_scanned_exactly_and_many_are_not() {
        let costs = Costs::new(384);
        let dense = |rows: usize| Work { rows: [rows, 0], blocks: rows / BLOCK_ROWS };
        assert_eq!(costs.choose(dense(100), [10, 0]), Method::Exact);
        assert_eq!(costs.choose(dense(1_000_000), [10, 0]), Method::Bits);
        assert_eq!(costs.choose(dense(5_000), [10_000, 0]), Method::Exact);
        let sparse = Work { rows: [10_000, 0], blocks: 3_000 };
        assert_eq!(costs.choose(sparse, [10, 0]), Method::Bits);
    }

    #[test]
    fn a_small_window_leaves_the_bits_to_the_far_list() {
        let costs = Costs::new(384);
        let work = Work { rows: [500, 999_500], blocks: 15_625 };
        assert_eq!(costs.choose(work, [10, 10]), Method::Bits);
        assert!(work.cuts([896, 896]) && !work.cuts([500, 999_500]));
    }

    proptest::proptest! {
        /// A window takes whole blocks away, a narrow scope rows of every block.
        #[test]
        fn a_part_is_never_dearer_than_the_whole(
            dimension in proptest::sample::select(vec![256_usize, 384, 768, 1024]),
            all_blocks in 300_usize..20_000,
            share in 0.0_f64..1.0,
            per_block in 1_usize..=BLOCK_ROWS,
            limit in 1_usize..30,
            level in 0_u32..10,
        ) {
            let costs = Costs::new(dimension);
            let blocks = ((all_blocks as f64 * share) as usize).max(1);
            let part = Work { rows: [blocks * per_block, 0], blocks };
            let whole = Work { rows: [all_blocks * BLOCK_ROWS, 0], blocks: all_blocks };
            let (method, cost) = costs.plan(part, [limit, 0], level);
            let (whole_method, whole_cost) = costs.plan(whole, [limit, 0], level);
            proptest::prop_assert!(
                cost <= whole_cost,
                "{method:?} {cost} of {part:?}, {whole_method:?} {whole_cost} of {whole:?}"
            );
        }
    }

    #[test]
    fn the_choice_follows_what_was_measured() {
        let costs = Costs::new(384);
        let work = Work { rows: [200_000, 0], blocks: 3_125 };
        assert_eq!(costs.choose(work, [10, 0]), Method::Bits);
        // A machine on which a pass over sign bits takes longer than one over bytes.
        for _ in 0..200 {
            costs.learn(Step::Bits, 200_000, Duration::from_millis(20));
        }
        assert_eq!(costs.choose(work, [10, 0]), Method::Int8);
        for _ in 0..10 {
            costs.learn(Step::Bits, 200_000, Duration::from_micros(300));
        }
        assert_eq!(costs.choose(work, [10, 0]), Method::Bits);
    }

    /// What a default search takes, where the sign bits must keep so many rows, and what it costs.
    fn search(costs: &Costs, work: Work, needed: usize) -> (Method, f32) {
        let limits = [10, 0];
        let other = costs.exact(work).min(costs.bytes(work, limits));
        let chosen = costs.choose(work, limits);
        if chosen != Method::Bits {
            return (chosen, other);
        }
        let mut passes = Passes::new(costs.level());
        while Costs::bits_keep(10, passes.level) < needed {
            if !costs.again(work, limits, &mut passes, 2) {
                return (Method::Int8, passes.spent + other);
            }
        }
        (Method::Bits, passes.spent + costs.bits(work, limits, passes.level))
    }

    #[test]
    fn passes_that_must_be_repeated_are_priced_and_not_taken_again() {
        for dimension in [384, 768] {
            for share in [0.001, 0.02, 0.1, 0.23, 0.6] {
                let rows = 1_000_000;
                let work = Work { rows: [rows, 0], blocks: rows / BLOCK_ROWS };
                let needed = (rows as f64 * share) as usize;
                let costs = Costs::new(dimension);
                let int8 = costs.bytes(work, [10, 0]);
                let searches: Vec<_> = (0..REFUSED_SEARCHES).map(|_| search(&costs, work, needed)).collect();
                for (i, (method, cost)) in searches.iter().enumerate() {
                    let most = if i < 3 { 2.0 } else { 1.0 };
                    assert!(*cost <= int8 * most, "search {i}, {share} of {dimension}: {method:?} {cost}");
                }
            }
        }
    }

    #[test]
    fn refused_bits_are_tried_again_after_a_while() {
        let costs = Costs::new(384);
        let work = Work { rows: [200_000, 0], blocks: 3_125 };
        costs.level.store(12, Ordering::Relaxed);
        for _ in 0..REFUSED_SEARCHES {
            assert_eq!(costs.choose(work, [10, 0]), Method::Int8);
        }
        assert_eq!(costs.choose(work, [10, 0]), Method::Bits);
        assert_eq!(costs.level(), 0);
    }

    #[test]
    fn a_failure_in_a_narrow_scope_does_not_bar_a_large_one() {
        let costs = Costs::new(384);
        let work = |rows: usize| Work { rows: [rows, 0], blocks: rows / BLOCK_ROWS };
        search(&costs, work(20_032), 12_000);
        assert_eq!(costs.choose(work(20_032), [10, 0]), Method::Int8);
        assert_eq!(costs.choose(work(1_000_000), [10, 0]), Method::Bits);
    }

    #[test]
    fn a_slow_measurement_moves_less_than_a_fast_one() {
        let costs = Costs::new(384);
        let before = costs.of(Step::Bytes);
        costs.learn(Step::Bytes, 1000, Duration::from_millis(10));
        let slower = costs.of(Step::Bytes);
        assert!(slower > before && slower < before + 1000.0);
        costs.learn(Step::Bytes, 100_000, Duration::from_micros(21));
        assert!(costs.of(Step::Bytes) < slower * 0.6);
        costs.learn(Step::Bits, 1, Duration::ZERO);
    }

    #[test]
    fn levels_stay_in_bounds() {
        let costs = Costs::new(384);
        for _ in 0..20 {
            costs.eased();
        }
        assert_eq!(costs.level(), 0);
        let work = Work { rows: [1000, 0], blocks: 16 };
        for _ in 0..30 {
            costs.again(work, [10, 0], &mut Passes::new(costs.level()), 2);
        }
        assert_eq!(costs.level(), MOST_LEVELS);
        assert_eq!(Costs::bits_keep(10, 3), Costs::bits_keep(10, 0) * 8);
        assert_eq!(Costs::bits_keep(0, 3), 0);
    }
}
