//! What the steps of a search cost on this machine and how many candidates they need, learned from the
//! searches themselves. Starts from measured defaults; wrong figures cost time, never answers.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

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
/// Highest level of [`Costs::grow`]: candidates are doubled this many times at most.
const MOST_LEVELS: u32 = 8;

/// Shared by all searches of one index.
#[derive(Debug)]
pub(crate) struct Costs {
    /// Nanoseconds per row, as the bits of a float32, by step.
    steps: [AtomicU32; 5],
    /// Doublings of the candidates of the sign-bit pass that recent searches needed.
    level: AtomicU32,
}

impl Costs {
    /// Defaults from the machine of the record: bytes at memory speed, plus a share per row.
    pub(crate) fn new(dimension: usize) -> Self {
        let bytes = dimension as f32;
        let steps =
            [bytes * 0.14, bytes * 0.03 + 2.0, bytes * 0.0025 + 1.0, bytes * 0.08 + 20.0, bytes * 0.3 + 40.0];
        Self { steps: steps.map(|cost: f32| AtomicU32::new(cost.to_bits())), level: AtomicU32::new(0) }
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

    /// Rows that the sign-bit pass should keep for a list of `limit` records.
    pub(crate) fn bits_keep(&self, limit: usize) -> usize {
        let start = limit.saturating_mul(16).saturating_add(352);
        if limit == 0 { 0 } else { start.saturating_mul(1 << self.level.load(Ordering::Relaxed)) }
    }

    /// Rows that the int8 pass should keep for a list of `limit` records.
    pub(crate) fn bytes_keep(limit: usize) -> usize {
        if limit == 0 { 0 } else { limit.saturating_mul(4).saturating_add(64) }
    }

    /// The sign-bit pass kept too few.
    pub(crate) fn grow(&self) {
        let level = self.level.load(Ordering::Relaxed);
        self.level.store((level + 1).min(MOST_LEVELS), Ordering::Relaxed);
    }

    /// The sign-bit pass kept far more than it needed.
    pub(crate) fn shrink(&self) {
        let level = self.level.load(Ordering::Relaxed);
        self.level.store(level.saturating_sub(1), Ordering::Relaxed);
    }

    /// The cheapest exact-ending method for so many rows and records.
    pub(crate) fn choose(&self, rows: usize, near_limit: usize, far_limit: usize) -> Method {
        let count = |of: &dyn Fn(usize) -> usize| of(near_limit).saturating_add(of(far_limit)) as f32;
        let bytes_keep = count(&Self::bytes_keep);
        let bits_keep = count(&|limit| self.bits_keep(limit));
        let rows = rows as f32;
        let exact = rows * self.of(Step::Floats);
        let bytes = rows * self.of(Step::Bytes) + bytes_keep * self.of(Step::FloatsAt) + TWO_STEPS;
        let bits = rows * self.of(Step::Bits)
            + bits_keep * self.of(Step::BytesAt)
            + bytes_keep / 2.0 * self.of(Step::FloatsAt)
            + TWO_STEPS * 2.0;
        if exact <= bytes.min(bits) || bytes_keep >= rows {
            Method::Exact
        } else if bits < bytes && bits_keep * 4.0 < rows {
            Method::Bits
        } else {
            Method::Int8
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_rows_are_scanned_exactly_and_many_are_not() {
        let costs = Costs::new(384);
        assert_eq!(costs.choose(100, 10, 0), Method::Exact);
        assert_eq!(costs.choose(1_000_000, 10, 10), Method::Bits);
        assert_eq!(costs.choose(5_000, 10_000, 0), Method::Exact);
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
        costs.shrink();
        let start = costs.bits_keep(10);
        for _ in 0..20 {
            costs.grow();
        }
        assert_eq!(costs.bits_keep(10), start << MOST_LEVELS);
        assert_eq!(costs.bits_keep(0), 0);
    }
}
