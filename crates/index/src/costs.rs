//! What the steps of a search cost on this machine and how many candidates they need, learned from the
//! searches themselves. Starts from measured defaults; wrong figures cost time, never answers.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
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
}

/// Runs shorter than this say more about the clock than about the step.
const LEAST_TIMED: Duration = Duration::from_micros(20);
/// Work of a two-step method that does not depend on the rows, in nanoseconds.
const TWO_STEPS: f32 = 8_000.0;
/// Highest level of [`Costs::grow`].
const MOST_LEVELS: u32 = 5;
/// Too small a pool costs a second pass, too large a one little: it shrinks slowly.
const EASY_SEARCHES: u32 = 16;
/// Vectors whose signs tell little stay that way: a failed pass is not tried again soon.
const AVOIDED_SEARCHES: u32 = 50;
/// Times the rows of a failed pass up to which it is not tried again.
const FAILED_SCALE: usize = 4;
/// What a scattered row of sign bits costs beyond a contiguous one, in nanoseconds.
const SCATTERED_BITS: f32 = 8.0;
/// A first pass pays when it keeps less than one row in so many.
pub(crate) const LEAST_CUT: usize = 2;
/// Selected rows per block from which on a scan counts as contiguous.
const DENSE: usize = 32;

/// Shared by all searches of one index.
#[derive(Debug)]
pub(crate) struct Costs {
    /// Nanoseconds per row, as the bits of a float32, by step.
    steps: [AtomicU32; 5],
    /// Doublings of the rows that the sign-bit pass keeps, as recent searches needed them.
    level: AtomicU32,
    /// Searches in a row that would have done with less.
    easy: AtomicU32,
    /// Searches for which the sign-bit pass is not tried again after it could not be made sure.
    avoided: AtomicU32,
    /// Rows of the selection in which it failed.
    failed_rows: AtomicUsize,
}

impl Costs {
    /// Defaults from the machine of the record: bytes at memory speed, plus a share per row.
    pub(crate) fn new(dimension: usize) -> Self {
        let bytes = dimension as f32;
        let steps =
            [bytes * 0.14, bytes * 0.03 + 2.0, bytes * 0.0025 + 1.0, bytes * 0.08 + 20.0, bytes * 0.3 + 40.0];
        Self {
            steps: steps.map(|cost: f32| AtomicU32::new(cost.to_bits())),
            level: AtomicU32::new(0),
            easy: AtomicU32::new(0),
            avoided: AtomicU32::new(0),
            failed_rows: AtomicUsize::new(0),
        }
    }

    fn of(&self, step: Step) -> f32 {
        f32::from_bits(self.steps[step as usize].load(Ordering::Relaxed))
    }

    /// Takes one measurement in. Faster ones count at once, slower ones a little: a cold page cache or a busy
    /// machine passes.
    pub(crate) fn learn(&self, step: Step, rows: usize, took: Duration) {
        if took < LEAST_TIMED || rows == 0 {
            return;
        }
        let seen = took.as_nanos() as f32 / rows as f32;
        let known = self.of(step);
        let share = if seen < known { 0.5 } else { 0.0625 };
        self.steps[step as usize].store((known + (seen - known) * share).to_bits(), Ordering::Relaxed);
    }

    /// Rows that the sign-bit pass should keep for a list of `limit` records. On text embeddings of 384
    /// elements 0.995 of the answers lay within 60 to 120 times as many rows, whether of 5,000 or of 115,000.
    pub(crate) fn bits_keep(&self, limit: usize) -> usize {
        let least = limit.saturating_mul(64).saturating_add(256);
        if limit == 0 { 0 } else { least.saturating_mul(1 << self.level.load(Ordering::Relaxed)) }
    }

    /// Rows that the int8 pass should keep for a list of `limit` records.
    pub(crate) fn bytes_keep(limit: usize) -> usize {
        if limit == 0 { 0 } else { limit.saturating_mul(4).saturating_add(64) }
    }

    /// The sign-bit pass kept too few.
    pub(crate) fn grow(&self) {
        let level = self.level.load(Ordering::Relaxed);
        self.level.store((level + 1).min(MOST_LEVELS), Ordering::Relaxed);
        self.easy.store(0, Ordering::Relaxed);
    }

    /// The sign-bit pass kept far more than it needed. Many times in a row, and it keeps less.
    pub(crate) fn eased(&self) {
        if self.easy.fetch_add(1, Ordering::Relaxed) + 1 >= EASY_SEARCHES {
            let level = self.level.load(Ordering::Relaxed);
            self.level.store(level.saturating_sub(1), Ordering::Relaxed);
            self.easy.store(0, Ordering::Relaxed);
        }
    }

    /// The sign-bit pass had to give up: its pool would have held too many of so many rows.
    pub(crate) fn avoid_bits(&self, rows: usize) {
        self.level.store(0, Ordering::Relaxed);
        self.failed_rows.store(rows, Ordering::Relaxed);
        self.avoided.store(AVOIDED_SEARCHES, Ordering::Relaxed);
    }

    /// A failure in a narrow scope says nothing about selections many times its size.
    fn is_bits_avoided(&self, rows: usize) -> bool {
        rows / FAILED_SCALE <= self.failed_rows.load(Ordering::Relaxed)
            && self
                .avoided
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1))
                .is_ok()
    }

    /// The cheapest exact-ending method.
    pub(crate) fn choose(&self, work: Work, limits: [usize; 2]) -> Method {
        self.plan(work, limits).0
    }

    /// The cheapest exact-ending method and what it should take, in nanoseconds.
    fn plan(&self, work: Work, limits: [usize; 2]) -> (Method, f32) {
        let total = work.rows.iter().sum::<usize>();
        let bytes_keep = limits.map(Self::bytes_keep).iter().sum::<usize>();
        let bits_keep = limits.map(|limit| self.bits_keep(limit)).iter().sum::<usize>();
        let rows = total as f32;
        // Scattered rows were never measured dearer than all rows of their blocks.
        let scan = |step, scattered| {
            let whole = (work.blocks * BLOCK_ROWS) as f32 * self.of(step);
            if work.is_dense() { rows * self.of(step) } else { whole.min(rows * scattered) }
        };
        let rescored = bytes_keep as f32 * self.of(Step::FloatsAt) + TWO_STEPS;
        let exact = scan(Step::Floats, self.of(Step::FloatsAt));
        let bytes = scan(Step::Bytes, self.of(Step::BytesAt)) + rescored;
        let bits = scan(Step::Bits, self.of(Step::Bits) + SCATTERED_BITS)
            + bits_keep as f32 * self.of(Step::BytesAt)
            + rescored
            + TWO_STEPS;
        if exact <= bytes.min(bits) || bytes_keep >= total {
            (Method::Exact, exact)
        } else if bits < bytes && bits_keep.saturating_mul(LEAST_CUT) < total && !self.is_bits_avoided(total)
        {
            (Method::Bits, bits)
        } else {
            (Method::Int8, bytes)
        }
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
    /// Whether the rows lie together, as without a narrow scope.
    pub(crate) fn is_dense(&self) -> bool {
        self.rows[0] + self.rows[1] >= self.blocks * DENSE
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

    proptest::proptest! {
        /// A window takes whole blocks away, a narrow scope rows of every block.
        #[test]
        fn a_part_is_never_dearer_than_the_whole(
            dimension in proptest::sample::select(vec![256_usize, 384, 768, 1024]),
            all_blocks in 300_usize..20_000,
            share in 0.0_f64..1.0,
            per_block in 1_usize..=BLOCK_ROWS,
            limit in 1_usize..30,
        ) {
            let costs = Costs::new(dimension);
            let blocks = ((all_blocks as f64 * share) as usize).max(1);
            let part = Work { rows: [blocks * per_block, 0], blocks };
            let whole = Work { rows: [all_blocks * BLOCK_ROWS, 0], blocks: all_blocks };
            let (method, cost) = costs.plan(part, [limit, 0]);
            let (whole_method, whole_cost) = costs.plan(whole, [limit, 0]);
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

    #[test]
    fn failed_bits_are_avoided_for_a_while_and_only_in_selections_of_that_size() {
        let costs = Costs::new(384);
        let work = |rows: usize| Work { rows: [rows, 0], blocks: rows / BLOCK_ROWS };
        costs.avoid_bits(20_000);
        assert_eq!(costs.choose(work(1_000_000), [10, 0]), Method::Bits);
        for _ in 0..AVOIDED_SEARCHES {
            assert_eq!(costs.choose(work(20_032), [10, 0]), Method::Int8);
        }
        assert_eq!(costs.choose(work(20_032), [10, 0]), Method::Bits);
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
        let start = costs.bits_keep(10);
        for _ in 0..20 {
            costs.grow();
        }
        assert_eq!(costs.bits_keep(10), start << MOST_LEVELS);
        assert_eq!(costs.bits_keep(0), 0);
    }
}
