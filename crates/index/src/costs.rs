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
/// What a scattered row of sign bits costs beyond a contiguous one, in nanoseconds.
const SCATTERED_BITS: f32 = 8.0;
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

    /// The sign-bit pass had to give up: its pool would have held too many of the rows.
    pub(crate) fn avoid_bits(&self) {
        self.level.store(0, Ordering::Relaxed);
        self.avoided.store(AVOIDED_SEARCHES, Ordering::Relaxed);
    }

    fn is_bits_avoided(&self) -> bool {
        self.avoided.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    }

    /// The cheapest exact-ending method.
    pub(crate) fn choose(&self, work: Work, limits: [usize; 2]) -> Method {
        let total = work.rows.iter().sum::<usize>();
        let bytes_keep = limits.map(Self::bytes_keep).iter().sum::<usize>();
        let bits_keep = limits.map(|limit| self.bits_keep(limit)).iter().sum::<usize>();
        let rows = total as f32;
        let (floats, bytes, bits) = if work.is_dense() {
            (self.of(Step::Floats), self.of(Step::Bytes), rows * self.of(Step::Bits))
        } else {
            let whole = (work.blocks * BLOCK_ROWS) as f32 * self.of(Step::Bits);
            let single = rows * (self.of(Step::Bits) + SCATTERED_BITS);
            (self.of(Step::FloatsAt), self.of(Step::BytesAt), whole.min(single))
        };
        let rescored = bytes_keep as f32 * self.of(Step::FloatsAt) + TWO_STEPS;
        let exact = rows * floats;
        let bytes = rows * bytes + rescored;
        let bits = bits + bits_keep as f32 * self.of(Step::BytesAt) + rescored + TWO_STEPS;
        if exact <= bytes.min(bits) || bytes_keep >= total {
            Method::Exact
        } else if bits < bytes && bits_keep.saturating_mul(4) < total && !self.is_bits_avoided() {
            Method::Bits
        } else {
            Method::Int8
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
